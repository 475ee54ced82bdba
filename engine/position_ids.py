"""Positions as text and back: GNUBG position ID (both games), XGID (short nardy), JSON rows.

Source: CONVENTIONS.md A.6 of the project; GNU Backgammon manual, "A technical description of the Position ID"; eXtreme
Gammon manual, p. 146. Long nardy has no ID of its own: its rows are written with the bits of the GNUBG ID.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.board import Boards, as_boards
from engine.dice import Roll
from engine.errors import PositionError
from engine.rules import BAR, CHECKERS, OFF, SLOTS, Rules

MAX_TEXT = 1000
_FORMS = "positions are given as start, a GNUBG position ID (14 characters), an XGID, or JSON rows [[26],[26]]"

_ID_LENGTH = 14
_ID_BITS = 80
_ID_PATTERN = re.compile(r"[A-Za-z0-9+/]{14}", re.ASCII)
_ID_AND_MATCH = re.compile(r"[A-Za-z0-9+/]{14}:[A-Za-z0-9+/]{12}", re.ASCII)

XGID_PREFIX = "XGID="
_LEVELS = ".ABCDEFGHIJKLMNOP"  # a letter's place is its number of checkers
_XGID_POINTS = re.compile(r"[a-p-][A-Pa-p-]{24}[A-P-]", re.ASCII)
_XGID_DICE = re.compile(r"00|[DBR]|[1-6]{2}", re.ASCII)
_NUMBER = re.compile(r"0|-?[1-9]\d{0,4}", re.ASCII)
_CUBE_ACTIONS = {"D": "a double is offered", "B": "a beaver is offered", "R": "a raccoon is offered"}


def gnubg_id(board: Boards) -> str:
    """The 14 characters of a board's GNUBG position ID; the side NOT on roll is written first.

    Args:
        board: int8 [2, 26], the player on roll in row 0. Checkers borne off are what is missing to 15.
    """
    bits = "".join("1" * int(count) + "0" for row in (board[1], board[0]) for count in row[OFF + 1 :])
    number = int(bits.ljust(_ID_BITS, "0")[::-1], 2)  # the first bit is the lowest
    return base64.b64encode(number.to_bytes(_ID_BITS // 8, "little")).decode("ascii")[:_ID_LENGTH]


def board_from_gnubg_id(text: str, rules: Rules) -> Boards:
    """The board of a GNUBG position ID.

    Returns:
        int8 [2, 26], the player on roll in row 0.
    Raises:
        PositionError: the text is no such ID, or its board is not well formed under the rules.
    """
    if not isinstance(text, str) or not _ID_PATTERN.fullmatch(text):
        raise PositionError(f"a GNUBG position ID has 14 characters of A-Z a-z 0-9 + /, got {str(text)[:40]!r}")
    try:
        number = int.from_bytes(base64.b64decode(text + "==", validate=True), "little")
    except binascii.Error as error:
        raise PositionError(f"{text!r} is no GNUBG position ID: {error}") from error
    bits = f"{number:0{_ID_BITS}b}"[::-1]
    runs = bits.split("0")[: 2 * BAR]
    if len(runs) < 2 * BAR or "1" in bits[len("0".join(runs)) :]:
        raise PositionError(f"{text!r} is no GNUBG position ID: its bits do not describe 2 x 25 points")
    board = np.zeros((2, SLOTS), dtype=np.int64)
    for row, points in ((1, runs[:BAR]), (0, runs[BAR:])):
        board[row, OFF + 1 :] = [len(run) for run in points]
    _bear_off_the_rest(board, text)
    checked = as_boards(board, rules)
    if gnubg_id(checked) != text:
        raise PositionError(f"{text!r} is no GNUBG position ID; the nearest one is {gnubg_id(checked)}")
    return checked


def _bear_off_the_rest(board: Any, text: str) -> None:
    for row, name in ((0, "on roll"), (1, "not on roll")):
        total = int(board[row].sum())
        if total > CHECKERS:
            raise PositionError(f"{text!r} gives the player {name} {total} checkers, at most 15 are allowed")
        board[row, OFF] = CHECKERS - total


@dataclass(frozen=True, kw_only=True)
class Xgid:
    """An XGID with every field kept as it was written; `lower` is the player whose points are counted.

    Attributes:
        points: 26 characters: the upper player's bar, points 1..24 as the lower player counts, the lower player's bar.
        cube_log2: the cube shows two to this power.
        cube_owner: 1 the lower player, 0 nobody, -1 the upper player.
        turn: 1 the lower player is on roll, -1 the upper.
        dice: two digits, `00` before the roll, or `D` `B` `R` for an offered double, beaver, raccoon.
        crawford: 1 in a match's Crawford game; in a money game bit 1 Jacoby, bit 2 beavers.
        match_length: 0 for a money game.
        max_cube_log2: limit of the cube.
    """

    points: str
    cube_log2: int
    cube_owner: int
    turn: int
    dice: str
    score_lower: int
    score_upper: int
    crawford: int
    match_length: int
    max_cube_log2: int

    def board(self, rules: Rules) -> Boards:
        """int8 [2, 26], the player on roll in row 0.

        Raises:
            PositionError: the rules are not those of short nardy, or the board is not well formed.
        """
        if not rules.can_hit:
            raise PositionError(f"an XGID describes short nardy, the rules are {rules}; {_FORMS}")
        lower, upper = np.zeros((2, SLOTS), dtype=np.int64)
        for place, letter in enumerate(self.points):
            if letter.isupper():
                lower[place] = _LEVELS.index(letter)
            elif letter != "-":
                upper[BAR - place] = _LEVELS.index(letter.upper())
        board = np.stack([lower, upper] if self.turn == 1 else [upper, lower])
        _bear_off_the_rest(board, format_xgid(self))
        return as_boards(board, rules)

    @property
    def roll(self) -> Roll | None:
        """The dice thrown, or None before the roll and while a cube action is open."""
        return (int(self.dice[0]), int(self.dice[1])) if self.dice.isdigit() and self.dice != "00" else None

    def notes(self) -> tuple[str, ...]:
        """What the XGID says beyond board and dice, seen by the player on roll, and that it is ignored."""
        owner = {0: "centred", self.turn: "owned by the player on roll"}.get(self.cube_owner, "owned by the opponent")
        said = [f"cube {2**self.cube_log2} {owner}"]
        if self.dice in _CUBE_ACTIONS:
            said.append(_CUBE_ACTIONS[self.dice])
        if self.match_length:
            scores = (self.score_lower, self.score_upper)[:: self.turn]
            said.append(f"match to {self.match_length}, score {scores[0]}-{scores[1]}")
        return (", ".join(said) + ": kept and ignored, plays are judged without a cube",)


_XGID_RANGES = {
    "cube_log2": (0, 30),
    "cube_owner": (-1, 1),
    "turn": (-1, 1),
    "score_lower": (0, 99999),
    "score_upper": (0, 99999),
    "crawford": (0, 3),
    "match_length": (0, 99999),
    "max_cube_log2": (0, 30),
}


def parse_xgid(text: str) -> Xgid:
    """An XGID taken apart; `format_xgid` gives the same text back.

    Args:
        text: with or without `XGID=` in front.
    Raises:
        PositionError: a field is missing or outside its range.
    """
    parts = text.removeprefix(XGID_PREFIX).split(":") if isinstance(text, str) and len(text) <= MAX_TEXT else []
    names = list(Xgid.__dataclass_fields__)
    if len(parts) != len(names):
        raise PositionError(f"an XGID has {len(names)} fields divided by ':', got {len(parts)} in {str(text)[:80]!r}")
    given: dict[str, Any] = dict(zip(names, parts, strict=True))
    if not _XGID_POINTS.fullmatch(given["points"]):
        raise PositionError(
            "an XGID begins with 26 characters A-P, a-p or '-', the first no capital and the last no small letter, "
            f"got {given['points'][:40]!r}"
        )
    if not _XGID_DICE.fullmatch(given["dice"]):
        raise PositionError(f"dice of an XGID are 00, two digits 1 to 6, D, B or R, got {given['dice'][:40]!r}")
    for name, (low, high) in _XGID_RANGES.items():
        number = int(given[name]) if _NUMBER.fullmatch(given[name]) else None
        if number is None or not low <= number <= high or (name == "turn" and number == 0):
            allowed = "1 or -1" if name == "turn" else f"{low} to {high}"
            raise PositionError(f"{name} of an XGID must be {allowed}, got {given[name][:40]!r}")
        given[name] = number
    return Xgid(**given)


def format_xgid(xgid: Xgid) -> str:
    """The text of an XGID, `XGID=` in front."""
    return XGID_PREFIX + ":".join(str(getattr(xgid, name)) for name in Xgid.__dataclass_fields__)


def xgid_of(board: Boards, dice: Roll | None = None) -> Xgid:
    """A short nardy board as an XGID of a money game with a centred cube; the player on roll is the lower one.

    Args:
        board: int8 [2, 26], the player on roll in row 0.
        dice: the roll, or None before it.
    """
    upper = board[1, ::-1]  # his bar comes first, his 24 is my 1
    points = [_LEVELS[board[0, place]] if place > OFF and board[0, place] else "-" for place in range(SLOTS)]
    for place in range(BAR):
        if upper[place]:
            points[place] = _LEVELS[upper[place]].lower()
    roll = "00" if dice is None else f"{dice[0]}{dice[1]}"
    return Xgid(
        points="".join(points),
        cube_log2=0,
        cube_owner=0,
        turn=1,
        dice=roll,
        score_lower=0,
        score_upper=0,
        crawford=0,
        match_length=0,
        max_cube_log2=10,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class Position:
    """What a text or value was understood to be.

    Attributes:
        board: int8 [2, 26], the player on roll in row 0.
        dice: the roll that the text carries (XGID only), or None.
        source: `start`, `gnubg_id`, `xgid` or `rows`.
        echo: the same position as text that `parse_position` reads.
        notes: what was read and is ignored, one sentence each.
        xgid: every field, where the source is one.
    """

    board: Boards
    dice: Roll | None = None
    source: str
    echo: str
    notes: tuple[str, ...] = ()
    xgid: Xgid | None = None


def parse_position(text: Any, rules: Rules) -> Position:
    """A position given as `start`, GNUBG position ID, XGID (short nardy), or rows.

    Args:
        text: text of at most `MAX_TEXT` characters; rows also as lists or an array [2, 26].
        rules: the exact variant.
    Raises:
        PositionError: none of these forms, a position of the other game, or a board that is not well formed.
    """
    if not isinstance(text, str):
        return _position_from_rows(text, rules)
    plain = text.strip()
    if len(plain) > MAX_TEXT:
        raise PositionError(f"a position is text of at most {MAX_TEXT} characters, got {len(plain)}")
    if plain.lower() == "start":
        return Position(board=rules.start_board(), source="start", echo="start")
    if plain.startswith("["):
        try:
            rows = json.loads(plain)
        except (ValueError, RecursionError) as error:
            raise PositionError(f"rows are not valid JSON: {plain[:40]!r}; {_FORMS}") from error
        return _position_from_rows(rows, rules)
    if _ID_AND_MATCH.fullmatch(plain):
        given = parse_position(plain[:_ID_LENGTH], rules)
        return replace(given, notes=("the match ID, with its dice and cube, is ignored",))
    if ":" in plain or plain.upper().startswith(XGID_PREFIX):
        xgid = parse_xgid(XGID_PREFIX + plain[5:] if plain.upper().startswith(XGID_PREFIX) else plain)
        return Position(
            board=xgid.board(rules),
            dice=xgid.roll,
            source="xgid",
            echo=format_xgid(xgid),
            notes=xgid.notes(),
            xgid=xgid,
        )
    if not _ID_PATTERN.fullmatch(plain):
        raise PositionError(f"{plain[:40]!r} is no position; {_FORMS}")
    return Position(board=board_from_gnubg_id(plain, rules), source="gnubg_id", echo=plain)


def _position_from_rows(rows: Any, rules: Rules) -> Position:
    given = rows.tolist() if isinstance(rows, np.ndarray) else rows
    is_pair = isinstance(given, list | tuple) and len(given) == 2
    if not is_pair or not all(isinstance(row, list | tuple) and len(row) == SLOTS for row in given):
        raise PositionError(f"rows must be two lists of 26 whole numbers, got {str(rows)[:40]!r}; {_FORMS}")
    for count in (count for row in given for count in row):
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 0 <= count <= CHECKERS:
            raise PositionError(f"a point holds 0 to 15 checkers, got {str(count)[:40]!r}")
    board = as_boards([[int(count) for count in row] for row in given], rules)
    return Position(board=board, source="rows", echo=json.dumps(board.tolist(), separators=(",", ":")))
