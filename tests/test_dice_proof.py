"""Dice of records: recomputed from seed or secret, in the right order, and every fault named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.dice import GivenDice, SeededDice
from engine.dice_proof import rolls_by_player, verify_dice
from engine.errors import RecordError
from engine.fair_dice import FairDice
from engine.records import Header, parse_record, read_record
from engine.table import Table, secret_path
from record_play import SECRET, fair_game, lines_of, play_out, ticking, written


def test_a_verifiable_game_holds(tmp_path: Path) -> None:
    lines = fair_game(tmp_path / "game")
    proof = verify_dice(read_record(tmp_path / "game"))
    assert proof.kind == "verifiable" and proof.rolls == sum("dice" in line for line in lines[1:])
    assert FairDice(SECRET).commitment in proof.said
    assert [line["event"] for line in lines[1:4]] == ["commitment", "nonce", "nonce"]
    assert lines[-1]["event"] == "secret" and not secret_path(tmp_path / "game").exists()


def test_a_changed_roll_is_found_and_named(tmp_path: Path) -> None:
    lines = fair_game(tmp_path / "game")
    places = [i for i, line in enumerate(lines) if line.get("event") in ("toss", "roll")]
    for number, place in enumerate(places, start=1):
        changed = [dict(line) for line in lines]
        changed[place]["dice"] = [7 - lines[place]["dice"][0], lines[place]["dice"][1]]
        with pytest.raises(RecordError, match=rf"roll {number} \(line {place + 1}, "):
            verify_dice(parse_record(written(changed)))


def test_every_fault_of_the_proof_is_named(tmp_path: Path) -> None:
    lines = fair_game(tmp_path / "game")
    last = len(lines) - 1

    def fault(message: str, order: list[int], **changes: dict[str, Any]) -> None:
        changed = [{**lines[i], **changes.get(f"at{i}", {})} for i in order]
        for line in changed:
            line["time"] = lines[0]["time"]
        with pytest.raises(RecordError, match=message):
            verify_dice(parse_record(written(changed)))

    rest = list(range(4, last))
    fault("nonce of player 0 came before the commitment", [0, 2, 1, 3, *rest, last])
    fault("nonce of player 1 came after the first dice", [0, 1, 2, 4, 3, *rest[1:], last])
    fault("no nonce of player 1", [0, 1, 2, *rest, last])
    fault("second nonce of player 0", [0, 1, 2, 2, 3, *rest, last])
    fault("no commitment", [0, 2, 3, *rest, last])
    fault("second commitment", [0, 1, 1, 2, 3, *rest, last])
    fault("not revealed yet", [0, 1, 2, 3, *rest])
    fault("before the last dice", [0, 1, 2, 3, last, *rest])
    fault("does not fit the commitment", list(range(last + 1)), **{f"at{last}": {"secret": bytes(32).hex()}})
    fault("does not fit the commitment", list(range(last + 1)), at1={"sha256": "00"})
    fault("64 hexadecimal", list(range(last + 1)), **{f"at{last}": {"secret": "?"}})
    fault("roll 1 ", list(range(last + 1)), at2={"nonce": "other"})
    fault("1 to 64 printable", list(range(last + 1)), at2={"nonce": ""})


def test_times_must_not_run_backwards(tmp_path: Path) -> None:
    lines = fair_game(tmp_path / "game")
    for time in ("2020-01-01T00:00:00+00:00", "yesterday", None, "2026-11-30T10:00:00"):
        with pytest.raises(RecordError, match="line 3"):
            verify_dice(parse_record(written([*lines[:2], {**lines[2], "time": time}, *lines[3:]])))


def test_a_seeded_game_is_recomputed_from_its_seed(tmp_path: Path) -> None:
    table = Table.create(Header(rules="short"), SeededDice(9, 4), tmp_path / "game", ticking())
    play_out(table, 4)
    assert verify_dice(read_record(tmp_path / "game")).said == "seed 9, game 4"
    lines = lines_of(tmp_path / "game")
    lines[0]["dice"]["seed"] = 8
    with pytest.raises(RecordError, match=r"roll \d+ "):
        verify_dice(parse_record(written(lines)))
    lines[0]["dice"]["seed"] = "nine"
    with pytest.raises(RecordError, match="does not give a seed"):
        verify_dice(parse_record(written(lines)))


def test_typed_dice_cannot_be_verified(tmp_path: Path) -> None:
    play_out(Table.create(Header(rules="short"), GivenDice(["31", "62"]), tmp_path / "game"), 1)
    with pytest.raises(RecordError, match="typed in by hand"):
        verify_dice(read_record(tmp_path / "game"))


def test_rolls_are_counted_for_each_player(tmp_path: Path) -> None:
    table = Table.create(Header(rules="short", players=("Anna", "Boris")), SeededDice(1), tmp_path / "game")
    play_out(table, 7)
    rolls = rolls_by_player(read_record(tmp_path / "game"))
    assert {name: len(r) for name, r in rolls.items()} in ({"Anna": 4, "Boris": 3}, {"Anna": 3, "Boris": 4})
    same = Table.create(Header(rules="short", players=("bot", "bot")), SeededDice(1), tmp_path / "same")
    play_out(same, 2)
    assert set(rolls_by_player(read_record(tmp_path / "same"))) == {"bot (1)", "bot (2)"}
