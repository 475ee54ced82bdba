"""The torch net: its kernels, its flat vector, and its twin in agent/net.py."""

import numpy as np
import pytest
import torch

from agent.evaluator import Evaluator, expert_index
from agent.features import dense_features, feature_count
from engine.errors import ConfigError
from engine.rules import RULES
from random_positions import random_play
from training.value_net import Shape, ValueNet, flat_from_net, net_from_flat, shape_of, sum_rows_torch


def small_shape(rules, experts=("all",), hidden=(12, 6), features="counts_v1"):
    return Shape(
        features=features,
        feature_count=feature_count(features),
        experts=experts,
        hidden=hidden,
        outcomes=len(rules.outcomes),
    )


def random_net(shape, seed=1):
    value_net = ValueNet(shape)
    rng = np.random.default_rng(seed)
    value_net.load_flat(torch.from_numpy(rng.normal(scale=0.3, size=shape.size).astype(np.float32)))
    return value_net


@pytest.mark.parametrize("rules", RULES.values(), ids=str)
@pytest.mark.parametrize("experts", [("all",), ("contact", "race")], ids=str)
def test_equals_the_kernel_net(rules, experts):
    value_net = random_net(small_shape(rules, experts))
    net = net_from_flat(value_net.flat, value_net.shape, rules, "small")
    boards, _ = random_play(rules, 800, np.random.default_rng(2))
    chosen = expert_index(boards, net, rules)
    assert set(chosen) == set(range(len(experts)))
    expected = value_net.outcome_probs(boards, dense_features(boards, net.features), chosen)
    given = Evaluator(net, rules, use_tables=False).outcome_probs(boards)
    assert given == pytest.approx(expected, abs=1e-5)


def test_kernels_equal_plain_torch_and_its_gradient():
    rules = RULES["short"]
    boards = torch.from_numpy(random_play(rules, 200, np.random.default_rng(3))[0])
    value_net = random_net(small_shape(rules))
    weights = value_net.experts[0]
    no_features = torch.zeros(len(boards), 0)
    value_net.logits(boards, no_features, 0).pow(2).sum().backward()
    by_kernel = value_net.gradient.clone()
    value_net.gradient.zero_()
    hidden = sum_rows_torch(weights["rows"], boards) + weights["bias"]
    for layer in range(value_net.shape.layer_count):
        hidden = torch.relu(hidden) @ weights[f"weight_{layer}"] + weights[f"bias_{layer}"]
    hidden.pow(2).sum().backward()
    assert by_kernel.abs().max() > 0.1
    assert torch.allclose(by_kernel, value_net.gradient, rtol=1e-4, atol=1e-3)


def test_flat_vector_comes_back_from_a_finished_net():
    rules = RULES["long_classic"]
    value_net = random_net(small_shape(rules, ("contact", "race"), (10, 7, 5)))
    net = net_from_flat(value_net.flat, value_net.shape, rules, "small", {"games": "3"})
    assert shape_of(net) == value_net.shape
    assert torch.equal(flat_from_net(net, value_net.shape), value_net.flat)
    assert (net.rules, net.metadata["games"]) == ("long_classic", "3")


def test_net_of_another_shape_is_refused_with_both_shapes():
    rules = RULES["short"]
    value_net = random_net(small_shape(rules))
    net = net_from_flat(value_net.flat, value_net.shape, rules, "small")
    with pytest.raises(ConfigError, match=r"hidden=\(12, 6\).*this run needs.*hidden=\(12, 8\)"):
        flat_from_net(net, small_shape(rules, hidden=(12, 8)))


def test_starting_weights_depend_on_the_seed_alone_and_leave_empty_slots_at_zero():
    shape = small_shape(RULES["short"], ("contact", "race"))
    first, again, other = (ValueNet(shape) for _ in range(3))
    for value_net, seed in ((first, 1), (again, 1), (other, 2)):
        value_net.initialize(np.random.default_rng(seed))
    assert torch.equal(first.flat, again.flat)
    assert not torch.equal(first.flat, other.flat)
    assert first.experts[1]["rows"].view(52, 16, -1)[:, 0].abs().max() == 0
    assert torch.equal(first.experts[0]["rows"], first.experts[1]["rows"])
