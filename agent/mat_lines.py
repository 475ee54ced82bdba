"""The lines of a `.mat` file taken apart: headers, games, and who did what; nothing is judged here.

The form has no written standard. Read are the files of Jellyfish, GNU Backgammon, eXtreme Gammon and GammonView, with
any line ends, tabs for spaces, a decimal comma, and text in UTF-8, UTF-16, Windows-1252 or, where whole words are not
ASCII, Windows-1251. What a file may hold is bounded, so that no file can exhaust memory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from engine.bounded_file import read_bounded
from engine.errors import RecordError

MAX_BYTES = 8 * 1024 * 1024
MAX_LINE = 1000
MAX_ACTIONS = 100_000
MAX_GAMES = 10_000
MAX_SCORE_LINE = 250
MAX_HEADERS = 60
MAX_NOTES = 50
MAX_NAME = 100
MAX_HEADER = 400

_RIGHT_AFTER = 8  # spaces between a turn's number and an action of the right-hand player
_RIGHT_COLUMN = 20  # spaces before an action of his on a line without a number
_HEADER = re.compile(r';?\s*\[\s*([A-Za-z][\w ]{0,39}?)\s+"([^"]*)"\s*\]', re.ASCII)
_LENGTH = re.compile(r"(\d{1,5})\s*-?points?\s+match|match\s+(?:of|to)\s+(\d{1,5})", re.ASCII | re.IGNORECASE)
_GAME = re.compile(r"\s*game\s+(\d{1,6})\b", re.ASCII | re.IGNORECASE)
_SCORES = re.compile(
    r"\s*(\S.*?|)\s*:\s*(\d{1,6}(?:[.,]\d{1,3})?)(?:\s*\([^()]*\))?(?:\s{2,}|\t\s*)"
    r"(\S.*?|)\s*:\s*(\d{1,6}(?:[.,]\d{1,3})?)(?:\s*\([^()]*\))?\s*"  # behind the points: (Crawford)
)
_DIALECT = re.compile(r"\s*;\s*nardy-mat\b.*\blong nardy\b", re.ASCII | re.IGNORECASE)
_WORD_1251 = re.compile(rb"[\xa8\xb8\xc0-\xff]{3}")  # no language of Windows-1252 has three such letters in a row
_NAMES = re.compile(r"\s*(\S.*?)(?:\s{2,}|\t\s*)(\S.*?)\s*")
_TURN = re.compile(r"\s*(\d{1,6})\s*\)(.*)", re.ASCII | re.DOTALL)
_WORDS = {
    "double": r"doubles?|redoubles?",
    "beaver": r"beavers?|raccoons?",
    "take": r"takes?|accepts?",
    "drop": r"drops?|pass(?:es)?|rejects?",
    "resign": r"resign(?:s|ed)?|forfeits?|los(?:t|es)\s+on\s+time",
    "win": r"wins?",
    "other": r"illegal",
}
_ACTION = re.compile(
    r"(?<!\S)(?:(?P<roll>[1-6][1-6])(?=\s*:|\s|$)(?!\s*/)\s*:?|"
    + "|".join(rf"(?P<{kind}>(?:{words})\b)" for kind, words in _WORDS.items())
    + ")",
    re.ASCII | re.IGNORECASE,
)
_NUMBER = re.compile(r"\d{1,7}(?:[.,]\d{1,3})?", re.ASCII)


class Action(NamedTuple):
    """What one side of a line says.

    Attributes:
        side: 0 the left column, 1 the right one.
        kind: `roll`, `double`, `beaver`, `take`, `drop`, `resign`, `win`, or `other` for text that is none of these.
        text: the play behind a roll, else the words.
        dice: the two digits of a roll.
        value: of the cube or of a win, 0 where none is written.
        line: number of the line, from 1.
    """

    side: int
    kind: str
    text: str
    dice: str
    value: float
    line: int


@dataclass(kw_only=True)
class RawGame:
    """One game as written: its number, what the score line says, and the actions in their order."""

    number: int
    names: tuple[str, str] | None = None
    score: tuple[float, float] | None = None
    actions: list[Action] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(kw_only=True)
class RawMatch:
    """A file as written; `length` is None for a money session or where nothing is said.

    Attributes:
        is_long: whether its first line names the dialect for long nardy.
    """

    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = None
    is_long: bool = False
    games: list[RawGame] = field(default_factory=list)


def read_bytes(path: str | Path) -> bytes:
    """The bytes of a match file, at most one more than `read_lines` takes.

    Raises:
        RecordError: it cannot be read.
    """
    try:
        return read_bounded(path, MAX_BYTES)
    except OSError as error:
        raise RecordError(f"match file {path} cannot be read: {error.strerror}") from error


def read_lines(data: bytes, name: str = "match file") -> RawMatch:
    """The parts of a `.mat` file.

    Args:
        data: the bytes of the file.
        name: what errors call it.
    Raises:
        RecordError: it is no text, has no game in it, or exceeds a bound.
    """
    if len(data) > MAX_BYTES:
        raise RecordError(f"match file {name} has more than {MAX_BYTES} bytes")
    match = RawMatch()
    actions = 0
    for number, line in enumerate(re.split(r"\r\n|\r|\n", _decoded(data, name)), start=1):
        if len(line) > MAX_LINE:
            raise RecordError(f"line {number} of {name} has {len(line)} characters, more than {MAX_LINE}")
        if not line.strip():
            continue
        if line.lstrip()[0] in ";[":
            match.is_long |= _DIALECT.match(line) is not None
            _note_header(line, match)
            continue
        found = _read_line(line, number, match)
        actions += len(found)
        if actions > MAX_ACTIONS:
            raise RecordError(f"{name} has more than {MAX_ACTIONS} turns")
        if len(match.games) > MAX_GAMES:
            raise RecordError(f"{name} has more than {MAX_GAMES} games")
        if found:
            match.games[-1].actions += found
    if not match.games:
        raise RecordError(f"{name} is no match file: it has no line such as 'Game 1' and no numbered turns")
    return match


def as_number(text: str) -> float:
    """A number with a decimal point or comma."""
    return float(text.replace(",", "."))


def _decoded(data: bytes, name: str) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", errors="replace")
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("cp1251" if _WORD_1251.search(data) else "cp1252", errors="replace")
    if "\0" in text:
        raise RecordError(f"{name} is no text file")
    return text.removesuffix("\x1a")  # the end of a file of DOS


def _note_header(line: str, match: RawMatch) -> None:
    found = _HEADER.match(line.strip())
    if found and len(match.headers) < MAX_HEADERS:
        match.headers.setdefault(found[1], _shown(found[2], MAX_HEADER))


def _shown(text: str, longest: int = MAX_NAME) -> str:
    """Text of a file without what a terminal would obey."""
    return "".join(c for c in text.strip() if c.isprintable())[:longest]


def _read_line(line: str, number: int, match: RawMatch) -> list[Action]:
    """The actions of one line; lines that open a match or a game change `match` instead."""
    if match.games and _note_scores(line, match.games[-1]):  # first, for a player may be called `Game 2` or `1) x`
        return []
    begun = _GAME.match(line)
    if begun:
        match.games.append(RawGame(number=int(begun[1])))
        return []
    turn = _TURN.fullmatch(line)
    if not match.games:
        length = _LENGTH.search(line)
        if length:
            match.length = int(length[1] or length[2]) or None
        if turn is None or _ACTION.search(turn[2]) is None:
            return []
        match.games.append(RawGame(number=1))  # a single game, exported without its heading
    game = match.games[-1]
    if turn is None and _note_names(line, game):
        return []
    found = _actions(turn[2] if turn else line, number, is_numbered=turn is not None)
    if not found and len(game.notes) < MAX_NOTES:
        game.notes.append(f"line {number} is not understood and left out: {_shown(line)[:60]!r}")
    return found


def _note_scores(line: str, game: RawGame) -> bool:
    """Whether a line is the score line of a game, which gives its names and points."""
    if game.actions or game.score is not None or len(line) > MAX_SCORE_LINE:
        return False
    scores = _SCORES.fullmatch(line)
    if scores:
        game.names = (_shown(scores[1]), _shown(scores[3]))
        game.score = (as_number(scores[2]), as_number(scores[4]))
    return scores is not None


def _note_names(line: str, game: RawGame) -> bool:
    """Whether a line in the place of the score line holds two names without points."""
    if game.actions or game.score is not None or len(line) > MAX_SCORE_LINE:
        return False
    names = None if _ACTION.search(line) else _NAMES.fullmatch(line)
    if names:
        game.names = (_shown(names[1]), _shown(names[2]))
    return names is not None


def _actions(text: str, line: int, *, is_numbered: bool) -> list[Action]:
    marks = [mark for mark in _ACTION.finditer(text) if not _is_passed_roll(mark, text)]
    if not marks:
        plain = _shown(text)
        return [Action(_side(text, is_numbered), "other", plain, "", 0.0, line)] if is_numbered and plain else []
    lead = text[: marks[0].start()]
    side = _side(lead, is_numbered)
    found = []
    if marks[0]["roll"] and lead.strip():  # a cell that is not understood stands before the first roll
        if not is_numbered:
            return []
        found.append(Action(side, "other", _shown(lead), "", 0.0, line))
        side = 1
    for place, mark in enumerate(marks):
        end = marks[place + 1].start() if place + 1 < len(marks) else len(text)
        rest, words = _parted(text[mark.end() : end], mark)
        found.append(_action(mark, rest, side, line))
        if words:
            found.append(Action(1, "other", _shown(words), "", 0.0, line))
        side = 1  # what follows on a line is the right-hand player's, or a win
    return found


def _parted(rest: str, mark: re.Match[str]) -> tuple[str, str]:
    """A play, and words of the other column that are none of ours, such as names of actions not known here."""
    parts = re.split(r"\s{3,}|\t", rest.rstrip(), maxsplit=1) if mark["roll"] else []
    if len(parts) < 2 or not parts[0].strip() or re.search(r"\d", parts[1]):
        return rest, ""
    return parts[0], parts[1]


def _is_passed_roll(mark: re.Match[str], text: str) -> bool:
    """Whether a word that would drop a cube is the `pass` behind a roll."""
    before = text[max(mark.start() - 8, 0) : mark.start()]
    return mark["drop"] is not None and re.search(r"[1-6][1-6]\s*:?\s{0,2}$", before) is not None


def _side(lead: str, is_numbered: bool) -> int:
    lead = lead[: len(lead) - len(lead.lstrip())]
    if "\t" in lead:
        return int(lead.count("\t") >= 2)
    return int(len(lead) >= (_RIGHT_AFTER if is_numbered else _RIGHT_COLUMN))


def _action(mark: re.Match[str], rest: str, side: int, line: int) -> Action:
    kind = str(mark.lastgroup)
    number = _NUMBER.search(rest) if kind in ("double", "beaver", "win") else None
    value = as_number(number[0]) if number else 0.0
    text = _shown(rest) if kind == "roll" else _shown(mark[0] + rest)
    return Action(side, kind, text, mark["roll"] or "", value, line)
