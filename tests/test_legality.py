"""Why a play is illegal: a code for every rule, in both games, and silence for exactly the legal plays."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from engine import RULES, get_rules, legal_afterstates
from engine.board import Boards, as_boards
from engine.errors import DiceError, PositionError
from engine.legality import CODES, why_illegal, why_step_illegal
from engine.reason import Reason
from engine.rules import BAR, Rules
from engine.steps import Step, legal_next_steps, play_steps
from examples import row_from
from random_positions import placed, random_play

VARIANTS = [*RULES, "long_classic(block_check=turn)", "long_classic(block_check=off)"]
START = "me{24:2,13:5,8:3,6:5} opp{24:2,13:5,8:3,6:5}"
HEADS = "me{24:15} opp{24:15}"
NO_SIX = "me{24:5,17:2,16:2,15:1,14:1,13:2,1:2} opp{24:2,23:1,22:1,21:1,20:1,19:2,18:1,10:1,9:1,8:3,7:1}"  # B7..B9


def board_of(text: str) -> Boards:
    return np.array([row_from(part) for part in text.split()], dtype=np.int8)


def reason_for(preset: str, board: str, dice: tuple[int, int], wanted: Any) -> Reason | None:
    """`wanted`: an afterstate as text, or pairs."""
    play = board_of(wanted) if isinstance(wanted, str) else wanted
    return why_illegal(board_of(board), dice, play, get_rules(preset))


# preset, board, dice, moves (start, end), code, what the message names
MOVES = [
    ("short", "me{} opp{24:2}", (6, 1), [(6, 0)], "game_over", "the game is over"),
    ("long_classic", "me{3:2} opp{}", (6, 1), [(3, 0)], "game_over", "the game is over"),
    ("short", START, (6, 1), [(26, 20)], "not_well_formed", "26/20"),
    ("short", START, (6, 1), [(13, 13)], "not_well_formed", "13/13"),
    ("long_classic", HEADS, (6, 1), [(24, -1)], "not_well_formed", "24/-1"),
    ("short", START, (6, 1), [(13, 19)], "backwards", "13/19"),
    ("long_classic", HEADS, (6, 1), [(18, 24)], "backwards", "18/24"),
    ("short", START, (6, 1), [(14, 8), (6, 5)], "no_checker", "no checker on 14"),
    ("long_classic", HEADS, (6, 1), [(20, 14), (24, 23)], "no_checker", "no checker on 20"),
    ("short", "me{25:1,6:1} opp{22:2,20:2,6:4}", (5, 3), [(6, 1)], "bar_first", "6/1"),
    ("short", START, (5, 3), [(24, 19), (13, 10)], "point_held", "point 19 is held"),
    ("short", START, (5, 5), [(24, 14)], "point_held", "point 19 is held"),
    ("long_classic", "me{24:14,20:1} opp{24:14,7:1}", (5, 1), [(20, 19), (24, 19)], "point_held", "point 19 is held"),
    ("short", "me{7:1,1:14} opp{10:2}", (2, 1), [(1, 0), (1, 0)], "not_all_home", "one stands on 7"),
    ("long_classic", "me{9:1,1:14} opp{24:15}", (2, 1), [(1, 0), (9, 7)], "not_all_home", "one stands on 7"),
    ("short", "me{5:1,3:2,1:1} opp{1:15}", (4, 1), [(3, 0), (5, 4)], "overshoot", "one stands on"),
    ("long_classic", "me{4:2,2:1} opp{24:15}", (6, 1), [(2, 0), (4, 3)], "overshoot", "6 bears a checker off 2"),
    ("long_classic", "me{24:14,18:1} opp{24:14,20:1}", (2, 1), [(24, 22), (24, 23)], "head_used", "the head was used"),
    ("long_classic", HEADS, (6, 5), [(24, 18), (24, 19)], "head_used", "the head was used"),
    ("long_fnr2026", HEADS, (4, 4), [(24, 20), (24, 16)], "head_used", "the head was used"),
    ("long_classic", NO_SIX, (6, 3), [(24, 18), (18, 15)], "six_point_block", "from 18 to 13"),
    ("long_classic(block_check=turn)", NO_SIX, (6, 3), [(24, 18), (17, 14)], "six_point_block", "18 to 13"),
    ("short", START, (6, 1), [(13, 8)], "wrong_distance", "13/8 cannot be made with the dice 6-1"),
    ("long_classic", HEADS, (6, 5), [(24, 22)], "wrong_distance", "24/22 cannot be made with the dice 6-5"),
    ("short", START, (6, 1), [(24, 18), (13, 7)], "die_not_available", "24/18 13/7"),
    ("long_classic", HEADS, (3, 1), [(24, 21), (24, 20)], "die_not_available", "24/21 24/20"),
    ("short", START, (6, 1), [(13, 7)], "both_dice_required", "plays 1 of 2"),
    ("long_classic", HEADS, (6, 5), [(24, 18)], "both_dice_required", "plays 1 of 2"),
    ("short", "me{20:1} opp{14:2}", (5, 4), [(20, 16)], "larger_die_required", "must be the larger: 5"),
    ("long_classic", "me{20:1} opp{24:13,23:2}", (5, 4), [(20, 16)], "larger_die_required", "must be the larger: 5"),
    ("short", START, (2, 2), [(13, 11), (13, 11), (6, 4)], "double_required", "4 times, this plays 3"),
    ("long_classic", HEADS, (6, 6), [(24, 18)], "double_required", "2 times, this plays 1"),
    ("short", START, (6, 1), [], "pass_not_allowed", "the roll 6-1 can be played"),
    ("long_classic", HEADS, (6, 1), [], "pass_not_allowed", "the roll 6-1 can be played"),
]

# the same for an afterstate
BOARDS = [
    ("short", "me{1:1} opp{}", (6, 1), "me{} opp{}", "game_over", "the game is over"),
    ("long_classic", HEADS, (6, 1), "me{24:14,18:1,17:1} opp{24:15}", "not_well_formed", "0 to 15"),
    ("short", START, (6, 1), "me{24:2,13:5,8:3,6:5} opp{25:1,24:1,13:5,8:3,6:6}", "not_well_formed", "0 to 15"),
    ("short", START, (6, 1), "me{24:1,23:1,19:1,13:4,8:3,6:5} opp{24:2,13:5,8:3,6:5}", "point_held", "point 19"),
    ("long_classic", HEADS, (6, 6), "me{24:14,12:1} opp{24:15}", "point_held", "point 12"),
    ("short", START, (6, 1), "me{24:1,17:1,13:5,8:3,6:5} opp{24:2,13:5,8:3,6:5}", "point_held", "point 17"),
    ("short", START, (6, 1), "me{24:3,13:4,8:3,6:5} opp{24:2,13:5,8:3,6:5}", "backwards", "13/24"),
    ("long_classic", "me{24:14,18:1} opp{24:15}", (6, 1), "me{24:15} opp{24:15}", "backwards", "18/24"),
    ("short", "me{24:2,6:2} opp{20:1,6:2}", (1, 1), "me{24:2,6:1,5:1} opp{20:1,6:2}", "opponent_row_wrong", "hit on 5"),
    ("short", START, (6, 1), "me{24:2,13:4,8:2,7:2,6:5} opp{25:1,24:1,13:5,8:3,6:5}", "opponent_row_wrong", "1 holds"),
    ("short", START, (6, 1), "me{24:2,13:4,8:2,7:2,6:5} opp{24:2,13:5,8:2,7:1,6:5}", "opponent_row_wrong", "the bar"),
    ("short", "me{24:2} opp{5:1,3:1}", (2, 1), "me{24:1,21:1} opp{25:1,3:1}", "opponent_row_wrong", "hits on 20"),
    ("long_classic", HEADS, (6, 1), "me{24:14,17:1} opp{24:14,1:1}", "opponent_row_wrong", "never move"),
    ("short", START, (6, 1), START, "pass_not_allowed", "6-1"),
    ("long_classic", HEADS, (6, 1), HEADS, "pass_not_allowed", "6-1"),
    ("short", START, (6, 1), "me{24:2,13:5,8:2,6:5,3:1} opp{24:2,13:5,8:3,6:5}", "wrong_distance", "8 to 3"),
    ("long_classic", HEADS, (6, 1), "me{24:14,4:1} opp{24:15}", "wrong_distance", "24 to 4"),
    ("long_classic", HEADS, (6, 5), "me{24:13,19:1,18:1} opp{24:15}", "head_used", "head"),
    ("long_classic", HEADS, (6, 6), "me{24:14,18:1} opp{24:15}", "double_required", "2 times"),
    ("long_classic", HEADS, (6, 5), "me{24:14,18:1} opp{24:15}", "both_dice_required", "1 of 2"),
    ("short", "me{3:1} opp{23:1,10:5,6:4}", (3, 1), "me{} opp{23:1,10:5,6:4}", "both_dice_required", "1 of 2"),
    ("short", "me{25:1,6:1} opp{22:2,20:2,6:4}", (5, 3), "me{25:1,1:1} opp{22:2,20:2,6:4}", "bar_first", "6/1"),
    ("short", "me{7:1,1:14} opp{10:2}", (2, 1), "me{7:1,1:12} opp{10:2}", "not_all_home", "7"),
    ("long_classic", "me{4:2,2:1} opp{24:15}", (6, 1), "me{4:1,3:1} opp{24:15}", "overshoot", "4"),
    ("short", "me{20:1} opp{14:2}", (5, 4), "me{16:1} opp{14:2}", "larger_die_required", "5"),
    ("long_classic", NO_SIX, (6, 3),
     "me{24:4,17:2,16:2,15:2,14:1,13:2,1:2} opp{24:2,23:1,22:1,21:1,20:1,19:2,18:1,10:1,9:1,8:3,7:1}",
     "six_point_block", "18 to 13"),
]  # fmt: skip


@pytest.mark.parametrize("preset, board, dice, wanted, code, names", MOVES + BOARDS)
def test_each_fault_has_its_code_and_says_where(
    preset: str, board: str, dice: tuple[int, int], wanted: Any, code: str, names: str
) -> None:
    reason = reason_for(preset, board, dice, wanted)
    assert reason is not None
    assert (reason.code, names in str(reason)) == (code, True), str(reason)
    assert "\n" not in str(reason) and "{" not in str(reason)
    json.dumps(reason.data)


def test_every_code_is_met_and_those_of_both_games_in_both() -> None:
    only_short = {"bar_first"}
    only_long = {"head_used", "six_point_block"}
    met = {(row[4], RULES[row[0].split("(")[0]].game.name) for row in MOVES + BOARDS}
    for code in CODES:
        games = (
            {"short", "long"}
            - ({"long"} if code in only_short else set())
            - ({"short"} if code in only_long else set())
        )
        assert {(code, game) for game in games} <= met, code


@pytest.mark.parametrize("wanted", [[[1, 2], [3]], [[1.5, 2.0]], [["a", "b"]], [[[1]]], [[1, 2, 3]], 7, None, "24/18"])
def test_what_is_no_play_at_all_is_not_well_formed(wanted: Any) -> None:
    reason = why_illegal(RULES["short"].start_board(), (6, 1), wanted, RULES["short"])
    assert reason is not None and reason.code == "not_well_formed"
    assert "afterstate [2, 26] or pairs (start, end)" in str(reason)


def test_an_afterstate_of_fractions_is_not_well_formed() -> None:
    start = RULES["short"].start_board()
    reason = why_illegal(start, (6, 1), start + 0.5, RULES["short"])
    assert reason is not None and reason.code == "not_well_formed" and "whole numbers" in str(reason)


def test_a_bad_board_or_bad_dice_are_errors_not_reasons() -> None:
    rules = RULES["short"]
    start = rules.start_board()
    with pytest.raises(DiceError, match="two numbers from 1 to 6"):
        why_illegal(start, (0, 6), start, rules)
    with pytest.raises(PositionError, match="index 25"):
        why_illegal(board_of("me{25:1,24:14} opp{24:15}"), (6, 1), start, RULES["long_classic"])
    with pytest.raises(PositionError, match=r"\[1, 2, 26\]"):
        why_illegal(start[None], (6, 1), start, rules)


def test_moves_may_come_in_any_order_and_joined() -> None:
    assert reason_for("short", START, (6, 1), [(8, 7), (13, 7)]) is None
    assert reason_for("long_classic", HEADS, (6, 5), [(18, 13), (24, 18)]) is None
    assert reason_for("long_classic", HEADS, (6, 5), [(24, 13)]) is None
    assert reason_for("short", START, (6, 1), [Step(13, 7, 6, False), Step(8, 7, 1, False)]) is None


def test_a_pass_is_legal_when_nothing_can_be_played() -> None:
    board = "me{20:1} opp{10:2,7:2}"  # T5
    assert reason_for("short", board, (5, 2), []) is None
    assert reason_for("short", board, (5, 2), board) is None
    reason = reason_for("short", board, (5, 2), [(20, 15)])
    assert reason is not None and reason.code == "point_held"


def changed(board: Boards, rng: np.random.Generator) -> Boards:
    """A board with one or two checkers of a side put elsewhere."""
    other = board.copy()
    for _ in range(int(rng.integers(1, 3))):
        row = other[int(rng.random() < 0.2)]
        start = int(rng.choice(np.flatnonzero(row)))
        row[start] -= 1
        row[int(np.clip(start - rng.integers(-3, 7), 0, BAR))] += 1
    return other


def positions(rules: Rules, n: int, seed: int) -> list[tuple[Boards, tuple[int, int]]]:
    rng = np.random.default_rng(seed)
    found = [*zip(*random_play(rules, n // 2, rng), strict=True), *zip(*placed(rules, n - n // 2, rng), strict=True)]
    return [(board, (int(dice[0]), int(dice[1]))) for board, dice in found]


@pytest.mark.parametrize("name", VARIANTS)
def test_silence_for_exactly_the_legal_afterstates(name: str, is_long: bool) -> None:
    rules = get_rules(name)
    rng = np.random.default_rng(17)
    codes = set()
    for board, dice in positions(rules, 1500 if is_long else 120, seed=29):
        legal = legal_afterstates(board, dice, rules)
        members = {after.tobytes() for after in legal}
        picked = legal[rng.permutation(len(legal))[:3]]
        assert all(why_illegal(board, dice, after, rules) is None for after in picked)
        for other in [changed(after, rng) for after in [*picked, board]]:
            reason = why_illegal(board, dice, other, rules)
            assert (reason is None) == (other.tobytes() in members), (board.tolist(), dice, other.tolist())
            codes.add(reason.code if reason else "")
    assert len(codes) >= 6


@pytest.mark.parametrize("name", VARIANTS)
def test_silence_for_exactly_the_legal_moves(name: str, is_long: bool) -> None:
    rules = get_rules(name)
    rng = np.random.default_rng(5)
    refused = 0
    for board, dice in positions(rules, 800 if is_long else 80, seed=31):
        legal = legal_afterstates(board, dice, rules)
        members = {after.tobytes() for after in legal}
        after = legal[int(rng.integers(len(legal)))]
        moves = [(step.start, step.end) for step in play_steps(board, dice, after, rules)]
        assert why_illegal(board, dice, [moves[i] for i in rng.permutation(len(moves))], rules) is None
        if not moves:
            continue
        place = int(rng.integers(len(moves)))
        start, end = moves[place]
        moves[place] = (start, int(np.clip(end + rng.integers(-2, 3), 0, 24)))
        reason = why_illegal(board, dice, moves, rules)
        if reason is None:  # then the moves lead to a legal afterstate
            row = board[0].copy()
            for start, end in moves:
                row[start] -= 1
                row[end] += 1
            assert any(np.array_equal(np.frombuffer(member, np.int8)[:26], row) for member in members)
        refused += reason is not None
    assert refused > 10


@pytest.mark.parametrize("name", VARIANTS)
def test_a_refused_next_step_has_a_reason_and_an_allowed_one_has_none(name: str) -> None:
    rules = get_rules(name)
    for board, dice in positions(rules, 30, seed=41):
        allowed = {(step.start, step.die) for step, _ in legal_next_steps(board, [], dice, rules)}
        for die in set(dice):
            for start in range(1, 26):
                reason = why_step_illegal(board, [], dice, start, die, rules)
                assert (reason is None) == ((start, die) in allowed)


@pytest.mark.parametrize(
    "preset, board, dice, so_far, start, die, code",
    [
        ("short", START, (6, 1), [], 13, 5, "die_not_available"),
        ("short", START, (6, 1), [Step(13, 7, 6, False)], 13, 6, "die_not_available"),
        ("short", START, (6, 1), [], 0, 6, "not_well_formed"),
        ("long_classic", HEADS, (6, 1), [Step(24, 18, 6, False)], 24, 1, "head_used"),
        ("short", "me{13:1,9:1,1:13} opp{23:2,21:2,6:5,5:6}", (6, 5), [], 13, 6, "both_dice_required"),
        ("long_classic(block_check=turn)", NO_SIX, (6, 3), [Step(24, 18, 6, False)], 17, 3, "six_point_block"),
        ("short", "me{6:1} opp{24:15}", (6, 1), [Step(6, 0, 6, False)], 1, 1, "game_over"),
    ],
)
def test_a_step_is_refused_with_its_code(
    preset: str, board: str, dice: tuple[int, int], so_far: list[Step], start: int, die: int, code: str
) -> None:
    reason = why_step_illegal(board_of(board), so_far, dice, start, die, get_rules(preset))
    assert reason is not None and reason.code == code, str(reason)


def test_the_example_boards_are_well_formed() -> None:
    for preset, board, *_ in MOVES + BOARDS:
        rules = get_rules(preset)
        if board not in ("me{1:1} opp{}",):
            as_boards(board_of(board), rules)
