"""Look-ahead equals the mean over the 21 rolls of the best reply, written out with the public functions alone."""

import numpy as np
import pytest

from agent.evaluator import Evaluator
from agent.search import best_replies, mean_over_rolls, plies_probs
from engine.board import opponent_view
from engine.dice import ROLL_WEIGHTS, ROLLS
from engine.errors import ConfigError
from engine.movegen import legal_afterstates
from engine.outcome import equity_of, is_finished, opponent_probs, outcome_class
from engine.rules import RULES
from plain_net import random_net
from random_positions import random_play

BOTH_GAMES = pytest.mark.parametrize("rules", [RULES["short"], RULES["long_classic"]], ids=str)


class SlowJudge:
    """An evaluator seen through the protocol alone, so that no kernel of the search is used."""

    def __init__(self, evaluator):
        self.evaluator, self.rules, self.net_name = evaluator, evaluator.rules, "slow"

    def outcome_probs(self, afterstates, *, offsets=None, threads=None):
        return self.evaluator.outcome_probs(afterstates)

    def choose(self, boards, dice, *, threads=None):
        return self.choose_judged(boards, dice)[0]

    def choose_judged(self, boards, dice, *, threads=None):
        chosen, probs = [], []
        for board, roll in zip(boards, dice, strict=True):
            plays = legal_afterstates(board, roll, self.rules)
            judged = self.evaluator.outcome_probs(plays)
            best = int(np.argmax(equity_of(judged, self.rules)))
            chosen.append(plays[best])
            probs.append(judged[best])
        return np.array(chosen), np.array(probs)


def written_out(evaluator, afterstate, plies):
    """One afterstate's probabilities at n-ply, roll by roll."""
    if plies == 0 or is_finished(afterstate):
        return evaluator.outcome_probs(afterstate[None])[0].astype(float)
    total = np.zeros(len(evaluator.rules.outcomes))
    for roll, weight in zip(ROLLS, ROLL_WEIGHTS, strict=True):
        plays = legal_afterstates(np.ascontiguousarray(opponent_view(afterstate)), roll, evaluator.rules)
        best = plays[int(np.argmax(evaluator.equity(plays)))]
        total += weight * written_out(evaluator, best, plies - 1)
    return opponent_probs(total)


def evaluator_of(rules, use_tables=False):
    net = random_net(rules, "short_v1" if rules.can_hit else "long_v1", (20, 8), ("contact", "race"))
    return Evaluator(net, rules, use_tables=use_tables)


def afterstates_of(rules, count, seed=3):
    return np.ascontiguousarray(opponent_view(random_play(rules, count, np.random.default_rng(seed))[0]))


def near_the_end():
    """Boards where the game may be over after one ply, and one where it is."""
    boards = np.zeros((3, 2, 26), dtype=np.int8)
    for board, mine, theirs in zip(boards, ((1, 1), (2, 0), (0, 3)), ((2, 0), (1, 1), (1, 2)), strict=True):
        board[0, 1:3], board[1, 1:3] = mine, theirs
        board[:, 0] = 15 - board.sum(axis=1)
    boards[2, 0] = 0
    boards[2, 0, 0] = 15
    return boards


@BOTH_GAMES
@pytest.mark.parametrize("plies", [1, 2])
@pytest.mark.parametrize("use_tables", [False, True])
def test_equals_the_search_written_out(rules, plies, use_tables):
    evaluator = evaluator_of(rules, use_tables)
    boards = np.concatenate([afterstates_of(rules, 4000)[:: 4000 if plies == 2 else 400], near_the_end()])
    if not use_tables:
        boards = boards[-3:] if plies == 2 and rules.can_hit else boards
    expected = np.array([written_out(evaluator, board, plies) for board in boards])
    assert plies_probs(evaluator, boards, plies) == pytest.approx(expected, abs=1e-5)


@BOTH_GAMES
@pytest.mark.parametrize("plies", [1, 2])
def test_any_judge_gets_the_same_as_the_kernels(rules, plies):
    evaluator = evaluator_of(rules)
    boards = np.concatenate([afterstates_of(rules, 4000)[1 :: 4000 if plies == 2 else 1500], near_the_end()])
    slow = plies_probs(SlowJudge(evaluator), boards, plies)
    assert plies_probs(evaluator, boards, plies) == pytest.approx(slow, abs=1e-5)


@BOTH_GAMES
@pytest.mark.parametrize("plies", [0, 1, 2])
def test_does_not_depend_on_threads_or_on_the_other_boards(rules, plies):
    evaluator = evaluator_of(rules)
    boards = afterstates_of(rules, 4000)[:: 800 if plies == 2 else 40]
    alone = plies_probs(evaluator, boards, plies, threads=1)
    assert np.array_equal(plies_probs(evaluator, boards, plies, threads=2), alone)
    assert np.array_equal(plies_probs(evaluator, boards[2:3], plies)[0], alone[2])
    assert alone.sum(axis=1) == pytest.approx(1.0, abs=1e-5)


@BOTH_GAMES
@pytest.mark.parametrize("plies", [0, 1, 2, 3])
def test_finished_board_is_certain_at_every_depth(rules, plies):
    over = near_the_end()[2:]
    both = np.concatenate([over, opponent_view(over)])
    expected = np.eye(len(rules.outcomes))[outcome_class(both, rules)]
    assert np.array_equal(plies_probs(evaluator_of(rules), both, plies), expected)


@BOTH_GAMES
def test_three_plies_build_on_two(rules):
    """From a board that two turns at most can end, so that the third ply is small."""
    evaluator = evaluator_of(rules)
    boards = near_the_end()[:2]
    expected = np.array([written_out(evaluator, board, 3) for board in boards])
    assert plies_probs(evaluator, boards, 3) == pytest.approx(expected, abs=1e-5)


@BOTH_GAMES
def test_replies_are_the_best_play_of_each_roll_in_the_order_of_rolls(rules):
    evaluator = evaluator_of(rules)
    boards = afterstates_of(rules, 400)[::80]
    replies, probs = best_replies(evaluator, boards)
    slow_replies, slow_probs = best_replies(SlowJudge(evaluator), boards)
    assert replies.shape == (5, 21, 2, 26)
    assert np.array_equal(replies, slow_replies)
    assert probs == pytest.approx(slow_probs, abs=1e-5)


def test_mean_weighs_doubles_by_half():
    probs = np.zeros((1, 21, 2), dtype=np.float32)
    probs[0, :, 0] = [roll[0] == roll[1] for roll in ROLLS]
    probs[0, :, 1] = 1 - probs[0, :, 0]
    assert mean_over_rolls(probs) == pytest.approx(np.array([[1 / 6, 5 / 6]]))


@pytest.mark.parametrize("plies", [-1, 4])
def test_depth_outside_its_range_is_refused(plies):
    rules = RULES["short"]
    with pytest.raises(ConfigError, match=f"plies must lie between 0 and 3, got {plies}"):
        plies_probs(evaluator_of(rules), rules.start_board()[None], plies)
