"""A results file: JSON lines, one a finished chunk of a match, so that a tournament can be resumed and rated later.

A line counts once it is complete: it is appended in one write and flushed to disk, and a torn last line (from a crash
while writing) is cut off before the next one is added. Each line ends in the CRC-32 of the rest of it; lines written
without one are taken too.
"""

from __future__ import annotations

import json
import math
import os
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from agent.lockstep import FORFEIT_LOST, Chunk, GameFault
from agent.match_result import MatchResult, joined
from engine.bounded_file import read_bounded
from engine.errors import RecordError
from engine.rules import Rules, get_rules
from engine.whole_file import append_whole

FORMAT = "nardy-arena-1"
CHECKSUM = "crc32"
MAX_BYTES = 2**30


@dataclass(frozen=True, kw_only=True)
class MatchKey:
    """What makes two chunks parts of one match: players (with net hashes), rules text, seed, and whose luck."""

    a: str
    b: str
    rules: str
    seed: int
    luck: str | None
    nets: tuple[str, str]  # hash or version of what each player plays with


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A chunk as the file holds it."""

    key: MatchKey
    chunk: Chunk
    elapsed_s: float
    info: dict[str, Any]


class ResultsFile:
    """The chunks stored at a path; `add` appends one, from any thread.

    Raises:
        RecordError: the file holds something else.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.entries: list[Entry] = []
        self._lock = threading.Lock()
        try:
            self._read(read_bounded(self.path, MAX_BYTES))
        except FileNotFoundError:
            pass
        except OSError as error:
            raise RecordError(f"results file {self.path} cannot be read: {error.strerror}") from error

    def add(self, entry: Entry) -> None:
        """Append a chunk and flush it to disk."""
        values = _line(entry)
        line = _json({**values, CHECKSUM: _checksum(values)}) + b"\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._lock, self.path.open("ab+") as file, _locked(file):
            _cut_torn_line(file)
            append_whole(self.path, line)
            self.entries.append(entry)

    def find(self, key: MatchKey, first: int, count: int) -> Entry | None:
        """The stored chunk of exactly these pairs, or None."""
        for entry in self.entries:
            if entry.key == key and entry.chunk.first == first and len(entry.chunk.points) == count:
                return entry
        return None

    def _read(self, data: bytes) -> None:
        if len(data) > MAX_BYTES:
            raise RecordError(f"results file {self.path} has more than {MAX_BYTES} bytes; name another file")
        whole = data.rfind(b"\n") + 1
        for number, line in enumerate(data[:whole].splitlines(), start=1):
            try:
                self.entries.append(_entry(json.loads(line)))
            except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
                raise RecordError(
                    f"{self.path} line {number} is no arena result ({error}); name another file"
                ) from error


