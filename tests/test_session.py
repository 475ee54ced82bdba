"""The game session: every row of the state table of RULES.md 8, every refusal, and random games."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from engine.board import as_boards, opponent_view
from engine.errors import DiceError, IllegalPlayError, NardyError, PositionError, SessionError
from engine.events import ACCEPTED, CODES, EVENTS, GameResult, State
from engine.movegen import legal_afterstates
from engine.outcome import game_points
from engine.rules import RULES, get_rules
from engine.session import Session
from session_play import RandomGame, board_of, moving, session_in

STATES = list(State)
PRESETS = list(RULES)


def refused(session: Session, event: dict[str, Any], code: str | None = None) -> NardyError:
    """The error of an event, after checking that it changed nothing."""
    before, log = session.to_dict(), copy.deepcopy(session.log)
    with pytest.raises((SessionError, IllegalPlayError, DiceError)) as caught:
        session.apply(event)
    assert session.to_dict() == before and session.log == log
    error: NardyError = caught.value
    if code is not None:
        found = error.code if isinstance(error, SessionError) else getattr(error, "reason", None) and error.reason.code
        assert found == code
    assert "\n" not in str(error) and len(str(error)) > 10
    return error


# Toss


def test_equal_dice_of_the_toss_are_thrown_again() -> None:
    session = Session("short")
    session.toss((3, 3))
    assert session.state is State.TOSS and session.first is None
    session.toss((3, 5))
    assert session.state is State.TO_ROLL and session.first == session.mover == 1


def test_fresh_lets_the_first_player_throw_and_kept_plays_the_toss() -> None:
    fresh, kept = Session("short"), Session("short_backgammon")
    for session in (fresh, kept):
        session.toss((6, 2))
    assert fresh.state is State.TO_ROLL and fresh.dice is None
    assert kept.state is State.MOVING and kept.dice == (6, 2) and kept.mover == 0


def test_kept_also_plays_the_toss_for_player_1() -> None:
    session = Session("long_fnr2026")
    session.toss("26")
    assert session.state is State.MOVING and session.mover == session.to_act == 1 and session.dice_left == (6, 2)


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


# Passing and winning


def test_with_no_legal_step_the_unchanged_board_is_the_only_correct_commit() -> None:
    session = moving("short", (6, 1), "25:1,8:2", "6:2,5:2,4:2,3:2,2:2,1:2")
    assert session.legal_steps() == () and session.is_correct() and session.to_dict()["must_pass"]
    session.commit()
    assert session.state is State.TO_ROLL and session.mover == 1


@pytest.mark.parametrize(("mine", "dice", "start", "die"), [("6:1", (6, 1), 6, 6), ("1:1", (6, 6), 1, 6)])
def test_the_last_checker_off_leaves_no_dice_and_commit_ends_the_game(
    mine: str, dice: Any, start: int, die: int
) -> None:
    """Case B25; a win exists only from the commit on (RULES.md 8)."""
    session = moving("short", dice, mine, "6:15")
    session.step(start, die)
    assert session.dice_left == () and session.legal_steps() == () and session.is_correct()
    assert session.state is State.MOVING and session.result is None
    session.commit()
    assert session.state is State.OVER and session.dice is None and session.dice_left == ()
    assert session.result == GameResult(winner=0, level="gammon", points=2.0, how="borne_off")
    assert len(session.legal_turns()) == 0 and session.legal_steps() == () and session.to_act is None


def test_both_dice_are_played_before_the_last_checker_when_they_can_be() -> None:
    """RULES.md S9: 3/off at once would leave the 1 unplayed."""
    session = moving("short", (3, 1), "3:1", "23:1,10:5,6:4")
    assert {(s.start, s.die) for s in session.legal_steps()} == {(3, 1)}


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize("player", [0, 1])
def test_points_are_those_of_the_outcome(rules: str, player: int) -> None:
    session = Session(rules, first=player, board=board_of("1:1", "18:1,6:14" if "long" in rules else "20:1,6:14"))
    session.roll((2, 1))
    session.play(session.legal_turns()[0])
    assert session.result is not None and session.result.winner == player
    expected = game_points(board_of("", "18:1,6:14" if "long" in rules else "20:1,6:14"), get_rules(rules))
    assert session.result.points == expected and session.result.level == "home"


# Review


def white_leaves_6_6_incomplete() -> Session:
    """The worked example of RULES.md 8: white moves one checker of 6:6 and presses the clock."""
    session = Session("long_classic", enforce="claims", first=0)
    session.roll("66")
    session.step(24, 6)
    session.commit()
    return session


def test_black_may_accept_the_incomplete_6_6() -> None:
    session = white_leaves_6_6_incomplete()
    assert session.state is State.REVIEW and session.to_act == 1 and session.dice == (6, 6)
    session.accept()
    assert session.state is State.TO_ROLL and session.mover == 1
    assert np.array_equal(session.board, board_of("24:15", "24:14,18:1"))


def test_black_may_demand_and_then_white_must_leave_two_on_18() -> None:
    session = white_leaves_6_6_incomplete()
    session.demand()
    assert session.state is State.MOVING and session.mover == 0 and session.dice == (6, 6) and session.is_strict
    assert np.array_equal(session.board, session.rules.start_board())
    session.step(24, 6)
    refused(session, {"event": "commit"}, "double_required")
    session.step(24, 6)
    assert np.array_equal(session.board, board_of("24:13,18:2", "24:15"))
    session.commit()
    assert session.state is State.TO_ROLL and not session.is_strict


def test_blacks_roll_accepts_the_turn() -> None:
    session = white_leaves_6_6_incomplete()
    session.roll((5, 4), by=1)
    assert session.state is State.MOVING and session.mover == 1 and session.dice == (5, 4)
    assert np.array_equal(session.board, board_of("24:15", "24:14,18:1"))


def test_a_correct_turn_cannot_be_contested() -> None:
    session = moving("long_classic", (6, 5), enforce="claims")
    session.place(board_of("24:14,13:1", "24:15"))
    session.commit()
    refused(session, {"event": "demand"}, "wrong_state")
    refused(session, {"event": "accept"}, "wrong_state")


def test_a_wrong_turn_that_bears_off_the_last_checker_wins_only_when_accepted() -> None:
    for answer, expected in (("accept", State.OVER), ("demand", State.MOVING), ("roll", State.OVER)):
        session = moving("short", (3, 1), "3:1", "23:1,10:5,6:4", enforce="claims")
        session.step(3, 3)
        session.commit()
        assert session.state is State.REVIEW and session.result is None
        session.apply({"event": answer, "dice": (2, 1)})
        assert session.state is expected
        assert (session.result is None) == (answer == "demand")


def test_after_an_accepted_block_each_later_step_must_break_it() -> None:
    """RULES.md 8, last points: the owner of a forbidden block has to leave none, or pass."""
    session = moving("long_classic", (2, 1), "24:8,20:1,19:1,18:1,17:1,16:1,11:2", "24:15", enforce="claims")
    session.place(board_of("24:8,20:1,19:1,18:1,17:1,16:1,15:1,11:1", "24:15"))
    session.commit()
    session.accept()
    session.roll((2, 1))
    session.play(session.legal_turns()[0])
    session.roll((4, 1))
    assert {s.start for s in session.legal_steps()} <= {20, 19, 18, 17, 16, 15}
    refused(session, {"event": "step", "start": 11, "die": 1}, "six_point_block")


# Resignation


@pytest.mark.parametrize("state", [State.TO_ROLL, State.MOVING])
def test_a_resignation_ends_the_game_when_it_is_accepted(state: State) -> None:
    session = session_in(state)
    session.resign("gammon", by=0)
    assert session.to_act == 1 and session.events() == ("accept_resignation", "decline")
    session.accept_resignation(by=1)
    assert session.result == GameResult(winner=1, level="gammon", points=2.0, how="resigned")
    assert session.state is State.OVER


@pytest.mark.parametrize("state", [State.TO_ROLL, State.MOVING])
def test_play_goes_on_as_before_when_it_is_declined(state: State) -> None:
    session = session_in(state)
    before = session.to_dict()
    session.resign("single")
    session.decline(by=1)
    assert {**session.to_dict(), "revision": 0} == {**before, "revision": 0}


def test_while_a_resignation_is_offered_nothing_else_is_taken() -> None:
    for state in (State.TO_ROLL, State.MOVING):
        session = session_in(state)
        session.resign("single")
        assert session.legal_steps() == ()
        for name in EVENTS:
            if name not in ("accept_resignation", "decline"):
                refused(session, event_of(name), "offer_pending")
        for name in ("accept_resignation", "decline"):
            refused(session, {"event": name, "by": 0}, "not_your_turn")


@pytest.mark.parametrize(
    ("rules", "level"), [("long_classic", "bar"), ("short", "koks"), ("short", None), ("short", 1)]
)
def test_a_resignation_is_one_of_the_outcome_classes_of_the_game(rules: str, level: Any) -> None:
    refused(Session(rules, first=0), {"event": "resign", "level": level}, "unknown_level")


@pytest.mark.parametrize(("rules", "level", "points"), [("short", "bar", 4), ("short_backgammon", "bar", 3)])
def test_resigning_a_class_costs_its_points(rules: str, level: str, points: float) -> None:
    session = Session(rules, first=1)
    session.resign(level)
    session.accept_resignation()
    assert session.result is not None and (session.result.winner, session.result.points) == (0, points)


# Refusals


def event_of(name: str) -> dict[str, Any]:
    """An event with fields that are right by themselves."""
    fields = {
        "dice": (6, 5),
        "start": 24,
        "die": 6,
        "board": get_rules("long_classic").start_board(),
        "level": "single",
    }
    return {"event": name, **{field: fields[field] for field in EVENTS[name]}}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", EVENTS)
def test_every_event_is_taken_in_its_states_and_refused_in_all_others(state: State, name: str) -> None:
    session = session_in(state)
    if name in ("accept_resignation", "decline"):
        refused(session, event_of(name), "no_offer")
    elif name in ACCEPTED[state]:
        if name == "step":
            session.reset()
        session.apply(event_of(name))
        assert session.log[-1]["event"] == name
    else:
        refused(session, event_of(name), "wrong_state")


@pytest.mark.parametrize("state", [State.TO_ROLL, State.MOVING, State.REVIEW])
def test_an_event_of_the_other_player_is_refused(state: State) -> None:
    for name in ACCEPTED[state]:
        session = session_in(state)
        assert session.to_act is not None
        refused(session, {**event_of(name), "by": 1 - session.to_act}, "not_your_turn")
        refused(session, {**event_of(name), "by": 7}, "not_your_turn")


@pytest.mark.parametrize(
    "event",
    [{}, {"event": "double"}, {"event": None}, {"event": []}, {"event": "step", "start": 24}, {"event": "roll"}],
)
def test_unknown_events_and_missing_fields_are_refused(event: dict[str, Any]) -> None:
    refused(session_in(State.MOVING), event, "unknown_event")


@pytest.mark.parametrize(
    ("start", "die"), [("24", 6), (24, "6"), (24.0, 6), (24, 0), (26, 6), (0, 6), (24, 7), (True, 6)]
)
def test_a_step_is_two_whole_numbers(start: Any, die: Any) -> None:
    session = session_in(State.MOVING)
    refused(session, {"event": "step", "start": start, "die": die}, "bad_value")
    with pytest.raises(SessionError):
        session.why_not(start, die)


@pytest.mark.parametrize("dice", ["70", (0, 1), None, (1, 2, 3)])
def test_bad_dice_change_nothing(dice: Any) -> None:
    for state, name in ((State.TOSS, "toss"), (State.TO_ROLL, "roll"), (State.REVIEW, "roll")):
        assert isinstance(refused(session_in(state), {"event": name, "dice": dice}), DiceError)


def test_a_session_says_what_its_arguments_may_be() -> None:
    with pytest.raises(SessionError, match="strict or claims"):
        Session("short", enforce="lax")
    with pytest.raises(SessionError, match="player 0 or 1"):
        Session("short", first=2)
    with pytest.raises(PositionError, match="all 15"):
        Session("short", board=board_of("", "6:15"))
    with pytest.raises(PositionError, match=r"\[2, 26\]"):
        Session("short", board=np.stack([get_rules("short").start_board()] * 2))


def test_every_code_is_explained() -> None:
    assert all(len(text) > 20 for text in CODES.values())


def test_before_any_roll_there_are_no_steps_and_no_error() -> None:
    """Case T01."""
    for session in (Session("short"), Session("long_classic", first=1)):
        assert session.legal_steps() == () and len(session.legal_turns()) == 0 and session.why_not(24, 1) is None
        assert session.is_chance and session.to_dict()["dice"] == [0, 0] and session.to_dict()["legal_steps"] == []


def test_turn_events_play_any_legal_turn_and_refuse_others() -> None:
    session = moving("short", (6, 5))
    session.step(24, 6)
    for after in session.legal_turns():
        trial = moving("short", (6, 5))
        trial.step(24, 6)
        trial.play(after)
        assert trial.mover == 1 and np.array_equal(trial.board_of(0), after)
    with pytest.raises(IllegalPlayError):
        session.turn_events(session.rules.start_board())
    with pytest.raises(SessionError):
        session_in(State.TO_ROLL).turn_events(session.rules.start_board())


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


# Random games


HOWS = {"steps": 0.35, "turns": 0.05, "claims": 0.6}  # kinds of random play, with their shares of the games


def check_invariants(game: RandomGame) -> None:
    session = game.session
    board = session.board
    if session.state is State.TO_ROLL and session.rules.last_turn == "none":
        as_boards(board, session.rules)
    assert board.sum(axis=1).tolist() == [15, 15] and board.min() >= 0
    assert (session.result is None) == (session.state is not State.OVER)
    assert (session.dice is None) == (session.state not in (State.MOVING, State.REVIEW))
    assert (session.to_act is None) == (session.state in (State.TOSS, State.OVER))
    if session.state is State.REVIEW:
        assert game.how == "claims" and not session.is_correct()
    if game.how != "claims" and session.state is State.TO_ROLL and session.turns:
        assert not session.is_demanded


@pytest.mark.parametrize("how", HOWS)
def test_random_games_keep_every_invariant_and_replay_to_the_same_state(how: str, is_long: bool) -> None:
    """500 games over all presets and both modes; 20,000 with --long."""
    variants = [*PRESETS, "long_classic(last_turn=second_player)", "short(last_turn=second_player)"]
    games = round((20_000 if is_long else 500) * HOWS[how])
    ends: dict[str, int] = {}
    for seed in range(games):
        game = RandomGame(variants[seed % len(variants)], seed, how, resign_chance=0.04 if seed % 8 else 0.0)
        while game.advance():
            check_invariants(game)
        replayed = Session(game.session.rules, enforce=game.session.enforce)
        for event in game.session.log:
            replayed.apply(event)
        assert replayed.to_dict() == game.session.to_dict() and replayed.log == game.session.log
        assert game.session.result is not None
        ends[game.session.result.how] = ends.get(game.session.result.how, 0) + 1
    assert ends["resigned"] > games // 3 and ends["borne_off"] > games // 20
