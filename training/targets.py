"""Training targets: lambda-returns computed backwards over finished games, plain and with the luck taken off."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from engine.outcome import UNFINISHED, opponent_probs

Probs = npt.NDArray[np.float32]


def lambda_returns(
    values: Probs,
    is_greedy: npt.NDArray[np.bool_],
    offsets: npt.NDArray[np.int64],
    outcomes: npt.NDArray[np.int64],
    lam: float,
    is_known: npt.NDArray[np.bool_] | None = None,
) -> Probs:
    """Outcome probabilities that TD(lambda) wants for the afterstate played at each turn, seen by its mover.

    The last turn of a game wants its outcome; an earlier turn wants what the next turn promises its own mover, seen
    from the other side: its own target blended with the value of its best afterstate, or that value alone when the
    play made there was exploratory, since what followed says nothing about best play.

    Args:
        values: float32 [T, K], value of the best afterstate at each turn.
        is_greedy: bool [T], whether the best afterstate was played.
        offsets: int64 [G + 1], first turn of each game.
        outcomes: int64 [G], outcome class seen by the player who made the last turn; UNFINISHED for a game that was
            cut, whose last turn wants the value it has.
        lam: trace decay.
        is_known: bool [T], turns whose value is exact, so that what followed them is only noise; None: none are.
    Returns:
        float32 [T, K].
    Source:
        Sutton and Barto, Reinforcement Learning, 12.1, for afterstates of two players.
    """
    targets = _last_targets(values, offsets, outcomes)
    for later in _backwards(offsets):
        value = values[later]
        blend = np.float32(lam) * targets[later] + np.float32(1.0 - lam) * value
        earlier = later - 1
        wanted = opponent_probs(np.where(is_greedy[later, None], blend, value))
        targets[earlier] = wanted if is_known is None else np.where(is_known[earlier, None], values[earlier], wanted)
    return targets


def adjusted_returns(
    values: Probs,
    means: Probs,
    is_greedy: npt.NDArray[np.bool_],
    offsets: npt.NDArray[np.int64],
    outcomes: npt.NDArray[np.int64],
    lam: float,
) -> Probs:
    """Lambda-returns less the luck of every roll: what a turn wants is not moved by dice that rolled well.

    An afterstate wants its mean over the opponent's 21 rolls, and a share `lam` of what the next turn's target differs
    from the value that the mean took for it; after an exploratory play the mean alone. With `lam` 1 the target is the
    outcome less all luck: right on average whatever the values are, and the nearer to its average the truer they are.

    Args:
        values: float32 [T, K], value of the best afterstate at each turn.
        means: float32 [T, K], 1-ply value of the afterstate played; where `values` are exact, these.
        is_greedy: bool [T], whether the best afterstate was played.
        offsets: int64 [G + 1], first turn of each game.
        outcomes: int64 [G], as for `lambda_returns`.
        lam: share of later corrections that is passed back.
    Returns:
        float32 [T, K]; sums are 1, but single numbers may lie a little outside 0 to 1.
    """
    targets = _last_targets(values, offsets, outcomes)
    for later in _backwards(offsets):
        correction = np.float32(lam) * (targets[later] - values[later])
        targets[later - 1] = means[later - 1] + np.where(is_greedy[later, None], opponent_probs(correction), 0.0)
    return targets


def _last_targets(values: Probs, offsets: npt.NDArray[np.int64], outcomes: npt.NDArray[np.int64]) -> Probs:
    """Targets [T, K] with the last turn of each game filled in: its outcome, or its value where the game was cut."""
    targets = np.zeros_like(values)
    last = offsets[1:] - 1
    targets[last] = values[last]
    has_ended = outcomes != UNFINISHED
    targets[last[has_ended]] = np.eye(values.shape[1], dtype=np.float32)[outcomes[has_ended]]
    return targets


def _backwards(offsets: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.int64]]:
    """The last turn of every game that has one before it, then the turn before it, and so on: int64 arrays of turns."""
    lengths = np.diff(offsets)
    order = np.argsort(-lengths, kind="stable")
    last, lengths = offsets[1:][order] - 1, lengths[order]
    for back in range(1, int(lengths[0]) if len(lengths) else 0):
        yield last[: np.searchsorted(-lengths, -back, side="left")] - back + 1
