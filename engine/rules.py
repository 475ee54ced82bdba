"""Rules as data: the two games, five presets and their options.

Source: RULES.md of the project (sections 4 to 7). Code asks a field of `Rules`, never which game it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from engine.errors import RulesError

Array = TypeVar("Array", bound=npt.NDArray[Any])

_POINTS_TEXT = re.compile(r"\d{1,4}(?:\.\d{1,6})?", re.ASCII)

OFF = 0
HEAD = 24
BAR = 25
SLOTS = 26
CHECKERS = 15

OUTCOME_LEVELS = ("single", "gammon", "home", "bar")
FIRST_TURNS = ("unlimited", "none", "classic", "common", "fnr2026")
BLOCK_CHECKS = ("off", "step", "turn")

# Positions in `Rules.code`, the one array that kernels receive.
CODE_CAN_HIT, CODE_FIRST_TURN, CODE_BLOCK, CODE_ZONE_LOW, CODE_ZONE_HIGH, CODE_NEEDS_NONE_OFF, CODE_LEVELS = range(7)
CODE_OPPONENT_POINT = 10


@dataclass(frozen=True, kw_only=True)
class Game:
    """What the presets of one game share: geometry, start and the values its options may take."""

    name: str
    start: tuple[tuple[int, int], ...]
    can_hit: bool
    point_shift: int | None  # None: the sides meet head on (25 - p); otherwise they follow each other, that far apart
    levels: int  # outcome classes a side can win by
    scorings: MappingProxyType[str, tuple[float, ...]]
    koks_zones: MappingProxyType[str, tuple[int, int]]  # the loser's points that make the triple win
    options: MappingProxyType[str, tuple[str, ...]]  # option -> allowed words; `scoring` also takes numbers


_LAST_TURNS = ("none", "second_player")
_OPENING_ROLLS = ("fresh", "kept")
_FLAG = ("True", "False")

SHORT = Game(
    name="short",
    start=((24, 2), (13, 5), (8, 3), (6, 5)),
    can_hit=True,
    point_shift=None,
    levels=4,
    scorings=MappingProxyType({"seed": (1, 2, 3, 4), "backgammon": (1, 2, 3, 3), "win_only": (1, 1, 1, 1)}),
    koks_zones=MappingProxyType({"home": (19, 24)}),
    options=MappingProxyType(
        {
            "scoring": ("seed", "backgammon", "win_only"),
            "opening_roll": _OPENING_ROLLS,
            "koks_needs_none_off": _FLAG,
            "last_turn": _LAST_TURNS,
        }
    ),
)
LONG = Game(
    name="long",
    start=((HEAD, CHECKERS),),
    can_hit=False,
    point_shift=12,
    levels=3,
    scorings=MappingProxyType({"seed": (1, 2, 3), "fnr2026": (1, 2, 2), "win_only": (1, 1, 1)}),
    koks_zones=MappingProxyType({"home": (13, 18), "first_quarter": (19, 24), "home_or_behind": (13, 24)}),
    options=MappingProxyType(
        {
            "scoring": ("seed", "fnr2026", "win_only"),
            "first_turn": ("none", "classic", "common", "fnr2026"),
            "block_check": BLOCK_CHECKS,
            "opening_roll": _OPENING_ROLLS,
            "koks_zone": ("home", "first_quarter", "home_or_behind"),
            "koks_needs_none_off": _FLAG,
            "last_turn": _LAST_TURNS,
        }
    ),
)
GAMES = MappingProxyType({"short": SHORT, "long": LONG})


@dataclass(frozen=True, kw_only=True)
class Rules:
    """One exact variant: a preset with its options. Frozen, hashable, and written as `str(rules)`.

    Raises:
        RulesError: an option does not belong to the game, or its value is not allowed.
    """

    preset: str
    game: Game = field(repr=False)
    scoring: str = "seed"
    first_turn: str = "unlimited"
    block_check: str = "off"
    opening_roll: str = "fresh"
    koks_zone: str = "home"
    koks_needs_none_off: bool = True
    last_turn: str = "none"

    def __post_init__(self) -> None:
        if not isinstance(self.preset, str):
            raise RulesError(f"preset must be a name such as 'long_classic', got {self.preset!r}")
        if not isinstance(self.game, Game):
            raise RulesError(f"game of {self.preset} must be a Game, SHORT or LONG, got {self.game!r}")
        for option, allowed in self.game.options.items():
            value = getattr(self, option)
            if not isinstance(value, bool if allowed == _FLAG else str):
                raise RulesError(f"{option} of {self.preset} must be {_kind(allowed)}, got {value!r}")
            if option != "scoring" and str(value) not in allowed:
                raise RulesError(f"{option} of {self.preset} must be {' or '.join(allowed)}, got {value!r}")
        self.level_points  # noqa: B018  (checks the scoring text)
        for option in ("first_turn", "block_check", "koks_zone"):
            if option not in self.game.options and getattr(self, option) != getattr(Rules, option):
                raise _unknown_option(option, self.preset, self.game)

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return get_rules, (str(self),)  # a copy, or the rules in another process, come from the text

    def __hash__(self) -> int:
        return hash(str(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rules) and str(self) == str(other)

    def __str__(self) -> str:
        preset = RULES.get(self.preset, self)
        changed = [f"{o}={getattr(self, o)}" for o in self.game.options if getattr(self, o) != getattr(preset, o)]
        return f"{self.preset}({','.join(changed)})" if changed else self.preset

    @property
    def can_hit(self) -> bool:
        """Whether a single opposing checker may be hit; otherwise one checker holds a point."""
        return self.game.can_hit

    @property
    def has_head_rule(self) -> bool:
        """Whether the number of checkers that leave point 24 in a turn is limited (RULES.md 5.2)."""
        return self.first_turn != "unlimited"

    @cached_property
    def level_points(self) -> tuple[float, ...]:
        """Points of a win by outcome level: single, gammon, home and, where there is a bar, bar."""
        return _scoring_points(self.scoring, self.game)

    @cached_property
    def outcomes(self) -> tuple[str, ...]:
        """Names of the K exclusive outcome classes, wins first: `win_single` ... `lose_single` ..."""
        names = OUTCOME_LEVELS[: self.game.levels]
        return tuple(f"{side}_{name}" for side in ("win", "lose") for name in names)

    @cached_property
    def points(self) -> npt.NDArray[np.float32]:
        """float32 [K]: points of each outcome class for the side whose probabilities they weigh."""
        won = np.array(self.level_points, dtype=np.float32)
        return _frozen(np.concatenate([won, -won]))

    @cached_property
    def opponent_point(self) -> npt.NDArray[np.int64]:
        """int64 [26]: the opponent's index of my point (RULES.md 1.1); 0 stays 0 and the bar stays 25."""
        own = np.arange(SLOTS)
        shift = self.game.point_shift
        points = SLOTS - 1 - own if shift is None else (own + shift - 1) % HEAD + 1
        points[OFF], points[BAR] = OFF, BAR
        return _frozen(points)

    @cached_property
    def code(self) -> npt.NDArray[np.int64]:
        """int64 [36]: the rules as kernels read them (`CODE_*`, then `opponent_point`)."""
        low, high = self.game.koks_zones[self.koks_zone]
        code = np.zeros(CODE_OPPONENT_POINT + SLOTS, dtype=np.int64)
        code[CODE_CAN_HIT] = self.can_hit
        code[CODE_FIRST_TURN] = FIRST_TURNS.index(self.first_turn)
        code[CODE_BLOCK] = BLOCK_CHECKS.index(self.block_check)
        code[CODE_ZONE_LOW], code[CODE_ZONE_HIGH] = low, high
        code[CODE_NEEDS_NONE_OFF] = self.koks_needs_none_off
        code[CODE_LEVELS] = self.game.levels
        code[CODE_OPPONENT_POINT:] = self.opponent_point
        return _frozen(code)

    def start_board(self) -> npt.NDArray[np.int8]:
        """int8 [2, 26]: the position before the first turn, the same from both sides."""
        board = np.zeros((2, SLOTS), dtype=np.int8)
        for point, count in self.game.start:
            board[:, point] = count
        return board


