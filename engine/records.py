"""Game records: one JSON-lines file per game, written while it is played.

Format `nardy-record`, version 1. UTF-8, one JSON object a line, each line ended by a newline.

Line 1 is the header:
    format    "nardy-record"                    version   1
    rules     rules text, as `str(Rules)`       enforce   "strict" or "claims"
    players   the two players' names            first     0 or 1 where there is no toss, otherwise null
    board     a start position [2][26], or null for the usual one
    dice      {"kind": "seed", "seed": S, "index": I}, {"kind": "typed"} or {"kind": "verifiable"}
    match     {"length", "next_first", "game_number", "score"} or null
    time      UTC, ISO 8601
Every other line is an event {"event": name, "by": player, ...fields, "time": UTC}: those of `engine.events.EVENTS`
(`by` is absent from a toss) and, with verifiable dice (`engine.fair_dice`),
    commitment  {"sha256": hex}                 before the nonces
    nonce       {"by": player, "nonce": text}   one of each player, before the first dice
    secret      {"secret": hex}                 after the last dice
Unknown header fields are kept and ignored; unknown events are an error.

The header is written to a temporary file, synced and renamed, so a record never exists without one. Every event is
appended, flushed and synced before the game goes on. A line without its newline was being written when the program
died: it is dropped with a `RecordWarning`, and cut off when the record is continued.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from engine.bounded_file import read_bounded
from engine.dice import as_dice
from engine.errors import NardyError, RecordError, RulesError, SessionError
from engine.events import EVENTS
from engine.match import Match
from engine.session import Session
from engine.whole_file import append_whole, write_whole

FORMAT = "nardy-record"
VERSION = 1
DICE_EVENTS = ("commitment", "nonce", "secret")
DICE_KINDS = ("seed", "typed", "verifiable")
MAX_BYTES = 64 * 1024 * 1024
MAX_NAME = 400

Clock = Callable[[], str]
Event = dict[str, Any]


class RecordWarning(UserWarning):
    """A record ended in a line that was not completely written."""


def utc_now() -> str:
    """The time now, as records write it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True, kw_only=True)
