"""The game session: every row of the state table of RULES.md 8, and every refusal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.errors import DiceError, IllegalPlayError, PositionError, SessionError
from engine.events import ACCEPTED, CODES, EVENTS, GameResult, State
from engine.outcome import game_points
from engine.rules import RULES, get_rules
from engine.session import Session
from session_play import board_of, moving, refused, session_in

STATES = list(State)
PRESETS = list(RULES)


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


def test_an_accepted_first_turn_that_moved_nothing_leaves_it_a_first_turn() -> None:
    """RULES.md 8: whether it is the first turn is still read off the board, for both sides (5.2)."""
    session = moving("long_fnr2026", (6, 5), enforce="claims")
    session.commit()
    session.accept()
    session.roll("44")  # the opponent's row is still 24:15, so nobody is the second player yet
    assert session.legal_turns().tolist() == [board_of("24:14,16:1", "24:15").tolist()]
    session.play(session.legal_turns()[0])
    session.roll("44")
    assert session.legal_turns().tolist() == [board_of("24:13,16:2", "24:14,16:1").tolist()]


def test_a_wrong_last_play_must_be_accepted_before_the_second_player_gets_his_extra_turn() -> None:
    session = moving("short(last_turn=second_player)", (3, 1), "3:1", "23:1,3:1", enforce="claims")
    session.step(3, 3)  # S9: 3/2* and off would play both dice
    session.commit()
    assert session.state is State.REVIEW and not session.is_last_turn and session.result is None
    session.accept()
    assert session.state is State.TO_ROLL and session.is_last_turn and session.mover == 1 and session.result is None
    session.roll((6, 5))
    session.commit()
    assert session.state is State.REVIEW and session.to_act == 0
    session.demand()
    refused(session, {"event": "commit"}, "pass_not_allowed")


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


@pytest.mark.parametrize("first", [2, -1, 1.0, True, "1", [1]])
def test_the_player_who_starts_is_0_or_1_as_a_whole_number(first: Any) -> None:
    """A record says it as JSON: 1.0 is no player, though it equals one."""
    with pytest.raises(SessionError, match="player 0 or 1, or None for a toss"):
        Session("short", first=first)


def test_a_session_says_what_its_arguments_may_be() -> None:
    with pytest.raises(SessionError, match="strict or claims"):
        Session("short", enforce="lax")
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


@pytest.mark.parametrize(
    "afterstate",
    [None, 7, "24/18", [[1], [2, 3]], [(8, 5), (6, 5)], [[300] * 26] * 2, [[-1] * 26] * 2, np.zeros((1, 2, 26), int)],
)
def test_what_is_no_afterstate_is_refused_as_no_turn(afterstate: Any) -> None:
    for session in (moving("short", (3, 1)), moving("short", (3, 1), "6:15", "24:15")):
        with pytest.raises(IllegalPlayError, match="an afterstate is two rows of 26 whole numbers from 0 to 15"):
            session.play(afterstate)
        assert [event["event"] for event in session.log] == ["roll"]


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
