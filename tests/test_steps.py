"""Steps: single ones, the head limit, the way to an afterstate, and which steps begin a legal turn."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from engine import RULES, get_rules, legal_afterstates
from engine.board import Boards, opponent_view
from engine.errors import DiceError, IllegalPlayError, PositionError
from engine.rules import HEAD, Rules
from engine.steps import (
    Dice,
    Step,
    dice_given,
    head_limit,
    legal_next_steps,
    play_steps,
    playable_dice,
    replay,
    single_steps,
)
from examples import DATA, row_from
from random_positions import placed, random_play

VARIANTS = [*RULES, "long_classic(block_check=turn)", "long_classic(block_check=off)", "long_classic(first_turn=none)"]
CASES = {case["id"]: case for case in map(json.loads, (DATA / "cases.jsonl").read_text().splitlines())}


def board_of(text: str) -> Boards:
    return np.array([row_from(part) for part in text.split()], dtype=np.int8)


def case_board(name: str) -> Boards:
    return np.array([CASES[name]["me"], CASES[name]["opp"]], dtype=np.int8)


def positions(rules: Rules, n: int, seed: int) -> list[tuple[Boards, tuple[int, int]]]:
    """Boards from random play and placed ones, half each, with rolls."""
    rng = np.random.default_rng(seed)
    found = [*zip(*random_play(rules, n // 2, rng), strict=True), *zip(*placed(rules, n - n // 2, rng), strict=True)]
    return [(board, (int(dice[0]), int(dice[1]))) for board, dice in found]


def every_line(
    board: Boards, dice: Dice, rules: Rules, head_left: int, so_far: tuple[tuple[int, int], ...] = ()
) -> dict[tuple[tuple[int, int], ...], Boards]:
    """Every sequence of single steps, empty and unfinished ones too, as (start, die) pairs -> board after."""
    found = {so_far: board}
    for place, die in enumerate(dice):
        if die in dice[:place]:
            continue
        for step, after in single_steps(board, die, rules, head_left):
            rest = dice[:place] + dice[place + 1 :]
            line = (*so_far, (step.start, step.die))
            found |= every_line(after, rest, rules, head_left - (step.start == HEAD), line)
    return found


def keys(boards: Any) -> set[bytes]:
    return {np.asarray(board, dtype=np.int8).tobytes() for board in boards}


@pytest.mark.parametrize("name", [*RULES, "long_classic(block_check=off)"])
def test_sequences_of_single_steps_give_the_legal_afterstates(name: str, is_long: bool) -> None:
    rules = get_rules(name)
    compared = 0
    for board, dice in positions(rules, 400 if is_long else 60, seed=11):
        legal = legal_afterstates(board, dice, rules)
        if len(legal) > 40:
            continue
        lines = every_line(board, dice_given(dice), rules, head_limit(board, dice, rules))
        most = max(len(line) for line in lines)
        best = {line: after for line, after in lines.items() if len(line) == most}
        if most == 1 and any(die == max(dice) for ((_, die),) in best):
            best = {line: after for line, after in best.items() if line[0][1] == max(dice)}
        assert keys(best.values()) == keys(legal), (board.tolist(), dice)
        assert playable_dice(board, dice, rules) == most
        compared += 1
    assert compared > 30


@pytest.mark.parametrize("name", VARIANTS)
def test_steps_of_a_play_are_legal_one_by_one_and_end_at_its_afterstate(name: str, is_long: bool) -> None:
    rules = get_rules(name)
    rng = np.random.default_rng(3)
    for board, dice in positions(rules, 1000 if is_long else 60, seed=5):
        legal = legal_afterstates(board, dice, rules)
        for after in legal[rng.permutation(len(legal))[:4]]:
            steps = play_steps(board, dice, after, rules)
            reached, left, _ = replay(board, steps, dice, rules)
            assert np.array_equal(reached, after)
            assert len(steps) + len(left) == len(dice_given(dice))
            is_win = after[0, 0] == 15
            assert is_win or len(steps) == playable_dice(board, dice, rules)


@pytest.mark.parametrize("name", VARIANTS)
def test_next_steps_are_those_that_begin_or_end_a_legal_turn(name: str, is_long: bool) -> None:
    rules = get_rules(name)
    rng = np.random.default_rng(8)
    compared = 0
    for board, dice in positions(rules, 300 if is_long else 50, seed=21):
        legal = keys(legal_afterstates(board, dice, rules))
        if len(legal) > 60:
            continue
        lines = every_line(board, dice_given(dice), rules, head_limit(board, dice, rules))
        good = {line for line, after in lines.items() if after.tobytes() in legal}
        prefixes = {line[:length] for line in good for length in range(len(line) + 1)}
        picked = sorted(prefixes)[int(rng.integers(len(prefixes)))]
        steps = [Step(start, max(start - die, 0), die, False) for start, die in picked]
        found = {(step.start, step.die) for step, _ in legal_next_steps(board, steps, dice, rules)}
        assert found == {line[-1] for line in prefixes if len(line) == len(picked) + 1 and line[:-1] == picked}
        compared += 1
    assert compared > 25


def test_the_larger_die_and_the_rearmost_checker_go_first() -> None:
    rules = RULES["short"]
    after = board_of("me{24:2,13:4,10:1,8:3,6:4,5:1} opp{24:2,13:5,8:3,6:5}")
    steps = play_steps(rules.start_board(), (1, 3), after, rules)
    assert [(step.start, step.end, step.die) for step in steps] == [(13, 10, 3), (6, 5, 1)]


def test_the_order_keeps_every_step_legal() -> None:
    board = board_of("me{20:1,10:1} opp{24:8,4:2,18:2,23:3}")  # T2: 20-15 first would leave no 4
    steps = play_steps(board, (5, 4), board_of("me{20:1,1:1} opp{24:8,4:2,18:2,23:3}"), RULES["long_classic"])
    assert [(step.start, step.end) for step in steps] == [(10, 5), (5, 1)]


def test_a_hit_on_the_way_is_a_step_of_its_own() -> None:
    board = board_of("me{3:1} opp{23:1,10:5,6:4}")  # S9
    steps = play_steps(board, (3, 1), board_of("me{} opp{25:1,10:5,6:4}"), RULES["short"])
    assert steps == (Step(3, 2, 1, True), Step(2, 0, 3, False))


def test_a_win_takes_the_fewest_steps_and_stops_there() -> None:
    steps = play_steps(board_of("me{6:1} opp{24:15}"), (6, 1), board_of("me{} opp{24:15}"), RULES["long_classic"])
    assert steps == (Step(6, 0, 6, False),)  # B25


def test_a_turn_that_must_play_both_dice_shows_both() -> None:
    board = case_board("B05")
    after = np.array([CASES["B05"]["results"][1]["me"], CASES["B05"]["opp"]], dtype=np.int8)
    assert play_steps(board, (4, 2), after, RULES["short"]) == (Step(4, 2, 2, False), Step(2, 0, 4, False))


@pytest.mark.parametrize("name, only", [("B11", {(13, 5), (9, 6)}), ("B03", {(9, 4)})])
def test_a_die_that_makes_the_other_unplayable_is_not_offered(name: str, only: set[tuple[int, int]]) -> None:
    steps = legal_next_steps(case_board(name), [], CASES[name]["dice"], RULES["short"])
    assert {(step.start, step.die) for step, _ in steps} == only


def test_a_pass_has_no_steps() -> None:
    board = case_board("N03")
    assert play_steps(board, (2, 2), board, RULES["long_classic"]) == ()
    assert legal_next_steps(board, [], (2, 2), RULES["long_classic"]) == []


def test_a_finished_board_has_no_single_steps() -> None:
    board = board_of("me{3:2} opp{}")
    assert single_steps(board, 3, RULES["short"], 15) == []
    assert single_steps(opponent_view(board), 3, RULES["short"], 15) == []


@pytest.mark.parametrize(
    "preset, opponent, dice, limit",
    [
        ("short", "24:15", (6, 6), 15),
        ("long_classic", "24:15", (6, 6), 2),
        ("long_classic", "24:15", (3, 3), 2),
        ("long_classic", "24:15", (4, 4), 2),
        ("long_classic", "24:15", (5, 5), 1),
        ("long_classic", "24:14,4:1", (6, 2), 2),
        ("long_classic", "24:14,4:1", (4, 4), 1),
        ("long_classic", "24:14,4:1", (2, 2), 2),
        ("long_classic", "24:14,16:1", (5, 5), 2),
        ("long_classic", "24:14,14:1", (5, 5), 1),
        ("long_common", "24:15", (4, 4), 2),
        ("long_common", "24:14,4:1", (6, 2), 1),
        ("long_fnr2026", "24:15", (4, 4), 1),
        ("long_fnr2026", "24:14,4:1", (4, 4), 2),
        ("long_fnr2026", "24:14,4:1", (5, 5), 1),
        ("long_classic(first_turn=none)", "24:15", (6, 6), 1),
    ],
)
def test_checkers_that_may_leave_the_head_on_a_first_turn(
    preset: str, opponent: str, dice: tuple[int, int], limit: int
) -> None:
    assert head_limit(board_of(f"me{{24:15}} opp{{{opponent}}}"), dice, get_rules(preset)) == limit


def test_one_checker_leaves_the_head_on_a_later_turn() -> None:
    board = case_board("N21a")
    assert head_limit(board, (6, 6), RULES["long_classic"]) == 1
    assert [step.start for step, _ in single_steps(board, 6, RULES["long_classic"], 1)] == [HEAD]
    assert single_steps(board, 6, RULES["long_classic"], 0) == []


def test_a_block_in_passing_is_no_step_unless_only_the_turn_is_tested() -> None:
    board = board_of("me{24:5,17:2,16:2,15:1,14:1,13:2,1:2} opp{24:2,23:1,22:1,21:1,20:1,19:2,18:1,10:1,9:1,8:3,7:1}")
    starts = {
        check: single_steps(board, 6, get_rules(f"long_classic(block_check={check})"), 1)
        for check in ("step", "turn", "off")
    }
    assert [step.start for step, _ in starts["turn"]] == [step.start for step, _ in starts["off"]] == [24]
    assert starts["step"] == []


def test_an_illegal_afterstate_is_refused_with_its_reason() -> None:
    rules = RULES["long_classic"]
    with pytest.raises(IllegalPlayError, match="both dice must be played") as caught:
        play_steps(rules.start_board(), (6, 5), board_of("me{24:14,18:1} opp{24:15}"), rules)
    assert caught.value.reason is not None and caught.value.reason.code == "both_dice_required"


def test_steps_so_far_must_be_steps_and_have_their_die() -> None:
    rules = RULES["short"]
    start = rules.start_board()
    with pytest.raises(IllegalPlayError, match="a step by 5 cannot be made together with the dice 6-1"):
        legal_next_steps(start, [Step(24, 19, 5, False)], (6, 1), rules)
    with pytest.raises(IllegalPlayError, match="you have no checker on 7"):
        legal_next_steps(start, [Step(7, 1, 6, False)], (6, 1), rules)


def test_bad_boards_and_dice_are_refused() -> None:
    rules = RULES["short"]
    with pytest.raises(DiceError, match="two numbers from 1 to 6"):
        play_steps(rules.start_board(), (7, 1), rules.start_board(), rules)
    with pytest.raises(PositionError, match=r"one board has shape \[2, 26\], got \[1, 2, 26\]"):
        play_steps(rules.start_board()[None], (6, 1), rules.start_board(), rules)
    with pytest.raises(PositionError, match="the player on roll has 16"):
        bad = rules.start_board()
        bad[0, 1] += 1
        play_steps(bad, (6, 1), bad, rules)
