"""Figures as answers give them: rounded, and outcome probabilities by name, exclusive and cumulative."""

from __future__ import annotations

import math
from typing import Any

import numpy.typing as npt

from engine.rules import Rules


def rounded(value: float | None) -> float | None:
    """A figure to six decimals; None where there is none, such as the standard error of a single trial."""
    return None if value is None or not math.isfinite(value) else round(float(value), 6)


def probs_dict(probs: npt.NDArray[Any], rules: Rules) -> dict[str, dict[str, float]]:
    """Outcome probabilities twice: exclusive ones (`probs`) and cumulative ones (`cumulative`).

    Args:
        probs: float [K] over `rules.outcomes`.
    Returns:
        `{"probs": {"win_single": ...}, "cumulative": {"win_or_better": ..., "win_gammon_or_better": ...,
        "lose_or_worse": ...}}`; a cumulative figure counts its class and every dearer one of that side.
    """
    exclusive = {name: round(p, 6) for name, p in zip(rules.outcomes, probs.tolist(), strict=True)}
    levels = rules.game.levels
    cumulative = {}
    for row, name in enumerate(rules.outcomes):
        end = levels if row < levels else 2 * levels
        word = name.removesuffix("_single") + ("_or_better" if row < levels else "_or_worse")
        cumulative[word] = round(float(probs[row:end].sum()), 6)
    return {"probs": exclusive, "cumulative": cumulative}