def _kind(allowed: tuple[str, ...]) -> str:
    return "True or False" if allowed == _FLAG else f"text such as {allowed[0]!r}"


def _unknown_option(option: str, preset: str, game: Game) -> RulesError:
    return RulesError(f"unknown option {option!r} of {preset}; allowed: {', '.join(game.options)}")


def _frozen(array: Array) -> Array:
    array.setflags(write=False)
    return array


def _scoring_points(scoring: str, game: Game) -> tuple[float, ...]:
    if scoring in game.scorings:
        return tuple(float(p) for p in game.scorings[scoring])
    parts = [part.strip() for part in scoring.split("/")]
    points = tuple(float(part) for part in parts) if all(map(_POINTS_TEXT.fullmatch, parts)) else ()
    if len(points) != game.levels or not all(0.0 <= p <= 1000.0 for p in points):
        words = ", ".join(game.scorings)
        raise RulesError(
            f"scoring of {game.name} nardy must be {words} or {game.levels} numbers from 0 to 1000 "
            f"such as {'/'.join(str(i + 1) for i in range(game.levels))}, got {scoring!r}"
        )
    return points


RULES: MappingProxyType[str, Rules] = MappingProxyType(
    {
        rules.preset: rules
        for rules in (
            Rules(preset="short", game=SHORT),
            Rules(preset="short_backgammon", game=SHORT, scoring="backgammon", opening_roll="kept"),
            Rules(preset="long_classic", game=LONG, first_turn="classic", block_check="step"),
            Rules(preset="long_common", game=LONG, scoring="fnr2026", first_turn="common", block_check="step"),
            Rules(
                preset="long_fnr2026",
                game=LONG,
                scoring="fnr2026",
                first_turn="fnr2026",
                block_check="step",
                opening_roll="kept",
            ),
        )
    }
)
ALIASES = MappingProxyType({"long": "long_classic", "backgammon": "short_backgammon"})

