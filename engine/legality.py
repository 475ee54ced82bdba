"""Why a play or step is illegal: the most helpful single reason.

A refused play is searched for once more with steps that may break rules; the way with the fewest broken rules names
the reason. Where no rule of a single step is broken, the rules of the whole turn are (RULES.md 2.3, 2.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.board import Boards, as_board, as_boards
from engine.dice import as_dice
from engine.errors import PositionError
from engine.reason import CODES, Reason, move_text
from engine.rules import BAR, CHECKERS, OFF, SLOTS, Rules
from engine.steps import (
    BoardGoal,
    Dice,
    Goal,
    Line,
    Step,
    block_fault,
    dice_given,
    find_lines,
    has_board,
    head_limit,
    is_over,
    legal_next_steps,
    legal_set,
    playable_dice,
    replay,
    step_fault,
)

__all__ = ["CODES", "Move", "MovesGoal", "Reason", "why_illegal", "why_step_illegal"]

Move = tuple[int, int]  # from, to: 25 the bar, 0 off


def why_illegal(board: Any, dice: Any, wanted: Any, rules: Rules) -> Reason | None:
    """The rule that a play breaks, or None exactly when it is legal.

    Args:
        board: int8 [2, 26] at the start of the turn, the mover in row 0.
        dice: two numbers from 1 to 6, in any order.
        wanted: an afterstate [2, 26], rows not exchanged; or moves as pairs (start, end) in any order, each by one
            die or more (`Step`s too, of which only start and end are read; none for a pass).
        rules: the exact variant.
    Raises:
        PositionError: the board itself is not well formed.
        DiceError: the dice are not two numbers from 1 to 6.
    """
    start, roll = as_board(board, rules), as_dice(dice)
    if is_over(start):
        return Reason("game_over")
    moves = _as_moves(wanted)
    if isinstance(moves, Reason):
        return moves
    if moves is None:
        return _why_board_illegal(start, roll, wanted, rules)
    return _why_moves_illegal(start, roll, moves, rules)


def why_step_illegal(
    turn_start: Boards, steps_so_far: Sequence[Step], dice: Any, start: int, die: int, rules: Rules
) -> Reason | None:
    """Why a checker may not be moved next from `start` by `die`, or None when the step begins or ends a legal turn.

    Args:
        turn_start: int8 [2, 26], the mover in row 0.
        steps_so_far: what was played this turn, itself the beginning of a legal turn.
        dice: the whole roll.
        start: 1..24, or 25 for the bar.
        die: one of the dice left.
        rules: the exact variant.
    Raises:
        IllegalPlayError: the steps so far are illegal by themselves.
    """
    roll = as_dice(dice)
    board, left, head_left = replay(turn_start, steps_so_far, roll, rules)
    if is_over(board):
        return Reason("game_over")
    if not OFF < start <= BAR:
        return Reason("not_well_formed", {"fault": f"a step starts on 1..24 or the bar (25), got {start}"})
    if die not in left:
        return Reason("die_not_available", {"given": f"a step by {die}", "dice": list(left)})
    fault = step_fault(board, start, die, rules, head_left)
    if fault is not None:
        return fault
    allowed = legal_next_steps(turn_start, steps_so_far, roll, rules)
    after = next((after for step, after in allowed if (step.start, step.die) == (start, die)), None)
    if after is not None:
        return None
    return _why_turn_illegal(turn_start, roll, board, len(steps_so_far) + 1, rules)


@dataclass(frozen=True, order=True)
class MovesGoal:
    """Moves that a player named must all be made, each by one die or more, in any order."""

    moves: tuple[Move, ...]

    def is_met(self, board: Boards) -> bool:
        """Whether every move is made."""
        return not self.moves

    def after(self, board: Boards, step: Step, dice: Dice) -> Sequence[Goal]:
        """One goal for each move that the step finishes or carries on."""
        found = set()
        for place, (start, end) in enumerate(self.moves):
            if start != step.start or step.end < end:
                continue
            rest = [*self.moves[:place], *self.moves[place + 1 :]]
            if step.end > end:
                rest.append((step.end, end))
            if len(rest) < len(dice):
                found.add(MovesGoal(tuple(sorted(rest, reverse=True))))
        return sorted(found)


@dataclass(frozen=True, eq=False)
class _RowGoal(BoardGoal):
    """Only the mover's row must become that of the target."""

    def is_met(self, board: Boards) -> bool:
        return np.array_equal(board[0], self.target[0])


