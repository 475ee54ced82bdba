"""Lambda-returns."""

import numpy as np
import pytest

from engine.outcome import UNFINISHED
from training.targets import adjusted_returns, lambda_returns

K = 4


def slow_returns(values, is_greedy, offsets, outcomes, lam):
    """One game at a time, backwards, from the definition."""
    targets = np.zeros_like(values)
    for game, outcome in enumerate(outcomes):
        first, last = offsets[game], offsets[game + 1] - 1
        wanted = values[last] if outcome == UNFINISHED else np.eye(K, dtype=np.float32)[outcome]
        for turn in range(last, first - 1, -1):
            targets[turn] = wanted
            value = values[turn]
            promised = lam * wanted + (1 - lam) * value if is_greedy[turn] else value
            wanted = np.roll(promised, K // 2)
    return targets


def some_games(rng, games=40):
    lengths = rng.integers(1, 30, games)
    offsets = np.concatenate([[0], lengths.cumsum()])
    values = rng.dirichlet(np.ones(K), offsets[-1]).astype(np.float32)
    is_greedy = rng.random(offsets[-1]) < 0.8
    return values, is_greedy, offsets, rng.integers(UNFINISHED, K, games)


@pytest.mark.parametrize("lam", [0.0, 0.7, 1.0])
def test_equal_the_definition_game_by_game(lam):
    games = some_games(np.random.default_rng(3))
    assert lambda_returns(*games, lam) == pytest.approx(slow_returns(*games, lam), abs=1e-6)


def test_are_probabilities():
    targets = lambda_returns(*some_games(np.random.default_rng(4)), 0.6)
    assert targets.min() >= 0.0
    assert targets.sum(axis=1) == pytest.approx(1.0, abs=1e-5)


def test_last_turn_wants_the_outcome_and_the_turn_before_its_mirror():
    values = np.full((2, K), 0.25, dtype=np.float32)
    targets = lambda_returns(values, np.array([True, True]), np.array([0, 2]), np.array([1]), 1.0)
    assert targets.tolist() == [[0, 0, 0, 1], [0, 1, 0, 0]]


def test_exploratory_turn_hides_what_followed_it():
    values = np.array([[0.1, 0.2, 0.3, 0.4]] * 3, dtype=np.float32)
    is_greedy = np.array([True, False, True])
    first, second = (
        lambda_returns(values, is_greedy, np.array([0, 3]), np.array([outcome]), 1.0) for outcome in (0, 3)
    )
    assert first[0] == pytest.approx([0.3, 0.4, 0.1, 0.2])
    assert np.array_equal(first[0], second[0])
    assert not np.array_equal(first[1], second[1])


def test_no_games_give_no_targets():
    empty = lambda_returns(
        np.zeros((0, K), np.float32), np.zeros(0, bool), np.zeros(1, np.int64), np.zeros(0, np.int64), 0.7
    )
    assert empty.shape == (0, K)


def test_turn_whose_value_is_known_hides_the_luck_that_followed_it():
    values = np.array([[0.1, 0.2, 0.3, 0.4], [0.9, 0.1, 0.0, 0.0], [0.25] * 4], dtype=np.float32)
    offsets, is_known = np.array([0, 3]), np.array([False, True, False])
    won, lost = (
        lambda_returns(values, np.ones(3, bool), offsets, np.array([outcome]), 1.0, is_known) for outcome in (0, 2)
    )
    assert won[0] == pytest.approx([0.0, 0.0, 0.9, 0.1])
    assert np.array_equal(won[:2], lost[:2])
    assert not np.array_equal(won[2], lost[2])


def slow_adjusted(values, means, is_greedy, offsets, outcomes, lam):
    """One game at a time, backwards, from the definition."""
    targets = np.zeros_like(values)
    for game, outcome in enumerate(outcomes):
        first, last = offsets[game], offsets[game + 1] - 1
        targets[last] = values[last] if outcome == UNFINISHED else np.eye(K, dtype=np.float32)[outcome]
        for turn in range(last - 1, first - 1, -1):
            surprise = np.roll(targets[turn + 1] - values[turn + 1], K // 2)
            targets[turn] = means[turn] + (lam * surprise if is_greedy[turn + 1] else 0.0)
    return targets


@pytest.mark.parametrize("lam", [0.0, 0.9, 1.0])
def test_adjusted_returns_equal_the_definition_and_sum_to_one(lam):
    rng = np.random.default_rng(5)
    values, *game = some_games(rng)
    means = rng.dirichlet(np.ones(K), len(values)).astype(np.float32)
    given = adjusted_returns(values, means, *game, lam)
    assert given == pytest.approx(slow_adjusted(values, means, *game, lam), abs=1e-5)
    assert given.sum(axis=1) == pytest.approx(1.0, abs=1e-4)


def test_exact_values_leave_no_luck_in_the_targets():
    """A game of three coin tosses worth 0.5 before each: whatever falls, the first turns want what they are worth."""
    half = [0.5, 0.0, 0.5, 0.0]
    for outcome in (0, 2):
        toss = np.eye(K, dtype=np.float32)[outcome]
        values = np.array([half, half, toss], dtype=np.float32)
        means = np.array([half, half, half], dtype=np.float32)
        targets = adjusted_returns(values, means, np.ones(3, bool), np.array([0, 3]), np.array([outcome]), 1.0)
        assert targets[:2].tolist() == [half, half]
        plain = lambda_returns(values, np.ones(3, bool), np.array([0, 3]), np.array([outcome]), 1.0)
        assert plain[0].tolist() != half
