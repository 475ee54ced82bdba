"""A roll being played: steps, placing, undo, commit, and the extra turn of `last_turn=second_player`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.board import opponent_view
from engine.events import GameResult, State
from engine.movegen import legal_afterstates
from engine.session import Session
from session_play import board_of, moving, refused, session_in

# Moving


def test_a_roll_stores_the_dice_and_the_start_of_the_turn() -> None:
    session = moving("long_classic", (6, 5))
    assert session.state is State.MOVING and session.dice == (6, 5) and session.dice_left == (6, 5)
    assert session.turn is not None and np.array_equal(session.turn.start, session.rules.start_board())


def test_a_double_gives_four_dice() -> None:
    assert moving("short", "22").dice_left == (2, 2, 2, 2)


def test_strict_takes_only_steps_that_begin_a_legal_turn() -> None:
    """RULES.md T1: 20-15 with the 5 is legal by itself, but would leave no 4."""
    session = moving("short", (5, 4), "20:1,10:1", "19:2,14:2,9:2")
    assert {(s.start, s.die) for s in session.legal_steps()} == {(10, 5)}
    refused(session, {"event": "step", "start": 20, "die": 5}, "both_dice_required")
    claims = moving("short", (5, 4), "20:1,10:1", "19:2,14:2,9:2", enforce="claims")
    claims.step(20, 5)
    assert claims.dice_left == (4,) and not claims.is_correct()


def test_a_step_against_the_rules_is_refused_in_both_modes_with_its_reason() -> None:
    for enforce in ("strict", "claims"):
        session = moving("long_classic", (6, 5), enforce=enforce)
        refused(session, {"event": "step", "start": 24, "die": 4}, "die_not_available")
        refused(session, {"event": "step", "start": 23, "die": 6}, "no_checker")
        session.step(24, 6)
        refused(session, {"event": "step", "start": 24, "die": 5}, "head_used")
        assert session.why_not(24, 5) is not None and session.why_not(18, 5) is None


@pytest.mark.parametrize(
    ("rules", "dice", "mine", "theirs", "start", "die", "code"),
    [
        ("short", (6, 1), "25:1,8:2", "6:2,5:2,4:2,3:2,2:2,1:2", 8, 6, "bar_first"),
        ("short", (5, 2), "20:1", "10:2,7:2", 20, 5, "point_held"),
        ("long_classic", (6, 1), "7:1,1:1", "24:15", 1, 1, "not_all_home"),
        ("long_classic", (5, 4), "6:2,3:1", "24:15", 3, 5, "overshoot"),
        ("long_classic", (2, 1), "24:9,23:2,22:1,5:1,2:1,1:1", "24:9,18:6", 5, 2, "six_point_block"),
    ],
)
def test_each_rule_of_a_single_step_names_itself(
    rules: str, dice: Any, mine: str, theirs: str, start: int, die: int, code: str
) -> None:
    for enforce in ("strict", "claims"):
        session = moving(rules, dice, mine, theirs, enforce)
        error = refused(session, {"event": "step", "start": start, "die": die}, code)
        assert f"from {start} by {die}" in str(error)


def test_every_offered_step_is_taken_and_every_other_refused() -> None:
    session = moving("short", (3, 1))
    offered = {(s.start, s.die) for s in session.legal_steps()}
    for start in range(1, 26):
        for die in range(1, 7):
            trial = moving("short", (3, 1))
            if (start, die) in offered:
                trial.step(start, die)
            else:
                refused(trial, {"event": "step", "start": start, "die": die})


def test_undo_takes_back_one_step_and_reset_the_whole_turn() -> None:
    session = moving("short", "22")
    boards = [session.board]
    for _ in range(3):
        step = session.legal_steps()[0]
        session.step(step.start, step.die)
        boards.append(session.board)
    session.undo()
    assert np.array_equal(session.board, boards[2]) and session.dice_left == (2, 2)
    session.reset()
    assert np.array_equal(session.board, boards[0]) and session.dice_left == (2, 2, 2, 2)
    session.reset()
    refused(session, {"event": "undo"}, "nothing_to_undo")


def test_undo_of_a_hit_leaves_fifteen_checkers_on_each_side() -> None:
    """Case B21, the board of B07: 4/2* and more, then undo; and undo after two of four steps."""
    session = moving("short", "22", "4:10", "23:1,1:14")
    start = session.board
    session.step(4, 2)
    assert session.board[1, 25] == 1 and session.board.sum() == 30
    session.undo()
    assert np.array_equal(session.board, start)
    session.step(4, 2)
    session.step(4, 2)
    session.undo()
    session.undo()
    assert np.array_equal(session.board, start) and session.board.sum(axis=1).tolist() == [15, 15]


def test_commit_of_a_correct_turn_exchanges_the_rows() -> None:
    session = moving("long_classic", (6, 5))
    session.step(24, 6)
    session.step(18, 5)
    left = session.board
    session.commit()
    assert session.state is State.TO_ROLL and session.mover == 1 and session.dice is None
    assert np.array_equal(session.board, opponent_view(left)) and np.array_equal(session.board_of(0), left)


def test_commit_of_an_incomplete_turn_is_refused_under_strict() -> None:
    """Case N19: from the start with 6-5, only 24/18."""
    session = moving("long_classic", (6, 5))
    refused(session, {"event": "commit"}, "pass_not_allowed")
    session.step(24, 6)
    refused(session, {"event": "commit"}, "both_dice_required")


def test_only_the_board_left_is_judged_not_the_way() -> None:
    session = moving("long_classic", (6, 5), enforce="claims")
    session.place(board_of("24:14,13:1", "24:15"))
    assert session.is_correct() and session.dice_left == ()
    session.commit()
    assert session.state is State.TO_ROLL


def test_a_placed_board_that_steps_explain_leaves_the_other_dice() -> None:
    session = moving("long_classic", (6, 5), enforce="claims")
    session.place(board_of("24:14,18:1", "24:15"))
    assert session.dice_left == (5,) and [s.die for s in session.turn.steps] == [6]  # type: ignore[union-attr]
    session.step(18, 5)
    assert session.is_correct()
    session.undo()
    session.undo()
    assert session.dice_left == (6, 5)
    session.place(board_of("24:14,17:1", "24:15"))
    assert session.dice_left == () and session.legal_steps() == () and session.turn.steps is None  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("rules", "mine", "theirs"),
    [
        ("long_classic", "24:14,12:1", "24:15"),
        ("long_classic", "24:14,18:1", "24:14,23:1"),
        ("long_classic", "24:14,25:1", "24:15"),
        ("short", "24:2,13:5,8:3,6:5", "24:2,13:5,8:3,6:4,5:1"),
        ("short", "24:2,13:5,8:3,6:5", "24:2,13:5,8:3,6:4"),
    ],
)
def test_a_board_that_is_not_well_formed_is_never_placed(rules: str, mine: str, theirs: str) -> None:
    session = moving(rules, (6, 5), enforce="claims")
    refused(session, {"event": "place", "board": board_of(mine, theirs)}, "malformed_board")


def test_placing_takes_numbers_of_a_whole_board_only() -> None:
    session = moving("short", (6, 5), enforce="claims")
    for board in ([[1, 2], [3]], "start", None, np.zeros((3, 2, 26), dtype=np.int8), [[0] * 26] * 2):
        refused(session, {"event": "place", "board": board}, "malformed_board")


def test_a_placed_hit_puts_the_opposing_checker_on_the_bar() -> None:
    session = moving("short", (3, 1), "24:1,6:14", "21:1,6:14", enforce="claims")
    session.place(board_of("24:1,6:13,4:1", "25:1,6:14"))
    assert session.board[1, 25] == 1


def test_placing_is_refused_under_strict_and_after_a_demand() -> None:
    board = board_of("24:14,13:1", "24:15")
    refused(moving("long_classic", (6, 5)), {"event": "place", "board": board}, "claims_only")
    session = session_in(State.REVIEW)
    session.demand()
    refused(session, {"event": "place", "board": board}, "claims_only")


# The extra turn of last_turn=second_player


def first_player_finishes(rules: str = "long_classic(last_turn=second_player)", theirs: str = "1:1") -> Session:
    session = moving(rules, (2, 1), "1:1", theirs)
    session.play(session.legal_turns()[0])
    return session


def test_the_second_player_gets_one_more_turn_and_may_draw() -> None:
    session = first_player_finishes()
    assert session.state is State.TO_ROLL and session.mover == 1 and session.is_last_turn and session.result is None
    session.roll((2, 1))
    session.step(1, 2)
    session.commit()
    assert session.result == GameResult(winner=None, level=None, points=0.0, how="draw")


@pytest.mark.parametrize(
    ("rules", "theirs", "moves", "level"),
    [
        ("long_classic", "18:1,6:14", [(6, 4), (6, 5)], "home"),
        ("long_classic", "18:1,6:14", [(18, 15)], "home"),
        ("long_classic", "20:1,6:14", [(6, 4), (6, 5)], "gammon"),  # still further back than the winner's home
        ("long_classic", "20:1,6:14", [(20, 17)], "home"),
        ("short", "25:1,6:14", [(25, 22)], "home"),
        ("short", "21:1,6:14", [(21, 18)], "gammon"),
    ],
)
def test_the_extra_turn_may_change_what_the_loss_costs(rules: str, theirs: str, moves: list[Any], level: str) -> None:
    """RULES.md 7: scored on the board after the extra turn; zones of 4.3 and 5.4."""
    session = first_player_finishes(f"{rules}(last_turn=second_player)", theirs)
    session.roll((2, 1))
    assert session.turn is not None
    for step in session.turn.find_steps(moves, strict=True) or ():
        session.step(step.start, step.die)
    session.commit()
    assert session.result is not None and (session.result.winner, session.result.level) == (0, level)


@pytest.mark.parametrize(("dice", "points"), [((1, 1), 1.0), ((2, 1), 2.0)])
def test_otherwise_the_first_player_wins_on_the_board_after_that_turn(dice: Any, points: float) -> None:
    session = first_player_finishes(theirs="4:1,3:14")
    session.roll(dice)
    turns = session.legal_turns()
    session.play(turns[np.argmax(turns[:, 0, 0]) if points == 1.0 else np.argmin(turns[:, 0, 0])])
    assert session.result is not None and session.result.winner == 0
    assert session.result.points == (1.0 if session.board_of(1)[0, 0] else 2.0)


def test_the_extra_turn_follows_the_rules_of_any_turn() -> None:
    for rules, theirs in (
        ("long_classic(last_turn=second_player)", "24:13,23:2"),
        ("short(last_turn=second_player)", "23:2,13:13"),
    ):
        session = first_player_finishes(rules, theirs)
        session.roll((6, 5))
        plain = board_of(theirs, "25:1" if session.rules.can_hit else "13:1")  # one checker that is in nobody's way
        expected = {row.tobytes() for row in legal_afterstates(plain, (6, 5), session.rules)[:, 0]}
        assert {row.tobytes() for row in session.legal_turns()[:, 0]} == expected
        assert (session.legal_turns()[:, 1, 0] == 15).all()
        refused(session, {"event": "commit"}, "pass_not_allowed")
        refused(session, {"event": "step", "start": 7, "die": 6}, "no_checker")
        step = session.legal_steps()[0]
        session.step(step.start, step.die)
        refused(session, {"event": "commit"}, "both_dice_required")


def test_the_second_player_finishing_first_ends_the_game_at_once() -> None:
    session = Session("long_classic(last_turn=second_player)", first=0, board=board_of("24:15", "1:1"))
    session.roll((2, 1))
    session.play(session.legal_turns()[0])
    session.roll((2, 1))
    session.play(session.legal_turns()[0])
    assert session.result is not None and session.result.winner == 1 and session.result.how == "borne_off"


def test_a_resignation_in_the_extra_turn_loses() -> None:
    session = first_player_finishes()
    session.resign("single")
    session.accept_resignation()
    assert session.result is not None and session.result.winner == 0
