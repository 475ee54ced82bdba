"""Samples from one roll of look-ahead."""

import numpy as np
import pytest
import torch

from agent.evaluator import Evaluator
from agent.search import plies_probs
from engine.board import BEAROFF, opponent_view, phase
from engine.dice import ROLLS
from engine.movegen import legal_afterstates
from engine.rules import RULES
from random_positions import random_play
from training.config import LearnConfig, PlayConfig, StageConfig, TargetConfig
from training.decisions import best_of_each, decision_samples
from training.learner import Learner
from training.selfplay import Samples, play_round, pooled
from training.value_net import Shape, ValueNet, net_from_flat


def small_judge(rules, seed=1):
    shape = Shape(features="counts_v1", feature_count=0, experts=("all",), hidden=(8, 4), outcomes=len(rules.outcomes))
    value_net = ValueNet(shape)
    value_net.load_flat(torch.from_numpy(np.random.default_rng(seed).normal(0, 0.3, shape.size).astype(np.float32)))
    return Evaluator(net_from_flat(value_net.flat, shape, rules, "small"), rules)


@pytest.mark.parametrize("rules", [RULES["short"], RULES["long_classic"]], ids=str)
def test_plays_of_a_decision_are_its_best_and_carry_their_one_ply_values(rules):
    judge = small_judge(rules)
    positions, _ = random_play(rules, 400, np.random.default_rng(5))
    afterstates = np.ascontiguousarray(opponent_view(positions))
    given = decision_samples(
        judge, afterstates, decisions=60, siblings=3, rng=np.random.default_rng(6), threads=2
    )  # fmt: skip
    plays, groups, targets = given
    assert len(np.unique(groups)) <= 60
    assert np.bincount(groups).max() == 3
    assert (np.diff(groups) >= 0).all()
    assert (phase(plays, rules) < BEAROFF).all()
    assert targets == pytest.approx(plies_probs(judge, plays, 1), abs=1e-6)
    equity = judge.equity(plays)
    assert (np.diff(equity)[np.diff(groups) == 0] <= 0).all()
    again = decision_samples(judge, afterstates, decisions=60, siblings=3, rng=np.random.default_rng(6), threads=1)
    assert all(np.array_equal(one, other) for one, other in zip(given, again, strict=True))


def test_best_of_each_owner_come_first_and_short_lists_stay_whole():
    values = np.array([1.0, 3.0, 2.0, 5.0, 4.0, 4.5], dtype=np.float32)
    rows = best_of_each(values, np.array([0, 0, 0, 1, 2, 2]), np.array([0, 3, 4, 6]), 2)
    assert rows.tolist() == [1, 2, 3, 5, 4]


def grouped_samples(rules, groups, seed=2):
    rng = np.random.default_rng(seed)
    boards, _ = random_play(rules, len(groups), rng)
    targets = rng.dirichlet(np.ones(len(rules.outcomes)), len(groups)).astype(np.float32)
    empty = np.zeros((len(groups), 0), dtype=np.float32)
    return Samples(
        boards=boards, features=empty, experts=rng.integers(0, 2, len(groups)), targets=targets, groups=groups,
        games=1, turns=1,
    )  # fmt: skip


def new_learner(rules):
    shape = Shape(
        features="counts_v1", feature_count=0, experts=("contact", "race"), hidden=(8,), outcomes=len(rules.outcomes)
    )
    value_net = ValueNet(shape)
    value_net.initialize(np.random.default_rng(3))
    return Learner(value_net, rules.points)


def test_difference_loss_counts_plays_of_one_decision_against_each_other_only():
    rules = RULES["short"]
    learner = new_learner(rules)
    groups = np.array([0, 0, 0, 1, 2, 2])
    samples = grouped_samples(rules, groups)
    logits, targets, rows = learner._logits(samples, np.arange(6))
    error = ((torch.softmax(logits, 1) - targets) @ torch.from_numpy(rules.points.copy())).detach().numpy()
    expected = 0.0
    for group in range(3):
        own = error[groups[rows] == group]
        expected += ((own - own.mean()) ** 2).sum()
    given = learner._difference_loss(logits, targets, groups[rows])
    assert given.item() == pytest.approx(expected, rel=1e-4)
    assert expected > 0.01


def test_weighted_differences_are_learned_and_decisions_stay_whole_in_a_batch():
    rules = RULES["short"]
    groups = np.sort(np.random.default_rng(4).integers(0, 40, 150))
    samples = grouped_samples(rules, groups)

    def difference(learner):
        logits, targets, rows = learner._logits(samples, np.arange(150))
        return learner._difference_loss(logits, targets, groups[rows]).item()

    plain, weighted = new_learner(rules), new_learner(rules)
    for learner, weight in ((plain, 0.0), (weighted, 10.0)):
        config = LearnConfig(batch=50, rate=5e-3, difference_weight=weight)
        for i in range(30):
            learner.learn(samples, config, np.random.default_rng(i), (0.0, 0.1))
    assert difference(weighted) < 0.5 * difference(plain)


def test_rounds_pooled_keep_every_sample_and_their_decisions_apart():
    rules = RULES["short"]
    one = grouped_samples(rules, np.array([0, 0, 2, 3]), seed=5)
    other = grouped_samples(rules, np.array([0, 1, 1]), seed=6)
    pool = pooled([one, other])
    assert np.array_equal(pool.boards, np.concatenate([one.boards, other.boards]))
    assert np.array_equal(pool.targets, np.concatenate([one.targets, other.targets]))
    assert pool.groups.tolist() == [0, 0, 2, 3, 4, 5, 5]
    assert (pool.games, pool.turns) == (2, 2)
    assert pooled([one]) is one


@pytest.mark.parametrize("rules", [RULES["short"], RULES["long_classic"]], ids=str)
def test_first_turns_are_among_the_decisions_of_a_round(rules):
    stage = StageConfig(
        games=20,
        play=PlayConfig(games_per_round=20, random_rate=0.1),
        targets=TargetConfig(kind="look_ahead", decisions=100_000, siblings=100),
    )
    judge = small_judge(rules)
    samples = play_round(judge.net, rules, stage, seed=3, first_game=0, games=20, threads=2)
    first_turns = {
        board.tobytes() for roll in ROLLS for board in legal_afterstates(rules.start_board(), roll.tolist(), rules)
    }
    assert sum(board.tobytes() in first_turns for board in samples.boards) >= 20
