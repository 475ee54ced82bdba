"""Sessions for tests: boards from the notation of RULES.md, every state, and random play by every kind of event."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from engine.dice import SeededDice
from engine.errors import DiceError, IllegalPlayError, NardyError, SessionError
from engine.events import State
from engine.rules import get_rules
from engine.session import Session
from examples import row_from

Board = npt.NDArray[np.int8]


def board_of(mine: str, theirs: str) -> Board:
    """A board from two rows such as `24:13,18:2`; checkers not listed are borne off."""
    return np.array([row_from(mine), row_from(theirs)], dtype=np.int8)


def moving(rules: str, dice: Any, mine: str = "", theirs: str = "", enforce: str = "strict") -> Session:
    """A session in which player 0 is to play `dice`, from the start position unless rows are given."""
    board = board_of(mine, theirs) if mine or theirs else None
    session = Session(rules, enforce=enforce, first=0, board=board)
    session.roll(dice)
    return session


def session_in(state: State) -> Session:
    """A session of long nardy in the state asked for; player 0 is the mover."""
    if state is State.TOSS:
        return Session("long_classic", enforce="claims")
    session = Session("long_classic", enforce="claims", first=0)
    if state in (State.MOVING, State.REVIEW):
        session.roll((6, 6))
        session.step(24, 6)
    if state is State.REVIEW:
        session.commit()
    if state is State.OVER:
        session.resign("single")
        session.accept_resignation()
    return session


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


class RandomGame:
    """A game played by random events; `check` is called after each of them.

    Args:
        how: `steps` plays step by step, `turns` whole turns, `claims` leaves many turns wrong.
    """

    def __init__(self, rules: str, seed: int, how: str, resign_chance: float) -> None:
        self.rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
        self.dice = SeededDice(seed)
        self.how = how
        self.resign_chance = resign_chance
        self.session = Session(get_rules(rules), enforce="claims" if how == "claims" else "strict")

    def next_event(self) -> dict[str, Any]:
        """One of the events that the state accepts, by the player entitled to it."""
        session, rng = self.session, self.rng
        by = session.to_act
        if session.offer is not None:
            return {"event": "accept_resignation" if rng.random() < 0.5 else "decline", "by": by}
        if session.state is State.TOSS:
            return {"event": "toss", "dice": self.dice.roll()}
        if session.state in (State.TO_ROLL, State.MOVING) and rng.random() < self.resign_chance:
            levels = len(session.rules.level_points)
            return {"event": "resign", "by": by, "level": ("single", "gammon", "home", "bar")[rng.integers(levels)]}
        if session.state is State.TO_ROLL:
            return {"event": "roll", "by": by, "dice": self.dice.roll()}
        if session.state is State.REVIEW:
            name = ("accept", "demand", "roll")[rng.integers(3)]
            return {"event": name, "by": by, **({"dice": self.dice.roll()} if name == "roll" else {})}
        return self._moving(by)

    def _moving(self, by: int | None) -> dict[str, Any]:
        session, rng = self.session, self.rng
        if session.turn is not None and session.turn.changes and rng.random() < 0.04:
            return {"event": "undo" if rng.random() < 0.7 else "reset", "by": by}
        if self.how == "claims" and not session.is_strict and rng.random() < 0.05:
            return {"event": "commit", "by": by}
        if self.how == "claims" and not session.is_strict and rng.random() < 0.05:
            return {"event": "place", "by": by, "board": self._placed()}
        steps = session.legal_steps()
        if steps and (self.how != "claims" or not session.is_correct()):
            step = steps[rng.integers(len(steps))]
            return {"event": "step", "by": by, "start": step.start, "die": step.die}
        return {"event": "commit", "by": by} if session.is_correct() or not session.is_strict else self._stuck(by)

    def _stuck(self, by: int | None) -> dict[str, Any]:
        raise AssertionError(f"strict play led nowhere: {self.session.to_dict()}")

    def _placed(self) -> Board:
        """A legal afterstate, or the board with one checker moved anywhere free."""
        legal = self.session.legal_turns()
        if self.rng.random() < 0.5:
            return legal[self.rng.integers(len(legal))]
        board = self.session.board.copy()
        rules = self.session.rules
        free = [p for p in range(1, 25) if board[1, rules.opponent_point[p]] == 0]
        start = self.rng.choice(np.flatnonzero(board[0, 1:]) + 1) if board[0, 1:].any() else 0
        if start and free:
            board[0, start] -= 1
            board[0, self.rng.choice(free)] += 1
        return board

    def advance(self) -> bool:
        """Make one event; False once the game is over."""
        if self.session.state is State.OVER:
            return False
        if self.how == "turns" and self.session.state is State.MOVING and self.session.offer is None:
            legal = self.session.legal_turns()
            self.session.play(legal[self.rng.integers(len(legal))])
        else:
            self.session.apply(self.next_event())
        return True
