"""Single steps: what one checker may do with one die, and the steps that make a play.

A step is judged by RULES.md 2.2 and 3 to 5. A play is its afterstate; steps are recovered here only to show it, to
take it step by step, or to say what is wrong with it. Nothing here is fast: `engine.movegen` is.

Boards are int8 [2, 26] with the mover in row 0, points are counted as he counts them, dice are 1 to 6, and nothing is
checked where no error is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from engine.board import HOME_HIGH, Boards, as_board
from engine.dice import as_dice
from engine.errors import IllegalPlayError
from engine.movegen import afterstates_of
from engine.reason import Reason
from engine.rules import BAR, CHECKERS, HEAD, OFF, Rules

Dice = tuple[int, ...]

BLOCK_LENGTH = 6
_HEAD_DOUBLES = (3, 4, 6)  # doubles that let two checkers leave the head, where a rule lists them


class Step(NamedTuple):
    """One checker moved by one die, as the mover counts points (25 the bar, 0 off)."""

    start: int
    end: int
    die: int
    is_hit: bool


class Line(NamedTuple):
    """Steps in the order played, the rule that each faulty one breaks, and the board after them."""

    steps: tuple[Step, ...]
    faults: tuple[Reason, ...]
    board: Boards


def dice_given(dice: Sequence[int]) -> Dice:
    """The dice a roll gives, larger first: two, or four of a double."""
    first, second = int(dice[0]), int(dice[1])
    return (first,) * 4 if first == second else (max(first, second), min(first, second))


def make_step(board: Boards, start: int, die: int, rules: Rules) -> Step:
    """The step from `start` by `die`, legal or not; a die larger than the point ends off the board."""
    end = max(start - die, OFF)
    is_hit = rules.can_hit and end != OFF and bool(board[1, rules.opponent_point[end]] == 1)
    return Step(start, end, die, is_hit)


def apply_step(board: Boards, step: Step, rules: Rules) -> Boards:
    """The board after a step, rows not exchanged; the step is not checked.

    Args:
        board: int8 [2, 26], the mover in row 0.
        step: one of the mover's.
        rules: says which point of the opponent a hit is on.
    Returns:
        int8 [2, 26], a new array.
    """
    after = board.copy()
    after[0, step.start] -= 1
    after[0, step.end] += 1
    if step.is_hit:
        after[1, rules.opponent_point[step.end]] -= 1
        after[1, BAR] += 1
    return after


def single_steps(board: Boards, die: int, rules: Rules, head_left: int) -> list[tuple[Step, Boards]]:
    """Every step that one die allows, judged by itself, with the board after it.

    Args:
        board: int8 [2, 26], the mover in row 0.
        die: 1 to 6.
        head_left: how many checkers may still leave the head this turn (`head_limit` less those that have).
    Returns:
        Steps from the highest point down; none on a finished board.
    Source:
        RULES.md 2.2 and 3 to 5. Which steps begin a legal turn is more: `legal_next_steps`.
    """
    if is_over(board):
        return []
    found = []
    for start in range(BAR, OFF, -1):
        if board[0, start] > 0 and step_fault(board, start, die, rules, head_left) is None:
            step = make_step(board, start, die, rules)
            found.append((step, apply_step(board, step, rules)))
    return found


def is_over(board: Boards) -> bool:
    """Whether the mover has no turn any more: a side has borne off all its checkers."""
    return bool((board[:, OFF] == CHECKERS).any())


def step_fault(board: Boards, start: int, die: int, rules: Rules, head_left: int) -> Reason | None:
    """The rule that a single step breaks, or None when it may be played (RULES.md 2.2 and 3 to 5)."""
    mine = board[0]
    step = make_step(board, start, die, rules)
    if not mine[start] > 0:
        return Reason("no_checker", {"start": start})
    if mine[BAR] > 0 and start != BAR:
        return Reason("bar_first", {"start": start, "end": step.end})
    if step.end == OFF:
        fault = _bearoff_fault(board, start, die)
    else:
        fault = _landing_fault(board, step, rules)
    if fault is None and start == HEAD and rules.has_head_rule and head_left <= 0:
        fault = Reason("head_used", {"start": start})
    if fault is None and rules.block_check == "step":
        fault = block_fault(apply_step(board, step, rules), rules)
    return fault


def _bearoff_fault(board: Boards, start: int, die: int) -> Reason | None:
    highest = int(np.flatnonzero(board[0, : BAR + 1])[-1])
    if highest > HOME_HIGH:
        return Reason("not_all_home", {"start": start, "outside": highest})
    if die > start and highest > start:
        return Reason("overshoot", {"start": start, "die": die, "higher": highest})
    return None


def _landing_fault(board: Boards, step: Step, rules: Rules) -> Reason | None:
    count = int(board[1, rules.opponent_point[step.end]])
    if count > (1 if rules.can_hit else 0):
        return Reason("point_held", {"start": step.start, "point": step.end, "count": count})
    return None


def block_fault(board: Boards, rules: Rules) -> Reason | None:
    """The run of six or more points that row 0 may not hold, as a reason, or None (RULES.md 5.3)."""
    lead = int(np.flatnonzero(board[1])[0])  # index 0 counts: a checker borne off is ahead of every run
    run: list[int] = []
    for index in range(lead - 1, OFF - 1, -1):  # a run never contains his checker, so it starts past the leading one
        point = int(rules.opponent_point[index])
        if index > OFF and board[0, point] > 0:
            run.append(point)
            continue
        if len(run) >= BLOCK_LENGTH:
            return Reason("six_point_block", {"rear": run[0], "front": run[-1]})
        run = []
    return None


def head_limit(board: Boards, dice: Sequence[int], rules: Rules) -> int:
    """How many checkers may leave the head this turn; 15 where no rule limits it.

    Args:
        board: int8 [2, 26] at the start of the turn, the mover in row 0.
        dice: the roll.
        rules: the exact variant.
    Source:
        RULES.md 5.2. A first turn is one that starts with all 15 checkers on the head.
    """
    if not rules.has_head_rule:
        return CHECKERS
    if board[0, HEAD] < CHECKERS or rules.first_turn == "none":
        return 1
    is_big_double = dice[0] == dice[1] and dice[0] in _HEAD_DOUBLES
    if rules.first_turn == "common":
        return 2 if is_big_double else 1
    if rules.first_turn == "fnr2026":
        return 2 if is_big_double and board[1, HEAD] < CHECKERS else 1
    given = dice_given(dice)
    if _most_dice(board, given, rules, 1) == len(given):
        return 1
    return 2 if given == (6, 6, 6, 6) or _most_dice(board, given, rules, 2) == len(given) else 1


def _most_dice(board: Boards, dice: Dice, rules: Rules, head_left: int) -> int:
    """The greatest number of dice that single steps can play; only for first turns, which have few."""
    if not dice:
        return 0
    return max(
        (
            1 + _most_dice(after, without_die(dice, die), rules, head_left - (step.start == HEAD))
            for die in dict.fromkeys(dice)
            for step, after in single_steps(board, die, rules, head_left)
        ),
        default=0,
    )


def without_die(dice: Dice, die: int) -> Dice:
    """The dice left when one of them is played."""
    place = dice.index(die)
    return dice[:place] + dice[place + 1 :]


class Goal(Protocol):
    """What a search for steps aims at: a board, or moves that a player wrote."""

    def is_met(self, board: Boards) -> bool:
        """Whether nothing is left to do."""
        ...

    def after(self, board: Boards, step: Step, dice: Dice) -> Sequence[Goal]:
        """The goals that remain when `step` is played from `board` with `dice` still to play; none: a wrong way."""
        ...


@dataclass(frozen=True, eq=False)
class BoardGoal:
    """The mover's row, and where it matters the other one, must become those of `target`."""

    target: Boards

    @cached_property
    def _mine(self) -> list[int]:
        row: list[int] = self.target[0].tolist()
        return row

    def is_met(self, board: Boards) -> bool:
        """Whether the board is the target."""
        return np.array_equal(board, self.target)

    def after(self, board: Boards, step: Step, dice: Dice) -> Sequence[Goal]:
        """This goal again, if a checker still has to cross every point that the step crosses."""
        if board[0, step.start] <= 0:
            return ()
        mine, wanted = board[0].tolist(), self._mine  # lists: numpy's calls cost more than 26 additions
        crossing = pips = 0  # checkers that must still pass a point, and the sum of that over all points
        for index in range(BAR, OFF, -1):
            crossing += mine[index] - wanted[index]
            if crossing < (1 if step.end < index <= step.start else 0):
                return ()
            pips += crossing
        return (self,) if pips <= sum(dice) else ()


