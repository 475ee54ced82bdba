"""What suggestions and evaluations give: plays with their figures, as objects, JSON values and pictures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from agent.chances import probs_dict, rounded
from agent.levels import Level
from agent.ranking import Judge, Probs
from engine.board import Boards
from engine.notation import play_text
from engine.rules import Rules
from engine.steps import Step, route_to


@dataclass(kw_only=True, eq=False)
class Suggestion:
    """One legal play with its figures, all seen by the player who makes it.

    Attributes:
        afterstate: int8 [2, 26], row 0 that player.
        equity: points expected after the play.
        equity_loss: points lost against the best play, both judged at this play's level.
        probs: float32 [K], in the order of `rules.outcomes`.
        level: the depth it was judged at, such as `2-ply`.
        board: int8 [2, 26] before the play.
    """

    board: Boards
    dice: tuple[int, int]
    rules: Rules
    afterstate: Boards
    equity: float
    equity_loss: float
    probs: Probs
    level: str

    @property
    def is_pass(self) -> bool:
        """Whether nothing can be played, so that the board stays as it is."""
        return bool(np.array_equal(self.board, self.afterstate))

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The play as single steps in a legal order; empty for a pass."""
        return () if self.is_pass else route_to(self.board, self.dice, self.afterstate, self.rules)

    @cached_property
    def play_text(self) -> str:
        """The play as text, such as `24/18 13/9*`."""
        return play_text(self.board, self.dice, self.afterstate, self.rules, steps=self.steps)

    def to_dict(self) -> dict[str, Any]:
        """The suggestion as JSON values (`agent.schema.SUGGESTION`)."""
        steps = [{"from": s.start, "to": s.end, "die": s.die, "is_hit": bool(s.is_hit)} for s in self.steps]
        return {
            "play": self.play_text,
            "is_pass": self.is_pass,
            "steps": steps,
            "afterstate": self.afterstate.tolist(),
            "equity": rounded(self.equity),
            "equity_loss": rounded(self.equity_loss),
            "level": self.level,
            **probs_dict(self.probs, self.rules),
        }


class Suggestions(list[Suggestion]):
    """The plays asked for, best first, with what they answer; a list that notebooks show as a board.

    Attributes:
        board, dice, rules: the position asked about; the rules' text is what the figures hold for.
        net_name: the net that judged.
        level: the level asked for; each suggestion carries the one it got.
        n_legal: how many legal plays there are.
    """

    def __init__(
        self,
        items: Iterable[Suggestion],
        *,
        board: Boards,
        dice: tuple[int, int],
        judge: Judge,
        level: Level,
        n_legal: int,
    ) -> None:
        super().__init__(items)
        self.board = board
        self.dice = dice
        self.rules = judge.rules
        self.net_name = judge.net_name
        self.level = level
        self.n_legal = n_legal

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON values (`agent.schema.SUGGESTIONS`)."""
        return {
            "rules": str(self.rules),
            "net": self.net_name,
            "board": self.board.tolist(),
            "dice": list(self.dice),
            "level": str(self.level),
            "filters": [str(f) for f in self.level.filters[: self.level.plies]],
            "n_legal": self.n_legal,
            "suggestions": [s.to_dict() for s in self],
        }

    def _repr_svg_(self) -> str:
        from agent.svg import suggestions_svg  # only notebooks draw

        return suggestions_svg(self)


@dataclass(frozen=True, kw_only=True)
class RollPlay:
    """The best play of one of the 21 rolls; `weight` is the roll's probability, `luck` its equity above the mean."""

    weight: float
    luck: float
    best: Suggestion

    def to_dict(self) -> dict[str, Any]:
        """The roll as JSON values (`agent.schema.ROLL_PLAY`)."""
        roll = {"dice": list(self.best.dice), "weight": rounded(self.weight), "luck": rounded(self.luck)}
        return roll | self.best.to_dict()


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """A position before the roll, seen by the player about to roll.

    Attributes:
        probs: float32 [K] over `rules.outcomes`, the mean over the 21 rolls of the best play's.
        equity: points expected.
        rolls: the 21 rolls in the order of `engine.dice.ROLLS`; empty when the game is over.
    """

    board: Boards = field(repr=False)
    rules: Rules
    net_name: str
    level: Level
    probs: Probs
    equity: float
    rolls: tuple[RollPlay, ...] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The evaluation as JSON values (`agent.schema.EVALUATION`)."""
        return {
            "rules": str(self.rules),
            "net": self.net_name,
            "board": self.board.tolist(),
            "level": str(self.level),
            "equity": rounded(self.equity),
            **probs_dict(self.probs, self.rules),
            "rolls": [roll.to_dict() for roll in self.rolls],
        }
