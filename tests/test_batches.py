"""What a position is worth does not hang on the positions that it is judged together with.

Matrix products round a row differently in batches of different sizes on some processors, so that near equals trade
places; every figure that picks a play is asked for here in batches of one, a few and many.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from agent.evaluator import Evaluator
from agent.heuristics import linear_value
from agent.levels import Level
from agent.luck import luck
from agent.ranking import rank_plays
from agent.search import plies_probs
from engine import RULES, get_rules
from engine.board import opponent_view
from engine.movegen import legal_afterstates
from engine.outcome import equity_of
from engine.rules import Rules
from plain_net import random_net
from random_positions import random_play, random_rolls

GAMES = ("long_classic", "short_backgammon")


def in_parts(figure: Callable[[slice], np.ndarray], count: int) -> None:
    whole = figure(slice(0, count))
    assert len(whole) == count and len(np.unique(whole)) > count // 4
    for size in (1, 2, 3, 7, 16, 33):
        parts = [figure(slice(start, min(start + size, count))) for start in range(0, count, size)]
        assert np.array_equal(np.concatenate(parts), whole), size


@pytest.mark.parametrize("preset", RULES)
def test_the_equity_of_probabilities_is_that_of_each_row(preset: str, rng: np.random.Generator) -> None:
    rules = get_rules(preset)
    probs = rng.dirichlet(np.ones(len(rules.outcomes)), size=101).astype(np.float32)
    assert equity_of(probs, rules).dtype == np.float32
    in_parts(lambda part: equity_of(probs[part], rules), len(probs))
    exact = probs.astype(np.float64) @ rules.points.astype(np.float64)
    np.testing.assert_allclose(equity_of(probs, rules), exact, atol=1e-6)
    np.testing.assert_allclose(equity_of(probs.astype(np.float64), rules), exact, rtol=1e-14)


def judge_of(rules: Rules) -> Evaluator:
    return Evaluator(random_net(rules, "short_v1" if rules.can_hit else "long_v1", (20, 8), ("contact", "race")), rules)


@pytest.mark.parametrize("preset", GAMES)
def test_a_board_is_judged_alike_in_every_company(preset: str, rng: np.random.Generator) -> None:
    rules = get_rules(preset)
    judge = judge_of(rules)
    boards, _ = random_play(rules, 101, rng)
    afterstates = np.ascontiguousarray(opponent_view(boards))
    rolls = random_rolls(len(boards), rng)
    in_parts(lambda part: judge.equity(afterstates[part]), len(boards))
    in_parts(lambda part: linear_value(rules)(afterstates[part], rules), len(boards))
    in_parts(lambda part: luck(judge, boards[part], rolls[part]), len(boards))
    for plies in (1, 2)[: 1 if rules.can_hit else 2]:
        few = afterstates[:12] if plies == 2 else afterstates
        in_parts(lambda part, few=few, plies=plies: equity_of(plies_probs(judge, few[part], plies), rules), len(few))


@pytest.mark.parametrize("preset", GAMES)
def test_plays_are_ranked_alike_in_every_company(preset: str, rng: np.random.Generator) -> None:
    rules = get_rules(preset)
    judge = judge_of(rules)
    boards, rolls = random_play(rules, 40, rng)
    whole = rank_plays(judge, boards, rolls, Level(plies=1))
    for row in range(len(boards)):
        alone = rank_plays(judge, boards[row : row + 1], rolls[row : row + 1], Level(plies=1))
        span = slice(whole.offsets[row], whole.offsets[row + 1])
        assert np.array_equal(alone.afterstates, whole.afterstates[span])
        assert np.array_equal(alone.equity, whole.equity[span])
        plays = legal_afterstates(boards[row], rolls[row], rules)
        chosen = judge.choose(boards[row : row + 1], rolls[row : row + 1])[0]
        at_once = rank_plays(judge, boards[row : row + 1], rolls[row : row + 1], Level())
        assert len(plays) == len(at_once.equity) and np.array_equal(chosen, at_once.afterstates[0])
