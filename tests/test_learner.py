"""The learner."""

import numpy as np
import pytest
import torch

from engine.rules import get_rules
from training.config import LearnConfig
from training.learner import Learner, rate_at
from training.selfplay import Samples
from training.value_net import Shape, ValueNet

K = 8
POINTS = get_rules("short").points


def samples(count=600, seed=1, experts=1):
    """Boards whose outcome can be read off: the side with more checkers borne off wins a single."""
    rng = np.random.default_rng(seed)
    boards = np.zeros((count, 2, 26), dtype=np.int8)
    off = rng.integers(0, 15, (count, 2))
    boards[:, :, 0] = off
    boards[:, :, 6] = 15 - off
    targets = np.zeros((count, K), dtype=np.float32)
    targets[np.arange(count), np.where(off[:, 0] >= off[:, 1], 0, K // 2)] = 1.0
    return Samples(
        boards=boards,
        features=np.zeros((count, 0), dtype=np.float32),
        experts=rng.integers(0, experts, count),
        targets=targets,
        games=10,
        turns=count,
    )


def new_learner(experts=("all",)):
    shape = Shape(features="counts_v1", feature_count=0, experts=experts, hidden=(16, 8), outcomes=K)
    value_net = ValueNet(shape)
    value_net.initialize(np.random.default_rng(0))
    return Learner(value_net, POINTS)


def test_learns_what_can_be_learned():
    learner = new_learner()
    config = LearnConfig(rate=1e-2, batch=64)
    losses = [learner.learn(samples(seed=i), config, np.random.default_rng(i), (0.0, 0.1)) for i in range(12)]
    assert losses[0] == pytest.approx(np.log(K), abs=0.4)
    assert losses[-1] < 0.1


def test_equals_plain_adam_on_the_whole_batch():
    learner = new_learner()
    config = LearnConfig(rate=1e-3, final_rate=1e-3, batch=1000)
    given = samples()
    twin = ValueNet(learner.value_net.shape)
    twin.load_flat(learner.value_net.flat)
    boards, targets = torch.from_numpy(given.boards), torch.from_numpy(given.targets)
    logits = twin.logits(boards, torch.zeros(len(boards), 0), 0)
    (-(targets * torch.log_softmax(logits, 1)).sum() / len(boards)).backward()
    moment, square = 0.1 * twin.gradient, 0.001 * twin.gradient**2
    step = 1e-3 * (moment / 0.1) / ((square / 0.001).sqrt() + 1e-8)
    learner.learn(given, config, np.random.default_rng(0), (0.0, 1.0))
    assert torch.allclose(learner.value_net.flat, twin.flat - step, atol=2e-5)
    assert torch.allclose(learner.moments["exp_avg"], moment, atol=1e-5)


def test_an_expert_without_samples_does_not_change_first():
    learner = new_learner(("contact", "race"))
    before = learner.value_net.experts[1]["bias"].clone()
    learner.learn(samples(experts=1), LearnConfig(batch=200), np.random.default_rng(0), (0.0, 0.1))
    assert torch.equal(learner.value_net.experts[1]["bias"], before)
    assert learner.value_net.experts[0]["bias"].abs().max() > 0


def test_average_follows_the_weights_slowly():
    learner = new_learner()
    start = learner.average.clone()
    for i in range(5):
        learner.learn(samples(), LearnConfig(batch=100), np.random.default_rng(i), (0.0, 0.1))
    moved = (learner.value_net.flat - start).norm()
    assert 0 < (learner.average - start).norm() < moved
    learner.restart_average()
    assert torch.equal(learner.average, learner.value_net.flat)


def test_same_order_gives_the_same_weights_and_another_order_others():
    first, again, other = new_learner(), new_learner(), new_learner()
    for learner, seed in ((first, 1), (again, 1), (other, 2)):
        learner.learn(samples(), LearnConfig(batch=100), np.random.default_rng(seed), (0.0, 0.1))
    assert torch.equal(first.value_net.flat, again.value_net.flat)
    assert not torch.equal(first.value_net.flat, other.value_net.flat)


def test_rate_falls_by_a_cosine():
    config = LearnConfig(rate=2e-3, final_rate=1e-5)
    rates = [rate_at(config, progress) for progress in np.linspace(0, 1, 11)]
    assert rates[0] == pytest.approx(2e-3)
    assert rates[5] == pytest.approx((2e-3 + 1e-5) / 2)
    assert rates[-1] == pytest.approx(1e-5)
    assert rates == sorted(rates, reverse=True)


def test_feature_columns_are_learned_too():
    given = samples()
    shape = Shape(features="counts_v1", feature_count=2, experts=("all",), hidden=(8,), outcomes=K)
    value_net = ValueNet(shape)
    value_net.initialize(np.random.default_rng(0))
    before = value_net.experts[0]["feature_weights"].clone()
    with_features = Samples(
        boards=given.boards,
        features=np.ones((len(given.boards), 2), np.float32),
        experts=given.experts,
        targets=given.targets,
        games=1,
        turns=1,
    )
    Learner(value_net, POINTS).learn(with_features, LearnConfig(), np.random.default_rng(0), (0.0, 0.1))
    assert ((value_net.experts[0]["feature_weights"] - before).abs() > 0).any(dim=1).all()
