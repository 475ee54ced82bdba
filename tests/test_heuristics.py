"""The linear players' values: the published nine features one by one, and our own short value's common sense."""

from __future__ import annotations

import numpy as np
import pytest

from agent.heuristics import NINE_WEIGHTS, WON, linear_value, nine_feature_value, short_value
from engine.board import opponent_view
from engine.rules import RULES
from random_positions import board_of, placed, random_play


def slow_nine_features(board: np.ndarray, rules) -> list[list[float]]:
    """The nine features written from their description, one side at a time."""
    sides = []
    for me, other in ((board[0], board[1]), (board[1], board[0])):
        theirs = {int(rules.opponent_point[p]) for p in range(1, 25) if other[p]}  # on my route
        own = [p for p in range(1, 25) if me[p]]
        on_their_route = {int(rules.opponent_point[p]) for p in own}
        runs = [0]
        for point in range(1, 25):
            runs.append(runs[-1] + 1 if point in on_their_route else 0)
        landings = [(p, d) for p in own for d in range(1, 7) if p - d >= 1 and p - d not in theirs]
        sides.append(
            [
                -sum(p * int(me[p]) for p in own) / 360,
                -int(me[24]) / 15,
                sum(int(me[p]) for p in range(1, 7)) / 15,
                int(me[0]) / 15,
                len(own) / 15,
                max(runs) / 15,
                -sum(int(me[p]) ** 2 for p in own) / 225,
                -max(own, default=0) / 24,
                len(landings) / 90,
            ]
        )
    return sides


def test_nine_feature_value_equals_its_description_on_random_positions(rng):
    rules = RULES["long_classic"]
    boards = np.concatenate([random_play(rules, 300, rng)[0], placed(rules, 300, rng)[0]])
    boards = boards[boards[:, 0, 0] < 15]
    weights = list(NINE_WEIGHTS.values())
    wanted = []
    for board in boards:
        mine, theirs = slow_nine_features(board, rules)
        wanted.append(sum(w * (a - b) for w, a, b in zip(weights, mine, theirs, strict=True)))
    np.testing.assert_allclose(nine_feature_value(boards, rules), wanted, atol=1e-12)


def test_nine_feature_value_of_a_position_worked_out_by_hand():
    rules = RULES["long_classic"]
    board = board_of({24: 15}, {24: 14, 18: 1})[None]
    pips = -(360 - 354) / 360
    head = -0.45 * (15 - 14) / 15
    occupied = 0.2 * (1 - 2) / 15
    run = 0.0
    squares = -0.15 * (225 - (196 + 1)) / 225
    # From 24 with 1..6 I meet nobody (his 24 and 18 are my 12 and 6); he lands on 23..18 from 24 and 17..12 from 18,
    # of which my head (his 12) is closed.
    mobility = 0.15 * (6 - 11) / 90
    wanted = pips + head + occupied + run + squares + mobility
    assert nine_feature_value(board, rules)[0] == pytest.approx(wanted)


@pytest.mark.parametrize("preset", ["short", "long_classic"])
def test_a_finished_win_beats_every_other_value(preset, rng):
    rules = RULES[preset]
    value = linear_value(rules)
    boards, _ = random_play(rules, 200, rng)
    won = board_of({}, {6: 15})[None]
    assert value(won, rules)[0] == WON > np.abs(value(boards, rules)).max() * 10


@pytest.mark.parametrize("preset", ["short", "long_classic"])
def test_values_of_a_batch_equal_those_of_its_rows(preset, rng):
    rules = RULES[preset]
    value = linear_value(rules)
    boards, _ = random_play(rules, 60, rng)
    one_by_one = [value(boards[i : i + 1], rules)[0] for i in range(len(boards))]
    np.testing.assert_allclose(value(boards, rules), one_by_one, atol=1e-12)


def test_nine_feature_value_changes_sign_with_the_sides(rng):
    rules = RULES["long_fnr2026"]
    boards, _ = random_play(rules, 100, rng)
    swapped = np.ascontiguousarray(opponent_view(boards))
    np.testing.assert_allclose(nine_feature_value(swapped, rules), -nine_feature_value(boards, rules), atol=1e-12)


def test_short_value_prefers_a_made_point_to_a_blot_and_a_hit_to_none():
    rules = RULES["short_backgammon"]
    rest = {24: 2, 13: 5}
    made = board_of(rest | {8: 2, 6: 4, 5: 2}, {24: 2, 13: 5, 8: 3, 6: 5})[None]
    blots = board_of(rest | {8: 3, 6: 3, 5: 1, 4: 1}, {24: 2, 13: 5, 8: 3, 6: 5})[None]
    assert short_value(made, rules)[0] > short_value(blots, rules)[0]
    hit = board_of(rest | {8: 3, 6: 5}, {25: 1, 24: 1, 13: 5, 8: 3, 6: 5})[None]
    missed = board_of(rest | {8: 3, 6: 5}, {24: 1, 20: 1, 13: 5, 8: 3, 6: 5})[None]
    assert short_value(hit, rules)[0] > short_value(missed, rules)[0] + 0.05


def test_short_value_counts_a_blot_as_dearer_when_the_opponent_can_reach_it():
    rules = RULES["short"]
    exposed = board_of({24: 1, 10: 2, 6: 6, 5: 6}, {20: 2, 13: 5, 8: 3, 6: 5})[None]
    assert exposed[0, 0].sum() == 15
    unreachable = board_of({24: 1, 10: 2, 6: 6, 5: 6}, {20: 2, 19: 5, 18: 3, 17: 5})[None]
    danger = []
    for board in (exposed, unreachable):
        moved = board.copy()
        moved[0, 0, [10, 9]] = (1, 1)  # two blots instead of a point
        danger.append(short_value(board, rules)[0] - short_value(moved, rules)[0])
    assert danger[0] > 0
