"""One roll being played: the tentative board, the dice left, and which steps may come next.

Source: RULES.md 8. A turn may be changed until it is committed, and only the board left then is judged. Boards are int8
[2, 26] with the mover in row 0, points are counted as he counts them, and nothing is checked where no error is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from engine.board import Boards, as_board
from engine.dice import Roll
from engine.errors import PositionError, SessionError
from engine.legality import Move, MovesGoal, why_illegal
from engine.movegen import afterstates_of
from engine.reason import Reason, move_text
from engine.rules import BAR, CHECKERS, HEAD, OFF, Rules
from engine.steps import (
    BoardGoal,
    Dice,
    Line,
    Step,
    apply_step,
    dice_given,
    find_lines,
    head_limit,
    make_step,
    route_to,
    single_steps,
    step_fault,
    without_die,
)


class _Made(NamedTuple):
    """The tentative board after one step or placement."""

    board: Boards
    dice_left: Dice
    steps: tuple[Step, ...] | None  # None: the board was placed and no sequence of steps explains it


class Turn:
    """A roll on a board, until its player commits.

    Args:
        start: int8 [2, 26] when the dice were thrown, row 0 the player on roll. The opponent's row may be finished:
            that is the extra turn of `last_turn=second_player`.
        dice: the roll.
        rules: the exact variant.
    """

    def __init__(self, start: Boards, dice: Roll, rules: Rules) -> None:
        self.start = _frozen(start)
        self.dice = dice
        self.rules = rules
        self._theirs = start[1]
        rolls = np.array([dice], dtype=np.int8)
        self.legal = _frozen(self._real(afterstates_of(self._playable(start)[None], rolls, rules, threads=1)[0]))
        self._keys = frozenset(board.tobytes() for board in self.legal)
        self._head_limit = head_limit(self._playable(start), dice, rules)
        self._leads: dict[tuple[bytes, Dice], bool] = {}
        self._known: dict[tuple[bytes, Dice], list[tuple[Step, Boards, Dice]]] = {}
        self._made = [_Made(self.start, dice_given(dice), ())]

    @property
    def board(self) -> Boards:
        """int8 [2, 26]: the tentative board, rows not exchanged."""
        return self._made[-1].board

    @property
    def steps(self) -> tuple[Step, ...] | None:
        """The steps so far; None when a placed board is not explained by steps."""
        return self._made[-1].steps

    @property
    def dice_left(self) -> Dice:
        """Dice not yet played, larger first. None are left once 15 checkers are off (case B25)."""
        return () if self.board[0, OFF] == CHECKERS else self._made[-1].dice_left

    @property
    def changes(self) -> int:
        """How many steps and placements can be taken back."""
        return len(self._made) - 1

    def is_correct(self) -> bool:
        """Whether the tentative board is in the legal turn set."""
        return self.board.tobytes() in self._keys

    def must_pass(self) -> bool:
        """Whether leaving the board unchanged is the only legal turn."""
        return len(self.legal) == 1 and self.legal[0].tobytes() == self.start.tobytes()

    def next_steps(self, strict: bool) -> tuple[Step, ...]:
        """Steps that may come next.

        Args:
            strict: only those that begin some legal turn; otherwise all that are legal by themselves.
        """
        made = self._made[-1]
        found = []
        for step, after, left in self._branches(made.board, self.dice_left):
            if not strict or self._leads_to_legal(after, left):
                found.append(step)
        return tuple(found)

    def why_not(self, start: int, die: int, strict: bool) -> Reason | None:
        """The rule that a next step breaks, or None when it may be played."""
        if die not in self.dice_left:
            return Reason("die_not_available", {"given": f"a step by {die}", "dice": list(self.dice)})
        playable = self._playable(self.board)
        fault = step_fault(playable, start, die, self.rules, self._head_left(self.board))
        if fault is not None or not strict:
            return fault
        after = self._real(apply_step(playable, make_step(playable, start, die, self.rules), self.rules))
        return None if self._leads_to_legal(after, without_die(self.dice_left, die)) else self.why_wrong(after)

    def why_wrong(self, board: Boards | None = None) -> Reason | None:
        """Why a board left (the tentative one, if none is given) is no correct turn, or None."""
        board = self.board if board is None else board
        if board.tobytes() in self._keys:
            return None
        if self._theirs[OFF] < CHECKERS:
            return why_illegal(self.start, self.dice, board, self.rules)
        return self._why_last_turn_wrong(board)

    def route(self, afterstate: Boards) -> tuple[Step, ...]:
        """Steps from the start of the turn to a legal afterstate, in an order that is legal step by step."""
        return route_to(self._playable(self.start), self.dice, self._playable(afterstate), self.rules)

    def find_steps(self, moves: Sequence[Move], strict: bool) -> tuple[Step, ...] | None:
        """Steps with the dice left that make moves (start, end), each by one die or more, in any order.

        Args:
            moves: as the mover counts points; 25 the bar, 0 off.
            strict: as for `next_steps`.
        """
        for line in self._lines(moves):
            left = self.dice_left
            for step in line.steps:
                left = without_die(left, step.die)
            if not strict or self._leads_to_legal(self._real(line.board), left):
                return line.steps
        return None

    def why_no_steps(self, moves: Sequence[Move]) -> Reason | None:
        """The rule that keeps `find_steps` from finding steps under `strict`, or None when it finds them."""
        if self.find_steps(moves, strict=True) is not None:
            return None
        for start, end in moves:
            if end >= start:
                return Reason("backwards", {"start": start, "end": end})
        lines = list(self._lines(moves, allow_faults=True))
        if not lines:
            given = " ".join(move_text(*move) for move in moves)
            return Reason("die_not_available", {"given": given, "dice": list(self.dice_left or self.dice)})
        best = min(lines, key=lambda line: len(line.faults))
        return best.faults[0] if best.faults else self.why_wrong(self._real(best.board))

    def _lines(self, moves: Sequence[Move], *, allow_faults: bool = False) -> Iterator[Line]:
        board, goal = self._playable(self.board), MovesGoal(tuple(sorted(moves, reverse=True)))
        head_left = self._head_left(self.board)
        return find_lines(board, self.dice_left, goal, self.rules, head_left, allow_faults=allow_faults)

    def step(self, start: int, die: int) -> Step:
        """Play a step that `why_not` does not refuse."""
        made = self._made[-1]
        playable = self._playable(made.board)
        step = make_step(playable, start, die, self.rules)
        after = self._real(apply_step(playable, step, self.rules))
        steps = None if made.steps is None else (*made.steps, step)
        self._made.append(_Made(_frozen(after), without_die(made.dice_left, die), steps))
        return step

    def place(self, board: Boards) -> None:
        """Replace the tentative board by a well-formed one; dice that no sequence of steps to it needs are left."""
        given, goal = dice_given(self.dice), BoardGoal(self._playable(board))
        lines = find_lines(self._playable(self.start), given, goal, self.rules, self._head_limit)
        steps = next((line.steps for line in lines), None)
        left = given if steps is not None else ()
        for step in steps or ():
            left = without_die(left, step.die)
        self._made.append(_Made(_frozen(board), left, steps))

    def undo(self) -> None:
        """Take back the last step or placement, if there is one."""
        if self.changes:
            self._made.pop()

    def reset(self) -> None:
        """Take back the whole turn."""
        del self._made[1:]

    def _branches(self, board: Boards, dice: Dice) -> list[tuple[Step, Boards, Dice]]:
        """Each step that is legal by itself, with the board after it and the dice then left."""
        key = (board.tobytes(), dice)
        if key not in self._known:
            playable, head_left = self._playable(board), self._head_left(board)
            self._known[key] = [
                (step, self._real(after), without_die(dice, die))
                for die in dict.fromkeys(dice)
                for step, after in single_steps(playable, die, self.rules, head_left)
            ]
        return self._known[key]

    def _leads_to_legal(self, board: Boards, dice: Dice) -> bool:
        key = (board.tobytes(), dice)
        if key[0] in self._keys:
            return True
        known = self._leads.get(key)
        if known is None:
            known = any(self._leads_to_legal(after, left) for _, after, left in self._branches(board, dice))
            self._leads[key] = known
        return known

    def _why_last_turn_wrong(self, board: Boards) -> Reason:
        """`why_illegal` takes no board with a finished side, so the extra turn of `last_turn` is explained here."""
        dice = dice_given(self.dice)
        if np.array_equal(board, self.start):
            return Reason("pass_not_allowed", {"dice": list(self.dice)})
        start, goal = self._playable(self.start), BoardGoal(self._playable(board))
        lines = list(find_lines(start, dice, goal, self.rules, self._head_limit, allow_faults=True))
        if not lines:
            return Reason("wrong_distance", {"given": "this board", "dice": list(self.dice)})
        best = min(lines, key=lambda line: (len(line.faults), -len(line.steps)))
        if best.faults:
            return best.faults[0]
        played, possible = len(best.steps), len(self.route(self.legal[0]))
        if len(dice) == 4:
            return Reason("double_required", {"possible": possible, "played": played})
        if possible == 2:
            return Reason("both_dice_required", {"played": played})
        return Reason("larger_die_required", {"larger": dice[0]})

    def _head_left(self, board: Boards) -> int:
        return self._head_limit - int(self.start[0, HEAD] - board[0, HEAD])

    def _playable(self, board: Boards) -> Boards:
        """The board as the move generator plays it: a finished opponent gets one checker where it stops nothing.

        Index 25 holds no point and cannot be hit, and with his 14 others off no six-point block is forbidden.
        """
        if self._theirs[OFF] < CHECKERS:
            return board
        stand_in = board.copy()
        stand_in[1, OFF], stand_in[1, BAR] = CHECKERS - 1, 1
        return stand_in

    def _real(self, boards: Boards) -> Boards:
        if self._theirs[OFF] == CHECKERS:
            boards = boards.copy()
            boards[..., 1, :] = self._theirs
        return boards


def _frozen(boards: Boards) -> Boards:
    boards = np.ascontiguousarray(boards).copy()
    boards.setflags(write=False)
    return boards


def placed_board(board: Any, turn_start: Boards, rules: Rules) -> Boards:
    """A board put by hand, checked against the start of the turn (RULES.md 8, well-formed).

    Args:
        board: [2, 26] whole numbers, the mover in row 0.
        turn_start: int8 [2, 26], where the turn began.
        rules: the exact variant.
    Raises:
        SessionError: `malformed_board`.
    """
    try:
        placed = as_board(board, rules)
    except PositionError as error:
        raise SessionError(f"place refused: {error}", "malformed_board") from error
    change = placed[1].astype(np.int64) - turn_start[1]
    if change.any() and not rules.can_hit:
        raise SessionError("place refused: the opponent's checkers must stay where they are", "malformed_board")
    if (change[:BAR] > 0).any() or change[OFF] != 0:
        message = "place refused: of the opponent's checkers, some may go from points to the bar and nowhere else"
        raise SessionError(message, "malformed_board")
    return placed
