"""Training targets: lambda-returns computed backwards over finished games."""

from __future__ import annotations

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
    targets = np.zeros_like(values)
    lengths = np.diff(offsets)
    order = np.argsort(-lengths, kind="stable")
    last = offsets[1:][order] - 1
    lengths = lengths[order]
    targets[last] = values[last]
    has_ended = outcomes[order] != UNFINISHED
    targets[last[has_ended]] = np.eye(values.shape[1], dtype=np.float32)[outcomes[order][has_ended]]
    for back in range(1, int(lengths[0]) if len(lengths) else 0):
        later = last[: np.searchsorted(-lengths, -back, side="left")] - back + 1
        value = values[later]
        blend = np.float32(lam) * targets[later] + np.float32(1.0 - lam) * value
        earlier = later - 1
        wanted = opponent_probs(np.where(is_greedy[later, None], blend, value))
        targets[earlier] = wanted if is_known is None else np.where(is_known[earlier, None], values[earlier], wanted)
    return targets
