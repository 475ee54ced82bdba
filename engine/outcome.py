"""How a game ended: outcome classes, points, and the other side's probabilities.

Source: RULES.md 4.3 and 5.4. Classes are exclusive; wins come first (`Rules.outcomes`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from engine.board import Boards
from engine.rules import BAR, CHECKERS, OFF, Rules

UNFINISHED = -1


def is_finished(boards: Boards) -> npt.NDArray[np.bool_]:
    """Whether a side has borne off its 15th checker.

    Args:
        boards: int8 [..., 2, 26].
    Returns:
        bool [...].
    """
    finished: npt.NDArray[np.bool_] = (boards[..., OFF] == CHECKERS).any(axis=-1)
    return finished


def outcome_class(boards: Boards, rules: Rules) -> npt.NDArray[np.int64]:
    """Outcome class of each board as seen by row 0, or `UNFINISHED`.

    Args:
        boards: int8 [..., 2, 26].
    Returns:
        int64 [...]: an index into `rules.outcomes`. A board both have finished (a draw under `last_turn`) is
        UNFINISHED here; the session scores it.
    """
    has_won = boards[..., OFF] == CHECKERS  # [..., 2]
    levels = rules.game.levels
    won = _loser_level(boards[..., 1, :], rules)
    lost = _loser_level(boards[..., 0, :], rules) + levels
    result = np.where(has_won[..., 0], won, np.where(has_won[..., 1], lost, UNFINISHED))
    return np.where(has_won.all(axis=-1), UNFINISHED, result)


def _loser_level(rows: Boards, rules: Rules) -> npt.NDArray[np.int64]:
    low, high = rules.game.koks_zones[rules.koks_zone]
    none_off = rows[..., OFF] == 0
    counts_zone = none_off if rules.koks_needs_none_off else np.ones_like(none_off)
    in_zone = (rows[..., low : high + 1] > 0).any(axis=-1)
    level = np.where(none_off, 1, 0)
    level = np.where(counts_zone & in_zone, 2, level)
    return np.where(counts_zone & (rows[..., BAR] > 0), 3, level)


def game_points(boards: Boards, rules: Rules) -> npt.NDArray[np.float32]:
    """Points of each board for row 0 under `rules.scoring`; 0 while unfinished (and for a draw).

    Args:
        boards: int8 [..., 2, 26].
    Returns:
        float32 [...].
    """
    outcome = outcome_class(boards, rules)
    return np.where(outcome == UNFINISHED, np.float32(0.0), rules.points[outcome])


def equity_of(probs: npt.NDArray[np.floating[Any]], rules: Rules) -> npt.NDArray[Any]:
    """Mean points of outcome probabilities under `rules.scoring`, for the side that they are seen by.

    Classes are added one after another, as the kernels add them: a matrix product would round a row differently in a
    batch of another size, on some processors, and then a choice between near equals would hang on its company.

    Args:
        probs: floats [..., K].
    Returns:
        [...], of the same dtype, in points per game.
    """
    total = probs[..., 0] * rules.points[0]
    for column in range(1, len(rules.points)):
        total = total + probs[..., column] * rules.points[column]
    return np.asarray(total)


def opponent_probs(probs: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The same probabilities seen by the other player: the win and lose halves exchanged.

    Args:
        probs: float32 [..., K].
    """
    half = probs.shape[-1] // 2
    return np.concatenate([probs[..., half:], probs[..., :half]], axis=-1)
