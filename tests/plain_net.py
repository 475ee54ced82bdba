"""A net without kernels: random nets of any shape, and their forward pass in plain numpy from nothing."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from agent.features import COUNT_ROWS, dense_features, feature_count
from agent.net import Net
from engine.board import BEAROFF, CONTACT, RACE, phase
from engine.outcome import UNFINISHED, outcome_class
from engine.rules import Rules

COUNTS = 16


def random_net(
    rules: Rules,
    features: str = "counts_v1",
    hidden: tuple[int, ...] = (24, 8),
    experts: tuple[str, ...] = ("all",),
    seed: int = 1,
) -> Net:
    """A net of random weights, each expert its own."""
    rng = np.random.default_rng(seed)

    def weights(scale: float, *shape: int) -> np.ndarray:
        return rng.normal(0.0, scale, size=(len(experts), *shape)).astype(np.float32)

    sizes = (*hidden, len(rules.outcomes))
    return Net(
        name="random",
        game=rules.game.name,
        rules=str(rules),
        features=features,
        experts=experts,
        rows=weights(0.2, COUNT_ROWS, hidden[0]),
        feature_weights=weights(0.2, feature_count(features), hidden[0]),
        bias=weights(0.2, hidden[0]),
        layers=tuple((weights(a**-0.5, a, b), weights(0.2, b)) for a, b in pairwise(sizes)),
    )


def plain_probs(net: Net, boards: np.ndarray, rules: Rules) -> np.ndarray:
    """float64 [N, K]: outcome probabilities without tables, every board by itself."""
    features = dense_features(boards, net.features).astype(float)
    phases, outcomes = phase(boards, rules), outcome_class(boards, rules)
    result = np.zeros((len(boards), len(rules.outcomes)))
    for i, board in enumerate(boards):
        if outcomes[i] != UNFINISHED:
            result[i, outcomes[i]] = 1.0
            continue
        expert = _expert(net, phases[i])
        cells = board.reshape(-1)
        held = np.flatnonzero(cells)
        values = net.rows[expert, held * COUNTS + cells[held]].astype(float).sum(axis=0)
        values += net.bias[expert] + features[i] @ net.feature_weights[expert]
        for weight, bias in net.layers:
            values = np.maximum(values, 0.0) @ weight[expert] + bias[expert]
        powers = np.exp(values - values.max())
        result[i] = powers / powers.sum()
    return result


def _expert(net: Net, board_phase: int) -> int:
    names = ("bearoff", "race", "contact", "all")
    wanted = names[{BEAROFF: 0, RACE: 1, CONTACT: 2}[board_phase] :]
    return next(net.experts.index(name) for name in wanted if name in net.experts)
