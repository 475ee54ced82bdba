"""Ends of games: outcome classes, points, and the other side's view of both."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from engine import RULES, Rules, get_rules
from engine.board import opponent_view
from engine.outcome import UNFINISHED, game_points, is_finished, opponent_probs, outcome_class
from examples import Example, read_examples
from random_positions import placed
from reference_rules import reference_outcome
from test_rules import all_variants

Int8 = npt.NDArray[np.int8]

SCORES = [example for example in read_examples() if example.dice is None]


def finished_boards(rules: Rules, n: int, rng: np.random.Generator) -> Int8:
    """Well-formed boards of which one side, either one, has borne off all its checkers."""
    boards, _ = placed(rules, n, rng)
    winner = rng.integers(0, 2, size=n)
    boards[np.arange(n), winner] = 0
    boards[np.arange(n), winner, 0] = 15
    return boards


def test_there_are_fifteen_score_examples_and_a_twin_that_agrees_with_them() -> None:
    assert len(SCORES) == 15
    for example in SCORES:
        assert reference_outcome(example.board, get_rules(example.rules))[1] == float(example.answer), example.id


@pytest.mark.parametrize("example", SCORES, ids=lambda example: example.id)
def test_a_score_example_of_the_rules_holds(example: Example) -> None:
    board = np.array(example.board, dtype=np.int8)
    rules = get_rules(example.rules)
    assert game_points(board, rules) == float(example.answer)
    assert game_points(opponent_view(board), rules) == -float(example.answer)


def test_outcomes_and_points_equal_the_twin_under_every_combination_of_options(rng: np.random.Generator) -> None:
    boards = {name: finished_boards(get_rules(name), 60, rng) for name in ("short", "long")}
    seen: dict[str, set[str]] = {"short": set(), "long": set()}
    for rules in all_variants():
        sample = boards[rules.game.name]
        classes, points = outcome_class(sample, rules), game_points(sample, rules)
        for board, index, won in zip(sample.tolist(), classes, points, strict=True):
            name, expected = reference_outcome(board, rules)
            assert (rules.outcomes[index], float(won)) == (name, expected), f"{rules} {board}"
            seen[rules.game.name].add(name)
    assert seen == {name: set(get_rules(name).outcomes) for name in seen}


@pytest.mark.parametrize("preset", RULES)
def test_the_loser_sees_the_winners_class_and_the_opposite_points(preset: str, rng: np.random.Generator) -> None:
    rules = get_rules(preset)
    boards = finished_boards(rules, 2000, rng)
    ours, theirs = outcome_class(boards, rules), outcome_class(opponent_view(boards), rules)
    assert np.array_equal((ours + rules.game.levels) % len(rules.outcomes), theirs)
    assert np.array_equal(game_points(boards, rules), -game_points(opponent_view(boards), rules))
    assert np.array_equal(game_points(boards, rules), rules.points[ours])
    assert game_points(boards, rules).dtype == np.float32


@pytest.mark.parametrize("preset", RULES)
def test_an_unfinished_board_has_no_class_and_no_points(preset: str, rng: np.random.Generator) -> None:
    rules = get_rules(preset)
    boards, _ = placed(rules, 2000, rng)
    assert (boards[:, :, 0] == 14).any(), "the sample holds boards with one checker left"
    assert not is_finished(boards).any()
    assert (outcome_class(boards, rules) == UNFINISHED).all()
    assert not game_points(boards, rules).any()


@pytest.mark.parametrize("preset", RULES)
def test_one_board_is_scored_like_a_batch_of_one(preset: str, rng: np.random.Generator) -> None:
    rules = get_rules(preset)
    for board in finished_boards(rules, 50, rng):
        assert bool(is_finished(board)) and is_finished(board[None]).tolist() == [True]
        assert outcome_class(board[None], rules).tolist() == [int(outcome_class(board, rules))]
        assert game_points(board[None], rules).tolist() == [float(game_points(board, rules))]


def test_a_drawn_board_is_worth_nothing() -> None:
    rules = get_rules("long(last_turn=second_player)")
    board = np.zeros((2, 26), dtype=np.int8)
    board[:, 0] = 15
    assert is_finished(board) and outcome_class(board, rules) == UNFINISHED and game_points(board, rules) == 0.0


@pytest.mark.parametrize("preset", RULES)
def test_probabilities_seen_by_the_opponent_have_the_opposite_equity(preset: str, rng: np.random.Generator) -> None:
    rules = get_rules(preset)
    probs = rng.dirichlet(np.ones(len(rules.outcomes)), size=(7, 11)).astype(np.float32)
    seen = opponent_probs(probs)
    assert seen.dtype == np.float32 and seen.shape == probs.shape
    assert np.array_equal(opponent_probs(seen), probs)
    np.testing.assert_allclose(seen @ rules.points, -(probs @ rules.points), atol=1e-6)
