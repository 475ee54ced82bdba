"""Our nets as a UBGI engine: what it answers to positions, doubles and nonsense."""

from __future__ import annotations

import io

import numpy as np
import pytest

from agent.fibs import format_fibs
from agent.levels import Level
from agent.protocols import UbgiPlayer
from agent.ubgi_server import UbgiEngine, bounded_lines, serve_ubgi
from engine.errors import ConfigError
from engine.position_ids import format_xgid, xgid_of
from engine.rules import RULES
from fake_judge import FakeJudge
from random_positions import random_play

SHORT = RULES["short_backgammon"]


@pytest.fixture
def engine():
    return UbgiEngine(FakeJudge(SHORT), Level())


def test_the_ubgi_engine_introduces_itself(engine):
    answer = engine.answer("ubgi")
    assert answer[0] == "id name nardy fake 0-ply" and answer[-1] == "readyok"
    assert [line.split()[1] for line in answer[:-1]] == ["name", "author", "version"]


def test_the_ubgi_engine_answers_positions_of_both_forms_alike(engine, rng):
    boards, dice = random_play(SHORT, 150, rng)
    for board, roll in zip(boards, dice, strict=True):
        given = (int(roll[0]), int(roll[1]))
        (answer,) = engine.answer(format_xgid(xgid_of(board, given)))
        assert engine.answer(format_fibs(board, given)) == [answer]
        chosen = engine.judge.choose(board[None], np.array([given]))[0]
        if (chosen == board).all():
            assert answer == ""  # no legal move: a blank line
            continue
        assert all(pair.count("/") == 1 and "*" not in pair and "(" not in pair for pair in answer.split())
        after = UbgiPlayer(name="u", rules=SHORT, open_channel=None).play_of(answer, board, given)
        assert (after == chosen).all()


def test_the_ubgi_engine_rolls_and_never_doubles(engine):
    assert engine.answer(format_xgid(xgid_of(SHORT.start_board()))) == ["roll"]
    assert engine.answer(format_fibs(SHORT.start_board())) == ["roll"]


def test_the_ubgi_engine_takes_above_minus_a_half_and_drops_below(engine):
    even = format_xgid(xgid_of(SHORT.start_board())).replace(":1:00:", ":1:D:")
    assert engine.answer(even) == ["take"]
    board = SHORT.start_board()
    board[0, [24, 13, 8, 6]] = 0
    board[0, [2, 1, 0]] = (1, 1, 13)  # the doubler is nearly off
    assert engine.answer(format_xgid(xgid_of(board)).replace(":1:00:", ":1:D:")) == ["drop"]
    assert engine.answer(format_fibs(board).replace(":1:1:1:0:1:-1:", ":1:1:1:1:1:-1:")) == ["drop"]


@pytest.mark.parametrize(
    "line",
    ["hello", "XGID=nonsense", "board:x", "4HPwATDgc/ABMA", "XGID=" + "-" * 26 + ":0:0:1:31:0:0:0:0:10", "x" * 5000],
)
def test_the_ubgi_engine_is_sorry_for_anything_else(engine, line):
    assert engine.answer(line) == ["sorry"]


def test_ubgi_serves_lines_until_quit(engine):
    out = io.StringIO()
    position = format_xgid(xgid_of(SHORT.start_board(), (3, 1)))
    serve_ubgi(engine, ["ubgi\n", "stop\n", position + "\n", "quit\n", position + "\n"], out)
    lines = out.getvalue().splitlines()
    assert lines[-2] == "readyok" and "/" in lines[-1] and len(lines) == 5


def test_the_ubgi_engine_refuses_long_nardy():
    with pytest.raises(ConfigError, match="UBGI knows short nardy only, the net is bound to long_classic"):
        UbgiEngine(FakeJudge(RULES["long_classic"]), Level())


def test_a_line_without_an_end_is_read_in_bounds():
    stream = io.StringIO("ubgi\n" + "x" * 10_000 + "\nstop\n" + "y" * 3000)
    assert [len(line) for line in bounded_lines(stream)] == [5, 2001, 5, 2001]
