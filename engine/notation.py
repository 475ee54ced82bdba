"""Plays as text and back: `24/18 13/9*`, `bar/20`, `6/off`, `8/5(2)`, `pass`.

Points are counted by the mover, from 24 down to 1. Output has one form for each play: the shortest that no other play
of the same roll shares, and it shows every hit. Input may be written in more ways (see `parse_play`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, NamedTuple

from engine.board import Boards, as_board
from engine.dice import as_dice
from engine.errors import NotationError
from engine.legality import Move, MovesGoal, why_illegal
from engine.reason import move_text
from engine.rules import BAR, OFF, Rules
from engine.steps import Line, Step, dice_given, find_lines, has_board, head_limit, is_over, legal_set, play_steps

PASS = "pass"
_PASSES = frozenset(["", PASS, "no move", "no moves", "no play", "cannot move", "-"])
MAX_TEXT = 120
MAX_MOVES = 4
_FORMS = "plays are written such as 24/18 13/9*, bar/20, 6/off, 8/5(2) or pass"

_POINT = r"(?:bar|off|\d{1,2})"
_TOKEN = re.compile(rf"({_POINT}(?:/{_POINT}\*?)+)(?:\(([1-4])\))?(\*?)", re.ASCII)
_SEPARATORS = re.compile(r"\s*[/\-\u2010-\u2015\u2212\u2192]\s*")


def play_text(
    board: Boards, dice: Any, afterstate: Boards, rules: Rules, *, steps: tuple[Step, ...] | None = None
) -> str:
    """A legal play as text, such as `13/7*/5 6/4(2)`; `pass` when nothing moves.

    A checker that goes on is written with its first and last point, and with each point where it hits. The whole way is
    written where that fits another play too, and where two different dice bear a checker off (`5/3/off`: one die might
    do it as well).

    Args:
        board: int8 [2, 26] before the play, the mover in row 0.
        dice: two numbers from 1 to 6, in any order.
        afterstate: int8 [2, 26], rows not exchanged.
        rules: the exact variant.
        steps: what `play_steps` gave for this play, if it was asked before.
    Raises:
        PositionError: the board is not well formed.
        DiceError: the dice are not two numbers from 1 to 6.
        IllegalPlayError: the afterstate is not legal; `reason` says why.
    """
    roll = as_dice(dice)
    if steps is None:
        steps = play_steps(board, roll, afterstate, rules)
    if not steps:
        return PASS
    text = _steps_text(steps, lambda way: way[-1] == OFF and roll[0] != roll[1])
    moves = _read(text).moves
    return text if len(_fitting(board, roll, moves, rules)) == 1 else steps_text(steps)


def steps_text(steps: Iterable[Step]) -> str:
    """Steps as text with every point on the way, such as `24/18/13* 8/5(2)`."""
    return _steps_text(tuple(steps), lambda way: True)


def parse_play(text: str, board: Boards, dice: Any, rules: Rules, *, are_stars_complete: bool = False) -> Boards:
    """The afterstate of the one play that a text names.

    Read as well: moves in any order and split in any way, commas, spare spaces, capitals, `25` or `bar`, `0` or `off`,
    `-` for `/`, `(2)`, a way with or without its points between, hits without their star; `pass`, `no move`.

    Args:
        text: at most `MAX_TEXT` characters.
        board: int8 [2, 26] before the play, the mover in row 0.
        dice: two numbers from 1 to 6, in any order.
        rules: the exact variant.
        are_stars_complete: the writer marked every hit, so of plays that differ in hits only the one marked is meant.
    Returns:
        int8 [2, 26], rows not exchanged.
    Raises:
        NotationError: the text is no play, an illegal one (the message says why), or fits several (it names them).
        PositionError: the board is not well formed.
        DiceError: the dice are not two numbers from 1 to 6.
    """
    start, roll = as_board(board, rules), as_dice(dice)
    written = _read(text)
    plays = _fitting(start, roll, written.moves, rules)
    if not plays:
        reason = why_illegal(start, roll, written.moves, rules)
        raise NotationError(f"{text!r} is not a legal play of {roll[0]}-{roll[1]}: {reason}")
    marked = [line for line in plays if written.stars <= _hits(line.steps)]
    if not marked:
        points = ", ".join(str(point) for point in sorted(written.stars - _hits(plays[0].steps), reverse=True))
        raise NotationError(f"{text!r} marks a hit where there is none to make: on {points}")
    if len(marked) > 1 and are_stars_complete:
        marked = [line for line in marked if _hits(line.steps) == written.stars] or marked
    if len(marked) > 1:
        names = " or ".join(sorted(steps_text(line.steps) for line in marked))
        raise NotationError(f"{text!r} fits {len(marked)} plays of {roll[0]}-{roll[1]}, write {names}")
    return marked[0].board


def parse_moves(text: str) -> list[Move]:
    """The moves that a text writes, as pairs (start, end), whether they can be played or not.

    Args:
        text: a play as `parse_play` reads it; a pass has no moves.
    Raises:
        NotationError: the text is no play.
    """
    return _read(text).moves


class _Written(NamedTuple):
    """A text taken apart: moves from point to point, and the points marked as hit."""

    moves: list[Move]
    stars: frozenset[int]


def _read(text: str) -> _Written:
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        raise NotationError(f"a play is text of at most {MAX_TEXT} characters, got {str(text)[:40]!r}")
    plain = text.strip().lower()
    if " ".join(plain.split()) in _PASSES:
        return _Written([], frozenset())
    plain = re.sub(r"\s+(?=[(*])", "", _SEPARATORS.sub("/", plain))
    moves: list[Move] = []
    stars: set[int] = set()
    for word in re.split(r"[\s,;]+", plain.strip(" ,;")):
        token = _TOKEN.fullmatch(word)
        if token is None:
            raise NotationError(f"{word!r} is no move; {_FORMS}")
        points = (token[1] + token[3]).split("/")
        route = [_point(point, word) for point in points]
        stars.update(route[place] for place, point in enumerate(points) if point.endswith("*"))
        moves += list(pairwise(route)) * int(token[2] or 1)
    if len(moves) > MAX_MOVES:
        raise NotationError(f"{text!r} has {len(moves)} moves; a roll gives at most {MAX_MOVES}")
    return _Written(moves, frozenset(stars))


def _point(text: str, word: str) -> int:
    name = text.rstrip("*")
    point = {"bar": BAR, "off": OFF}.get(name)
    point = int(name) if point is None else point
    if point > BAR:
        raise NotationError(f"{word!r} names point {point}; points are 1 to 24, the bar is 25, off is 0")
    return point


def _fitting(board: Boards, roll: tuple[int, int], moves: list[Move], rules: Rules) -> list[Line]:
    """One line of steps for each legal afterstate that moves can mean."""
    legal = legal_set(board, roll, rules)
    if is_over(board) or not moves:
        return [Line((), (), board)] if has_board(legal, board) else []
    goal = MovesGoal(tuple(sorted(moves, reverse=True)))
    found: dict[bytes, Line] = {}
    for line in find_lines(board, dice_given(roll), goal, rules, head_limit(board, roll, rules)):
        key = line.board.tobytes()
        if key not in found and has_board(legal, line.board):
            found[key] = line
    return list(found.values())


def _hits(steps: Iterable[Step]) -> frozenset[int]:
    return frozenset(step.end for step in steps if step.is_hit)


def _steps_text(steps: tuple[Step, ...], is_whole: Callable[[list[int]], bool]) -> str:
    """Steps joined to ways; points between are left out unless hit on, or the way is to be written whole."""
    stars = set(_hits(steps))
    ways = _ways(steps)
    inner_stars = stars - {way[-1] for way in ways}  # a hit is shown once, at the end of a way if there is one
    shown: Counter[tuple[int, ...]] = Counter()
    for way in ways:
        inner = [point for point in way[1:-1] if point in inner_stars or is_whole(way)]
        shown[(way[0], *inner, way[-1])] += 1
    groups = []
    for route in sorted(shown, key=lambda route: (-route[0], route[-1], route)):
        words = [move_text(route[0])]
        for place, point in enumerate(route[1:], start=2):
            is_star = point in stars and (place == len(route) or point in inner_stars)
            stars -= {point} if is_star else set()
            words.append(move_text(point) + ("*" if is_star else ""))
        groups.append("/".join(words) + (f"({shown[route]})" if shown[route] > 1 else ""))
    return " ".join(groups)


def _ways(steps: tuple[Step, ...]) -> list[list[int]]:
    """Steps joined end to start, as far as each goes, from the highest point down."""
    left = sorted(((step.start, step.end) for step in steps), reverse=True)
    ways = []
    while left:
        way = list(left.pop(0))
        while (following := next((step for step in left if step[0] == way[-1]), None)) is not None:
            left.remove(following)
            way.append(following[1])
        ways.append(way)
    return ways
