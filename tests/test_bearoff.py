"""Bear-off tables: against slow enumeration, chances that books print, and legal plays."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from agent._bearoff_kernels import FEW_ROWS, NONE_OFF_ROW, ROWS, bearoff_probs, row_counts, row_index, rows_after
from agent.bearoff import BearoffTables, build_tables, empty_arrays, least_rolls_policy
from engine.dice import ROLL_WEIGHTS, ROLLS
from engine.errors import ConfigError, PositionError, RulesError
from engine.movegen import legal_afterstates
from engine.outcome import outcome_class
from engine.rules import RULES, get_rules
from reference_rules import reference_afterstates

SHORT, LONG = RULES["short_backgammon"], RULES["long_classic"]
Home = tuple[int, ...]  # checkers on 1..6

# Rolls of 36 that take two checkers off at once: the table that every backgammon book prints.
TWO_CHECKERS = {
    (1, 1): 36, (2, 1): 36, (2, 2): 26, (3, 1): 34, (3, 2): 25, (3, 3): 17, (4, 1): 29, (4, 2): 23, (4, 3): 17,
    (4, 4): 11, (5, 1): 23, (5, 2): 19, (5, 3): 14, (5, 4): 10, (5, 5): 6, (6, 1): 15, (6, 2): 13, (6, 3): 10,
    (6, 4): 8, (6, 5): 6, (6, 6): 4,
}  # fmt: skip
ONE_CHECKER = {1: 36, 2: 36, 3: 36, 4: 34, 5: 31, 6: 27}


@pytest.fixture(scope="module")
def tables() -> BearoffTables:
    return build_tables(progress=False)


def home(*points: int) -> Home:
    """Checkers on 1..6, given the point of each."""
    return tuple(points.count(point) for point in range(1, 7))


def side(counts: Home) -> list[int]:
    return [15 - sum(counts), *counts, *[0] * 19]


def board(mine: Home, theirs: Home) -> npt.NDArray[np.int8]:
    return np.array([side(mine), side(theirs)], dtype=np.int8)


def row_of(counts: Home, tables: BearoffTables) -> int:
    return int(row_index(np.array([0, *counts]), tables.arrays.ranks))


def homes(checkers: int, points: int = 6) -> Iterator[Home]:
    """All ways to have exactly so many checkers on points 1..points."""
    yield from (home(*chosen) for chosen in itertools.combinations_with_replacement(range(1, points + 1), checkers))


@cache
def after(counts: Home, roll: tuple[int, int]) -> tuple[Home, ...]:
    """What a side may leave, by the slow rulebook; the other side stands on its ace point, out of the way."""
    boards = reference_afterstates(board(counts, home(1)), roll, SHORT)
    return tuple({tuple(int(count) for count in np.reshape(left, (2, 26))[0, 1:7]) for left in boards})


def over_rolls(value: Callable[[tuple[int, int]], float]) -> float:
    rolls = [(int(high), int(low)) for high, low in ROLLS]
    return sum(weight * value(roll) for roll, weight in zip(rolls, ROLL_WEIGHTS, strict=True))


@cache
def least_expected_rolls(counts: Home) -> float:
    if not any(counts):
        return 0.0
    return 1.0 + over_rolls(lambda roll: min(least_expected_rolls(left) for left in after(counts, roll)))


@cache
def best_win_chance(mine: Home, theirs: Home) -> float:
    """For the side on roll, `mine`."""
    if not any(theirs):
        return 0.0
    return 1.0 if not any(mine) else over_rolls(
        lambda roll: max(1.0 - best_win_chance(theirs, left) for left in after(mine, roll))
    )  # fmt: skip


@cache
def gammon_chance(saver: Home, attacker: Home, is_saver_on_roll: bool) -> float:
    """Under best play for and against the gammon of a side that starts with all 15 checkers."""
    if sum(saver) < 15 or not any(attacker):
        return float(sum(saver) == 15)
    if is_saver_on_roll:
        return over_rolls(lambda roll: min(gammon_chance(left, attacker, False) for left in after(saver, roll)))
    return over_rolls(lambda roll: max(gammon_chance(saver, left, True) for left in after(attacker, roll)))


def random_boards(rng: np.random.Generator, n: int, low: int = 1, high: int = 15) -> npt.NDArray[np.int8]:
    def one() -> Home:
        return home(*rng.integers(1, 7, rng.integers(low, high + 1)).tolist())

    return np.array([board(one(), one()) for _ in range(n)])


# The numbering of rows and the plays between them


def test_every_row_number_stands_for_one_way_to_have_up_to_15_checkers(tables: BearoffTables) -> None:
    counts = np.zeros(7, dtype=np.int64)
    seen = set()
    totals = []
    for row in range(ROWS):
        row_counts(row, tables.arrays.ranks, counts)
        assert row_index(counts, tables.arrays.ranks) == row
        seen.add(tuple(counts[1:]))
        totals.append(int(counts.sum()))
    assert len(seen) == ROWS and totals == sorted(totals)
    assert totals.index(7) == FEW_ROWS and totals.index(15) == NONE_OFF_ROW and totals[-1] == 15


@pytest.mark.parametrize("rules", [SHORT, LONG], ids=str)
def test_plays_between_rows_are_the_legal_plays_of_both_games(
    rules: Any, tables: BearoffTables, rng: np.random.Generator
) -> None:
    boards = random_boards(rng, 200)
    counts, found = np.zeros(7, dtype=np.int64), np.zeros(126, dtype=np.int64)
    for roll in ROLLS:
        afterstates, offsets = legal_afterstates(boards, np.tile(roll, (len(boards), 1)), rules)
        for index, start in enumerate(offsets[:-1]):
            legal = {row_index(left[0], tables.arrays.ranks) for left in afterstates[start : offsets[index + 1]]}
            counts[:] = boards[index, 0, :7]
            counts[0] = 0
            assert set(found[: rows_after(counts, *roll, tables.arrays.ranks, found)].tolist()) == legal


# What the tables say


def test_the_distributions_of_every_row_sum_to_one(tables: BearoffTables) -> None:
    for table in (tables.arrays.one_sided, tables.arrays.first_off):
        assert table.min() >= 0.0
        np.testing.assert_allclose(table.sum(axis=1, dtype=np.float64), 1.0, atol=1e-6)
        assert table[:, -1].max() < 1e-9  # nothing worth mention is cut off
    assert tables.arrays.one_sided[0, 0] == 1.0 and not tables.arrays.one_sided[1:, 0].any()


def test_expected_rolls_are_the_least_possible(tables: BearoffTables) -> None:
    steps = np.arange(tables.arrays.one_sided.shape[1])
    for counts in itertools.chain(homes(1), homes(2), homes(3), homes(4, points=4)):
        mean = float(tables.arrays.one_sided[row_of(counts, tables)].astype(float) @ steps)
        assert mean == pytest.approx(least_expected_rolls(counts), abs=1e-5), counts


def test_a_distribution_is_that_of_the_rows_its_policy_leads_to(tables: BearoffTables) -> None:
    policy = least_rolls_policy(1)
    one_sided = tables.arrays.one_sided.astype(float)
    mixed = np.einsum("r,nrt->nt", ROLL_WEIGHTS, one_sided[policy[1:FEW_ROWS]])
    np.testing.assert_allclose(one_sided[1:FEW_ROWS, 1:], mixed[:, :-1], atol=1e-6)


@pytest.mark.parametrize("points", TWO_CHECKERS, ids=str)
def test_two_checkers_come_off_in_one_roll_as_often_as_books_say(
    points: tuple[int, int], tables: BearoffTables
) -> None:
    row, ace = row_of(home(*points), tables), row_of(home(1), tables)
    assert tables.arrays.two_sided[row, ace] * 36 == pytest.approx(TWO_CHECKERS[points], abs=1e-5)


@pytest.mark.parametrize("point", ONE_CHECKER)
def test_one_checker_comes_off_in_one_roll_as_often_as_books_say(point: int, tables: BearoffTables) -> None:
    row, ace = row_of(home(point), tables), row_of(home(1), tables)
    assert tables.arrays.two_sided[row, ace] * 36 == pytest.approx(ONE_CHECKER[point], abs=1e-5)
    assert tables.arrays.one_sided[row, 1] * 36 == pytest.approx(ONE_CHECKER[point], abs=1e-5)


def test_the_side_on_roll_with_one_checker_on_its_ace_point_always_wins(tables: BearoffTables) -> None:
    ace = row_of(home(1), tables)
    assert (tables.arrays.two_sided[ace, 1:] == 1.0).all()
    probs = tables.outcome_probs(board(home(1), home(1))[None], SHORT)
    assert probs.tolist() == [[0, 0, 0, 0, 1, 0, 0, 0]]


def test_win_chances_of_few_checkers_are_those_of_best_play(tables: BearoffTables) -> None:
    sides = [*homes(1), *homes(2), *homes(3, points=3)]
    for mine, theirs in itertools.product(sides, repeat=2):
        exact = tables.arrays.two_sided[row_of(mine, tables), row_of(theirs, tables)]
        assert exact == pytest.approx(best_win_chance(mine, theirs), abs=1e-6), (mine, theirs)


def test_all_on_the_six_point_bear_one_off_with_17_of_36_rolls(tables: BearoffTables) -> None:
    # The 11 rolls with a six; 5:1 and 4:2 twice each (6-1-off, 6-2-off); 3:3 and 2:2.
    assert tables.arrays.first_off[-1, 1] * 36 == pytest.approx(17, abs=1e-5)


def test_gammon_chances_of_small_boards_are_those_of_best_play(tables: BearoffTables) -> None:
    attackers = [*homes(1, points=6), *homes(2, points=2)]
    savers = [home(*[high] * n, *[low] * (15 - n)) for high, low in ((6, 5), (6, 4), (5, 4)) for n in (14, 15)]
    for saver, attacker in itertools.product(savers, attackers):
        lost, won = tables.outcome_probs(np.array([board(saver, attacker), board(attacker, saver)]), SHORT)
        assert lost[5] == pytest.approx(gammon_chance(saver, attacker, False), abs=0.003)
        assert won[1] == pytest.approx(gammon_chance(saver, attacker, True), abs=0.003)


def test_convolution_errs_little_against_the_two_sided_table(tables: BearoffTables) -> None:
    few = tables.arrays.one_sided[:FEW_ROWS].astype(float)
    convolved = few @ (1.0 - np.cumsum(few, axis=1)).T
    error = np.abs(convolved - (1.0 - tables.arrays.two_sided.T))[1:, 1:]
    assert error.mean() < 0.001 and error.max() < 0.015


# Outcome probabilities of boards


@pytest.mark.parametrize("rules", RULES.values(), ids=str)
def test_probabilities_are_exclusive_and_only_single_and_gammon_occur(
    rules: Any, tables: BearoffTables, rng: np.random.Generator
) -> None:
    probs = tables.outcome_probs(random_boards(rng, 300), rules)
    levels = rules.game.levels
    assert probs.shape == (300, 2 * levels) and probs.dtype == np.float32
    assert probs.min() >= 0.0
    np.testing.assert_allclose(probs.sum(axis=1), 1.0, atol=1e-6)
    assert not np.delete(probs, [0, 1, levels, levels + 1], axis=1).any()


def test_both_games_have_the_same_chances(tables: BearoffTables, rng: np.random.Generator) -> None:
    boards = random_boards(rng, 100)
    short, long = tables.outcome_probs(boards, SHORT), tables.outcome_probs(boards, LONG)
    assert (short[:, [0, 1, 4, 5]] == long[:, [0, 1, 3, 4]]).all()


@pytest.mark.parametrize("rules", [SHORT, LONG], ids=str)
def test_a_finished_board_has_probability_one_of_its_class(rules: Any, tables: BearoffTables) -> None:
    boards = []
    for left in (home(1), home(6), home(*[6] * 14), home(*[6] * 15), home(*[1] * 15), home(1, 2, 3, 4, 5, 6, 6)):
        boards += [board(home(), left), board(left, home())]
    expected = np.eye(len(rules.outcomes))[outcome_class(np.array(boards), rules)]
    np.testing.assert_allclose(tables.outcome_probs(np.array(boards), rules), expected, atol=1e-6)


def test_a_side_that_has_borne_a_checker_off_loses_no_gammon(tables: BearoffTables, rng: np.random.Generator) -> None:
    probs = tables.outcome_probs(random_boards(rng, 300, high=14), SHORT)
    assert not probs[:, [1, 5]].any()


def test_a_batch_equals_its_boards_one_by_one(tables: BearoffTables, rng: np.random.Generator) -> None:
    boards = random_boards(rng, 50)
    out = np.empty(8, dtype=np.float32)
    for one, expected in zip(boards, tables.outcome_probs(boards, SHORT), strict=True):
        bearoff_probs(one, tables.arrays, 4, out)
        assert (out == expected).all()
    assert tables.outcome_probs(boards[:0], SHORT).shape == (0, 8)


def test_values_agree_with_a_look_one_roll_ahead(tables: BearoffTables, rng: np.random.Generator) -> None:
    boards = random_boards(rng, 100, low=5)
    ahead = np.zeros(len(boards))
    for roll, weight in zip(ROLLS, ROLL_WEIGHTS, strict=True):
        afterstates, offsets = legal_afterstates(boards[:, ::-1], np.tile(roll, (len(boards), 1)), SHORT)
        equity = tables.outcome_probs(afterstates, SHORT) @ SHORT.points
        ahead -= weight * np.maximum.reduceat(equity, offsets[:-1])
    static = tables.outcome_probs(boards, SHORT) @ SHORT.points
    assert np.abs(static - ahead).mean() < 0.001 and np.abs(static - ahead).max() < 0.02


@pytest.mark.parametrize("fault", ["outside", "dtype", "shape", "negative", "one board"])
def test_boards_that_are_not_all_home_are_refused(fault: str, tables: BearoffTables) -> None:
    boards = np.repeat(board(home(1), home(2))[None], 3, axis=0)
    if fault == "outside":
        boards[2, 1, [0, 7]] = 13, 1
    elif fault == "negative":
        boards[2, 1, :3] = 16, -1, 0
    faulty = {"dtype": boards.astype(np.int64), "shape": boards[:, :, :25], "one board": boards[0]}.get(fault, boards)
    with pytest.raises(PositionError, match=r"board 2 has|int8 \[N, 2, 26\]"):
        tables.outcome_probs(faulty, SHORT)


def test_rules_with_a_last_turn_are_refused(tables: BearoffTables) -> None:
    with pytest.raises(RulesError, match="last_turn"):
        tables.outcome_probs(board(home(1), home(1))[None], get_rules("short(last_turn=second_player)"))


def test_empty_tables_have_the_same_types_and_answer_nothing(tables: BearoffTables) -> None:
    for empty, full in zip(empty_arrays(), tables.arrays, strict=True):
        assert (empty.dtype, empty.ndim, empty.flags.writeable) == (full.dtype, full.ndim, full.flags.writeable)
        assert empty.flags.c_contiguous and empty.flags.aligned and full.flags.c_contiguous and full.flags.aligned
    with pytest.raises(ConfigError, match="load_tables"):
        BearoffTables(empty_arrays()).outcome_probs(board(home(1), home(1))[None], SHORT)
