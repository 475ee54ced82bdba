"""Records: written as the game is played, readable after a kill at any byte, replayed, and their dice verified."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from damage import full_disk
from engine.dice import GivenDice, SeededDice
from engine.dice_proof import rolls_by_player, verify_dice
from engine.errors import DiceError, RecordError, SessionError
from engine.events import State
from engine.fair_dice import FairDice
from engine.records import Header, RecordWarning, RecordWriter, parse_record, read_record
from engine.rules import RULES
from engine.table import Table, secret_path
from record_play import SECRET, fair_game, lines_of, play_out, ticking, written
from session_play import RandomGame


def short_game(path: Path, dice: Any = None, clock: Any = None) -> Table:
    """A claims-mode game of a few turns with every kind of event in it, resigned at the end."""
    header = Header(rules="long_classic", enforce="claims", players=("Ирина", "bot"))
    table = Table.create(header, dice or GivenDice(["33", "62", "66", "53", "41"]), path, clock or ticking())
    if isinstance(table.dice, FairDice):
        table.add_nonce(0, "white")
        table.add_nonce(1, "black")
        while table.session.state is not State.MOVING:
            table.throw()
        play_out(table, 2)
        table.apply({"event": "resign", "level": "gammon"})
        table.apply({"event": "accept_resignation"})
        return table
    table.throw()
    table.throw()
    table.throw()  # white 6:6, left incomplete
    table.apply({"event": "step", "start": 24, "die": 6, "by": 0})
    table.apply({"event": "commit"})
    table.apply({"event": "demand", "by": 1})
    table.apply({"event": "step", "start": 24, "die": 6})
    table.apply({"event": "undo"})
    table.play(table.session.legal_turns()[0])
    table.throw()
    board = table.session.board.copy()
    board[0, 24] -= 1
    board[0, 23] += 1
    table.apply({"event": "place", "board": board})
    table.apply({"event": "commit"})
    table.apply({"event": "accept"})
    table.apply({"event": "resign", "level": "gammon"})
    table.apply({"event": "decline"})
    table.throw()
    table.apply({"event": "resign", "level": "single"})
    table.apply({"event": "accept_resignation"})
    return table


@pytest.mark.parametrize("kind", ["typed", "seed", "verifiable"])
def test_replay_equals_play(tmp_path: Path, kind: str) -> None:
    dice = {"typed": None, "seed": SeededDice(3), "verifiable": FairDice(SECRET)}[kind]
    table = Table.create(Header(rules="short"), dice, tmp_path / "game") if kind == "seed" else None
    if table is not None:
        play_out(table)
    else:
        table = short_game(tmp_path / "game", dice)
    record = read_record(tmp_path / "game")
    replayed = record.replay()
    assert replayed.to_dict() == table.session.to_dict() and replayed.log == table.session.log
    assert record.header.dice["kind"] == kind and record.torn_bytes == 0


@pytest.mark.parametrize("rules", [*RULES, "short(last_turn=second_player,scoring=1/2/3/5)"])
@pytest.mark.parametrize("how", ["steps", "claims"])
def test_random_games_are_replayed_from_their_records(tmp_path: Path, rules: str, how: str) -> None:
    game = RandomGame(rules, 11, how, resign_chance=0.01)
    header = Header(rules=str(game.session.rules), enforce=game.session.enforce)
    table = Table(game.session, None, RecordWriter.create(tmp_path / "game", header))
    for _ in range(120):
        if game.session.state is State.OVER:
            break
        table.apply(game.next_event())
    assert read_record(tmp_path / "game").replay().to_dict() == game.session.to_dict()


def test_a_record_torn_at_any_byte_is_read_up_to_the_last_whole_line(tmp_path: Path) -> None:
    table = short_game(tmp_path / "whole")
    data = (tmp_path / "whole").read_bytes()
    states = [session.to_dict() for _, session in read_record(tmp_path / "whole").sessions()]
    header_end = data.index(b"\n")
    for size in range(len(data)):
        torn = data[:size]
        if size <= header_end:
            with pytest.raises(RecordError, match="no complete first line"):
                parse_record(torn)
            continue
        lines = torn.count(b"\n")
        if torn.endswith(b"\n"):
            record = parse_record(torn)
            assert record.torn_bytes == 0
        else:
            with pytest.warns(RecordWarning, match="not completely written"):
                record = parse_record(torn)
            assert record.torn_bytes == size - torn.rindex(b"\n") - 1
        assert len(record.events) == lines - 1
        assert record.replay().to_dict() == states[lines - 1]
    assert parse_record(data).replay().to_dict() == table.session.to_dict()


def test_a_game_goes_on_from_a_record_torn_at_any_line(tmp_path: Path) -> None:
    """The rest is played from the seed, so every continued record becomes the same game."""
    whole = tmp_path / "whole"
    table = Table.create(Header(rules="long_fnr2026"), SeededDice(5), whole, ticking())
    play_out(table, 6)
    expected = list(table.session.log)
    data = whole.read_bytes()
    cuts = [m.end() for m in re.finditer(rb"\n", data)]
    for cut in cuts:
        path = tmp_path / f"cut{cut}"
        path.write_bytes(data[: cut + 5])
        if cut + 5 < len(data):
            with pytest.warns(RecordWarning):
                again, _ = Table.resume(path, ticking())
        else:
            again, _ = Table.resume(path, ticking())
        if again.session.turn is not None and again.session.turn.changes:
            continue  # half-played turns go on by steps, which `play_out` does not do
        play_out(again, 6)
        assert again.session.log == expected
        assert read_record(path).replay().to_dict() == table.session.to_dict()
        assert verify_dice(read_record(path)).rolls == len([e for e in expected if "dice" in e])


def test_every_event_is_in_the_file_when_it_has_happened(tmp_path: Path) -> None:
    table = Table.create(Header(rules="short"), SeededDice(1), tmp_path / "game")
    for _ in range(12):
        play_out(table, table.session.turns + 1)
        assert list(read_record(tmp_path / "game").replay().log) == table.session.log


def test_a_killed_program_leaves_a_readable_record(tmp_path: Path) -> None:
    path = tmp_path / "game"
    script = (
        "import os, sys\n"
        "from engine.records import Header\nfrom engine.dice import SeededDice\nfrom engine.table import Table\n"
        f"table = Table.create(Header(rules='short'), SeededDice(2), {str(path)!r})\n"
        "while table.session.turns < 8:\n"
        "    table.play(table.session.legal_turns()[0]) if table.session.dice else table.throw()\n"
        "os.kill(os.getpid(), 9)\n"
    )
    result = subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parent.parent, timeout=120)
    assert result.returncode == -9
    record = read_record(path)
    assert record.replay().turns == 8 and record.torn_bytes == 0


def test_one_seed_gives_one_record_and_given_dice_are_used_in_order(tmp_path: Path) -> None:
    """Case T15."""
    for name in ("a", "b"):
        play_out(Table.create(Header(rules="short"), SeededDice(7), tmp_path / name, ticking()))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    table = Table.create(Header(rules="short"), GivenDice([(3, 1), (6, 5), (2, 2)]))
    play_out(table, 1)
    assert [e["dice"] for e in table.session.log if "dice" in e] == [[3, 1], [6, 5]]
    with pytest.raises(DiceError, match="3 rolls given are used up"):
        play_out(table)
    assert [e["dice"] for e in table.session.log if "dice" in e][-1] == [2, 2]


def test_a_record_is_never_overwritten(tmp_path: Path) -> None:
    Table.create(Header(rules="short"), SeededDice(1), tmp_path / "game")
    before = (tmp_path / "game").read_bytes()
    with pytest.raises(RecordError, match="exists already"):
        Table.create(Header(rules="short"), SeededDice(1), tmp_path / "game")
    assert (tmp_path / "game").read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["game"], "no temporary file stays"
    with pytest.raises(RecordError, match="cannot be written"):
        Table.create(Header(rules="short"), SeededDice(1), tmp_path / "no folder" / "game")


def test_a_refused_event_writes_nothing(tmp_path: Path) -> None:
    table = Table.create(Header(rules="short", first=0), None, tmp_path / "game")
    size = (tmp_path / "game").stat().st_size
    with pytest.raises(SessionError):
        table.apply({"event": "commit"})
    with pytest.raises(DiceError, match="typed in"):
        table.throw()
    with pytest.raises(SessionError):
        table.throw((1, 2), by=1)
    assert (tmp_path / "game").stat().st_size == size
    table.throw((1, 2), by=0)
    assert (tmp_path / "game").stat().st_size > size


def test_dice_cannot_be_typed_at_a_table_that_throws_its_own() -> None:
    table = Table.create(Header(rules="short", first=0), SeededDice(1))
    with pytest.raises(DiceError, match="throws its own"):
        table.throw((6, 6))
    with pytest.raises(DiceError, match="only verifiable dice"):
        table.add_nonce(0, "x")


def test_a_refused_throw_uses_up_no_dice() -> None:
    table = Table.create(Header(rules="short", first=0), SeededDice(1))
    table.throw()
    with pytest.raises(SessionError):
        table.throw()
    assert table.dice is not None and table.dice.thrown == 1


def test_a_clock_set_back_does_not_make_a_record_contradict_itself(tmp_path: Path) -> None:
    times = iter(["2026-01-01T10:00:05+00:00", "2026-01-01T10:00:01+00:00", "2026-01-01T10:00:09+00:00"])
    table = Table.create(Header(rules="short", first=0), SeededDice(1), tmp_path / "game", lambda: next(times))
    table.throw()
    table.apply({"event": "reset"})
    assert verify_dice(read_record(tmp_path / "game")).rolls == 1


# What cannot be read


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "pgn"}, "no game record"),
        ({"version": 2}, "version 2"),
        ({"rules": "chess"}, "unknown rules 'chess'"),
        ({"rules": 7}, "unknown rules"),
        ({"players": ["one"]}, "two players"),
        ({"enforce": "lax"}, "strict or claims"),
        ({"first": 3}, "first must be"),
        ({"board": [[1]]}, "shape"),
        ({"dice": {"kind": "loaded"}}, "seed, typed, verifiable"),
    ],
)
def test_a_wrong_header_says_what_is_wrong(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    short_game(tmp_path / "game")
    lines = lines_of(tmp_path / "game")
    with pytest.raises(RecordError, match=message):
        parse_record(written([{**lines[0], **change}, *lines[1:]]))


@pytest.mark.parametrize("line", [b"{", b"[]", b"\xff\xfe", b"null", b'{"event":"castle"}', b"[" * 100_000, b"{}"])
def test_a_wrong_line_in_the_middle_is_named_not_skipped(tmp_path: Path, line: bytes) -> None:
    short_game(tmp_path / "game")
    lines: list[Any] = lines_of(tmp_path / "game")
    lines.insert(3, line)
    with pytest.raises(RecordError, match="line 4"):
        parse_record(written(lines))


def test_an_event_that_the_game_refuses_is_named_by_its_line(tmp_path: Path) -> None:
    short_game(tmp_path / "game")
    lines = lines_of(tmp_path / "game")
    place = next(i for i, line in enumerate(lines) if line.get("event") == "commit")
    del lines[place]
    with pytest.raises(RecordError, match=f"line {place + 1} of the record does not fit the game"):
        parse_record(written(lines)).replay()


def test_unknown_header_fields_are_ignored(tmp_path: Path) -> None:
    short_game(tmp_path / "game")
    lines = lines_of(tmp_path / "game")
    assert parse_record(written([{**lines[0], "place": "Odessa"}, *lines[1:]])).replay().state is State.OVER


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot be read"):
        read_record(tmp_path / "nothing")
    with pytest.raises(RecordError, match="/dev/zero has more than 67108864 bytes"):
        read_record("/dev/zero")
    (tmp_path / "empty").touch()
    with pytest.raises(RecordError, match="no complete first line"):
        Table.resume(tmp_path / "empty")


# Verifiable dice of records that are continued


def test_a_verifiable_game_is_taken_up_with_its_secret_and_not_without(tmp_path: Path) -> None:
    path = tmp_path / "game"
    table = Table.create(Header(rules="long_classic"), FairDice(SECRET), path)
    assert secret_path(path).stat().st_mode & 0o777 == 0o600
    table.add_nonce(0, "white")
    table.add_nonce(1, "black")
    play_out(table, 2)
    again, _ = Table.resume(path)
    play_out(again, 4)
    again.apply({"event": "resign", "level": "single"})
    again.apply({"event": "accept_resignation"})
    assert verify_dice(read_record(path)).rolls >= 5
    finished, _ = Table.resume(path)
    assert finished.session.state is State.OVER
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:6]))
    with pytest.raises(RecordError, match="secret"):
        Table.resume(path)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"0" * 63, SECRET.hex().upper().encode()])
def test_a_damaged_secret_is_an_error_of_the_record(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "game.jsonl"
    Table.create(Header(rules="short"), FairDice(SECRET), path)
    secret_path(path).write_bytes(content)
    with pytest.raises(RecordError, match=r"game.jsonl cannot go on: a dice secret is 64 hexadecimal digits"):
        Table.resume(path)


@pytest.mark.parametrize("first", [1.0, True, 2, "0"])
def test_a_header_whose_first_player_is_no_player_is_refused(first: object) -> None:
    values = {**Header(rules="short").to_dict(), "first": first}
    with pytest.raises(RecordError, match="first must be player 0 or 1, or None for a toss"):
        parse_record(json.dumps(values).encode() + b"\n")


def test_a_crash_between_the_end_and_the_secret_is_mended(tmp_path: Path) -> None:
    path = tmp_path / "game"
    lines = fair_game(path)
    path.write_bytes(written(lines[:-1]))
    secret_path(path).write_text(SECRET.hex())
    os.chmod(secret_path(path), 0o600)
    Table.resume(path, ticking())
    assert read_record(path).events[-1]["event"] == "secret" and verify_dice(read_record(path)).rolls > 0


def test_no_damage_to_a_record_is_more_than_one_line_of_error(tmp_path: Path) -> None:
    """Bytes changed, lines swapped or values replaced: read, refused with RecordError, or still a game."""
    data = b"\n".join(json.dumps(line).encode() for line in fair_game(tmp_path / "game")) + b"\n"
    rng = np.random.default_rng(12)
    values = [
        b"null",
        b"-1",
        b"[]",
        b"{}",
        b'""',
        b"1e999",
        b"99999999999999999999",
        b'"\\u001b[2J"',
        b"true",
        b"[[1]]",
    ]
    read = 0
    for _ in range(1500):
        kind = rng.integers(3)
        lines = data.splitlines(keepends=True)
        if kind == 0:
            damaged = bytearray(data)
            damaged[rng.integers(len(data))] = rng.integers(256)
        elif kind == 1:
            first, second = rng.integers(len(lines), size=2)
            lines[first], lines[second] = lines[second], lines[first]
            damaged = bytearray(b"".join(lines))
        else:
            place = rng.integers(len(lines))
            found = list(re.finditer(rb': (?:"[^"]*"|\[[^\]]*\]|\d+|null)', lines[place]))
            match = found[rng.integers(len(found))]
            value = b": " + values[rng.integers(len(values))]
            lines[place] = lines[place][: match.start()] + value + lines[place][match.end() :]
            damaged = bytearray(b"".join(lines))
        try:
            record = parse_record(bytes(damaged))
            read += 1
            record.replay()
            verify_dice(record)
            rolls_by_player(record)
        except RecordError as error:
            assert "\n" not in str(error)
    assert read > 100


def test_names_that_would_steer_a_terminal_are_refused(tmp_path: Path) -> None:
    lines = fair_game(tmp_path / "game")
    with pytest.raises(RecordError, match="printable"):
        parse_record(written([{**lines[0], "players": ["\x1b[2J", "b"]}]))


@pytest.mark.parametrize("match", [[], "x", {"length": 0}, {"score": "ab"}, {"score": [1]}, {"game_number": "2"}])
def test_what_a_header_says_of_its_match_is_checked(tmp_path: Path, match: Any) -> None:
    lines = fair_game(tmp_path / "game")
    if match == []:
        match = [1]
    with pytest.raises(RecordError, match="header"):
        parse_record(written([{**lines[0], "match": match}]))


# Disks that refuse


@pytest.mark.parametrize("has_fair_dice", [False, True])
def test_a_full_disk_ends_the_game_at_what_is_written_and_it_goes_on_from_there(
    has_fair_dice: bool, tmp_path: Path
) -> None:
    path = tmp_path / "game"
    table = Table.create(Header(rules="short"), FairDice(SECRET) if has_fair_dice else SeededDice(5), path)
    if has_fair_dice:
        table.add_nonce(0, "white")
        table.add_nonce(1, "black")
    play_out(table, 3)
    before = path.read_bytes()
    with full_disk(), pytest.raises(RecordError, match="cannot be written: No space left"):
        play_out(table, 9)
    with pytest.raises(RecordError, match="go on from what it holds"):
        play_out(table, 9)
    assert path.read_bytes() == before
    again, _ = Table.resume(path)
    play_out(again)
    assert verify_dice(read_record(path)).rolls > 5


def test_dice_that_cannot_be_kept_secret_begin_no_game(tmp_path: Path) -> None:
    with full_disk(), pytest.raises(RecordError, match=r"the dice secret .* cannot be written: No space left"):
        Table.create(Header(rules="short"), FairDice(SECRET), tmp_path / "game")
    assert not list(tmp_path.iterdir())


def test_a_secret_without_a_record_is_of_a_game_that_never_began(tmp_path: Path) -> None:
    secret_path(tmp_path / "game").write_text("torn")
    table = Table.create(Header(rules="short"), FairDice(SECRET), tmp_path / "game")
    assert secret_path(tmp_path / "game").read_text() == SECRET.hex()
    with pytest.raises(RecordError, match="exists already"):
        Table.create(Header(rules="short"), FairDice(), tmp_path / "game")
    assert secret_path(tmp_path / "game").read_text() == SECRET.hex() and not table.is_ahead


def test_a_record_that_was_removed_is_not_begun_in_its_middle(tmp_path: Path) -> None:
    table = Table.create(Header(rules="short"), SeededDice(5), tmp_path / "game")
    (tmp_path / "game").unlink()
    with pytest.raises(RecordError, match="is gone"):
        table.throw()
    assert not list(tmp_path.iterdir())
