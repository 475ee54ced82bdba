"""Boards as text, for both games: one table of two rows of twelve points, the player on roll below.

The table is the usual one: 13..24 from left to right above, 12..1 below, the mover's home at the bottom right. In short
nardy the opponent comes the other way and his home lies above mine; in long nardy he goes the same way round, starts
at the bottom left and brings his checkers home at the top left. All of that follows from `rules.opponent_point`.
"""

from __future__ import annotations

from textwrap import dedent
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from engine.board import HOME_HIGH, Boards, as_board, opponent_view, pip_count
from engine.errors import PositionError
from engine.rules import BAR, HEAD, OFF, Rules

Side = Literal["me", "opponent"]
Points = npt.NDArray[np.int64]

STACK = 5  # checkers drawn one by one; a higher stack ends in its number
CELL = 4
MARKS = ("X", "O")
_COLORS = {"X": "\033[1;36m", "O": "\033[1;33m"}
_PLAIN = "\033[0m"
_UPPER = tuple(range(HEAD // 2 + 1, HEAD + 1))
_LOWER = tuple(range(HEAD // 2, OFF, -1))
LONGEST_NAME = 20


class BoardWords(NamedTuple):
    """The words of a drawing; `side` is the line below it for each side, a template."""

    off: str = "off"
    bar: str = "BAR"  # three letters
    clockwise: str = "clockwise"
    counter_clockwise: str = "counter-clockwise"
    side: str = "{mark} {name}: {pips} pips, {way} from {first} to {last}, home {home} to {last}"


ENGLISH = BoardWords()


def draw_board(
    board: Boards,
    rules: Rules,
    *,
    numbering_from: Side = "me",
    bottom: Side = "me",
    names: tuple[str, str] = ("on roll", "opponent"),
    color: bool = False,
    width: int = 80,
    words: BoardWords = ENGLISH,
) -> str:
    """A board as lines of text, X the player on roll and O the opponent.

    Args:
        board: int8 [2, 26], the player on roll in row 0.
        rules: gives the geometry.
        numbering_from: whose point numbers are written along the edges.
        bottom: who sits below, with his home at the bottom right.
        names: what the lines below call X and O; cut to `LONGEST_NAME` characters.
        color: colour the checkers by ANSI codes.
        width: columns there are.
        words: those of another language.
    Returns:
        Lines of at most `width` columns (colour codes apart), without a newline at the end.
    Raises:
        PositionError: the board is not well formed, or the table does not fit the width.
    """
    checked = as_board(board, rules)
    seen, marks, shown_names = checked, MARKS, names
    if bottom == "opponent":
        seen, marks, shown_names = opponent_view(checked), MARKS[::-1], names[::-1]
    numbers = rules.opponent_point if numbering_from != bottom else np.arange(BAR + 1)
    middle = _middle(rules)
    upper, lower = _cells(seen, _UPPER, rules, marks), _cells(seen, _LOWER, rules, marks)
    left, right = _edges(seen, rules, marks, words)
    edge = len(f"X {words.off} 15 ")  # room beside the table for checkers borne off
    rule = " " * edge + "+" + "-" * (6 * CELL + 1) + middle.replace(" ", "-").replace("|", "+")
    rule += "-" * (6 * CELL + 1) + "+"
    lines = [_number_line(_UPPER, numbers, middle, edge), rule]
    body = [*zip(*upper, strict=True), None, *reversed(list(zip(*lower, strict=True)))]
    for place, cells in enumerate(body):
        bar = _bar_text(seen, place, rules, marks, words)
        lines.append(_body_line(cells or (" ",) * 12, bar, left[place].ljust(edge), right[place]))
    lines += [rule, _number_line(_LOWER, numbers, middle, edge)]
    lines = [*dedent("\n".join(lines)).split("\n"), *_legend(seen, rules, marks, shown_names, numbers, words)]
    widest = max(len(line) for line in lines)
    if widest > width:
        raise PositionError(f"the board needs {widest} columns, got {width}")
    text = "\n".join(lines)
    return _colored(text) if color else text


def _middle(rules: Rules) -> str:
    return "|   |" if rules.can_hit else "|"


def _cells(board: Boards, points: tuple[int, ...], rules: Rules, marks: tuple[str, str]) -> list[list[str]]:
    """For each point its five cells from the edge of the table inwards."""
    columns = []
    for point in points:
        mine, theirs = int(board[0, point]), int(board[1, rules.opponent_point[point]])
        mark, count = (marks[0], mine) if mine else (marks[1], theirs)
        column = [mark if level < count else " " for level in range(STACK)]
        if count > STACK:
            column[-1] = str(count)
        columns.append(column)
    return columns


def _edges(board: Boards, rules: Rules, marks: tuple[str, str], words: BoardWords) -> tuple[list[str], list[str]]:
    """Words beside each line of the table: the checkers borne off, next to their home."""
    left, right = [""] * (2 * STACK + 1), [""] * (2 * STACK + 1)
    right[-1] = f"{marks[0]} {words.off} {board[0, OFF]}"
    (right if _is_head_on(rules) else left)[0] = f"{marks[1]} {words.off} {board[1, OFF]}"
    return left, right


def _bar_text(board: Boards, place: int, rules: Rules, marks: tuple[str, str], words: BoardWords) -> str:
    """What stands in the middle of a line: the bar, each side's checkers in the half where they enter."""
    middle = _middle(rules)
    for row, line in ((0, STACK // 2), (1, STACK + 1 + STACK // 2)):
        if place == line and board[row, BAR]:
            return f"|{marks[row]}{board[row, BAR]:<2}|"
    return f"|{words.bar}|" if rules.can_hit and place == STACK else middle


def _body_line(cells: tuple[str, ...], bar: str, left: str, right: str) -> str:
    halves = ["".join(f"{cell:>{CELL - 1}} " for cell in half) for half in (cells[:6], cells[6:])]
    return f"{left}|{halves[0]} {bar}{halves[1]} |  {right}".rstrip()


def _number_line(points: tuple[int, ...], numbers: Points, middle: str, edge: int) -> str:
    halves = ["".join(f"{numbers[point]:>{CELL - 1}} " for point in half) for half in (points[:6], points[6:])]
    return (" " * (edge + 1) + halves[0] + " " + " " * len(middle) + halves[1]).rstrip()


def _legend(
    board: Boards, rules: Rules, marks: tuple[str, str], names: tuple[str, str], numbers: Points, words: BoardWords
) -> list[str]:
    """A line a side, the lower one first: pips, and its way and home in the numbers that are shown."""
    pips = pip_count(board)
    lines = []
    for row, points in enumerate((np.arange(BAR + 1), rules.opponent_point)):
        first, last, home = (int(numbers[points[place]]) for place in (HEAD, 1, HOME_HIGH))
        way = words.clockwise if row == 1 and _is_head_on(rules) else words.counter_clockwise
        data = {"mark": marks[row], "name": names[row][:LONGEST_NAME], "pips": int(pips[row]), "way": way}
        lines.append(words.side.format(**data, first=first, last=last, home=home))
    return lines


def _is_head_on(rules: Rules) -> bool:
    return int(rules.opponent_point[1]) == HEAD


def _colored(text: str) -> str:
    table, *legend = text.rsplit("\n", 2)
    for mark, code in _COLORS.items():
        table = table.replace(mark, f"{code}{mark}{_PLAIN}")
    return "\n".join([table, *legend])
