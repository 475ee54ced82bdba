"""Levels: how deep a play is judged, by number of plies or by name, and which candidates go deeper.

Source: GNU Backgammon's count, in which the net alone is 0-ply. `gnubg:Nply` counts as here; `xg:Nply` counts the play
itself, so it is one more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from engine.errors import ConfigError

MAX_PLIES = 3
MAX_WITHIN = 1e6  # points; wider than any scoring
PLY_NAMES = tuple(f"{plies}-ply" for plies in range(MAX_PLIES + 1))


@dataclass(frozen=True, kw_only=True)
class PlyFilter:
    """Which candidates of one ply are judged at the next: the best `keep`, none worse than the best by `within`."""

    keep: int = field(metadata={"help": "Most candidates that go deeper."})
    within: float = field(metadata={"help": "Largest equity loss, at the ply before, of a candidate that goes deeper."})

    def __post_init__(self) -> None:
        if self.keep < 1 or not 0.0 <= self.within <= MAX_WITHIN:
            raise ConfigError(f"a filter keeps 1 or more plays within 0 to {MAX_WITHIN:g} points, got {self}")

    def __str__(self) -> str:
        return f"{self.keep}:{self.within:g}"


# One filter for each ply that is entered: the first decides who is judged at 1-ply, and so on. Measured on 400
# decisions of self-play: each of the first two loses at most 0.15 mpt of what 16 candidates within 0.4 would find.
DEFAULT_FILTERS = (
    PlyFilter(keep=8, within=0.16),
    PlyFilter(keep=5, within=0.1),
    PlyFilter(keep=3, within=0.06),
)
LEVEL_NAMES = {"fast": 0, "good": 1, "strong": 2, "deep": 3}


@dataclass(frozen=True, kw_only=True)
class Level:
    """A depth in plies with the filter that is passed on the way to each ply."""

    plies: int = field(default=0, metadata={"help": "Turns looked ahead past the afterstate, 0 to 3."})
    filters: tuple[PlyFilter, ...] = field(default=DEFAULT_FILTERS, metadata={"help": "Filter before ply 1, 2 and 3."})

    def __post_init__(self) -> None:
        if not 0 <= self.plies <= MAX_PLIES:
            raise ConfigError(f"plies must be 0 to {MAX_PLIES}, got {self.plies}")
        if len(self.filters) < self.plies:
            raise ConfigError(f"{self.plies} plies need {self.plies} filters, got {len(self.filters)}")

    def __str__(self) -> str:
        return PLY_NAMES[self.plies]


_PLY_TEXT = re.compile(r"(?:(gnubg|xg):)?(\d)-?(?:ply|plies)?", re.ASCII)


def as_level(level: str | int | Level, filters: str | tuple[PlyFilter, ...] | None = None) -> Level:
    """The level that a name, a number of plies or a `Level` means.

    Args:
        level: `fast`, `good`, `strong`, `deep`, plies such as 2, `2ply`, `gnubg:2ply`, `xg:3ply`, or a `Level`.
        filters: what decides who is judged deeper, as text (`parse_filters`) or filters; None keeps the level's own.
    Raises:
        ConfigError: an unknown name, a depth that is not offered, or a filter that cannot be read.
    """
    chosen = level if isinstance(level, Level) else Level(plies=_plies(str(level).strip().lower()))
    if filters is None:
        return chosen
    if isinstance(filters, str):
        return Level(plies=chosen.plies, filters=parse_filters(filters))
    if not isinstance(filters, tuple) or not all(isinstance(f, PlyFilter) for f in filters):
        raise ConfigError(f"filters must be text such as 8:0.16,4:0.08 or a tuple of PlyFilter, got {filters!r}"[:200])
    return Level(plies=chosen.plies, filters=filters)


def parse_filters(text: str) -> tuple[PlyFilter, ...]:
    """Filters written `KEEP:WITHIN[,KEEP:WITHIN...]`, one a ply; plies not named keep the default.

    Raises:
        ConfigError: text of another form.
    """
    filters = list(DEFAULT_FILTERS)
    parts = text.split(",")
    try:
        if len(parts) > len(filters):
            raise ValueError
        for ply, part in enumerate(parts):
            keep, _, within = part.partition(":")
            if not part.isascii() or "_" in part:  # Python's own numbers may be written so
                raise ValueError
            filters[ply] = PlyFilter(keep=int(keep), within=float(within) if within else DEFAULT_FILTERS[ply].within)
    except ConfigError:
        raise
    except ValueError as error:
        raise ConfigError(
            f"a filter is KEEP:WITHIN for each of up to {MAX_PLIES} plies, such as 8:0.16,4:0.08, got {text[:60]!r}"
        ) from error
    return tuple(filters)


def _plies(text: str) -> int:
    if text in LEVEL_NAMES:
        return LEVEL_NAMES[text]
    match = _PLY_TEXT.fullmatch(text)
    plies = int(match[2]) - (match[1] == "xg") if match else -1
    if not 0 <= plies <= MAX_PLIES:
        names = ", ".join(LEVEL_NAMES)
        raise ConfigError(
            f"a level is {names}, 0 to {MAX_PLIES} plies, gnubg:0ply to gnubg:{MAX_PLIES}ply or "
            f"xg:1ply to xg:{MAX_PLIES + 1}ply, got {text[:60]!r}"
        )
    return plies