def _as_moves(wanted: Any) -> list[Move] | Reason | None:
    """The moves, None for what looks like an afterstate, or the reason why it is neither."""
    try:
        array = np.asarray(wanted)
    except ValueError:
        array = np.empty((0, 0))
    if array.shape == (2, SLOTS):
        return None
    if array.shape == (0,):
        return []
    if array.ndim != 2 or array.dtype.kind not in "iub" or array.shape[1] not in (2, len(Step._fields)):
        fault = f"a play is an afterstate [2, 26] or pairs (start, end), got shape {list(array.shape)}"
        return Reason("not_well_formed", {"fault": fault})
    moves = [(int(move[0]), int(move[1])) for move in array]
    for start, end in moves:
        if not (OFF < start <= BAR and OFF <= end < BAR) or start == end:
            fault = f"a move goes from 1..24 or the bar (25) to a lower point or off (0), got {start}/{end}"
            return Reason("not_well_formed", {"fault": fault})
        if end > start:
            return Reason("backwards", {"start": start, "end": end})
    return moves


def _why_moves_illegal(board: Boards, roll: tuple[int, int], moves: list[Move], rules: Rules) -> Reason | None:
    dice, legal = dice_given(roll), legal_set(board, roll, rules)
    if not moves:
        return None if has_board(legal, board) else Reason("pass_not_allowed", {"dice": list(roll)})
    goal = MovesGoal(tuple(sorted(moves, reverse=True)))
    lines = _lines(board, roll, goal, rules)
    if any(not line.faults and has_board(legal, line.board) for line in lines):
        return None
    if lines:
        return _fewest_faults(board, roll, lines, rules)
    sums = {sum(dice[:count]) for count in range(1, len(dice) + 1)} | set(dice)
    for start, end in moves:
        if start - end not in sums and not (end == OFF and start < max(sums)):
            return Reason("wrong_distance", {"given": move_text(start, end), "dice": list(roll)})
    given = " ".join(move_text(start, end) for start, end in moves)
    return Reason("die_not_available", {"given": given, "dice": list(roll)})


def _why_board_illegal(board: Boards, roll: tuple[int, int], wanted: Any, rules: Rules) -> Reason | None:
    fault = _form_fault(wanted, rules)
    if fault is not None:
        return fault
    target = as_boards(wanted, rules)
    if has_board(legal_set(board, roll, rules), target):
        return None
    fault = _opponent_row_fault(board, target, rules)
    if fault is not None:
        return fault
    if np.array_equal(board, target):
        return Reason("pass_not_allowed", {"dice": list(roll)})
    fault = _backwards_fault(board[0], target[0])
    if fault is not None:
        return fault
    lines = _lines(board, roll, BoardGoal(target), rules)
    if lines:
        return _fewest_faults(board, roll, lines, rules)
    lines = _lines(board, roll, _RowGoal(target), rules)
    if lines:
        return _hit_fault(target, min(lines, key=lambda line: len(line.faults)), rules)
    return Reason("wrong_distance", {"given": _change_text(board[0], target[0]), "dice": list(roll)})


