"""Positions for tests, fuzzing and benchmarks: met in random play, or placed at random (well formed, any phase)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from engine import Rules, legal_afterstates
from engine.board import opponent_view

Int8 = npt.NDArray[np.int8]
Int64 = npt.NDArray[np.int64]
BatchGenerator = Callable[[Any, Any, Rules], Any]

TURNS_A_GAME = 200  # long enough to reach from the opening to the bear-off
CHECKERS, HEAD, BAR = 15, 24, 25
RUN = 6  # points in a row that make a block


def board_of(mine: dict[int, int], theirs: dict[int, int]) -> Int8:
    """int8 [2, 26]: a board from the points of each side, as that side counts them; the rest is borne off."""
    board = np.zeros((2, 26), dtype=np.int8)
    for row, side in enumerate((mine, theirs)):
        for point, count in side.items():
            board[row, point] = count
    board[:, 0] += CHECKERS - board.sum(axis=1, dtype=np.int8)
    return board


def random_rolls(n: int, rng: np.random.Generator) -> Int8:
    """int8 [n, 2]: rolls of two fair dice."""
    return rng.integers(1, 7, size=(n, 2), dtype=np.int8)


def random_play(
    rules: Rules, n: int, rng: np.random.Generator, generate: BatchGenerator = legal_afterstates
) -> tuple[Int8, Int8]:
    """Boards and rolls met when both sides pick any legal play at random; no finished boards.

    Args:
        rules: the variant.
        n: positions wanted.
        rng: picks rolls and plays.
        generate: the move generator under test.
    Returns:
        int8 [n, 2, 26] and int8 [n, 2]; neighbours in the batch come from different games.
    """
    games = max(1, n // TURNS_A_GAME)
    boards = np.repeat(rules.start_board()[None], games, axis=0)
    met: list[Int8] = []
    rolls: list[Int8] = []
    while len(met) * games < n:
        dice = random_rolls(games, rng)
        met.append(boards)
        rolls.append(dice)
        afterstates, offsets = generate(boards, dice, rules)
        picked = rng.integers(offsets[:-1], offsets[1:])
        boards = np.ascontiguousarray(opponent_view(afterstates[picked]))
        boards[(boards[:, :, 0] == CHECKERS).any(axis=1)] = rules.start_board()
    return np.concatenate(met)[:n], np.concatenate(rolls)[:n]


def placed(rules: Rules, n: int, rng: np.random.Generator) -> tuple[Int8, Int8]:
    """Well-formed boards that play need not reach, and rolls: clusters, crowds, primes, ends, first turns, bars.

    Args:
        rules: the variant.
        n: positions wanted.
        rng: places the checkers.
    Returns:
        int8 [n, 2, 26] and int8 [n, 2]; nobody has finished.
    """
    mine = _spread(n, rng)
    theirs = _spread(n, rng)
    _add_primes(mine, theirs, rules, rng)
    if rules.can_hit:
        for points in (mine, theirs):
            on_bar = rng.integers(1, 4, size=n) * (rng.random(n) < 0.25)
            points[np.arange(CHECKERS) < on_bar[:, None]] = BAR
    if rules.has_head_rule:
        mine[rng.random(n) < 0.1] = HEAD
        few_moved = rng.random(n) < 0.1
        theirs[few_moved, : CHECKERS - 2] = HEAD
    boards = np.stack([_counts(mine), _counts(theirs)], axis=1)
    _part(boards, rules)
    return boards, random_rolls(n, rng)


def _spread(n: int, rng: np.random.Generator) -> Int64:
    """int64 [n, 15]: a point for every checker, on 1 to 15 distinct points of a window, some borne off."""
    ends = np.sort(rng.integers(1, HEAD + 1, size=(n, 2)), axis=1)
    ends[rng.random(n) < 0.2] = (1, 6)
    candidates = rng.integers(ends[:, :1], ends[:, 1:] + 1, size=(n, CHECKERS))
    distinct = rng.integers(1, CHECKERS + 1, size=(n, 1))
    points = np.take_along_axis(candidates, rng.integers(0, distinct, size=(n, CHECKERS)), axis=1)
    off = rng.integers(1, CHECKERS, size=n) * (rng.random(n) < 0.4)
    points[np.arange(CHECKERS) >= CHECKERS - off[:, None]] = 0
    return points


def _add_primes(mine: Int64, theirs: Int64, rules: Rules, rng: np.random.Generator) -> None:
    """In a third of the boards hold a run on the opponent's route, often broken in one place and often ahead of him."""
    chosen = np.flatnonzero(rng.random(len(mine)) < 1 / 3)
    first = rng.integers(1, HEAD - RUN + 1, size=(len(chosen), 1))
    run = first + np.arange(RUN)
    is_broken = rng.random(len(chosen)) < 0.8
    run[is_broken, rng.integers(0, RUN, size=int(is_broken.sum()))] = HEAD
    mine[chosen[:, None], np.arange(RUN)] = rules.opponent_point[run]
    is_ahead = rng.random(len(chosen)) < 0.8
    behind = rng.integers(np.minimum(first + RUN, HEAD), HEAD + 1, size=(len(chosen), CHECKERS))
    theirs[chosen[is_ahead]] = behind[is_ahead]


def _counts(points: Int64) -> Int8:
    counts = np.zeros((len(points), BAR + 1), dtype=np.int8)
    np.add.at(counts, (np.arange(len(points))[:, None], points), 1)
    return counts


def _part(boards: Int8, rules: Rules) -> None:
    """Move the opponent's checkers from points that I hold to his highest free point."""
    rows = np.arange(len(boards))
    free = boards[:, 0, rules.opponent_point] == 0  # [n, 26], by his own points
    free[:, [0, BAR]] = False
    highest = HEAD - np.argmax(free[:, HEAD:0:-1], axis=1)
    clashes = np.where(free, 0, boards[:, 1])
    clashes[:, [0, BAR]] = 0
    boards[:, 1] -= clashes
    boards[rows, 1, highest] += clashes.sum(axis=1, dtype=np.int8)
