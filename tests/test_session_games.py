"""Random games by every kind of event, over all presets and both modes."""

from __future__ import annotations

import pytest

from engine.board import as_boards
from engine.events import State
from engine.rules import RULES
from engine.session import Session
from session_play import RandomGame

PRESETS = list(RULES)


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
