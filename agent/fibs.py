"""FIBS board lines, the text form in which the UBGI and GNUBG external protocols pass a position.

Source: fibs.com/fibs_interface.html (board state); GNU Backgammon's reading of it: the sign of the colour marks the
checkers of the player named first, and the side whose turn it is has doubled when a double is open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from engine.board import Boards, as_boards
from engine.dice import FACES
from engine.errors import PositionError
from engine.rules import BAR, CHECKERS, OFF, SLOTS, Rules

PREFIX = "board:"
MAX_TEXT = 1000
_FIELDS = 53
_POINTS = slice(6, 6 + SLOTS)
_TURN, _DICE, _OPPONENT_DICE, _WAS_DOUBLED, _COLOUR, _DIRECTION = 32, 33, 35, 40, 41, 42
_WHOLE = re.compile(r"[+-]?\d{1,6}", re.ASCII)


@dataclass(frozen=True, kw_only=True, eq=False)
class FibsPosition:
    """What a board line asks about.

    Attributes:
        board: int8 [2, 26], row 0 the player whose turn it is.
        dice: his roll, or None before it.
        is_doubled: whether he has offered a double, so that the other player is to answer.
    """

    board: Boards
    dice: tuple[int, int] | None
    is_doubled: bool


def format_fibs(
    board: Boards, dice: tuple[int, int] | None = None, names: tuple[str, str] = ("you", "opponent")
) -> str:
    """A board line of an unlimited game without a cube, the player on roll named first.

    Args:
        board: int8 [2, 26], row 0 the player on roll; he moves from 24 down and his counts are positive.
        dice: his roll, or None before it.
        names: the player on roll and the other; colons become underscores.
    """
    points = np.zeros(SLOTS, dtype=np.int64)
    points[1:] = board[0, 1:]
    points[:BAR] -= board[1, BAR:OFF:-1]
    roll = dice or (0, 0)
    off = (int(board[0, OFF]), int(board[1, OFF]))
    bars = (int(board[0, BAR]), int(board[1, BAR]))
    tail = [1, *roll, *roll, 1, 1, 1, 0, 1, -1, 0, BAR, *off, *bars, 0, 0, 0, 0]
    head = [name.replace(":", "_") for name in names]
    return PREFIX + ":".join([*head, "0", "0", "0", *(str(int(x)) for x in [*points, *tail])])


def parse_fibs(text: str, rules: Rules) -> FibsPosition:
    """The position of a FIBS board line.

    Args:
        text: the line, from `board:` on; match score and cube are not used.
        rules: rules of short nardy.
    Raises:
        PositionError: the line has not the 53 fields of a board, no turn, or a board that is not well formed.
    """
    fields = text.strip().split(":") if len(text) <= MAX_TEXT else []
    if len(fields) != _FIELDS or fields[0] != PREFIX[:-1]:
        raise PositionError(
            f"a FIBS board line has {_FIELDS} fields from 'board:' on, got {len(fields)}: {text[:60]!r}"
        )
    for field in fields[3:]:
        if not _WHOLE.fullmatch(field):
            raise PositionError(f"fields of a FIBS board after the names are whole numbers, got {field[:20]!r}")
    numbers = [0, 0, 0, *(int(field) for field in fields[3:])]
    turn, colour, direction = (int(np.sign(numbers[i])) for i in (_TURN, _COLOUR, _DIRECTION))
    if 0 in (turn, colour, direction):
        raise PositionError(f"turn, colour and direction of a FIBS board are 1 or -1, got {text[:60]!r}")
    own = _rows(np.array(numbers[_POINTS]) * colour, direction)
    board = own if turn == colour else own[::-1]
    return FibsPosition(board=as_boards(board, rules), dice=_roll(numbers), is_doubled=numbers[_WAS_DOUBLED] != 0)


def _rows(points: npt.NDArray[np.int64], direction: int) -> npt.NDArray[np.int64]:
    """Rows of the player named first and of the other, from 26 counts of which the first player's are positive."""
    if direction > 0:
        points = points[::-1]
    board = np.zeros((2, SLOTS), dtype=np.int64)
    board[0, 1:] = np.maximum(points[1:], 0)
    board[1, 1:] = np.maximum(-points[BAR - 1 :: -1], 0)
    board[:, OFF] = CHECKERS - board.sum(axis=1)
    return board


def _roll(numbers: list[int]) -> tuple[int, int] | None:
    for first in (_DICE, _OPPONENT_DICE):
        dice = (numbers[first], numbers[first + 1])
        if dice != (0, 0):
            if not all(1 <= die <= FACES for die in dice):
                raise PositionError(f"dice of a FIBS board are 1 to 6 or both 0, got {dice[0]} and {dice[1]}")
            return dice
    return None