@contextmanager
def _locked(file: IO[bytes]) -> Iterator[None]:
    """Keep other processes from adding meanwhile, where the system and the file system know such locks."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX)
    yield  # closing the file gives the lock back


def _cut_torn_line(file: IO[bytes]) -> None:
    """Cut off what follows the last line end; nobody else is writing."""
    size = file.seek(0, os.SEEK_END)
    if not size:
        return
    file.seek(size - 1)
    if file.read(1) != b"\n":
        file.seek(0)
        file.truncate(file.read().rfind(b"\n") + 1)


def read_matches(path: str | Path) -> list[MatchResult]:
    """All matches of a results file, in the order of their first chunk; games that it holds twice count once.

    Those are overlapping chunks, and a match played again to measure its luck: that with more pairs is given, at a tie
    the one with luck. Where one name stands for several nets, such as a file trained further, the hash of the net
    follows it, so that they are rated as two players.

    Raises:
        RecordError: the file is missing or holds something else.
    """
    file = ResultsFile(path)
    if not file.entries and not os.path.isfile(path):
        raise RecordError(f"no results file at {path}")
    by_match: dict[MatchKey, list[Entry]] = {}
    for entry in file.entries:
        by_match.setdefault(entry.key, []).append(entry)
    nets: dict[tuple[str, str], set[str]] = {}  # by rules and name
    best: dict[MatchKey, MatchResult] = {}
    for key, entries in by_match.items():
        for name, net in zip((key.a, key.b), key.nets, strict=True):
            nets.setdefault((key.rules, name), set()).add(net)
        match = _match(key, list(_disjoint(entries)))
        same = replace(key, luck=None)
        known = best.setdefault(same, match)
        if (match.pairs, match.luck is not None) > (known.pairs, known.luck is not None):
            best[same] = match

    def told_apart(key: MatchKey, name: str, net: str) -> str:
        return f"{name} ({net[:8] or 'no hash'})" if len(nets[key.rules, name]) > 1 else name

    return [
        replace(match, a=told_apart(key, key.a, key.nets[0]), b=told_apart(key, key.b, key.nets[1]))
        for key, match in best.items()
    ]


def _disjoint(entries: list[Entry]) -> Iterator[Entry]:
    end = 0
    for entry in sorted(entries, key=lambda e: (e.chunk.first, -len(e.chunk.points))):
        if entry.chunk.first >= end:
            end = entry.chunk.first + len(entry.chunk.points)
            yield entry


def _match(key: MatchKey, entries: list[Entry]) -> MatchResult:
    return joined(
        key.a,
        key.b,
        get_rules(key.rules),
        key.seed,
        [entry.chunk for entry in entries],
        elapsed_s=sum(entry.elapsed_s for entry in entries),
        info=entries[0].info,
    )


def _line(entry: Entry) -> dict[str, Any]:
    chunk = entry.chunk
    return {
        "format": FORMAT,
        "match": asdict(entry.key),
        "first": chunk.first,
        "points": chunk.points.tolist(),
        "outcomes": chunk.outcomes.tolist(),
        "turns": chunk.turns.tolist(),
        "luck": None if chunk.luck is None else chunk.luck.tolist(),
        "faults": [asdict(fault) for fault in chunk.faults],
        "elapsed_s": round(entry.elapsed_s, 3),
        "info": entry.info,
    }


def _json(values: dict[str, Any]) -> bytes:
    return json.dumps(values, ensure_ascii=False, allow_nan=False).encode()


def _checksum(values: dict[str, Any]) -> str:
    return f"{zlib.crc32(_json(values)):08x}"


def _entry(line: dict[str, Any]) -> Entry:
    if line["format"] != FORMAT:
        raise ValueError(f"format {line['format']!r} instead of {FORMAT!r}")
    stated = line.pop(CHECKSUM, None)
    if stated is not None and stated != _checksum(line):
        raise ValueError("it is damaged: its checksum does not fit")
    key = _key(line["match"])
    luck = line["luck"]
    chunk = Chunk(
        first=_whole(line["first"], "first"),
        points=np.array(line["points"], dtype=np.float64).reshape(-1, 2),
        outcomes=np.array(line["outcomes"], dtype=np.int8).reshape(-1, 2),
        turns=np.array(line["turns"], dtype=np.int32).reshape(-1, 2),
        luck=None if luck is None else np.array(luck, dtype=np.float64).reshape(-1, 2, 2),
        faults=[GameFault(**fault) for fault in line["faults"]],
    )
    _check_chunk(chunk, get_rules(key.rules))
    elapsed_s = float(line["elapsed_s"])
    if not 0.0 <= elapsed_s < math.inf:
        raise ValueError(f"elapsed_s must be seconds from 0 on, got {elapsed_s}")
    return Entry(key=key, chunk=chunk, elapsed_s=elapsed_s, info=dict(line["info"]))


def _key(match: dict[str, Any]) -> MatchKey:
    key = MatchKey(**{**match, "nets": tuple(match["nets"])})
    texts = (key.a, key.b, key.rules, "" if key.luck is None else key.luck, *key.nets)
    if len(key.nets) != 2 or not all(isinstance(text, str) for text in texts):
        raise ValueError("a match names two players, their nets, rules and luck as text")
    _whole(key.seed, "seed")
    return key


def _check_chunk(chunk: Chunk, rules: Rules) -> None:
    pairs = len(chunk.points)
    luck = pairs if chunk.luck is None else len(chunk.luck)
    if not pairs or not len(chunk.outcomes) == len(chunk.turns) == luck == pairs:
        raise ValueError("points, outcomes, turns and luck must be of the same pairs, and of at least one")
    if not np.isfinite(chunk.points).all() or (chunk.luck is not None and not np.isfinite(chunk.luck).all()):
        raise ValueError("points and luck must be finite")
    if chunk.outcomes.min() < FORFEIT_LOST or chunk.outcomes.max() >= len(rules.outcomes):
        raise ValueError(f"outcomes must be {FORFEIT_LOST} to {len(rules.outcomes) - 1}")
    if chunk.turns.min() < 0:
        raise ValueError("turns must be numbers from 0 on")
    for fault in chunk.faults:
        for name in ("pair", "game", "turn"):
            _whole(getattr(fault, name), name)
        if not all(isinstance(text, str) for text in (fault.player, fault.kind, fault.detail)):
            raise ValueError("a fault names its player, kind and detail as text")


def _whole(value: Any, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise ValueError(f"{name} must be a whole number from 0 on, got {str(value)[:40]}")
    return value
