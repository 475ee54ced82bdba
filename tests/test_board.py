"""Boards: checks, the opponent's view, pips and phases."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from engine import RULES, Rules, get_rules, legal_afterstates
from engine.board import (
    BEAROFF,
    CONTACT,
    FINISHED,
    PHASES,
    RACE,
    as_board,
    as_boards,
    opponent_view,
    phase,
    pip_count,
    rearmost,
)
from engine.errors import PositionError
from examples import row_from
from random_positions import placed, random_play, random_rolls

Int8 = npt.NDArray[np.int8]

POSITIONS = 2000


def board_of(me: str, opp: str) -> Int8:
    """A board from `24:13,18:2` for each side; checkers not listed are borne off."""
    return np.array([row_from(f"me{{{me}}}"), row_from(f"opp{{{opp}}}")], dtype=np.int8)


def positions(rules: Rules, rng: np.random.Generator) -> Int8:
    """Boards of every kind: met in random play and placed."""
    return np.concatenate([random_play(rules, POSITIONS, rng)[0], placed(rules, POSITIONS, rng)[0]])


@pytest.mark.parametrize("preset", RULES)
def test_the_opponents_view_exchanges_the_rows_and_twice_is_the_board_itself(
    preset: str, rng: np.random.Generator
) -> None:
    boards = positions(get_rules(preset), rng)
    seen = opponent_view(boards)
    assert np.array_equal(seen[:, 0], boards[:, 1]) and np.array_equal(seen[:, 1], boards[:, 0])
    assert np.array_equal(opponent_view(seen), boards)
    assert np.shares_memory(seen, boards)
    assert np.array_equal(opponent_view(boards[0]), boards[0, ::-1])


@pytest.mark.parametrize("preset", RULES)
def test_a_well_formed_board_is_well_formed_for_both_sides(preset: str, rng: np.random.Generator) -> None:
    rules = get_rules(preset)
    boards = positions(rules, rng)
    assert np.array_equal(as_boards(boards, rules), boards)
    assert np.array_equal(as_boards(opponent_view(boards), rules), opponent_view(boards))


@pytest.mark.parametrize("preset", RULES)
def test_checked_boards_are_contiguous_writable_int8_of_the_same_shape(preset: str) -> None:
    rules = get_rules(preset)
    start = rules.start_board()
    for given in (start, start.tolist(), start.astype(np.int64), start.astype(np.uint8), np.asfortranarray(start)):
        checked = as_boards(given, rules)
        assert checked.dtype == np.int8 and checked.flags.c_contiguous and checked.flags.writeable
        assert np.array_equal(checked, start)
    assert as_boards(start[None], rules).shape == (1, 2, 26)
    assert as_boards(np.empty((0, 2, 26), dtype=np.int8), rules).shape == (0, 2, 26)


def test_a_read_only_board_is_accepted() -> None:
    rules = get_rules("short")
    start = rules.start_board()
    start.setflags(write=False)
    assert np.array_equal(as_boards(start, rules), start)


def with_count(board: Int8, side: int, index: int, count: int) -> npt.NDArray[np.int64]:
    """The board with one count changed."""
    changed = board.astype(np.int64)
    changed[side, index] = count
    return changed


START = get_rules("short").start_board()


@pytest.mark.parametrize(
    ("preset", "board", "message"),
    [
        ("short", START[0], r"shape \[2, 26\] \(or \[B, 2, 26\]\), got \[26\]"),
        ("short", START[:, :25], r"shape \[2, 26\] .* got \[2, 25\]"),
        ("short", START[None, None], r"shape \[2, 26\] .* got \[1, 1, 2, 26\]"),
        ("short", [[1, 2], [3]], "got rows of unequal length"),
        ("short", None, r"shape \[2, 26\] .* got \[\]"),
        ("short", "start", r"shape \[2, 26\] .* got \[\]"),
        ("short", START.astype(float), "whole numbers, got float64"),
        ("short", START.astype(bool), "whole numbers, got bool"),
        ("short", with_count(START, 0, 24, -2), "a point holds 0 to 15 checkers, got -2 to 5"),
        ("short", with_count(START, 1, 24, 16), "a point holds 0 to 15 checkers, got 0 to 16"),
        ("short", with_count(START, 0, 24, 258), "a point holds 0 to 15 checkers, got 0 to 258"),
        ("short", with_count(START, 0, 24, 3), "each side has 15 checkers .*, the player on roll has 16"),
        ("short", with_count(START, 1, 24, 0), "each side has 15 checkers .*, the opponent has 13"),
        ("long", board_of("24:14,25:1", "24:15"), "long_classic has no bar, yet index 25 holds a checker"),
        ("long", board_of("24:15", "24:14,25:1"), "long_classic has no bar"),
        ("long", board_of("24:14,3:1", "15:1,24:14"), r"point 3 \(the opponent's 15\) is held by both sides"),
        ("short", board_of("24:14,3:1", "22:1,24:14"), r"point 3 \(the opponent's 22\) is held by both sides"),
        ("long", board_of("", ""), "both sides have borne off all 15 checkers"),
        ("short", board_of("", ""), "both sides have borne off all 15 checkers"),
    ],
)
def test_a_board_that_is_not_well_formed_is_refused(preset: str, board: Any, message: str) -> None:
    with pytest.raises(PositionError, match=message) as caught:
        as_boards(board, get_rules(preset))
    assert "\n" not in str(caught.value)


def test_where_one_board_is_meant_a_batch_is_refused() -> None:
    start = get_rules("long").start_board()
    assert np.array_equal(as_board(start.tolist(), get_rules("long")), start)
    with pytest.raises(PositionError, match=r"one board has shape \[2, 26\], got \[1, 2, 26\]"):
        as_board(start[None], get_rules("long"))


def test_one_bad_board_spoils_its_batch() -> None:
    boards = np.repeat(START[None].astype(np.int64), 5, axis=0)
    boards[3, 1, 13] = 6
    with pytest.raises(PositionError, match="the opponent has 16"):
        as_boards(boards, get_rules("short"))


def test_both_may_have_finished_where_the_second_player_gets_a_last_turn() -> None:
    drawn = board_of("", "")
    assert np.array_equal(as_boards(drawn, get_rules("long(last_turn=second_player)")), drawn)


def test_both_may_wait_on_the_bar_and_on_one_index_of_the_array() -> None:
    rules = get_rules("short")
    board = board_of("25:2,6:13", "25:1,6:14")  # my 6 is the opponent's 19
    assert np.array_equal(as_boards(board, rules), board)


def test_pips_at_the_start_are_167_in_short_and_360_in_long() -> None:
    assert pip_count(get_rules("short").start_board()).tolist() == [167, 167]
    assert pip_count(get_rules("long").start_board()).tolist() == [360, 360]


def test_a_checker_on_the_bar_counts_25_pips_and_one_borne_off_none() -> None:
    assert pip_count(board_of("25:2,1:1", "3:1")).tolist() == [51, 3]


@pytest.mark.parametrize("preset", RULES)
def test_pips_exchange_with_the_view_and_fall_by_the_dice_or_less(preset: str, rng: np.random.Generator) -> None:
    rules = get_rules(preset)
    boards = positions(rules, rng)
    pips = pip_count(boards)
    assert pips.dtype == np.int16 and pips.shape == (len(boards), 2)
    assert np.array_equal(pip_count(opponent_view(boards)), pips[:, ::-1])
    expected = [[sum(i * int(c) for i, c in enumerate(row)) for row in board] for board in boards[:50]]
    assert pips[:50].tolist() == expected

    dice = random_rolls(len(boards), rng)
    afterstates, offsets = legal_afterstates(boards, dice, rules)
    roll_pips = dice.sum(axis=1) * np.where(dice[:, 0] == dice[:, 1], 2, 1)
    played = np.repeat(pips[:, 0], np.diff(offsets)) - pip_count(afterstates)[:, 0]
    assert (played >= 0).all() and (played <= np.repeat(roll_pips, np.diff(offsets))).all()
    lost = pip_count(afterstates)[:, 1] - np.repeat(pips[:, 1], np.diff(offsets))
    assert (lost >= 0).all() and (rules.can_hit or not lost.any())


def test_the_rearmost_checker_may_be_on_the_bar_or_off() -> None:
    assert rearmost(board_of("25:1,3:2", "")).tolist() == [25, 0]
    assert rearmost(np.stack([board_of("6:15", "1:1"), board_of("24:15", "18:2,4:1")])).tolist() == [[6, 1], [24, 18]]


@pytest.mark.parametrize(
    ("preset", "me", "opp", "expected"),
    [
        ("short", "24:2,13:5,8:3,6:5", "24:2,13:5,8:3,6:5", CONTACT),
        ("short", "12:1", "23:1,5:1", CONTACT),  # case E21: my 12 has still to pass the opponent's checker on my 2
        ("short", "12:1", "12:1,5:1", RACE),  # his 12 is my 13: we have passed each other
        ("short", "12:1", "14:1,5:1", CONTACT),  # his 14 is my 11
        ("short", "25:1,6:1", "1:3", CONTACT),  # a checker on the bar may enter where he stands
        ("short", "6:14", "25:1,6:14", CONTACT),
        ("short", "7:1,6:14", "6:15", RACE),
        ("short", "6:15", "6:15", BEAROFF),
        ("short", "1:1", "", FINISHED),
        ("short", "", "25:1,6:14", FINISHED),
        ("long", "24:15", "24:15", CONTACT),
        ("long", "13:1,6:14", "12:15", CONTACT),  # my 13 is his 1
        ("long", "12:15", "13:1,6:14", CONTACT),
        ("long", "12:15", "12:15", RACE),
        ("long", "7:1,6:14", "6:15", RACE),
        ("long", "6:15", "6:1", BEAROFF),
        ("long", "", "24:15", FINISHED),
    ],
)
def test_phases_are_told_apart(preset: str, me: str, opp: str, expected: int) -> None:
    rules = get_rules(preset)
    board = board_of(me, opp)
    assert PHASES[phase(board, rules)] == PHASES[expected]
    assert PHASES[phase(opponent_view(board), rules)] == PHASES[expected]


@pytest.mark.parametrize("preset", RULES)
def test_phases_of_a_batch_are_those_of_its_boards_and_the_same_for_both_sides(
    preset: str, rng: np.random.Generator
) -> None:
    rules = get_rules(preset)
    boards = positions(rules, rng)
    phases = phase(boards, rules)
    assert phases.dtype == np.int8 and set(phases.tolist()) == {CONTACT, RACE, BEAROFF}
    assert np.array_equal(phase(opponent_view(boards), rules), phases)
    assert [int(phase(board, rules)) for board in boards[::100]] == phases[::100].tolist()


@pytest.mark.parametrize("preset", RULES)
def test_without_contact_the_opponents_checkers_change_no_play_and_contact_never_returns(
    preset: str, rng: np.random.Generator
) -> None:
    rules = get_rules(preset)
    boards, dice = placed(rules, 5 * POSITIONS, rng)
    is_race = phase(boards, rules) != CONTACT
    boards, dice = boards[is_race], dice[is_race]
    assert len(boards) > POSITIONS / 4
    alone = boards.copy()
    alone[:, 1] = row_from("opp{1:1}")  # on his 1, my 24 or 13: behind all my checkers
    afterstates, offsets = legal_afterstates(boards, dice, rules)
    others, other_offsets = legal_afterstates(alone, dice, rules)
    assert np.array_equal(offsets, other_offsets)
    assert np.array_equal(afterstates[:, 0], others[:, 0])
    assert (phase(afterstates, rules) != CONTACT).all()