class Header:
    """What a record says before the first event; the fields are those of the module's docstring."""

    rules: str
    enforce: str = "strict"
    players: tuple[str, str] = ("player 1", "player 2")
    first: int | None = None
    board: list[list[int]] | None = None
    dice: Mapping[str, Any] = field(default_factory=lambda: {"kind": "typed"})
    match: Mapping[str, Any] | None = None
    time: str = ""

    def new_session(self) -> Session:
        """The game as it was before the first event."""
        return Session(self.rules, enforce=self.enforce, first=self.first, board=self.board)

    def new_match(self) -> Match:
        """The match that the game belongs to, before this game; one of no length where there is none.

        Raises:
            SessionError: what the header says of it is not valid.
        """
        said = self.match or {}
        if not isinstance(said, Mapping):
            raise SessionError(f"match must be an object or null, got {said!r}", "bad_value")
        known = {name: said[name] for name in ("length", "next_first", "score", "game_number") if name in said}
        return Match(self.rules, enforce=self.enforce, **known)

    def to_dict(self) -> Event:
        """The header line."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {"format": FORMAT, "version": VERSION, **values, "players": list(self.players)}


@dataclass(frozen=True, kw_only=True)
class Record:
    """A record as read: header, events, and how many bytes of a torn last line were dropped."""

    header: Header
    events: tuple[Event, ...]
    torn_bytes: int = 0

    def sessions(self) -> Iterator[tuple[Event | None, Session]]:
        """The game before its first event (None) and after each: one session object that moves on.

        Raises:
            RecordError: the game refuses an event; the message gives its line.
        """
        session = self.header.new_session()
        yield None, session
        for line, event in enumerate(self.events, start=2):
            if event["event"] in EVENTS:
                try:
                    session.apply(event)
                except NardyError as error:
                    raise RecordError(f"line {line} of the record does not fit the game: {error}") from error
            yield event, session

    def replay(self) -> Session:
        """The game as it stands after the last event. Raises RecordError as `sessions` does."""
        *_, (_, session) = self.sessions()
        return session


class RecordWriter:
    """Writes one game's record; every event is on the disk when `write` returns.

    Use `create` or `resume`.
    """

    def __init__(self, path: Path, clock: Clock, last_time: str) -> None:
        self.path = path
        self._clock = clock
        self._last_time = last_time

    @classmethod
    def create(cls, path: str | Path, header: Header, clock: Clock = utc_now) -> RecordWriter:
        """Begin a new record.

        Args:
            path: a file that does not exist yet; its folder must.
            header: its time is filled in from the clock if empty.
            clock: gives the time of each event.
        Raises:
            RecordError: the file exists or cannot be written.
        """
        path = Path(path)
        values = header.to_dict()
        values["time"] = header.time or clock()
        try:
            if path.exists():
                raise RecordError(f"record {path} exists already; continue it with --resume, or name another file")
            write_whole(path, _line(values))
            return cls(path, clock, values["time"])
        except OSError as error:
            raise RecordError(f"record {path} cannot be written: {error.strerror}") from error

    @classmethod
    def resume(cls, path: str | Path, clock: Clock = utc_now) -> tuple[RecordWriter, Record]:
        """Continue a record; a torn last line is cut off.

        Raises:
            RecordError: the file cannot be read or written, or is no record.
        """
        record = read_record(path)
        try:
            with Path(path).open("r+b") as file:
                file.seek(-record.torn_bytes, os.SEEK_END)
                file.truncate()
        except OSError as error:
            raise RecordError(f"record {path} cannot be written: {error.strerror}") from error
        times = [str(record.header.time), *(str(event.get("time", "")) for event in record.events)]
        return cls(Path(path), clock, max(times)), record

    def write(self, event: Mapping[str, Any]) -> None:
        """Append one event with its time. Raises RecordError when the disk does not take it.

        A clock that is set back repeats the last time: the order of a record never contradicts its times.
        """
        self._last_time = max(self._last_time, self._clock())
        if not self.path.exists():
            raise RecordError(f"record {self.path} is gone; a game cannot be written down from its middle")
        try:
            append_whole(self.path, _line({**event, "time": self._last_time}))
        except OSError as error:
            raise RecordError(f"record {self.path} cannot be written: {error.strerror}") from error


def read_record(path: str | Path) -> Record:
    """Read a record; warns with `RecordWarning` when a torn last line is dropped.

    Raises:
        RecordError: the file cannot be read, is no record, is of another version, or a line is not an event.
    """
    try:
        data = read_bounded(path, MAX_BYTES)
    except OSError as error:
        raise RecordError(f"record {path} cannot be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise RecordError(f"record {path} has more than {MAX_BYTES} bytes")
    return parse_record(data, str(path))


def parse_record(data: bytes, name: str = "record") -> Record:
    """`read_record` of bytes already read; `name` is what errors call it."""
    whole, newline, torn = data.rpartition(b"\n")
    if not newline:
        raise RecordError(f"{name} has no complete first line, so it is no record of a game")
    if torn:
        warnings.warn(f"{name} ends in a line not completely written; {len(torn)} bytes dropped", RecordWarning, 2)
    lines = whole.split(b"\n")
    header = _as_header(_json(lines[0], name, 1), name)
    events = tuple(_as_event(_json(line, name, number), name, number) for number, line in enumerate(lines[1:], 2))
    return Record(header=header, events=events, torn_bytes=len(torn))


def _line(values: Mapping[str, Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _json(line: bytes, name: str, number: int) -> Any:
    try:
        value = json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        raise RecordError(f"line {number} of {name} is not a line of JSON") from error
    if not isinstance(value, dict):
        raise RecordError(f"line {number} of {name} must be a JSON object, got {type(value).__name__}")
    return value


def _as_header(values: Mapping[str, Any], name: str) -> Header:
    if values.get("format") != FORMAT:
        raise RecordError(f"{name} is no game record: its first line must say format {FORMAT!r}")
    if values.get("version") != VERSION:
        raise RecordError(f"{name} has format version {values.get('version')!r}; this program reads {VERSION}")
    players, dice = values.get("players"), values.get("dice")
    if not (isinstance(players, list) and len(players) == 2 and all(_is_name(player) for player in players)):
        raise RecordError(f"{name} must name two players in printable text, got {str(players)[:80]!r}")
    if not isinstance(dice, dict) or dice.get("kind") not in DICE_KINDS:
        raise RecordError(f"{name} must say dice of kind {', '.join(DICE_KINDS)}, got {dice!r}")
    known = {key: values[key] for key in Header.__dataclass_fields__ if key in values}
    try:
        header = Header(**{**known, "players": (players[0], players[1])})
        header.new_session()
        header.new_match()
    except RulesError as error:
        raise RecordError(f"{name}: {error}") from error
    except (NardyError, TypeError) as error:
        raise RecordError(f"the header of {name} is not valid: {error}") from error
    return header


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MAX_NAME and value.isprintable()


def _as_event(values: Event, name: str, number: int) -> Event:
    kind = values.get("event")
    if not isinstance(kind, str) or (kind not in EVENTS and kind not in DICE_EVENTS):
        raise RecordError(f"line {number} of {name} has unknown event {kind!r}")
    return values


def thrown(events: Sequence[Event]) -> list[tuple[int, Event]]:
    """The events that threw dice, each with its line in the record (the first event is on line 2)."""
    found = [(line, event) for line, event in enumerate(events, start=2) if event["event"] in ("toss", "roll")]
    for line, event in found:
        try:
            as_dice(event.get("dice"))
        except NardyError as error:
            raise RecordError(f"line {line} of the record: {error}") from error
    return found
