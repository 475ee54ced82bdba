"""How a player of the registry acts at a table: it throws, plays, contests wrong turns and answers resignations."""

from __future__ import annotations

import numpy as np

from agent.players import Player
from agent.ranking import Judge
from engine.board import Boards, pip_count
from engine.errors import NardyError, SessionError
from engine.events import State
from engine.rules import CHECKERS, OFF, OUTCOME_LEVELS
from engine.session import Session
from engine.table import Table


def act(table: Table, player: Player, rng: np.random.Generator, judge: Judge | None = None) -> None:
    """Make the event, or whole turn, that is up to the player now.

    A bot demands a correct turn whenever it may, and takes a resignation that gives at least what the position is
    worth to it.

    Args:
        table: the game; its dice are thrown by the table, so typed dice must be given by whoever asks.
        player: plays for `table.session.to_act`.
        rng: what the player may draw from.
        judge: the net that says what a position is worth when the player has none; None: the shipped one.
    Raises:
        SessionError: nobody is to act.
        PlayerError, IllegalPlayError: the player failed, or chose a play that is not legal.
    """
    session = table.session
    by = session.to_act
    if by is None:
        raise SessionError("no player is to act: the game begins with a toss, or is over", "wrong_state")
    if session.offer is not None:
        judging = getattr(player, "judge", None) or judge
        name = "accept_resignation" if is_resignation_enough(session, judging) else "decline"
        table.apply({"event": name, "by": by})
    elif session.state is State.REVIEW:
        table.apply({"event": "demand", "by": by})
    elif session.state is State.TO_ROLL:
        table.throw(by=by)
    else:
        table.play(chosen_play(session, player, rng))


def chosen_play(session: Session, player: Player, rng: np.random.Generator) -> Boards:
    """The afterstate that a player chooses for the roll on the table: int8 [2, 26]."""
    turn = session.turn
    assert turn is not None
    if len(turn.legal) == 1 or turn.start[1, OFF] == CHECKERS:
        # Players judge no board whose opponent has finished: in the extra turn of `last_turn` only pips count.
        fewest: Boards = turn.legal[int(np.argmin(pip_count(turn.legal)[:, 0]))]
        return fewest
    chosen: Boards = player.choose(turn.start[None], np.array([turn.dice], dtype=np.int8), rng)[0]
    return chosen


def is_resignation_enough(session: Session, judge: Judge | None = None) -> bool:
    """Whether the offered points are at least what the position is worth to the other side.

    Without a net for the rules any resignation is taken.

    Args:
        session: a game in which a resignation is offered.
        judge: the net that says so; None: the shipped one.
    """
    from agent.suggest import evaluate

    points = session.rules.level_points[OUTCOME_LEVELS.index(str(session.offer))]
    board = session.turn.start if session.turn is not None else session.board
    try:
        worth = -evaluate(board, session.rules, judge).equity
    except NardyError:
        return True
    return points >= worth - 0.01
