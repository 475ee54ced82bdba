"""A small net with random weights: enough for what does not depend on strength."""

from __future__ import annotations

import numpy as np

from agent.features import COUNT_ROWS, feature_count
from agent.net import Net
from engine.rules import get_rules

FEATURES = "counts_v1"


def small_net(rules: str, width: int = 8, seed: int = 1) -> Net:
    """A net of one expert for `rules` that judges by fixed random weights."""
    variant = get_rules(rules)
    rng = np.random.default_rng(seed)

    def weights(*shape: int) -> np.ndarray:
        return rng.normal(0.0, 0.3, size=(1, *shape)).astype(np.float32)

    outcomes = len(variant.outcomes)
    return Net(
        name=f"small-{variant.game.name}",
        game=variant.game.name,
        rules=str(variant),
        features=FEATURES,
        experts=("all",),
        rows=weights(COUNT_ROWS, width),
        feature_weights=weights(feature_count(FEATURES), width),
        bias=weights(width),
        layers=((weights(width, outcomes), weights(outcomes)),),
    )
