"""FIBS board lines: they round-trip, are read as GNU Backgammon means them, and bad ones are refused."""

from __future__ import annotations

import numpy as np
import pytest

from agent.fibs import format_fibs, parse_fibs
from engine.board import opponent_view
from engine.errors import PositionError
from engine.rules import RULES
from random_positions import random_play

SHORT = RULES["short_backgammon"]


def test_fibs_boards_round_trip(rng):
    boards, dice = random_play(SHORT, 300, rng)
    for board, roll in zip(boards, dice, strict=True):
        given = (int(roll[0]), int(roll[1]))
        position = parse_fibs(format_fibs(board, given), SHORT)
        assert (position.board == board).all() and position.dice == given and not position.is_doubled
    assert parse_fibs(format_fibs(boards[0]), SHORT).dice is None


def test_fibs_boards_of_gnubg_are_read_as_it_means_them():
    """Lines from the comment in GNU Backgammon's external.h: a game 52 (split), 55, and a double."""
    line = (
        "board:a:b:0:0:0:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:"
        "-1:5:2:5:2:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1"
    )
    position = parse_fibs(line, SHORT)  # turn -1: the other player is on roll
    assert (position.board == SHORT.start_board()).all() and position.dice == (5, 2)
    doubled = (
        "board:b:a:0:0:0:-2:2:0:2:0:0:3:0:1:0:0:0:-4:5:0:0:0:-4:0:-5:0:0:0:0:2:0:"
        "1:0:0:0:0:1:1:1:1:1:-1:0:25:0:0:0:0:0:0:0:1"
    )
    position = parse_fibs(doubled, SHORT)
    assert position.is_doubled and position.dice is None
    assert position.board[1, 25] == 2 and position.board[0, 6] == 3 and position.board[0, 24] == 2


def test_fibs_boards_read_the_same_from_every_colour_and_direction(rng):
    boards, _ = random_play(SHORT, 40, rng)
    for board in boards:
        fields = format_fibs(board, (6, 1)).split(":")
        points = [int(x) for x in fields[6:32]]
        for colour in (1, -1):
            for direction in (1, -1):
                shown = [colour * x for x in (points if direction < 0 else points[::-1])]
                text = [*fields[:6], *map(str, shown), str(colour), *fields[33:41], str(colour), str(direction)]
                position = parse_fibs(":".join([*text, *fields[43:]]), SHORT)
                assert (position.board == board).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f[:-1], "has 53 fields from 'board:' on, got 52"),
        (lambda f: [*f[:10], "x", *f[11:]], "are whole numbers, got 'x'"),
        (lambda f: [*f[:32], "0", *f[33:]], "turn, colour and direction of a FIBS board are 1 or -1"),
        (lambda f: [*f[:33], "7", *f[34:]], "dice of a FIBS board are 1 to 6 or both 0"),
        (lambda f: [*f[:12], "15", *f[13:]], "a point holds 0 to 15 checkers|15 checkers"),
    ],
)
def test_bad_fibs_boards_are_refused(change, message):
    fields = format_fibs(SHORT.start_board(), (3, 1)).split(":")
    with pytest.raises(PositionError, match=message):
        parse_fibs(":".join(change(fields)), SHORT)


def test_a_board_seen_from_the_other_side_is_another_fibs_line():
    board = SHORT.start_board()
    board[0, [6, 5]] = (4, 1)
    other = np.ascontiguousarray(opponent_view(board))
    assert format_fibs(board) != format_fibs(other)
    assert (parse_fibs(format_fibs(other), SHORT).board == other).all()
