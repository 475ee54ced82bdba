"""The turns of a game as a move list, and what a net says of them: equity graph, errors, luck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agent.game_view import turn_text, turn_text_of
from agent.levels import Level
from agent.luck import luck
from agent.ranking import Judge, rank_plays
from engine.board import Boards
from engine.outcome import equity_of, is_finished
from engine.rules import Rules
from engine.turn import Turn

ERROR, BLUNDER = 0.04, 0.12  # points lost from which a turn counts as an error or a blunder
VERDICTS = ("best", "good", "error", "blunder")
_SAME = 0.0005  # points; plays this close to the best one are as good as it


@dataclass(frozen=True, eq=False)
class TurnMade:
    """A turn that stands: committed, or accepted by the opponent."""

    by: int
    turn: Turn

    def to_dict(self, number: int) -> dict[str, Any]:
        """The turn as JSON values; its boards are seen by the player who made it."""
        steps = self.turn.steps
        return {
            "number": number,
            "by": self.by,
            "dice": list(self.turn.dice),
            "play": turn_text(self.turn, "en"),
            "is_correct": self.turn.is_correct(),
            "steps": None if steps is None else [[s.start, s.end, s.die, int(s.is_hit)] for s in steps],
            "start_board": self.turn.start.tolist(),
            "board": self.turn.board.tolist(),
            "n_legal": len(self.turn.legal),
        }


def verdict(loss: float) -> str:
    """What a turn that lost so many points is called: best, good, error or blunder."""
    if loss <= _SAME:
        return "best"
    return "good" if loss < ERROR else "error" if loss < BLUNDER else "blunder"


def analysis(turns: Sequence[TurnMade], rules: Rules, judge: Judge) -> list[dict[str, Any]]:
    """Each turn judged at 0-ply: equity after it for player 0, points lost, the best play, and the luck of its roll.

    A turn that was no legal one, or the extra turn of a finished opponent, has no loss and no luck (null).
    """
    boards = [np.asarray(made.turn.board) for made in turns]
    if not boards:
        return []
    equities = equity_of(judge.outcome_probs(np.stack(boards), threads=1), rules)
    judged = [row for row, made in enumerate(turns) if made.turn.is_correct() and not is_finished(made.turn.start)]
    losses = dict(zip(judged, _losses([turns[row].turn for row in judged], judge), strict=True))
    found = []
    for row, made in enumerate(turns):
        loss, best, chance = losses.get(row, (None, None, None))
        equity = float(equities[row]) * (1 if made.by == 0 else -1)
        found.append(
            {
                "number": row + 1,
                "equity": round(equity, 6),
                "loss": loss,
                "verdict": None if loss is None else verdict(loss),
                "best": best,
                "luck": chance,
            }
        )
    return found


def _losses(turns: Sequence[Turn], judge: Judge) -> list[tuple[float, str, float]]:
    if not turns:
        return []
    starts: Boards = np.stack([turn.start for turn in turns])
    dice = np.array([turn.dice for turn in turns], dtype=np.int8)
    ranking = rank_plays(judge, starts, dice, Level(), threads=1)
    chances = luck(judge, starts, dice, threads=1)
    found = []
    for row, turn in enumerate(turns):
        plays = slice(int(ranking.offsets[row]), int(ranking.offsets[row + 1]))
        same = (ranking.afterstates[plays] == turn.board).all(axis=(1, 2))
        loss = float(ranking.loss[plays][int(same.argmax())])
        best = turn_text_of(turn, ranking.afterstates[plays][0])
        found.append((round(loss, 6), best, round(float(chances[row]), 6)))
    return found
