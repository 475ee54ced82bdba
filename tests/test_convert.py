"""Positions from one form into another, and what is lost on the way."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

import numpy as np
import pytest

from agent.cli import main
from agent.convert import CUBE, DICE, FORMS, SCORE, SIDE, convert, counts_text, read_any
from engine.drawing import draw_board
from engine.errors import DiceError, PositionError
from engine.rules import RULES, Rules
from random_positions import placed

SHORT, LONG = RULES["short_backgammon"], RULES["long_classic"]
XGID = "XGID=-b----E-C---eE---c-e----B-:1:-1:-1:52:3:2:0:7:10"
START_ID = "4HPwATDgc/ABMA"


@pytest.mark.parametrize("rules", [SHORT, LONG], ids=str)
def test_every_form_gives_the_board_back(rules: Rules) -> None:
    for board in placed(rules, 40, np.random.default_rng(3))[0]:
        for form in convert(counts_text(board), rules).forms:
            if form.text is not None:
                np.testing.assert_array_equal(read_any(form.text, rules).board, board, err_msg=form.name)


def test_a_start_position_is_written_as_other_programs_write_it() -> None:
    answer = convert("start", SHORT)
    assert answer.form("gnubg").text == START_ID
    assert answer.form("xgid").text == "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10"
    assert answer.form("counts").text == "me{24:2,13:5,8:3,6:5} opp{24:2,13:5,8:3,6:5}"
    assert answer.form("board").text == draw_board(SHORT.start_board(), SHORT)


def test_an_xgid_stays_as_it_was_and_other_forms_say_what_they_lose() -> None:
    answer = convert(XGID, SHORT)
    assert answer.form("xgid").text == XGID and answer.form("xgid").lost == ()
    assert answer.dice == (5, 2)
    for name in ("gnubg", "rows", "counts", "board"):
        form = answer.form(name)
        assert form.lost == (
            "dice 5-2",
            "cube 2 owned by the player on roll, match to 7, score 2-3",
            "that the upper side is on roll",
        )
        assert {DICE, CUBE, SCORE, SIDE} <= set(form.cannot_hold)


def test_what_an_xgid_is_given_beyond_the_position_is_said_to_be_made_up() -> None:
    form = convert(START_ID, SHORT, dice="64").form("xgid")
    assert form.text is not None and ":1:64:" in form.text
    assert form.lost == ("made up: cube 1 centred, money game, the lower side on roll",)


def test_dice_go_into_an_xgid_that_has_none() -> None:
    before_roll = XGID.replace(":52:", ":00:")
    assert convert(before_roll, SHORT, dice=(5, 2)).form("xgid").text == XGID


def test_a_match_id_that_is_ignored_is_said_to_be_lost() -> None:
    forms = convert("4HPwATDgc/ABMA:cIkKAAAAAAAA", SHORT).forms
    assert all(any("match ID" in lost for lost in form.lost) for form in forms)


def test_long_nardy_has_no_xgid() -> None:
    answer = convert("start", LONG)
    assert next(form for form in answer.forms if form.name == "xgid").text is None
    with pytest.raises(PositionError, match="xgid cannot hold long nardy"):
        answer.form("xgid")


def test_dice_that_disagree_with_the_position_are_an_error() -> None:
    with pytest.raises(DiceError, match="says 52"):
        convert(XGID, SHORT, dice="61")
    assert convert(XGID, SHORT, dice="25").dice == (2, 5)


@pytest.mark.parametrize(
    "text",
    [
        "me{24:15}",
        "me{24:16} opp{24:15}",
        "me{26:15} opp{24:15}",
        "me{0:15} opp{24:15}",
        "me{x} opp{y}",
        "+-- no board --+",
        "nonsense",
        "x" * 20_000,
    ],
)
def test_text_in_no_form_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(PositionError) as caught:
        convert(text, LONG)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


def test_a_drawing_that_would_be_drawn_otherwise_is_refused() -> None:
    drawing = draw_board(SHORT.start_board(), SHORT)
    np.testing.assert_array_equal(read_any(drawing + "\n", SHORT).board, SHORT.start_board())
    with pytest.raises(PositionError, match="drawing"):
        read_any(drawing.replace("X", " ", 1), SHORT)
    with pytest.raises(PositionError):
        read_any(drawing, LONG)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    out = capsys.readouterr()
    return code, out.out, out.err


def test_the_command_shows_every_form_with_its_limits(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = printed(capsys, "convert", XGID, "-r", "short")
    assert code == 0 and START_ID in out and out.count("cannot hold:") == len(FORMS)
    assert "here: dice 5-2; cube 2" in out


def test_one_form_alone_goes_to_stdout_and_what_it_loses_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = printed(capsys, "convert", XGID, "-r", "short", "--to", "gnubg")
    assert (code, out) == (0, START_ID + "\n")
    assert err.startswith("nardy: gnubg leaves out or makes up: dice 5-2; cube 2")
    code, _, err = printed(capsys, "convert", "start", "-r", "long", "--to", "xgid")
    assert code == 2 and err.count("\n") == 1


def test_the_command_reads_a_drawing_from_stdin_and_prints_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawing = draw_board(LONG.start_board(), LONG)
    monkeypatch.setattr(sys, "stdin", io.StringIO(drawing))
    code, out, _ = printed(capsys, "convert", "-", "-r", "long", "--json")
    answer: dict[str, Any] = json.loads(out)
    assert code == 0 and answer["source"] == "board" and set(answer["forms"]) == set(FORMS)
    assert answer["board"] == LONG.start_board().tolist() and answer["forms"]["xgid"]["text"] is None


@pytest.mark.parametrize("number", ["9" * 5000, "²", "٣"])
def test_a_drawing_with_other_numbers_than_points_and_counts_is_refused_in_a_line(number: str) -> None:
    rules = RULES["short_backgammon"]
    drawing = draw_board(rules.start_board(), rules)
    for text in (
        drawing.replace("24", number),
        drawing.replace("|   |", f"|O{number}|", 1),
        drawing.replace("  X", f"  {number}", 1),
    ):
        assert text != drawing
        with pytest.raises(PositionError) as refused:
            read_any(text, rules)
        assert len(str(refused.value)) < 200
