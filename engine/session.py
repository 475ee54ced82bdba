"""One game as a state machine: toss, roll, steps, commit, review, resignation (RULES.md section 8).

A session is plain state plus events. Dice come from outside, so the same events always give the same game. An event
that the state does not accept raises and changes nothing: `SessionError` with a code (see `engine.events.CODES`), or
`IllegalPlayError` with the reason that `engine.legality` gives. Accepted events are kept in `log` as JSON-ready
dicts; `apply` takes them back, so a game is replayed by its log.

Players are 0 and 1. The session's board is seen by `mover`; `board_of` gives either side's view.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from engine.board import Boards, as_board, opponent_view
from engine.dice import Roll, as_dice
from engine.errors import IllegalPlayError, PositionError, SessionError
from engine.events import ACCEPTED, ENFORCE, EVENTS, GameResult, State
from engine.outcome import is_finished, outcome_class
from engine.reason import Reason
from engine.rules import BAR, CHECKERS, OFF, OUTCOME_LEVELS, SLOTS, Rules, get_rules
from engine.steps import Step
from engine.turn import Turn, placed_board

__all__ = ["GameResult", "Session", "State"]


class Session:
    """One game under the seed's turn procedure.

    Args:
        rules: a variant, or its text.
        enforce: `strict` lets no illegal turn through; `claims` leaves it to the opponent to accept or demand.
        first: the player who starts without a toss; None: the toss decides.
        board: another position to start from, int8 [2, 26] seen by the first player.
    Raises:
        RulesError: unknown rules.
        SessionError: unknown `enforce` or `first`.
        PositionError: a board that is not well formed, or a finished one.
    """

    def __init__(
        self, rules: Rules | str, *, enforce: str = "strict", first: int | None = None, board: Any = None
    ) -> None:
        self.rules = get_rules(rules)
        if enforce not in ENFORCE:
            raise SessionError(f"enforce must be strict or claims, got {enforce!r}", "bad_value")
        if first is not None and not (type(first) is int and first in (0, 1)):
            raise SessionError(f"first must be player 0 or 1, or None for a toss, got {first!r}", "bad_value")
        self.enforce = enforce
        self.start_board = _start(board, self.rules)
        self.first = first
        self.mover = first if first is not None else 0
        self.state = State.TOSS if first is None else State.TO_ROLL
        self.is_last_turn = False
        self.is_demanded = False
        self.offer: str | None = None
        self.result: GameResult | None = None
        self.turns = 0  # committed, accepted ones included
        self.log: list[dict[str, Any]] = []
        self._board = self.start_board
        self._turn: Turn | None = None

    # What the game looks like

    @property
    def board(self) -> Boards:
        """int8 [2, 26] seen by `mover`: the tentative board during a turn and its review."""
        return self._turn.board if self._turn is not None else self._board

    @property
    def turn(self) -> Turn | None:
        """The roll being played or reviewed."""
        return self._turn

    @property
    def dice(self) -> Roll | None:
        """The dice on the table, None before the roll."""
        return self._turn.dice if self._turn is not None else None

    @property
    def dice_left(self) -> tuple[int, ...]:
        """Dice not yet played this turn, larger first."""
        return self._turn.dice_left if self._turn is not None else ()

    @property
    def is_strict(self) -> bool:
        """Whether an illegal turn is refused now: always under `strict`, and after a demand."""
        return self.enforce == "strict" or self.is_demanded

    @property
    def is_chance(self) -> bool:
        """Whether dice come next (case T01)."""
        return self.state in (State.TOSS, State.TO_ROLL) and self.offer is None

    @property
    def to_act(self) -> int | None:
        """The player entitled to the next event; None for the toss and once the game is over."""
        if self.state in (State.TOSS, State.OVER):
            return None
        return 1 - self.mover if self.offer is not None or self.state is State.REVIEW else self.mover

    def board_of(self, player: int) -> Boards:
        """int8 [2, 26]: the board seen by player 0 or 1."""
        return self.board if player == self.mover else opponent_view(self.board)

    def legal_turns(self) -> Boards:
        """int8 [M, 2, 26]: the legal afterstates of this roll; none when no roll is being played."""
        if self._turn is None or self.state is not State.MOVING:
            return np.empty((0, *self._board.shape), dtype=np.int8)
        return self._turn.legal

    def legal_steps(self) -> tuple[Step, ...]:
        """Steps that `step` accepts now; none outside a turn, before any roll or while a resignation is offered."""
        if self._turn is None or self.state is not State.MOVING or self.offer is not None:
            return ()
        return self._turn.next_steps(self.is_strict)

    def why_not(self, start: int, die: int) -> Reason | None:
        """The rule that makes `step` refuse this step, or None; None also when no turn is being played."""
        if self._turn is None or self.state is not State.MOVING:
            return None
        start, die = _whole("start of a step", start, BAR), _whole("die of a step", die, 6)
        return self._turn.why_not(start, die, self.is_strict)

    def is_correct(self) -> bool:
        """Whether the board as it lies is a correct turn."""
        return self._turn is not None and self._turn.is_correct()

    def events(self) -> tuple[str, ...]:
        """Names of the events that the state accepts now, whoever makes them."""
        if self.offer is not None:
            return ("accept_resignation", "decline")
        names = ACCEPTED[self.state]
        hidden = set()
        if self.is_strict:
            hidden.add("place")
        if self._turn is not None and not self._turn.changes:
            hidden.add("undo")
        return tuple(name for name in names if name not in hidden)

    def to_dict(self) -> dict[str, Any]:
        """A snapshot of JSON values; `revision` grows with every event. Dice are [0, 0] before a roll (case T01)."""
        return {
            "rules": str(self.rules),
            "enforce": self.enforce,
            "revision": len(self.log),
            "state": str(self.state),
            "events": list(self.events()),
            "to_act": self.to_act,
            "mover": self.mover,
            "first": self.first,
            "turns": self.turns,
            "board": self.board.tolist(),
            "turn_start": None if self._turn is None else self._turn.start.tolist(),
            "dice": list(self.dice or (0, 0)),
            "dice_left": list(self.dice_left),
            "steps": None if self._turn is None or self._turn.steps is None else [_plain(s) for s in self._turn.steps],
            "legal_steps": [_plain(step) for step in self.legal_steps()],
            "is_correct": self.is_correct(),
            "must_pass": self._turn is not None and self._turn.must_pass(),
            "is_strict": self.is_strict,
            "is_chance": self.is_chance,
            "is_last_turn": self.is_last_turn,
            "offer": self.offer,
            "result": None if self.result is None else asdict(self.result),
        }

    # Events

    def apply(self, event: Mapping[str, Any]) -> None:
        """Take an event as `log` keeps it: {"event": name, "by": player, ...fields}.

        Raises:
            SessionError: unknown event, missing field, or refused; see the method of that name.
            IllegalPlayError: a step or commit against the rules.
        """
        name = event.get("event")
        names = EVENTS.get(name) if isinstance(name, str) else None
        if names is None:
            raise SessionError(f"unknown event {name!r}; allowed: {', '.join(EVENTS)}", "unknown_event")
        missing = [field for field in names if field not in event]
        if missing:
            raise SessionError(f"event {name} needs {', '.join(names)}, missing {', '.join(missing)}", "unknown_event")
        values = {field: event[field] for field in names}
        if name != "toss":
            values["by"] = event.get("by")
        getattr(self, str(name))(**values)

    def toss(self, dice: Any) -> None:
        """Each player throws one die: player 0 the first, player 1 the second; the higher one starts."""
        self.check("toss", None)
        mine, theirs = as_dice(dice)
        if mine != theirs:
            self.first = self.mover = 0 if mine > theirs else 1
            self.state = State.TO_ROLL
            if self.rules.opening_roll == "kept":
                self._begin_turn((mine, theirs))
        self._note("toss", None, dice=[mine, theirs])

    def roll(self, dice: Any, by: int | None = None) -> None:
        """Two dice are thrown by the player to move; a roll after a contestable turn accepts that turn."""
        by = self.check("roll", by)
        roll = as_dice(dice)
        if self.state is State.REVIEW:
            self._end_turn()
        if self.state is State.TO_ROLL:
            self._begin_turn(roll)
        self._note("roll", by, dice=list(roll))

    def step(self, start: int, die: int, by: int | None = None) -> None:
        """One checker moves by one die. Raises IllegalPlayError with the rule it breaks."""
        by = self.check("step", by)
        start, die = _whole("start of a step", start, BAR), _whole("die of a step", die, 6)
        turn = self._playing()
        reason = turn.why_not(start, die, self.is_strict)
        if reason is not None:
            raise IllegalPlayError(f"step from {start} by {die} refused: {reason}", reason)
        turn.step(start, die)
        self._note("step", by, start=start, die=die)

    def place(self, board: Any, by: int | None = None) -> None:
        """The checkers are put by hand (`claims` only): any board that is well formed for this turn."""
        by = self.check("place", by)
        if self.is_strict:
            when = "under enforce=claims" if self.enforce == "strict" else "not after a demand"
            raise SessionError(f"placing checkers by hand is possible only {when}", "claims_only")
        turn = self._playing()
        turn.place(placed_board(board, turn.start, self.rules))
        self._note("place", by, board=turn.board.tolist())

    def undo(self, by: int | None = None) -> None:
        """The last step (or placement) of the turn is taken back."""
        by = self.check("undo", by)
        if not self._playing().changes:
            raise SessionError("nothing to undo: no step was made this turn", "nothing_to_undo")
        self._playing().undo()
        self._note("undo", by)

    def reset(self, by: int | None = None) -> None:
        """The whole turn is taken back."""
        by = self.check("reset", by)
        self._playing().reset()
        self._note("reset", by)

    def commit(self, by: int | None = None) -> None:
        """The dice are passed, or the clock pressed. Only the board left is judged."""
        by = self.check("commit", by)
        turn = self._playing()
        if turn.is_correct():
            self._end_turn()
        elif self.is_strict:
            reason = turn.why_wrong()
            raise IllegalPlayError(f"turn refused: {reason}", reason)
        else:
            self.state = State.REVIEW
        self._note("commit", by)

    def accept(self, by: int | None = None) -> None:
        """The opponent takes a wrong turn as it was made."""
        by = self.check("accept", by)
        self._end_turn()
        self._note("accept", by)

    def demand(self, by: int | None = None) -> None:
        """The opponent demands a correct turn: the board and the same dice return, and `strict` holds for this turn."""
        by = self.check("demand", by)
        self._playing().reset()
        self.is_demanded = True
        self.state = State.MOVING
        self._note("demand", by)

    def resign(self, level: str, by: int | None = None) -> None:
        """The player to move offers to lose by an outcome class: single, gammon, home or (short) bar."""
        by = self.check("resign", by)
        levels = OUTCOME_LEVELS[: self.rules.game.levels]
        if level not in levels:
            raise SessionError(f"a resignation must be {', '.join(levels)}, got {level!r}", "unknown_level")
        self.offer = level
        self._note("resign", by, level=level)

    def accept_resignation(self, by: int | None = None) -> None:
        """The opponent takes the resignation: the game is over."""
        by = self.check("accept_resignation", by)
        level = str(self.offer)
        self.offer = None
        points = self.rules.level_points[OUTCOME_LEVELS.index(level)]
        self._finish(GameResult(winner=by, level=level, points=points, how="resigned"))
        self._note("accept_resignation", by)

    def decline(self, by: int | None = None) -> None:
        """The opponent declines the resignation: play goes on as before."""
        by = self.check("decline", by)
        self.offer = None
        self._note("decline", by)

    def turn_events(self, afterstate: Any) -> list[dict[str, Any]]:
        """The events that play a legal turn from where this one started, the commit included.

        Args:
            afterstate: int8 [2, 26], rows not exchanged.
        Raises:
            SessionError: no turn is being played, or a resignation is offered.
            IllegalPlayError: the afterstate is not legal.
        """
        by = self.check("step", None)
        turn = self._playing()
        target = _counts(afterstate)
        reason = _NO_BOARD if target is None else turn.why_wrong(target)
        if target is None or reason is not None:
            raise IllegalPlayError(f"turn refused: {reason}", reason)
        events: list[dict[str, Any]] = [{"event": "reset", "by": by}] if turn.changes else []
        events += [{"event": "step", "by": by, "start": s.start, "die": s.die} for s in turn.route(target)]
        return [*events, {"event": "commit", "by": by}]

    def play(self, afterstate: Any) -> None:
        """Play and commit a whole legal turn; see `turn_events`."""
        for event in self.turn_events(afterstate):
            self.apply(event)

    # How the state changes

    def check(self, name: str, by: int | None = None) -> int | None:
        """The player who would make an event, if state and player allow one of that name.

        Raises:
            SessionError: wrong_state, not_your_turn, offer_pending or no_offer.
        """
        is_answer = name in ("accept_resignation", "decline")
        if self.offer is not None and not is_answer:
            raise SessionError(f"{name} refused: player {self.mover} offers to resign; answer first", "offer_pending")
        if self.offer is None and is_answer:
            raise SessionError(f"{name} refused: no resignation is offered", "no_offer")
        if not is_answer and name not in ACCEPTED[self.state]:
            allowed = ", ".join(self.events()) or "nothing"
            raise SessionError(f"{name} refused: the game is in state {self.state}, allowed: {allowed}", "wrong_state")
        if by is not None and by != self.to_act:
            raise SessionError(f"{name} refused: it is for player {self.to_act}, not {by!r}", "not_your_turn")
        return self.to_act

    def _playing(self) -> Turn:
        assert self._turn is not None  # MOVING and REVIEW always have a turn
        return self._turn

    def _begin_turn(self, roll: Roll) -> None:
        self._turn = Turn(self._board, roll, self.rules)
        self.state = State.MOVING

    def _end_turn(self) -> None:
        """The tentative board stands: exchange the rows, then roll on or finish (RULES.md 7 for the last turn)."""
        board, who = self._playing().board, self.mover
        self._board, self._turn = opponent_view(board), None
        self.mover, self.is_demanded = 1 - who, False
        self.turns += 1
        has_finished = board[0, OFF] == CHECKERS
        if self.is_last_turn and has_finished:
            self._finish(GameResult(winner=None, level=None, points=0.0, how="draw"))
        elif self.is_last_turn:
            self._finish(self._won(self._board, 1 - who))
        elif has_finished and self.rules.last_turn == "second_player" and who == self.first:
            self.is_last_turn = True
            self.state = State.TO_ROLL
        elif has_finished:
            self._finish(self._won(board, who))
        else:
            self.state = State.TO_ROLL

    def _won(self, board: Boards, winner: int) -> GameResult:
        level = int(outcome_class(board, self.rules))
        points = self.rules.level_points[level]
        return GameResult(winner=winner, level=OUTCOME_LEVELS[level], points=points, how="borne_off")

    def _finish(self, result: GameResult) -> None:
        self._board, self._turn = self.board, None
        self.result = result
        self.state = State.OVER

    def _note(self, name: str, by: int | None, **values: Any) -> None:
        who = {} if by is None else {"by": by}
        self.log.append({"event": name, **who, **values})


_NO_BOARD = Reason("not_well_formed", {"fault": "an afterstate is two rows of 26 whole numbers from 0 to 15"})


def _counts(board: Any) -> Boards | None:
    """int8 [2, 26], or None for what does not hold counts of checkers."""
    try:
        array = np.asarray(board)
    except (TypeError, ValueError):
        return None
    is_counts = array.shape == (2, SLOTS) and array.dtype.kind in "iu" and 0 <= array.min() <= array.max() <= CHECKERS
    return array.astype(np.int8) if is_counts else None


def _plain(step: Step) -> dict[str, Any]:
    return {"start": int(step.start), "end": int(step.end), "die": int(step.die), "is_hit": bool(step.is_hit)}


def _start(board: Any, rules: Rules) -> Boards:
    start = rules.start_board() if board is None else as_board(board, rules).copy()
    if is_finished(start):
        raise PositionError("a game cannot start from a board on which a side has borne off all 15 checkers")
    start.setflags(write=False)
    return start


def _whole(name: str, value: Any, highest: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value <= highest:
        raise SessionError(f"the {name} must be a whole number from 1 to {highest}, got {value!r}", "bad_value")
    return int(value)
