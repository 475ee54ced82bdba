"""Faults that users met in other engines, as inputs for ours: the engine's part of `data/cases.jsonl`."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from engine import RULES, get_rules, legal_afterstates
from engine.board import CONTACT, opponent_view, phase, pip_count
from engine.dice import ROLL_WEIGHTS, ROLLS
from engine.outcome import game_points, is_finished, outcome_class
from examples import DATA, row_from
from reference_rules import reference_afterstates

Int8 = npt.NDArray[np.int8]
Case = dict[str, Any]


@cache
def cases() -> dict[str, Case]:
    """The cases by id."""
    lines = (DATA / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return {case["id"]: case for case in map(json.loads, lines)}


def board_of(case: Case) -> Int8:
    """The board of a case."""
    return np.array([case["me"], case["opp"]], dtype=np.int8)


def presets_of(case: Case) -> list[str]:
    """The presets that a case holds for: those of its game, or the one it names."""
    if "rules" in case:
        return [case["rules"]]
    is_short = case.get("game") == "backgammon" or case["id"].startswith("F05")
    return [name for name, rules in RULES.items() if rules.can_hit == is_short]


def plays(case: Case, preset: str) -> list[list[list[int]]]:
    """Sorted afterstates of a case."""
    return sorted(legal_afterstates(board_of(case), case["dice"], get_rules(preset)).tolist())


WITH_PLAYS = [(case["id"], preset) for case in cases().values() if "dice" in case for preset in presets_of(case)]


def test_the_file_holds_the_cases_of_this_part() -> None:
    letters = {case_id[0] for case_id in cases()}
    assert letters == set("BSEFTN") and len(cases()) == 39
    assert sum("n_results" in case for case in cases().values()) >= 25


@pytest.mark.parametrize(("case_id", "preset"), WITH_PLAYS)
def test_the_plays_of_a_case_are_as_reported_and_equal_the_twin(case_id: str, preset: str) -> None:
    case = cases()[case_id]
    found = plays(case, preset)
    assert [mine + theirs for mine, theirs in found] == reference_afterstates(
        board_of(case), case["dice"], get_rules(preset)
    )
    assert len(found) == case.get("n_results", len(found))
    mine = [board[0] for board in found]
    assert all(row in mine for row in case.get("must_include_me", []))
    assert not any(row in mine for row in case.get("must_exclude_me", []))
    if "results" in case:
        assert found == sorted([result["me"], result.get("opp", case["opp"])] for result in case["results"])


@pytest.mark.parametrize("case_id", ["S01a", "S01b", "S01c", "S01d"])
def test_a_finished_game_is_paid_as_its_loser_stands(case_id: str) -> None:
    case = cases()[case_id]
    board = board_of(case)
    assert game_points(board, get_rules("short_backgammon")) == case["points"]
    assert game_points(opponent_view(board), get_rules("short_backgammon")) == -case["points"]
    assert game_points(board, get_rules("short")) == (4 if case_id == "S01d" else case["points"])


@pytest.mark.parametrize("preset", RULES)
def test_s04_the_player_on_roll_with_one_checker_left_wins_with_every_roll(preset: str) -> None:
    rules = get_rules(preset)
    board = np.array([row_from("me{1:1}"), row_from("opp{1:1}")], dtype=np.int8)
    afterstates, offsets = legal_afterstates(np.repeat(board[None], 21, axis=0), ROLLS, rules)
    assert np.diff(offsets).tolist() == [1] * 21
    assert (game_points(afterstates, rules) == rules.level_points[0]).all()


def test_e01_cumulative_chances_and_exclusive_classes_give_one_equity() -> None:
    points = get_rules("short_backgammon").points
    certain = np.array([1, 0, 0, 0, 0, 0, 0, 0], dtype=np.float32)
    assert certain @ points == 1.0
    win, win_gammon, win_home, lose_gammon, lose_home = 0.5, 0.2, 0.05, 0.1, 0.02
    wins = [win - win_gammon, win_gammon - win_home, win_home, 0.0]
    losses = [1 - win - lose_gammon, lose_gammon - lose_home, lose_home, 0.0]
    equity = float(np.array(wins + losses, dtype=np.float32) @ points)
    assert equity == pytest.approx(2 * win - 1 + (win_gammon - lose_gammon) + (win_home - lose_home), abs=1e-6)
    assert equity == pytest.approx(0.13, abs=1e-6)


def test_e04_with_a_checker_off_the_game_is_lost_single_at_worst() -> None:
    for board, _ in plays(cases()["E04"], "short_backgammon"):
        assert board[0] >= 1
        lost = np.array([board, row_from("opp{}")], dtype=np.int8)
        for preset in ("short", "short_backgammon"):
            rules = get_rules(preset)
            assert rules.outcomes[outcome_class(lost, rules)] == "lose_single"


def test_e21_my_twelve_has_still_to_pass_the_opponents_checker_on_my_two() -> None:
    assert phase(board_of(cases()["E21"]), get_rules("short")) == CONTACT


@pytest.mark.parametrize(("preset", "expected"), [("long_common", -2.0), ("long_fnr2026", -2.0), ("long", -95 / 36)])
def test_t11_a_lost_board_has_its_exact_value(preset: str, expected: float) -> None:
    # The opponent has one checker on his 1: after any play of mine he bears it off.
    rules = get_rules(preset)
    afterstates, offsets = legal_afterstates(np.repeat(board_of(cases()["T11"])[None], 21, axis=0), ROLLS, rules)
    over = afterstates.copy()
    over[:, 1] = row_from("opp{}")
    best = np.maximum.reduceat(game_points(over, rules), offsets[:-1])
    assert ROLL_WEIGHTS @ best == pytest.approx(expected)


def test_b25_after_the_winning_checker_nothing_is_left_to_play() -> None:
    rules = get_rules("short")
    for me, dice in (("me{6:1}", (6, 1)), ("me{1:1}", (6, 6))):
        board = np.array([row_from(me), row_from("opp{12:3}")], dtype=np.int8)
        won = legal_afterstates(board, dice, rules)
        assert len(won) == 1 and is_finished(won).all()
        assert len(legal_afterstates(won[0], dice, rules)) == 0
        assert len(legal_afterstates(opponent_view(won[0]), dice, rules)) == 0


def test_n07_pips_at_the_start_are_360_each_and_exchange_with_the_view() -> None:
    case = cases()["N07"]
    assert pip_count(board_of(case)).tolist() == case["pips"]
    other = board_of(cases()["N05"])
    assert pip_count(opponent_view(other)).tolist() == pip_count(other)[::-1].tolist()


def test_n23_the_game_is_over_at_once_unless_the_rules_say_otherwise() -> None:
    board = np.array([row_from("me{}"), row_from("opp{1:1}")], dtype=np.int8)
    assert is_finished(board)
    assert game_points(board, get_rules("long")) == 1.0
