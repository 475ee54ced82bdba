"""Luck of rolls."""

from __future__ import annotations

import numpy as np
import pytest

from agent.evaluator import Evaluator
from agent.luck import luck, probs_luck, roll_index
from agent.search import best_replies
from engine.dice import ROLL_WEIGHTS, ROLLS
from engine.errors import DiceError
from engine.rules import get_rules
from fake_judge import FakeJudge
from random_positions import random_play
from small_net import small_net


@pytest.mark.parametrize("preset", ["short", "long_classic"])
def test_luck_over_the_21_rolls_sums_to_zero(preset: str) -> None:
    judge = FakeJudge(get_rules(preset))
    boards, _ = random_play(judge.rules, 20, np.random.default_rng(1))
    each = np.stack([luck(judge, boards, np.tile(roll, (len(boards), 1))) for roll in ROLLS])  # [21, n]
    np.testing.assert_allclose(ROLL_WEIGHTS @ each, 0.0, atol=1e-6)
    assert np.abs(each).max() > 0.05


def test_luck_is_the_equity_of_the_best_play_above_the_mean() -> None:
    judge = FakeJudge(get_rules("short"))
    board = judge.rules.start_board()[None]
    best = np.array([judge.equity(judge.choose(board, roll[None]))[0] for roll in ROLLS], dtype=np.float64)
    for row, roll in enumerate(ROLLS):
        expected = best[row] - ROLL_WEIGHTS @ best
        assert luck(judge, board, roll[None])[0] == pytest.approx(expected, abs=1e-6)
        assert luck(judge, board, roll[None, ::-1])[0] == pytest.approx(expected, abs=1e-6)


def test_luck_in_a_known_bear_off_is_exact() -> None:
    """Case E12 (gnubg 2008-12-09, 2011-07-29): 27 of 36 rolls bear the last checker off, else the opponent does."""
    rules = get_rules("short_backgammon")
    judge = Evaluator(small_net("short_backgammon"), rules)
    board = np.zeros((1, 2, 26), dtype=np.int8)
    board[0, 0, [0, 6]], board[0, 1, [0, 1]] = (14, 1), (14, 1)
    assert luck(judge, board, [[6, 1]])[0] == pytest.approx(0.5, abs=1e-6)
    assert luck(judge, board, [[2, 1]])[0] == pytest.approx(-1.5, abs=1e-6)


def test_luck_shifts_chances_that_still_sum_to_one() -> None:
    judge = FakeJudge(get_rules("long_classic"))
    boards, dice = random_play(judge.rules, 10, np.random.default_rng(5))
    best, probs = best_replies(judge, boards)
    assert best.shape == (10, 21, 2, 26) and probs.shape == (10, 21, 6)
    np.testing.assert_allclose(probs_luck(probs, dice).sum(axis=1), 0.0, atol=1e-6)
    points = judge.rules.points.astype(np.float64)
    np.testing.assert_allclose(probs_luck(probs, dice) @ points, luck(judge, boards, dice), atol=1e-6)


def test_a_finished_game_has_no_luck() -> None:
    rules = get_rules("long_classic")
    board = np.zeros((1, 2, 26), dtype=np.int8)
    board[0, 0, 0], board[0, 1, 7] = 15, 15
    assert luck(FakeJudge(rules), board, [[6, 6]])[0] == 0.0


def test_a_roll_is_found_whichever_die_comes_first() -> None:
    np.testing.assert_array_equal(roll_index(ROLLS), np.arange(21))
    np.testing.assert_array_equal(roll_index(ROLLS[:, ::-1]), np.arange(21))


def test_dice_outside_1_to_6_are_refused() -> None:
    judge = FakeJudge(get_rules("short"))
    with pytest.raises(DiceError):
        luck(judge, judge.rules.start_board()[None], [[7, 1]])


@pytest.mark.parametrize("preset", ["short_backgammon", "long_fnr2026"])
def test_the_first_roll_that_is_the_toss_has_no_luck_on_average(preset: str) -> None:
    """The toss cannot be equal dice: against all 21 rolls it would look unlucky by some hundredths of a point."""
    judge = FakeJudge(get_rules(preset))
    unequal = ROLLS[ROLLS[:, 0] != ROLLS[:, 1]]
    boards = np.repeat(judge.rules.start_board()[None], len(unequal), axis=0)
    first = np.ones(len(unequal), dtype=np.bool_)
    assert luck(judge, boards, unequal, is_first=first).mean() == pytest.approx(0.0, abs=1e-6)
    assert luck(judge, boards, unequal).mean() < -0.005
    twice = judge.rules.start_board()[None], [[3, 3]]  # two equal dice are no toss
    assert luck(judge, *twice, is_first=first[:1])[0] == luck(judge, *twice)[0]


def test_a_first_roll_that_is_thrown_afresh_is_one_of_21() -> None:
    judge = FakeJudge(get_rules("short"))
    boards = np.repeat(judge.rules.start_board()[None], 21, axis=0)
    each = luck(judge, boards, ROLLS, is_first=np.ones(21, dtype=np.bool_))
    assert ROLL_WEIGHTS @ each == pytest.approx(0.0, abs=1e-6)
