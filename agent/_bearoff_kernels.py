"""Kernels of the bear-off tables: row numbers, the recursions that build the tables, and their use on a board.

A side all home is a row number: its checkers on 1..6 ranked so that fewer checkers come first and every step lowers
the rank. So rows 0..923 have at most 6 checkers, the last 15504 have all 15, and row 0 is the finished side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from engine._bit_kernels import ENTRY

POINTS = 6
ROWS = 54264  # C(21, 6): at most 15 checkers on 6 points
NONE_OFF_ROW = 38760  # C(20, 6): first row with all 15 checkers
FEW_ROWS = 924  # C(12, 6): at most 6 checkers
ROLLS = 21
MAX_SEQUENCES = 126  # four equal steps from six points; two different dice in both orders: 72

MEAN_TIE = 1e-12


class BearoffArrays(NamedTuple):
    """The tables as kernels take them; all have size 0 (but `ranks`) where there are no tables.

    one_sided float32 [54264, T]: P(the last checker is off at exactly roll t), t = 0..T-1.
    first_off float32 [15504, F]: the same for the first checker off, for the rows with all 15 left.
    two_sided float32 [924, 924]: P(the side on roll wins), by its row and the other side's.
    ranks int32 [7, 16]: what the checkers on point p or higher add to the row number.
    """

    one_sided: np.ndarray
    first_off: np.ndarray
    two_sided: np.ndarray
    ranks: np.ndarray


@njit(**ENTRY)
def row_index(side, ranks):
    """Row number of one side, int8 or int64 [>= 7] with all its checkers on 0..6."""
    row = 0
    higher = 0
    for point in range(POINTS, 0, -1):
        higher += side[point]
        row += ranks[point, higher]
    return row


@njit(**ENTRY)
def is_home(board):
    """Whether both sides of int8 [2, 26] have all 15 checkers on 0..6, no count being negative."""
    for side in range(2):
        total = 0
        for point in range(POINTS + 1):
            if board[side, point] < 0:
                return False
            total += board[side, point]
        if total != 15:
            return False
    return True


@njit(**ENTRY)
def bearoff_probs(board, tables, levels, out):
    """Outcome probabilities, seen by row 0 that has just moved, of a board with both sides home.

    Args: board int8 [2, 26]; tables a non-empty BearoffArrays; levels = outcome classes a side can win by;
    out float32 [2 * levels], overwritten.
    """
    mine = row_index(board[0], tables.ranks)
    theirs = row_index(board[1], tables.ranks)
    out[:] = 0.0
    if mine < FEW_ROWS and theirs < FEW_ROWS:
        lost = tables.two_sided[theirs, mine]
        out[0] = 1.0 - lost
        out[levels] = lost
        return
    win = _chance_first(tables.one_sided[mine], tables.one_sided[theirs])
    win_gammon = 0.0
    lose_gammon = 0.0
    if theirs >= NONE_OFF_ROW:
        win_gammon = min(win, _chance_none_off(tables.one_sided[mine], tables.first_off[theirs - NONE_OFF_ROW], 0))
    if mine >= NONE_OFF_ROW:
        chance = _chance_none_off(tables.one_sided[theirs], tables.first_off[mine - NONE_OFF_ROW], 1)
        lose_gammon = min(1.0 - win, chance)
    out[0] = win - win_gammon
    out[1] = win_gammon
    out[levels] = 1.0 - win - lose_gammon
    out[levels + 1] = lose_gammon


@njit(**ENTRY)
def _chance_first(mine, theirs):
    """P(my last checker is off in fewer rolls than theirs): they are on roll, so equal numbers are their win."""
    win = 0.0
    theirs_later = 1.0
    for t in range(mine.shape[0]):
        theirs_later -= theirs[t]
        if theirs_later < 1e-9:
            break
        win += mine[t] * theirs_later
    return min(1.0, max(0.0, win))


@njit(**ENTRY)
def _chance_none_off(winner, first_off, is_winner_on_roll):
    """P(the winner finishes while the other, who rolled as often or once less, has none off)."""
    chance = 0.0
    none_off = 1.0
    if is_winner_on_roll == 1:
        for t in range(min(winner.shape[0], first_off.shape[0])):
            chance += winner[t] * none_off
            none_off -= first_off[t]
    else:
        for t in range(min(winner.shape[0], first_off.shape[0])):
            none_off -= first_off[t]
            chance += winner[t] * none_off
    return min(1.0, max(0.0, chance))


@njit(**ENTRY)
def bearoff_probs_batch(boards, tables, levels, out):
    """`bearoff_probs` of each board of int8 [N, 2, 26] into float32 [N, 2 * levels]."""
    for i in range(boards.shape[0]):
        bearoff_probs(boards[i], tables, levels, out[i])


@njit(**ENTRY)
def first_not_home(boards):
    """Index of the first board of int8 [N, 2, 26] that is not all home, or -1."""
    for i in range(boards.shape[0]):
        if not is_home(boards[i]):
            return i
    return -1


@njit(**ENTRY)
def row_counts(row, ranks, counts):
    """Checkers on 1..6 of a row number, into int64 [7] (index 0 unused)."""
    higher = 15
    for point in range(1, POINTS + 1):
        while ranks[point, higher] > row:
            higher -= 1
        row -= ranks[point, higher]
        counts[point] = higher
    for point in range(1, POINTS):
        counts[point] -= counts[point + 1]
    counts[0] = 0


@njit(**ENTRY)
def _can_step(counts, point, die):
    if counts[point] == 0:
        return False
    if point >= die:
        return True
    for higher in range(point + 1, POINTS + 1):  # noqa: SIM110  (numba has no all() of a generator)
        if counts[higher] > 0:
            return False
    return True


@njit(**ENTRY)
def _step(counts, point, die, sign):
    """Play one step (sign 1) or take it back (sign -1); index 0 counts the checkers borne off."""
    counts[point] -= sign
    counts[max(0, point - die)] += sign


@njit(**ENTRY)
def rows_after(counts, high, low, ranks, out):
    """Row numbers of all plays of a roll from counts int64 [7], into int64 [126]; the same row may come twice.

    Every die is playable while a checker is left, so rules 2.3 and 2.4 of RULES.md never bind.
    """
    if high == low:
        return _rows_after_double(counts, high, ranks, out)
    found = 0
    for order in range(2):
        first, second = (high, low) if order == 0 else (low, high)
        for point in range(POINTS, 0, -1):
            if not _can_step(counts, point, first):
                continue
            _step(counts, point, first, 1)
            row = row_index(counts, ranks)
            if row == 0:
                out[found] = row
                found += 1
            for other in range(POINTS, 0, -1):
                if _can_step(counts, other, second):
                    _step(counts, other, second, 1)
                    out[found] = row_index(counts, ranks)
                    found += 1
                    _step(counts, other, second, -1)
            _step(counts, point, first, -1)
    return found


@njit(**ENTRY)
def _rows_after_double(counts, die, ranks, out):
    # Equal steps can be reordered from the rearmost start down, which also is the order overshooting needs.
    cursor = np.empty(4, np.int64)
    taken = np.zeros(4, np.int64)
    found = 0
    depth = 0
    cursor[0] = POINTS + 1
    while depth >= 0:
        if taken[depth] > 0:
            _step(counts, taken[depth], die, -1)
            taken[depth] = 0
        point = cursor[depth] - 1
        while point > 0 and not _can_step(counts, point, die):
            point -= 1
        if point == 0:
            depth -= 1
            continue
        cursor[depth] = point
        taken[depth] = point
        _step(counts, point, die, 1)
        row = row_index(counts, ranks)
        if depth == 3 or row == 0:
            out[found] = row
            found += 1
        else:
            depth += 1
            cursor[depth] = point + 1
    return found


@njit(**ENTRY)
def least_rolls(start, stop, ranks, mean, policy):
    """Expected rolls and chosen rows of rows start..stop-1, given those of all lower rows.

    mean float64 [54264] and policy int32 [54264, 21] are filled; the 21 rolls run 1:1 2:1 2:2 3:1 ... 6:6. Rows whose
    mean was left at 0 count as reached, so that a start at NONE_OFF_ROW counts the rolls to the first checker off.
    """
    counts = np.zeros(POINTS + 1, np.int64)
    found = np.empty(MAX_SEQUENCES, np.int64)
    for row in range(start, stop):
        row_counts(row, ranks, counts)
        total = 0.0
        roll = 0
        for high in range(1, 7):
            for low in range(1, high + 1):
                plays = rows_after(counts, high, low, ranks, found)
                best = found[0]
                for k in range(1, plays):
                    after = found[k]
                    gain = mean[best] - mean[after]
                    if gain > MEAN_TIE or (after < best and gain >= -MEAN_TIE):
                        best = after
                policy[row, roll] = best
                total += mean[best] if high == low else 2.0 * mean[best]
                roll += 1
        mean[row] = 1.0 + total / 36.0


@njit(**ENTRY)
def roll_distributions(start, stop, first, policy, chances):
    """P(t rolls until the row number falls below `first`), t along the columns, for rows start..stop-1.

    chances float64 [rows, T] holds rows first..; what would need T rolls or more stays in the last column.
    """
    last = chances.shape[1] - 1
    for row in range(start, stop):
        here = chances[row - first]
        here[:] = 0.0
        roll = 0
        for high in range(1, 7):
            for low in range(1, high + 1):
                weight = (1.0 if high == low else 2.0) / 36.0
                after = policy[row, roll]
                roll += 1
                if after < first:
                    here[1] += weight
                    continue
                there = chances[after - first]
                for t in range(last):
                    here[t + 1] += weight * there[t]
                here[last] += weight * there[last]


@njit(**ENTRY)
def list_plays(ranks, offsets, rows):
    """All plays of the rows of at most 6 checkers: those of (row, roll) are rows[offsets[row, roll] : ... + 1].

    offsets int64 [924, 22] and rows int32 are filled; returns how many rows were needed.
    """
    counts = np.zeros(POINTS + 1, np.int64)
    found = np.empty(MAX_SEQUENCES, np.int64)
    used = 0
    for row in range(1, offsets.shape[0]):
        row_counts(row, ranks, counts)
        roll = 0
        for high in range(1, 7):
            for low in range(1, high + 1):
                offsets[row, roll] = used
                start = used
                for k in range(rows_after(counts, high, low, ranks, found)):
                    is_known = False
                    for seen in range(start, used):
                        is_known = is_known or rows[seen] == found[k]
                    if not is_known:
                        rows[used] = found[k]
                        used += 1
                roll += 1
        offsets[row, roll] = used
    return used


@njit(**ENTRY)
def _best_reply(row, replies, offsets, rows):
    """P(a side wins that is on roll at `row`), replies[r] being the other's chance once it is left at row r."""
    total = 0.0
    roll = 0
    for high in range(1, 7):
        for low in range(1, high + 1):
            least = 2.0
            for k in range(offsets[row, roll], offsets[row, roll + 1]):
                least = min(least, replies[rows[k]])
            total += (1.0 - least) * (1.0 if high == low else 2.0)
            roll += 1
    return total / 36.0


@njit(**ENTRY)
def two_sided_shells(start, stop, offsets, rows, won):
    """Optimal win chances won[row on roll, other row] (float64 [924, 924]) where the higher row is start..stop-1.

    Row 0 (finished) must hold 1 and column 0 must hold 0; lower shells must be filled.
    """
    for shell in range(start, stop):
        for other in range(1, shell):
            won[shell, other] = _best_reply(shell, won[other], offsets, rows)
        for other in range(1, shell + 1):
            won[other, shell] = _best_reply(other, won[shell], offsets, rows)