def _checkers_behind(rows: Boards) -> npt.NDArray[np.int64]:
    """int64 [..., 26]: how many checkers of a row stand on each index or further back."""
    return rows[..., ::-1].cumsum(axis=-1, dtype=np.int64)[..., ::-1]


def find_lines(
    board: Boards, dice: Dice, goal: Goal, rules: Rules, head_left: int, *, allow_faults: bool = False
) -> Iterator[Line]:
    """Sequences of steps that meet a goal with some or all of the dice, the natural order first.

    Args:
        board: int8 [2, 26] before the first of these steps.
        dice: the dice still to play, larger first.
        goal: when a sequence is whole, and what is left to do after each step.
        rules: the exact variant.
        head_left: how many checkers may still leave the head.
        allow_faults: take steps that break a rule too; the line then lists one reason for each.
    """
    if goal.is_met(board):
        yield Line((), (), board)
        return
    if is_over(board):
        return
    mine = board[0].tolist()
    starts = [start for start in range(BAR, OFF, -1) if allow_faults or mine[start] > 0]
    for die in dict.fromkeys(dice):
        for start in starts:
            step = make_step(board, start, die, rules)
            goals = goal.after(board, step, dice)
            if not goals:
                continue
            fault = step_fault(board, start, die, rules, head_left)
            if fault is not None and not allow_faults:
                continue
            after, left = apply_step(board, step, rules), without_die(dice, die)
            for rest in goals:
                for line in find_lines(
                    after, left, rest, rules, head_left - (start == HEAD), allow_faults=allow_faults
                ):
                    faults = line.faults if fault is None else (fault, *line.faults)
                    yield Line((step, *line.steps), faults, line.board)


