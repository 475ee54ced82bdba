"""Samples from one roll of look-ahead: plays of one decision beside each other, each with its 1-ply value.

The positions come from self-play games, the roll is drawn anew, and the best few plays at 0-ply are valued by the mean
over the opponent's 21 rolls. So positions off the path of best play are met too, and siblings can be compared.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agent.evaluator import Evaluator
from agent.search import plies_probs
from engine.board import BEAROFF, Boards, opponent_view, phase
from engine.movegen import legal_afterstates
from training.targets import Probs

Indices = npt.NDArray[np.int64]


def decision_samples(
    judge: Evaluator, afterstates: Boards, *, decisions: int, siblings: int, rng: np.random.Generator, threads: int
) -> tuple[Boards, Indices, Probs]:
    """The best plays of some decisions, valued with one roll of look-ahead.

    Args:
        judge: values and ranks the plays.
        afterstates: int8 [T, 2, 26], positions of games before the opponent rolls; finished ones are left out.
        decisions: how many positions to draw, each at most once.
        siblings: plays kept of each decision, the best at 0-ply.
        rng: draws positions and rolls.
        threads: for the kernels; the result does not depend on it.
    Returns:
        Plays int8 [N, 2, 26] seen by their mover, the decision int64 [N] that each belongs to (rising), and targets
        float32 [N, K]. Bear-offs and finished boards, which no expert judges, are left out.
    """
    live = np.flatnonzero(phase(afterstates, judge.rules) < BEAROFF)
    picked = np.sort(rng.choice(live, size=min(decisions, len(live)), replace=False))
    boards = np.ascontiguousarray(opponent_view(afterstates[picked]))
    dice = rng.integers(1, 7, (len(picked), 2), dtype=np.int8)
    plays, offsets = legal_afterstates(boards, dice, judge.rules)
    owners = np.repeat(np.arange(len(boards)), np.diff(offsets))
    best = best_of_each(judge.equity(plays, threads=threads), owners, offsets, siblings)
    best = best[phase(plays[best], judge.rules) < BEAROFF]
    chosen = np.ascontiguousarray(plays[best])
    return chosen, owners[best], plies_probs(judge, chosen, 1, threads=threads)


def best_of_each(
    values: npt.NDArray[np.float32], owners: Indices, offsets: npt.NDArray[np.int64], count: int
) -> Indices:
    """Rows of the `count` highest values of each owner: int64 [N], owners rising, best first.

    Args:
        values: float32 [M].
        owners: int64 [M], rising from 0.
        offsets: int64 [B + 1], rows of each owner.
        count: rows to keep.
    """
    order = np.lexsort((-values, owners))
    place = np.arange(len(values)) - offsets[owners]
    return np.asarray(order[place < count])
