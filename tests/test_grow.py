"""A grown net judges as the net it grew from."""

from __future__ import annotations

import numpy as np
import pytest

from agent.evaluator import Evaluator
from agent.features import feature_count
from agent.net import Net
from agent.play import game_seeds, play_games
from engine.errors import ConfigError
from engine.rules import get_rules
from training.grow import grown_net
from training.value_net import Shape, ValueNet, net_from_flat, shape_of


def untrained(rules: str, features: str, experts: tuple[str, ...], hidden: tuple[int, ...], seed: int) -> Net:
    exact = get_rules(rules)
    shape = Shape(
        features=features,
        feature_count=feature_count(features),
        experts=experts,
        hidden=hidden,
        outcomes=len(exact.outcomes),
    )
    value_net = ValueNet(shape)
    value_net.initialize(np.random.default_rng(seed))
    return net_from_flat(value_net.flat, shape, exact, "untrained")


@pytest.mark.parametrize(("rules", "features"), [("short_backgammon", "short_v1"), ("long_classic", "long_v1")])
def test_a_grown_net_gives_the_same_probabilities(rules: str, features: str) -> None:
    small = untrained(rules, "counts_v1", ("all",), (16, 8), 1)
    large = untrained(rules, features, ("contact", "race"), (40, 16), 2)
    grown = grown_net(small, large, shape_of(large))
    exact = get_rules(rules)
    boards = play_games(small, exact, game_seeds(3, 0, 4), random_rate=1.0).afterstates
    before = Evaluator(small, exact).outcome_probs(boards)
    after = Evaluator(grown, exact).outcome_probs(boards)
    assert np.abs(before - after).max() < 1e-6
    assert np.abs(before - Evaluator(large, exact).outcome_probs(boards)).max() > 1e-3


def test_a_net_does_not_shrink() -> None:
    small = untrained("short", "counts_v1", ("all",), (16, 8), 1)
    large = untrained("short", "counts_v1", ("all",), (24, 8), 2)
    with pytest.raises(ConfigError, match="does not fit"):
        grown_net(large, small, shape_of(small))