def legal_set(board: Boards, dice: Sequence[int], rules: Rules) -> Boards:
    """int8 [M, 2, 26]: the legal afterstates of one board, checked (see `engine.movegen.legal_afterstates`)."""
    roll = np.array([as_dice(dice)], dtype=np.int8)
    return afterstates_of(as_board(board, rules)[None], roll, rules, threads=1)[0]


def play_steps(board: Boards, dice: Sequence[int], afterstate: Boards, rules: Rules) -> tuple[Step, ...]:
    """Steps that lead to a legal afterstate in an order that is legal step by step; none for a pass.

    The larger die and the rearmost checker go first where the rules let them. All dice that the turn demands are
    played, except that a win is reached in the fewest steps.

    Args:
        board: int8 [2, 26] at the start of the turn, the mover in row 0.
        dice: two numbers from 1 to 6, in any order.
        afterstate: int8 [2, 26], rows not exchanged.
        rules: the exact variant.
    Raises:
        PositionError: the board is not well formed.
        DiceError: the dice are not two numbers from 1 to 6.
        IllegalPlayError: the afterstate is not legal; `reason` says why.
    """
    target = np.asarray(afterstate)
    if not has_board(legal_set(board, dice, rules), target):
        from engine.legality import why_illegal  # it is built on this module, which needs it only to refuse

        reason = why_illegal(board, dice, afterstate, rules)
        raise IllegalPlayError(f"not a legal play of {dice[0]}-{dice[1]}: {reason}", reason)
    return route_to(board, dice, target, rules)