_RULES_TEXT = re.compile(r"\s*(\w+)\s*(?:\((.*)\))?\s*", re.ASCII)


def get_rules(text: str | Rules) -> Rules:
    """The rules that a text names: a preset, an alias, or `preset(option=value,...)`.

    Args:
        text: such as `long_classic(block_check=turn)`; a `Rules` is returned as it is.
    Raises:
        RulesError: unknown preset, option or value.
    """
    if isinstance(text, Rules):
        return text
    match = _RULES_TEXT.fullmatch(text) if isinstance(text, str) and len(text) <= 400 else None
    name = match[1].lower() if match else ""
    preset = RULES.get(ALIASES.get(name, name))
    if match is None or preset is None:
        known = ", ".join([*RULES, *ALIASES])
        raise RulesError(f"unknown rules {str(text)[:60]!r}; allowed: {known}, each also as preset(option=value,...)")
    return _with_options(preset, match[2] or "")


def _with_options(preset: Rules, text: str) -> Rules:
    allowed = preset.game.options
    options: dict[str, Any] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        option, _, value = (word.strip() for word in part.partition("="))
        if option not in allowed:
            raise _unknown_option(option, preset.preset, preset.game)
        if option in options:
            raise RulesError(f"option {option!r} of {preset.preset} is given twice: {text!r}")
        options[option] = _option_value(preset, option, value)
    return replace(preset, **options)


def _option_value(preset: Rules, option: str, value: str) -> str | bool:
    if preset.game.options[option] != _FLAG:
        return value
    flags = {"true": True, "false": False, "1": True, "0": False}
    if value.lower() not in flags:
        raise RulesError(f"{option} of {preset.preset} must be True or False, got {value!r}")
    return flags[value.lower()]
