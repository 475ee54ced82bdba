"""Look-ahead over the 21 rolls: what an afterstate is worth n plies on.

0-ply is the net alone; n-ply the mean over the opponent's 21 rolls of his reply's (n-1)-ply value, replies being
picked at 0-ply. Finished boards and bear-off tables end the search. The kernels are those of self-play.
"""

from __future__ import annotations

import numpy as np

from agent import _play_kernels as kernels
from agent.evaluator import Evaluator, Probs
from agent.ranking import Judge
from engine.board import Boards, kernel_boards, opponent_view
from engine.dice import ROLL_WEIGHTS, ROLLS
from engine.errors import ConfigError
from engine.outcome import is_finished, opponent_probs
from engine.rules import SLOTS
from engine.threads import map_slices

MAX_PLIES = 3
BOARDS_A_PASS = 2048  # so that the 21 replies of each stay within a few MB


def plies_probs(judge: Judge, afterstates: Boards, plies: int, *, threads: int | None = None) -> Probs:
    """Outcome probabilities of afterstates at n-ply.

    Args:
        judge: an evaluator bound to its rules.
        afterstates: int8 [N, 2, 26], row 0 the player who just moved.
        plies: 0 to 3; each ply costs about 21 times the one before, the first 400 times the net alone.
        threads: most threads to use; None: all cores. The result does not depend on it.
    Returns:
        float32 [N, K], seen by row 0.
    Raises:
        ConfigError: plies outside 0 to 3.
    """
    if not 0 <= plies <= MAX_PLIES:
        raise ConfigError(f"plies must lie between 0 and {MAX_PLIES}, got {plies}")
    if plies == 0:
        return judge.outcome_probs(afterstates, threads=threads)
    if plies == 1 and isinstance(judge, Evaluator):
        return _one_ply(judge, afterstates, threads)
    result = judge.outcome_probs(afterstates, threads=threads)  # stands where the game is over
    live = np.flatnonzero(~is_finished(afterstates))
    for start in range(0, len(live), BOARDS_A_PASS):
        some = live[start : start + BOARDS_A_PASS]
        replies, _ = best_replies(judge, opponent_view(afterstates[some]), threads=threads)
        # Rolls that force the same reply, or none, lead to one board: 8 % of them in long nardy, 27 % in short.
        distinct, place = np.unique(replies.reshape(-1, 2 * SLOTS), axis=0, return_inverse=True)
        values = plies_probs(judge, distinct.reshape(-1, 2, SLOTS), plies - 1, threads=threads)
        by_roll = values[place].reshape(len(some), len(ROLLS), -1)
        result[some] = opponent_probs(mean_over_rolls(by_roll))
    return result


def _one_ply(evaluator: Evaluator, afterstates: Boards, threads: int | None) -> Probs:
    boards = kernel_boards(afterstates)
    tables = evaluator.tables_for(boards)
    out = np.empty((len(boards), len(evaluator.rules.outcomes)), dtype=np.float32)
    map_slices(
        lambda part: kernels.look_ahead_batch(
            evaluator.net.arrays, boards[part], evaluator.rules.code, evaluator.rules.points, tables, out[part]
        ),
        len(boards),
        threads=threads,
    )
    return out


def best_replies(judge: Judge, boards: Boards, *, threads: int | None = None) -> tuple[Boards, Probs]:
    """The best play of each of the 21 rolls, picked and judged at 0-ply.

    Args:
        judge: an evaluator bound to its rules.
        boards: int8 [N, 2, 26], seen by the player about to roll; none finished.
        threads: most threads to use; None: all cores.
    Returns:
        Afterstates int8 [N, 21, 2, 26] and their probabilities float32 [N, 21, K], seen by that player, in the order
        of `engine.dice.ROLLS`.
    """
    count, outcomes = len(boards), len(judge.rules.outcomes)
    if not isinstance(judge, Evaluator):
        rolls = np.tile(ROLLS, (count, 1))
        plays, judged = judge.choose_judged(np.repeat(boards, len(ROLLS), axis=0), rolls, threads=threads)
        return plays.reshape(count, len(ROLLS), 2, SLOTS), judged.reshape(count, len(ROLLS), outcomes)
    boards = kernel_boards(boards)
    tables = judge.tables_for(boards)
    replies = np.empty((count, len(ROLLS), 2, SLOTS), dtype=np.int8)
    probs = np.empty((count, len(ROLLS), outcomes), dtype=np.float32)
    map_slices(
        lambda part: kernels.roll_values_batch(
            judge.net.arrays, boards[part], judge.rules.code, judge.rules.points, tables, replies[part], probs[part]
        ),
        count,
        threads=threads,
    )
    return replies, probs


def mean_over_rolls(probs: Probs) -> Probs:
    """Probabilities before the roll: the mean of float32 [N, 21, K] over the 21 rolls by their chances."""
    mean: Probs = np.einsum("r,nrk->nk", ROLL_WEIGHTS, probs).astype(np.float32)
    return mean