def route_to(board: Boards, dice: Sequence[int], afterstate: Boards, rules: Rules) -> tuple[Step, ...]:
    """`play_steps` for an afterstate that is known to be legal."""
    limit = head_limit(board, dice, rules)
    lines = find_lines(board, dice_given(dice), BoardGoal(afterstate), rules, limit)
    is_win = afterstate[0, OFF] == CHECKERS
    return (min if is_win else max)(lines, key=lambda line: len(line.steps)).steps


def has_board(boards: Boards, board: Boards) -> bool:
    """Whether a board [2, 26] is one of those of [M, 2, 26]."""
    return board.shape == boards.shape[1:] and bool((boards == board).all(axis=(1, 2)).any())


def playable_dice(board: Boards, dice: Sequence[int], rules: Rules) -> int:
    """How many dice of the roll a legal turn plays (RULES.md 2.3): 0 for a pass, up to 4."""
    legal = legal_set(board, dice, rules)
    if len(legal) == 0 or np.array_equal(legal[0], board):
        return 0
    limit = head_limit(board, dice, rules)
    lines = find_lines(board, dice_given(dice), BoardGoal(legal[0]), rules, limit)
    return max(len(line.steps) for line in lines)


def legal_next_steps(
    turn_start: Boards, steps_so_far: Sequence[Step], dice: Sequence[int], rules: Rules
) -> list[tuple[Step, Boards]]:
    """Each step that, after the steps so far, begins or ends some legal turn, with the board after it.

    Args:
        turn_start: int8 [2, 26], the mover in row 0.
        steps_so_far: what was played this turn, itself such a beginning; only `start` and `die` are read.
        dice: the whole roll.
        rules: the exact variant.
    Raises:
        IllegalPlayError: a step so far is illegal by itself, or its die is not there; `reason` says why.
    """
    legal = legal_set(turn_start, dice, rules)
    board, left, head_left = replay(turn_start, steps_so_far, dice, rules)
    found = []
    for die in dict.fromkeys(left):
        for step, after in single_steps(board, die, rules, head_left):
            rest = head_left - (step.start == HEAD)
            if _can_end_legally(after, without_die(left, die), legal, rules, rest):
                found.append((step, after))
    return found


def replay(turn_start: Boards, steps: Iterable[Step], dice: Sequence[int], rules: Rules) -> tuple[Boards, Dice, int]:
    """The board after steps, the dice left and how many checkers may still leave the head.

    Raises:
        IllegalPlayError: a step is illegal by itself, or its die is not there; `reason` says why.
    """
    board, left, head_left = turn_start, dice_given(dice), head_limit(turn_start, dice, rules)
    for start, _, die, *_ in steps:
        if die not in left:
            given = {"given": f"a step by {die}", "dice": list(dice)}
            fault: Reason | None = Reason("die_not_available", given)
        else:
            fault = step_fault(board, start, die, rules, head_left)
        if fault is not None:
            raise IllegalPlayError(f"illegal step from {start} by {die}: {fault}", fault)
        board = apply_step(board, make_step(board, start, die, rules), rules)
        left, head_left = without_die(left, die), head_left - (start == HEAD)
    return board, left, head_left


def _can_end_legally(board: Boards, dice: Dice, legal: Boards, rules: Rules, head_left: int) -> bool:
    """Whether legal steps with the dice left, or none, lead from a board into the legal set."""
    behind = _checkers_behind(board[0]) - _checkers_behind(legal[:, 0])  # [M, 26]
    is_ahead = (behind.min(axis=1) >= 0) & (behind[:, 1:].sum(axis=1) <= sum(dice))
    return any(
        next(find_lines(board, dice, BoardGoal(target), rules, head_left), None) is not None
        for target in legal[is_ahead]
    )