def _form_fault(wanted: Any, rules: Rules) -> Reason | None:
    array = np.asarray(wanted)
    if array.dtype.kind in "iu" and array.min() >= 0 and array.max() <= CHECKERS:
        facing = array[1, rules.opponent_point]
        shared = np.flatnonzero((array[0, 1:BAR] > 0) & (facing[1:BAR] > 0)) + 1
        if shared.size:
            point = int(shared[-1])
            if rules.can_hit and facing[point] == 1:
                return Reason("opponent_row_wrong", {"fault": f"a checker hit on {point} goes to the bar"})
            return Reason("point_held", {"point": point, "count": int(facing[point])})
    try:
        as_boards(array, rules)
    except PositionError as error:
        return Reason("not_well_formed", {"fault": str(error)})
    return None


def _opponent_row_fault(board: Boards, target: Boards, rules: Rules) -> Reason | None:
    change = target[1].astype(np.int64) - board[1]
    if not change.any():
        return None
    if not rules.can_hit:
        return Reason("opponent_row_wrong", {"fault": f"in {rules.preset} the opponent's checkers never move"})
    left = np.flatnonzero(change[:BAR])
    if (change[:BAR] > 0).any() or change[OFF] != 0:
        return Reason("opponent_row_wrong", {"fault": "an opposing checker may only go from a point to the bar"})
    several = [int(rules.opponent_point[p]) for p in left if board[1, p] != 1]
    if several:
        return Reason("opponent_row_wrong", {"fault": f"only a single checker can be hit, {several[0]} holds more"})
    return None


def _hit_fault(target: Boards, line: Line, rules: Rules) -> Reason:
    """The mover's row can be reached, but with other hits than the afterstate shows."""
    change = (target[1].astype(np.int64) - line.board[1])[:BAR]
    index = int(change.argmin())  # below zero where the afterstate lacks a checker that nothing hits
    if change[index] < 0:
        fault = f"no checker of yours hits on {rules.opponent_point[index]}"
    else:
        fault = f"a checker hit on {rules.opponent_point[int(change.argmax())]} goes to the bar"
    return Reason("opponent_row_wrong", {"fault": fault})


def _backwards_fault(mine: Boards, wanted: Boards) -> Reason | None:
    """A checker that stands further back than before, paired with the nearest one that is gone."""
    change = wanted.astype(np.int64) - mine
    gained = np.flatnonzero(change[::-1].cumsum()[::-1] > 0)
    if gained.size == 0:
        return None
    end = int(gained[-1])
    return Reason("backwards", {"start": int(np.flatnonzero(change[:end] < 0)[-1]), "end": end})


def _change_text(mine: Boards, wanted: Boards) -> str:
    change = wanted.astype(np.int64) - mine
    lost = [move_text(p) for p in range(BAR, OFF - 1, -1) for _ in range(-change[p])]
    gained = [move_text(p) for p in range(BAR, OFF - 1, -1) for _ in range(change[p])]
    return f"moving {', '.join(lost)} to {', '.join(gained)}"


def _lines(board: Boards, roll: tuple[int, int], goal: Goal, rules: Rules) -> list[Line]:
    limit = head_limit(board, roll, rules)
    return list(find_lines(board, dice_given(roll), goal, rules, limit, allow_faults=True))


def _fewest_faults(board: Boards, roll: tuple[int, int], lines: list[Line], rules: Rules) -> Reason:
    best = min(lines, key=lambda line: (len(line.faults), -len(line.steps)))
    if best.faults:
        return best.faults[0]
    return _why_turn_illegal(board, roll, best.board, len(best.steps), rules)


def _why_turn_illegal(board: Boards, roll: tuple[int, int], after: Boards, played: int, rules: Rules) -> Reason:
    """Which rule of the whole turn forbids steps that are legal one by one."""
    possible = playable_dice(board, roll, rules)
    block = block_fault(after, rules) if rules.block_check == "turn" else None
    if block is not None and played >= possible:
        return block
    if roll[0] == roll[1]:
        return Reason("double_required", {"possible": possible, "played": played})
    if possible == len(roll):
        return Reason("both_dice_required", {"played": played})
    return Reason("larger_die_required", {"larger": max(roll)})
