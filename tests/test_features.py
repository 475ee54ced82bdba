"""Dense features equal a plain twin written from their descriptions; hits nearly equal the truth."""

import numpy as np
import pytest

from agent.features import COUNT_ROWS, FEATURE_SETS, dense_features, feature_code, feature_count
from engine.board import opponent_view
from engine.errors import NetError
from engine.movegen import legal_afterstates
from engine.rules import RULES
from plain_features import long_features, short_features
from random_positions import placed, random_play

SETS = pytest.mark.parametrize(
    ("preset", "feature_set", "twin"),
    [("short", "short_v1", short_features), ("long_classic", "long_v1", long_features)],
    ids=["short", "long"],
)
ROLLS_36 = np.array([(a, b) for a in range(1, 7) for b in range(1, 7)], dtype=np.int8)


def boards_of(preset, count, rng):
    rules = RULES[preset]
    return np.concatenate([random_play(rules, count, rng)[0], placed(rules, count, rng)[0]])


@SETS
def test_equal_the_plain_twin_column_by_column(preset, feature_set, twin, rng, is_long):
    boards = boards_of(preset, 3000 if is_long else 250, rng)
    given = dense_features(boards, feature_set)
    names = FEATURE_SETS[feature_set]
    met = np.zeros(len(names), dtype=bool)
    for board, row in zip(boards, given, strict=True):
        wanted = twin(*board.tolist())
        values = np.array([wanted.get(name, 0.0) for name in names])
        assert set(wanted) <= set(names)
        wrong = [f"{n} {g} {v}" for n, g, v in zip(names, row, values, strict=True) if abs(g - v) > 1e-5]
        assert not wrong, (wrong, board.tolist())
        met |= values != 0
    assert met.all(), [n for n, m in zip(names, met, strict=True) if not m]


@SETS
def test_sides_swap_with_the_rows(preset, feature_set, twin, rng):
    boards = boards_of(preset, 500, rng)
    given, swapped = (dense_features(b, feature_set) for b in (boards, opponent_view(boards)))
    side = (len(FEATURE_SETS[feature_set]) - 3) // 2
    assert np.array_equal(given[:, :side], swapped[:, side : 2 * side])
    assert np.array_equal(given[:, side : 2 * side], swapped[:, :side])
    assert np.array_equal(given[:, -3], -swapped[:, -3])
    assert np.array_equal(given[:, -1], swapped[:, -1])


@SETS
def test_batch_equals_its_boards_and_any_number_of_threads(preset, feature_set, twin, rng):
    boards = boards_of(preset, 800, rng)
    given = dense_features(boards, feature_set, threads=1)
    assert np.array_equal(dense_features(boards, feature_set, threads=2), given)
    assert np.array_equal(dense_features(boards[7:8], feature_set)[0], given[7])
    assert np.array_equal(dense_features(opponent_view(opponent_view(boards)), feature_set), given)
    assert dense_features(boards[:0], feature_set).shape == (0, feature_count(feature_set))


@SETS
def test_stay_near_one_in_play(preset, feature_set, twin, rng):
    given = dense_features(random_play(RULES[preset], 3000, rng)[0], feature_set)
    assert np.isfinite(given).all()
    assert np.abs(given).max() < 5.0
    assert (given.std(axis=0) > 0.01).all()


@SETS
def test_finished_board_has_none(preset, feature_set, twin):
    board = RULES[preset].start_board()
    board[0] = 0
    board[0, 0] = 15
    assert not dense_features(np.stack([board, board[::-1]]), feature_set).any()


def test_share_of_hitting_rolls_nearly_equals_enumeration_of_all_plays(rng):
    """Left out: a roll that forbids the hit by the rule of playing both dice; with checkers on the bar much more."""
    rules = RULES["short"]
    boards = boards_of("short", 400, rng)
    boards = boards[(boards[:, :, 25] == 0).all(axis=1) & (boards[:, :, 0] < 15).all(axis=1)]
    seen = dense_features(boards, "short_v1")[:, FEATURE_SETS["short_v1"].index("my_hit")] * 36
    theirs = np.repeat(np.ascontiguousarray(opponent_view(boards)), 36, axis=0)
    afterstates, offsets = legal_afterstates(theirs, np.tile(ROLLS_36, (len(boards), 1)), rules)
    hits = np.maximum.reduceat(afterstates[:, 1, 25] > 0, offsets[:-1]).reshape(-1, 36).sum(axis=1)
    is_contact = seen > 0
    assert is_contact.sum() > 200
    difference = np.abs(seen.round() - hits)
    assert difference.sum() / (36 * len(boards)) < 0.003


def test_names_are_unique_and_sets_known():
    for feature_set, names in FEATURE_SETS.items():
        assert len(set(names)) == len(names) == feature_count(feature_set)
    assert len({feature_code(name) for name in FEATURE_SETS}) == len(FEATURE_SETS)
    assert dense_features(RULES["short"].start_board()[None], "counts_v1").shape == (1, 0)
    assert COUNT_ROWS == 832
    with pytest.raises(
        NetError, match="unknown feature set 'short_v0'; this version knows counts_v1, short_v1, long_v1"
    ):
        dense_features(RULES["short"].start_board()[None], "short_v0")
