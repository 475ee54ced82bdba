"""The words of a game session: its states, its events with their fields, the codes of refusals, and results.

Source: RULES.md section 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

ENFORCE = ("strict", "claims")


class State(StrEnum):
    """Where a game stands between two events."""

    TOSS = "toss"
    TO_ROLL = "to_roll"
    MOVING = "moving"
    REVIEW = "review"
    OVER = "over"


# Codes of SessionError, with what each says.
CODES = MappingProxyType(
    {
        "wrong_state": "the event does not belong to the state of the game",
        "not_your_turn": "another player is entitled to the event",
        "offer_pending": "a resignation must be answered first",
        "no_offer": "no resignation is offered",
        "nothing_to_undo": "no step was made this turn",
        "claims_only": "the event exists only under enforce=claims",
        "malformed_board": "the board placed is not well formed",
        "unknown_level": "no such outcome class in this game",
        "bad_value": "a field of the event, or an argument of the game, is not of the allowed kind",
        "unknown_event": "no such event, or fields missing",
    }
)
# Events and the fields each takes besides `by`.
EVENTS: MappingProxyType[str, tuple[str, ...]] = MappingProxyType(
    {
        "toss": ("dice",),
        "roll": ("dice",),
        "step": ("start", "die"),
        "place": ("board",),
        "undo": (),
        "reset": (),
        "commit": (),
        "accept": (),
        "demand": (),
        "resign": ("level",),
        "accept_resignation": (),
        "decline": (),
    }
)

# Events that each state accepts while no resignation is offered.
ACCEPTED: MappingProxyType[State, tuple[str, ...]] = MappingProxyType(
    {
        State.TOSS: ("toss",),
        State.TO_ROLL: ("roll", "resign"),
        State.MOVING: ("step", "place", "undo", "reset", "commit", "resign"),
        State.REVIEW: ("accept", "demand", "roll"),
        State.OVER: (),
    }
)


@dataclass(frozen=True, kw_only=True)
class GameResult:
    """How a game ended.

    Attributes:
        winner: player 0 or 1; None for a draw (`last_turn` only).
        level: single, gammon, home or bar; None for a draw.
        points: what the winner scores under the rules.
        how: `borne_off`, `resigned` or `draw`.
    """

    winner: int | None
    level: str | None
    points: float
    how: str
