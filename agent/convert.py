"""A position from one form of text into the others, with what each form cannot hold and what was lost on the way.

Forms: `gnubg` (GNUBG position ID), `xgid` (short nardy), `rows` (JSON [[26],[26]]), `counts`
(`me{24:2,13:5} opp{24:15}`, checkers not listed are borne off) and `board` (the drawing of `nardy board`). All are
read and written; a drawing is read only if it is exactly what would be drawn again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from textwrap import dedent
from types import MappingProxyType
from typing import Any

import numpy as np

from engine.board import Boards, as_boards
from engine.dice import Roll, as_dice
from engine.digits import whole_number
from engine.drawing import MARKS, STACK, draw_board
from engine.errors import DiceError, PositionError
from engine.position_ids import Position, format_xgid, gnubg_id, parse_position, xgid_of
from engine.rules import BAR, CHECKERS, OFF, SLOTS, Rules

MAX_TEXT = 10_000
DICE, CUBE, SCORE, SIDE, RULES = "dice", "cube", "match score", "which side of the table is on roll", "rules"
# What each form has no room for, whatever is converted.
CANNOT_HOLD = MappingProxyType(
    {
        "gnubg": (DICE, CUBE, SCORE, SIDE, RULES),
        "xgid": ("long nardy", RULES),
        "rows": (DICE, CUBE, SCORE, SIDE, RULES),
        "counts": (DICE, CUBE, SCORE, SIDE, RULES),
        "board": (DICE, CUBE, SCORE, SIDE, RULES),
    }
)
FORMS = tuple(CANNOT_HOLD)
_MADE_UP = "made up: cube 1 centred, money game, the lower side on roll"
_COUNTS = re.compile(r"\s*me\{([\d:,\s]*)\}\s*opp\{([\d:,\s]*)\}\s*", re.ASCII)
_COUNT = re.compile(r"\s*(\d{1,2})\s*:\s*(\d{1,2})\s*", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Form:
    """A position in one form.

    Attributes:
        name: one of `FORMS`.
        text: the position, or None where the form has no such game.
        cannot_hold: what the form has no room for at all.
        lost: what was given and is not in the text, or was made up for it.
    """

    name: str
    text: str | None
    cannot_hold: tuple[str, ...]
    lost: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Conversion:
    """A position as it was understood, and in every form."""

    rules: Rules
    position: Position
    dice: Roll | None
    forms: tuple[Form, ...]

    def form(self, name: str) -> Form:
        """One form.

        Raises:
            PositionError: an unknown form, or one that has no such game.
        """
        found = next((form for form in self.forms if form.name == name), None)
        if found is None:
            raise PositionError(f"a form is {', '.join(FORMS)}, got {name[:40]!r}")
        if found.text is None:
            raise PositionError(f"{name} cannot hold {', '.join(found.cannot_hold)}; the rules are {self.rules}")
        return found

    def to_dict(self) -> dict[str, Any]:
        """The conversion as JSON values."""
        return {
            "rules": str(self.rules),
            "source": self.position.source,
            "board": self.position.board.tolist(),
            "dice": None if self.dice is None else list(self.dice),
            "forms": {
                form.name: {"text": form.text, "cannot_hold": list(form.cannot_hold), "lost": list(form.lost)}
                for form in self.forms
            },
        }


def convert(text: str, rules: Rules, dice: Any = None) -> Conversion:
    """A position in every form.

    Args:
        text: `start` or any of the forms.
        rules: the exact variant.
        dice: the roll, or None for the one that the text holds.
    Raises:
        PositionError: text in none of the forms.
        DiceError: dice that are none, or disagree with those of the text.
    """
    position = read_any(text, rules)
    roll = position.dice if dice is None else as_dice(dice)
    if roll is not None and position.dice is not None and sorted(roll) != sorted(position.dice):
        stated = "".join(map(str, position.dice))
        raise DiceError(f"dice {roll[0]}{roll[1]} disagree with the position, which says {stated}")
    forms = tuple(_form(name, position, roll, rules) for name in FORMS)
    return Conversion(rules=rules, position=position, dice=roll, forms=forms)


def read_any(text: str, rules: Rules) -> Position:
    """A position in any form, drawings and counts too.

    Raises:
        PositionError: text in none of the forms.
    """
    if len(text) > MAX_TEXT:
        raise PositionError(f"a position is text of at most {MAX_TEXT} characters, got {len(text)}")
    if "{" in text:
        return _position(_read_counts(text, rules), "counts", counts_text)
    if "+--" in text:
        return _position(_read_board(text, rules), "board", counts_text)
    return parse_position(text, rules)


def counts_text(board: Boards) -> str:
    """`me{24:2,13:5} opp{..}` of a board int8 [2, 26], highest index first; checkers borne off are left out."""
    rows = [",".join(f"{i}:{int(row[i])}" for i in range(BAR, OFF, -1) if row[i]) for row in board]
    return f"me{{{rows[0]}}} opp{{{rows[1]}}}"


def _position(board: Boards, source: str, echo: Callable[[Boards], str]) -> Position:
    return Position(board=board, source=source, echo=echo(board))


def _form(name: str, position: Position, dice: Roll | None, rules: Rules) -> Form:
    text = _written(name, position, dice, rules)
    return Form(name=name, text=text, cannot_hold=CANNOT_HOLD[name], lost=_lost(name, position, dice))


def _written(name: str, position: Position, dice: Roll | None, rules: Rules) -> str | None:
    board = position.board
    if name == "xgid":
        if not rules.can_hit:
            return None
        xgid = xgid_of(board, dice) if position.xgid is None else position.xgid
        if position.xgid is not None and dice is not None and xgid.roll is None:
            xgid = replace(xgid, dice=f"{dice[0]}{dice[1]}")
        return format_xgid(xgid)
    if name == "rows":
        return json.dumps(board.tolist(), separators=(",", ":"))
    if name == "board":
        return draw_board(board, rules)
    return gnubg_id(board) if name == "gnubg" else counts_text(board)


def _lost(name: str, position: Position, dice: Roll | None) -> tuple[str, ...]:
    xgid = position.xgid
    ignored = position.notes if xgid is None else ()
    if name == "xgid":
        return () if xgid is not None else (_MADE_UP, *ignored)
    lost = [*ignored] if dice is None else [*ignored, f"dice {dice[0]}-{dice[1]}"]
    if xgid is not None:
        lost += [note.partition(":")[0] for note in xgid.notes()]
        lost += ["that the upper side is on roll"] if xgid.turn == -1 else []
    return tuple(lost)


def _read_counts(text: str, rules: Rules) -> Boards:
    match = _COUNTS.fullmatch(text)
    if match is None:
        raise PositionError(f"counts are written me{{24:2,13:5}} opp{{24:15}}, got {text[:60]!r}")
    board = np.zeros((2, SLOTS), dtype=np.int64)
    for row, part in enumerate(match.groups()):
        for entry in filter(str.strip, part.split(",")):
            found = _COUNT.fullmatch(entry)
            if found is None or not OFF < int(found[1]) <= BAR:
                raise PositionError(f"a count is INDEX:CHECKERS with an index from 1 to 25, got {entry.strip()[:40]!r}")
            board[row, int(found[1])] += int(found[2])
    return _completed(board, rules)


def _read_board(text: str, rules: Rules) -> Boards:
    """A drawing as `draw_board` makes it, without colours; the names below it may be any."""
    lines = dedent(text.replace("\r", "")).strip("\n").split("\n")
    board = np.zeros((2, SLOTS), dtype=np.int64)
    height = 2 * STACK + 1
    if len(lines) >= height + 4:
        upper, lower = lines[2 : 2 + STACK], lines[1 + height : 1 + height - STACK : -1]
        for numbers, rows in ((lines[0], upper), (lines[height + 3], lower)):
            for found in re.finditer(r"\d+", numbers, re.ASCII):
                _add_stack(
                    board,
                    whole_number(found[0]) or 0,
                    [row[found.end() - 3 : found.end()].strip() for row in rows],
                    rules,
                )
        for mark, count in re.findall(r"\|([XO])(\d+) *\|", text, re.ASCII):
            board[MARKS.index(mark), BAR] = whole_number(count) or 0
    read = _completed(board, rules)
    drawn = dedent(draw_board(read, rules)).split("\n")[: height + 4]
    if [line.rstrip() for line in lines[: height + 4]] != [line.rstrip() for line in drawn]:
        raise PositionError("the drawing is not one that nardy board makes for these rules")
    return read


def _add_stack(board: Any, point: int, cells: list[str], rules: Rules) -> None:
    marks = [cell for cell in cells if cell in MARKS]
    counts = [count for count in map(whole_number, cells) if count is not None]
    if marks and 1 <= point < BAR:
        row = MARKS.index(marks[0])
        board[row, point if row == 0 else rules.opponent_point[point]] = counts[0] if counts else len(marks)


def _completed(board: Any, rules: Rules) -> Boards:
    """The board with what is missing borne off."""
    for row, name in enumerate(("the player on roll", "the opponent")):
        if board[row].sum() > CHECKERS:
            raise PositionError(f"each side has 15 checkers, {name} has {int(board[row].sum())}")
        board[row, OFF] = CHECKERS - board[row].sum()
    return as_boards(board, rules)
