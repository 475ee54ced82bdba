"""Matches: score, who starts the next game, and when it is over."""

from __future__ import annotations

from typing import Any

import pytest

from engine.errors import RulesError, SessionError
from engine.events import State
from engine.match import Match


def win(match: Match, winner: int, level: str = "single") -> None:
    """The current game, won by a player through a resignation."""
    game = match.game
    if game.state is State.TOSS:
        game.toss((1, 6) if winner == 0 else (6, 1))
    while game.mover == winner:
        if game.state is State.TO_ROLL:
            game.roll((6, 5))
        game.play(game.legal_turns()[0])
    game.resign(level)
    game.accept_resignation()
    assert game.result is not None and game.result.winner == winner


def test_the_score_counts_points_and_the_match_ends_at_its_length() -> None:
    match = Match("long_classic", length=5)
    win(match, 0, "home")
    assert match.score == (3, 0) and match.winner is None
    match.start_next_game()
    win(match, 1, "gammon")
    assert match.score == (3, 2) and match.winner is None and match.game_number == 2
    match.start_next_game()
    win(match, 0, "gammon")
    assert match.score == (5, 2) and match.winner == 0


def test_a_match_goes_on_when_the_last_game_does_not_give_enough_points() -> None:
    """Case S06: match to 5, score 3-2, the winner scores 1."""
    match = Match("short", length=5, score=(3, 2))
    win(match, 0)
    assert match.score == (4, 2) and match.winner is None
    assert match.start_next_game().state is State.TOSS


def test_points_past_the_length_win_too() -> None:
    match = Match("short", length=5, score=(4, 4))
    win(match, 1, "bar")
    assert match.score == (4, 8) and match.winner == 1
    with pytest.raises(SessionError, match="match is over"):
        match.start_next_game()


@pytest.mark.parametrize(("next_first", "expected"), [("toss", None), ("winner", 1), ("alternate", 0)])
def test_who_starts_the_next_game(next_first: str, expected: int | None) -> None:
    match = Match("short", next_first=next_first)
    match.game.toss((1, 6))
    win(match, 1)
    game = match.start_next_game()
    assert game.first == expected
    assert game.state is (State.TOSS if expected is None else State.TO_ROLL)


def test_players_alternate_whoever_wins() -> None:
    match = Match("short_backgammon", next_first="alternate")
    match.game.toss((6, 1))
    firsts = []
    for _ in range(4):
        firsts.append(match.game.first)
        win(match, 1)
        match.start_next_game()
    assert firsts == [0, 1, 0, 1]
    assert match.game.state is State.TO_ROLL, "no toss, so even `kept` begins with a fresh roll"


def test_after_a_draw_the_winner_option_tosses() -> None:
    match = Match("long_classic(last_turn=second_player)", next_first="winner")
    match.game.toss((6, 1))
    board = match.rules.start_board()
    board[:] = 0
    board[:, 0], board[:, 1] = 14, 1
    match.game = type(match.game)(match.rules, first=0, board=board)
    for _ in range(2):
        match.game.roll((2, 1))
        match.game.play(match.game.legal_turns()[0])
    assert match.game.result is not None and match.game.result.how == "draw"
    assert match.score == (0, 0)
    assert match.start_next_game().state is State.TOSS


def test_the_next_game_waits_for_the_end_of_this_one() -> None:
    match = Match("short", length=3)
    with pytest.raises(SessionError, match="game 1 is not over"):
        match.start_next_game()


def test_without_a_length_a_match_never_ends_by_itself() -> None:
    match = Match("short")
    for _ in range(5):
        win(match, 0, "home")
        match.start_next_game()
    assert match.score == (15, 0) and match.winner is None and match.game_number == 6


def test_the_mode_holds_for_every_game() -> None:
    match = Match("long_classic", enforce="claims")
    win(match, 0)
    assert match.start_next_game().enforce == "claims"


def test_a_snapshot_holds_match_and_game() -> None:
    match = Match("short", length=3, next_first="winner")
    win(match, 1, "gammon")
    shown = match.to_dict()
    assert shown["score"] == [0, 2] and shown["is_game_over"] and shown["game"]["state"] == "over"
    assert (shown["length"], shown["next_first"], shown["game_number"], shown["winner"]) == (3, "winner", 1, None)


@pytest.mark.parametrize(
    "arguments",
    [
        {"length": 0},
        {"length": True},
        {"length": 2.5},
        {"next_first": "loser"},
        {"score": (5, 0), "length": 5},
        {"score": (1,)},
        {"score": (-1, 0)},
        {"enforce": "lax"},
    ],
)
def test_arguments_outside_their_range_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(SessionError):
        Match("short", **arguments)
    with pytest.raises(RulesError):
        Match("chess", length=3)


def test_a_wrong_score_is_refused_with_what_is_allowed() -> None:
    with pytest.raises(SessionError, match=r"two numbers from 0 on, got \(-1, 0\)"):
        Match("short", score=(-1, 0))
    with pytest.raises(SessionError, match=r"two numbers from 0 to below 5, got \(5, 0\)"):
        Match("short", length=5, score=(5, 0))
