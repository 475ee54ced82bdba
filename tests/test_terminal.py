"""A game in the terminal: everything people type, in both languages, and how bots act."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent import bot
from agent.play_words import COMMANDS, WORDS
from agent.players import make_player
from agent.screen import Screen
from agent.terminal import Quit, Seat, TerminalGame
from engine.dice import GivenDice, SeededDice
from engine.errors import SessionError
from engine.events import State
from engine.fair_dice import FairDice
from engine.records import Header
from engine.rules import RULES
from engine.session import Session
from engine.table import Table


class Scripted:
    """A game whose people type given lines; `said` is all that was shown."""

    def __init__(
        self,
        lines: list[str],
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        *,
        table: Table | None = None,
        header: Header | None = None,
        dice: Any = None,
        players: tuple[str | None, str | None] = (None, None),
        lang: str = "en",
        record: Path | None = None,
    ) -> None:
        self.table = table or Table.create(header or Header(rules="short", first=0), dice, record)
        rest = iter(lines)
        self.prompts: list[str] = []

        def typed(prompt: str) -> str:
            self.prompts.append(prompt)
            try:
                return next(rest)
            except StopIteration:
                raise Quit from None

        monkeypatch.setattr("builtins.input", typed)
        rules = self.table.session.rules
        seats = [Seat(f"P{n}", make_player(p, rules) if p else None) for n, p in enumerate(players, 1)]
        self.game = TerminalGame(self.table, (seats[0], seats[1]), Screen(lang), np.random.default_rng(1))
        with contextlib.suppress(Quit):
            self.game.play()
        self.said = capsys.readouterr().out
        assert next(rest, None) is None, "every line was typed"


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    return lambda lines, **options: Scripted(lines, monkeypatch, capsys, **options)


def test_moves_undo_and_enter_play_a_turn(scripted: Any) -> None:
    run_ = scripted(["31", "8/5", "undo", "8/5 6/5", "", "62", "24/18 13/11", "reset", "24/18/16", ""])
    session = run_.table.session
    assert session.turns == 2 and session.state is State.TO_ROLL
    assert "P1 plays 3-1: 8/5 6/5" in run_.said and "P2 plays 6-2: 24/16" in run_.said


def test_enter_ends_no_turn_that_is_not_correct(scripted: Any) -> None:
    run_ = scripted(["31", "", "8/5", ""])
    assert run_.table.session.turns == 0
    assert "the roll 3-1 can be played" in run_.said and "both dice must be played" in run_.said


def test_enter_alone_does_not_give_a_turn_away_in_claims_mode(scripted: Any) -> None:
    run_ = scripted(["31", "", "8/5", "", "demand"], header=Header(rules="short", first=0, enforce="claims"))
    assert [e["event"] for e in run_.table.session.log] == ["roll", "step", "commit", "demand"]


def test_a_roll_of_the_opponent_accepts_a_wrong_turn(scripted: Any) -> None:
    run_ = scripted(["31", "done", "64"], header=Header(rules="short", first=0, enforce="claims"))
    assert run_.table.session.mover == 1 and run_.table.session.dice == (6, 4)
    fair = scripted(["", "done", "roll"], header=Header(rules="short", first=0, enforce="claims"), dice=SeededDice(1))
    assert fair.table.session.mover == 1 and fair.table.session.state is State.MOVING


def test_why_names_the_rule(scripted: Any) -> None:
    run_ = scripted(["65", "why 24/20", "why 24/18", "why 13/24", "why", "why 24/18 13/8"])
    assert "24/20" in run_.said and "24/18 can be played" in run_.said
    assert "goes backwards" in run_.said and "24/18 13/8 can be played" in run_.said
    russian = scripted(["65", "почему 24/20", "ходы"], lang="ru")
    assert "Нельзя" in russian.said and "по правилам" in russian.said


def test_moves_may_be_typed_in_russian(scripted: Any) -> None:
    board = np.zeros((2, 26), dtype=int)
    board[0, 25], board[0, 1], board[0, 0] = 1, 1, 13
    board[1, 12] = 15
    run_ = scripted(
        ["64", "бар/19", "почему 1/выброс", "19/15", ""], header=Header(rules="short", board=board.tolist(), first=0)
    )
    assert [(e["start"], e["die"]) for e in run_.table.session.log if e["event"] == "step"] == [(25, 6), (19, 4)]
    assert "only when all are home" in " ".join(run_.said.split())


def test_legal_lists_every_turn_or_says_how_many_more(scripted: Any) -> None:
    few = scripted(["65", "legal"])
    assert "7 legal turns:" in few.said and "24/13" in few.said
    many = scripted(["11", "legal"])
    assert "42 legal turns:" in many.said and "... and 18 more" in many.said


def test_a_pass_is_played_by_itself_and_said(scripted: Any) -> None:
    board = np.zeros((2, 26), dtype=int)
    board[0, 25], board[0, 0] = 1, 14
    board[1, 1:7] = 2
    board[1, 0] = 3
    run_ = scripted(["64"], header=Header(rules="short", first=0, board=board.tolist()))
    assert "P1 cannot play 6-4: the turn passes" in run_.said and run_.table.session.mover == 1


def test_unknown_words_are_answered_and_nothing_happens(scripted: Any) -> None:
    run_ = scripted(["castle", "roll", "64", "castle", "accept", "decline", "demand", "undo", "resign bar", "help"])
    assert [e["event"] for e in run_.table.session.log] == ["roll", "resign"]
    assert "Not possible: that cannot be done now." in run_.said and "P1 offers to lose by" in run_.said


@pytest.mark.parametrize("lang", ["en", "ru"])
def test_every_refusal_is_one_sentence_in_the_players_language(scripted: Any, lang: str) -> None:
    lines = ["x", "64", "accept", "demand", "undo", "24/1", "99", "place 24/18", "resign x", "resign", "undo", "24/18"]
    run_ = scripted(lines, lang=lang)
    start = "Not possible: " if lang == "en" else "Нельзя: "
    shown = " ".join(run_.said.split())
    assert shown.count(start) >= 8
    if lang == "ru":
        sentences = [part.split(". ")[0] for part in shown.split(start)[1:]]
        assert not any(re.search(r"[a-z]{4,}", sentence.replace("claims", "")) for sentence in sentences), sentences


def test_both_languages_say_the_same_things() -> None:
    assert set(WORDS["en"]) == set(WORDS["ru"])
    for key, text in WORDS["en"].items():
        fields = set(re.findall(r"{(\w+)", text)) - {"n"}
        if "code" not in key and "Error" not in key:
            assert fields - set(re.findall(r"{(\w+)", WORDS["ru"][key])) <= {"kind"}, key


def test_every_typed_word_has_an_action(scripted: Any) -> None:
    run_ = scripted([])
    assert set(COMMANDS.values()) <= set(run_.game._commands)


def test_save_copies_the_record(scripted: Any, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    run_ = scripted(["31", "save", f"save {copy}", "save /nonexistent/x"], record=tmp_path / "game")
    assert copy.read_bytes() == (tmp_path / "game").read_bytes()
    assert f"nardy play --resume {tmp_path / 'game'}" in run_.said and "Not possible" in run_.said


def test_how_to_go_on_is_said_in_the_words_that_a_shell_takes(
    scripted: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NARDY_COMMAND", "bash scripts/nardy")
    run_ = scripted(["31", "save"], record=tmp_path / "a game")
    assert f"bash scripts/nardy play --resume '{tmp_path / 'a game'}'" in run_.said
    assert "not recorded" in scripted(["save"]).said


def test_hint_and_eval_answer_or_say_why_not(scripted: Any) -> None:
    run_ = scripted(["eval", "hint", "31", "hint", "eval"])
    assert run_.said.count("No hint") == 4 or "8/5 6/5" in run_.said


@pytest.mark.parametrize("rules", RULES)
def test_bots_play_every_preset_to_the_end(scripted: Any, rules: str) -> None:
    run_ = scripted([], header=Header(rules=rules), dice=SeededDice(3), players=("pips", "pips"))
    assert run_.table.session.state is State.OVER and "wins by" in run_.said


def test_a_bot_demands_answers_and_plays_the_extra_turn(scripted: Any) -> None:
    header = Header(rules="long_classic", first=0, enforce="claims")
    run_ = scripted(["66", "done", "24/18(2)", "", "53", "41", "resign koks"], header=header, players=(None, "random"))
    assert "P2 demands a correct turn: P1 plays 6-6 again." in run_.said
    assert run_.table.session.result is not None and run_.table.session.result.winner == 1
    board = np.zeros((2, 26), dtype=int)
    board[:, 1], board[:, 0] = 1, 14
    last = Header(rules="short(last_turn=second_player)", first=0, board=board.tolist())
    drawn = scripted([], header=last, dice=SeededDice(1), players=("random", "random"))
    assert "drawn" in drawn.said


def test_a_bot_does_nothing_when_nobody_is_to_act() -> None:
    table = Table(Session("short"))
    with pytest.raises(SessionError, match="no player is to act"):
        bot.act(table, make_player("random", "short"), np.random.default_rng(1))


def test_verifiable_dice_ask_each_person_for_a_word(scripted: Any) -> None:
    header = Header(rules="short")
    run_ = scripted(["", "x" * 99, "right"], header=header, dice=FairDice(bytes(32)))
    assert "Dice committed to:\n" in run_.said and run_.table.dice.nonces[1] == "right"
    assert "1 to 64 printable" in " ".join(run_.said.split())


def test_given_dice_play_a_known_game() -> None:
    """Case T15 at the table of a bot."""
    table = Table(Session("short", first=0), GivenDice([(3, 1), (6, 5)]))
    player, rng = make_player("pips", "short"), np.random.default_rng(1)
    for _ in range(4):
        bot.act(table, player, rng)
    assert [e["dice"] for e in table.session.log if e["event"] == "roll"] == [[3, 1], [6, 5]]
