"""Why a step or play is refused: a code for programs, data for messages, one English line for people."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

TEXTS = MappingProxyType(
    {
        "game_over": "the game is over, no more steps can be played",
        "not_well_formed": "{fault}",
        "opponent_row_wrong": "{fault}",
        "no_checker": "you have no checker on {start}",
        "bar_first": "checkers on the bar must enter before any other step, so {start}/{end} cannot be played",
        "backwards": "checkers only move towards home: {start}/{end} goes backwards",
        "point_held": "point {point} is held by the opponent",
        "not_all_home": "a checker may be borne off only when all are home; one stands on {outside}",
        "overshoot": "{die} bears a checker off {start} only when none stands higher; one stands on {higher}",
        "head_used": "the head was used already: no more checkers may leave it this turn",
        "six_point_block": "six points in a row from {rear} to {front} with all opposing checkers behind them are "
        "forbidden",
        "wrong_distance": "{given} cannot be made with the dice {dice}",
        "die_not_available": "{given} cannot be made together with the dice {dice}",
        "both_dice_required": "both dice must be played when they can be; this plays {played} of 2",
        "larger_die_required": "only one die can be played, and then it must be the larger: {larger}",
        "double_required": "a double is played as often as it can be: {possible} times, this plays {played}",
        "pass_not_allowed": "nothing was moved, but the roll {dice} can be played",
    }
)
CODES = tuple(TEXTS)


@dataclass(frozen=True)
class Reason:
    """One rule that a step or play breaks; `str(reason)` is one English line.

    Attributes:
        code: one of `CODES`.
        data: what the message names (points as the mover counts them, dice, numbers of steps); JSON values only.
    """

    code: str
    data: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return TEXTS[self.code].format_map({name: _shown(name, value) for name, value in self.data.items()})


def move_text(*points: int) -> str:
    """Points as plays write them: `24/18`, `bar/20`, `6/off`."""
    return "/".join({0: "off", 25: "bar"}.get(point, str(point)) for point in points)


def _shown(name: str, value: Any) -> str:
    if name in ("start", "end", "outside", "higher"):
        return "the bar" if name != "start" and value == 25 else move_text(value)
    if name == "dice":
        return "-".join(str(die) for die in value)
    return str(value)
