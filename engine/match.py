"""A match: several games of one pair of players, to a number of points or without end.

Source: RULES.md 8 for who starts the next game. Points are those of each game's result; there is no cube.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from engine.errors import SessionError
from engine.events import GameResult, State
from engine.rules import Rules, get_rules
from engine.session import Session

NEXT_FIRST = ("toss", "winner", "alternate")


class Match:
    """Games one after the other. `game` is the current one; its result counts as soon as it is over.

    Args:
        rules: a variant, or its text.
        length: points that win the match; None: it never ends by itself.
        enforce: as in `Session`.
        next_first: who starts every game but the first: `toss`, the `winner` of the last game (after a draw, a toss)
            or players in turn (`alternate`). The first game begins with a toss.
        score: points before the current game, and
        game_number: its number, for a match that is taken up again.
    Raises:
        RulesError, SessionError: an argument outside its range.
    """

    def __init__(
        self,
        rules: Rules | str,
        *,
        length: int | None = None,
        enforce: str = "strict",
        next_first: str = "toss",
        score: Sequence[float] = (0, 0),
        game_number: int = 1,
    ) -> None:
        self.rules = get_rules(rules)
        if length is not None and not _is_whole(length, 1):
            raise SessionError(f"a match goes to 1 point or more, got {length!r}", "bad_value")
        if next_first not in NEXT_FIRST:
            raise SessionError(f"next_first must be {', '.join(NEXT_FIRST)}, got {next_first!r}", "bad_value")
        if not _is_score(score) or (length is not None and max(score) >= length):
            allowed = "from 0 on" if length is None else f"from 0 to below {length}"
            raise SessionError(f"score must be two numbers {allowed}, got {score!r}", "bad_value")
        if not _is_whole(game_number, 1):
            raise SessionError(f"game_number must be a whole number from 1, got {game_number!r}", "bad_value")
        self.length, self.enforce, self.next_first = length, enforce, next_first
        self.start_score = (float(score[0]), float(score[1]))
        self._first_number = game_number
        self.finished: list[GameResult] = []
        self.game = Session(self.rules, enforce=enforce)

    @property
    def results(self) -> list[GameResult]:
        """Results of the games that are over, the current one included."""
        return [*self.finished, *([self.game.result] if self.game.result is not None else [])]

    @property
    def score(self) -> tuple[float, float]:
        """Points of player 0 and player 1."""
        won = list(self.start_score)
        for result in self.results:
            if result.winner is not None:
                won[result.winner] += result.points
        return won[0], won[1]

    @property
    def winner(self) -> int | None:
        """The player who has reached the length, or None."""
        if self.length is None or max(self.score) < self.length:
            return None
        return 0 if self.score[0] >= self.length else 1

    @property
    def game_number(self) -> int:
        """Number of the current game, from 1."""
        return self._first_number + len(self.finished)

    def start_next_game(self) -> Session:
        """Begin the next game.

        Raises:
            SessionError: the current game or the whole match is not, or already, over.
        """
        result = self.game.result
        if result is None:
            raise SessionError(f"game {self.game_number} is not over", "wrong_state")
        if self.winner is not None:
            raise SessionError(
                f"the match is over: player {self.winner} has {self.score[self.winner]:g}", "wrong_state"
            )
        first = self._next_first(result)
        self.finished.append(result)
        self.game = Session(self.rules, enforce=self.enforce, first=first)
        return self.game

    def to_dict(self) -> dict[str, Any]:
        """A snapshot of JSON values, the current game included."""
        return {
            "length": self.length,
            "next_first": self.next_first,
            "score": list(self.score),
            "game_number": self.game_number,
            "is_game_over": self.game.state is State.OVER,
            "winner": self.winner,
            "game": self.game.to_dict(),
        }

    def _next_first(self, result: GameResult) -> int | None:
        if self.next_first == "toss" or self.game.first is None:
            return None
        return result.winner if self.next_first == "winner" else 1 - self.game.first


def _is_whole(value: Any, lowest: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= lowest


def _is_score(value: Any) -> bool:
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        return False
    return all(isinstance(p, (int, float)) and not isinstance(p, bool) and 0 <= p < math.inf for p in value)
