"""Luck of a roll: how much better the best play of it is than the mean over all 21 rolls.

One definition for rollouts, the arena and game analysis, judged at 0-ply. Under the dice its expectation is zero
whatever the evaluator says, so subtracting it from a result changes no mean and takes most of the noise away. Where the
toss is played as the first roll, that roll is one of the 15 with two different dice, and the mean is theirs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from agent.ranking import Judge, Probs
from agent.search import best_replies
from engine.board import Boards
from engine.dice import ROLL_WEIGHTS, ROLLS, as_dice_batch
from engine.outcome import equity_of, outcome_class


def _roll_table() -> npt.NDArray[np.int64]:
    table = np.full((7, 7), -1, dtype=np.int64)
    for index, (first, second) in enumerate(ROLLS.tolist()):
        table[first, second] = table[second, first] = index
    table.setflags(write=False)
    return table


_ROLL_INDEX = _roll_table()
_TOSS_WEIGHTS = np.where(ROLLS[:, 0] == ROLLS[:, 1], 0.0, 1.0 / 15.0)  # [21], of a toss played as the first roll


def roll_index(dice: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
    """Row of each roll in `engine.dice.ROLLS`, whichever die is named first.

    Args:
        dice: int8 [..., 2], numbers from 1 to 6.
    Returns:
        int64 [...].
    """
    return np.asarray(_ROLL_INDEX[dice[..., 0], dice[..., 1]])


def probs_luck(
    probs: Probs, dice: npt.NDArray[np.int8], is_toss: npt.NDArray[np.bool_] | None = None
) -> npt.NDArray[np.float64]:
    """Luck of each roll as a shift of every outcome's probability.

    Args:
        probs: float32 [N, 21, K], probabilities after the best play of each roll.
        dice: int8 [N, 2], the rolls thrown.
        is_toss: bool [N], rolls that are the two dice of the toss; None: none is.
    Returns:
        float64 [N, K], seen as `probs` are; each row sums to zero.
    """
    thrown = probs[np.arange(len(probs)), roll_index(dice)].astype(np.float64)
    tossed = np.zeros(len(probs), dtype=np.bool_) if is_toss is None else is_toss
    weights = np.where(tossed[:, None], _TOSS_WEIGHTS, ROLL_WEIGHTS)  # [N, 21]
    return np.asarray(thrown - np.einsum("nr,nrk->nk", weights, probs.astype(np.float64)))


def luck(
    judge: Judge,
    boards: Boards,
    dice: Any,
    *,
    is_first: npt.NDArray[np.bool_] | None = None,
    threads: int | None = None,
) -> npt.NDArray[np.float64]:
    """Luck of each roll in points, for the player who threw it; 0 on a finished board.

    Args:
        judge: the evaluator, bound to the rules.
        boards: int8 [N, 2, 26], seen by the player about to roll.
        dice: [N, 2], the rolls thrown.
        is_first: bool [N], first rolls of a game, which with `opening_roll=kept` are the dice of the toss; None: none.
        threads: most CPU threads to use; None: all cores.
    Returns:
        float64 [N]. Over the 21 rolls of a board, weighted by `ROLL_WEIGHTS`, it sums to zero; of a toss, over the 15
        rolls that it can be.
    Raises:
        DiceError: not N rolls of two numbers from 1 to 6.
    """
    rolls = as_dice_batch(dice, len(boards))
    result = np.zeros(len(boards))
    first = np.zeros(len(boards), dtype=np.bool_) if is_first is None else is_first
    is_toss = first & (rolls[:, 0] != rolls[:, 1]) & (judge.rules.opening_roll == "kept")
    live = np.flatnonzero(outcome_class(boards, judge.rules) < 0)
    if live.size:
        _, probs = best_replies(judge, boards[live], threads=threads)
        result[live] = equity_of(probs_luck(probs, rolls[live], is_toss[live]), judge.rules)
    return result
