"""Dense features of a board, by feature set. `features.py` documents every column.

Masks of one side: bit p is its own point p; reversed masks have bit 25 - p, so that what lies ahead of a checker is
found by a shift: for a checker on q, bit d - 1 of `ahead(mask, q)` is the point d ahead of it. `fastmath` lets the
compiler multiply by the reciprocals of the scales.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from agent._feature_tables import DOUBLES, ENTER_AND_HIT, ESCAPE, SHOTS, STEPS, TRAVEL
from agent._vector_kernels import exp_float32
from engine._bit_kernels import (
    ENTRY,
    INNER,
    address,
    bit_count,
    cells_above,
    highest_bit,
    highest_bit_first,
    lowest_bit,
)

COUNTS_V1, SHORT_V1, LONG_V1 = range(3)
MINE, THEIRS = np.int64(0), np.int64(26)  # where a row starts; typed, or kernels would be compiled twice
SHORT_SIDE, LONG_SIDE = 28, 24  # columns of one side
WINDOW_BITS = 4095
POINTS = (1 << 25) - 2  # 1..24
BACK_POINTS = ((1 << 25) - 1) & ~((1 << 19) - 1)  # 19..24
HOME_POINTS = 126  # 1..6
OWN_CELLS = (1 << 26) - 2  # all but those borne off


@njit(**INNER, inline="always")
def ahead(closed_reversed, point):
    return (closed_reversed >> (26 - point)) & WINDOW_BITS


@njit(**INNER, inline="always")
def reversed_points(mask):
    """Bit 25 - p for every bit p."""
    return (highest_bit_first(mask) >> 38) & OWN_CELLS


@njit(**INNER, inline="always")
def longest_run(mask):
    length = 0
    while mask != 0:
        mask &= mask >> 1
        length += 1
    return length


@njit(**INNER, fastmath=True, inline="always")
def roll_share(rolls):
    """Share of the 36 rolls in a mask of `_feature_tables.roll_bit`."""
    return (2 * bit_count(rolls) - bit_count(rolls & DOUBLES)) / 36.0


@njit(**INNER)
def shots_at(blot, closed, entry, other, other_bar):
    """Rolls by which the other side hits a blot on my point `blot`.

    closed: my points of two and more, as the other side counts. entry: bit die - 1 for every die that enters there
    from the bar. other: the other side's points, also its own way.
    """
    target = 25 - blot  # the blot as the other side counts
    before = closed >> (target + 1)
    free = ~before & 63
    rolls = 0
    sources = other >> (target + 1)
    if other_bar > 0:
        if other_bar == 1:
            rest = sources & 63 & ~(1 << (24 - target))
            while rest != 0:
                rolls |= ENTER_AND_HIT[lowest_bit(rest) + 1, entry]
                rest &= rest - 1
            sources &= 1 << (24 - target)  # the bar
        else:
            return SHOTS[25 - target, 0] if target >= 19 else 0
    while sources != 0:
        distance = lowest_bit(sources) + 1
        sources &= sources - 1
        rolls |= SHOTS[distance, free]
        for steps in range(2):
            if before & STEPS[distance, steps, 0] == 0:
                rolls |= STEPS[distance, steps, 1]
    return rolls


@njit(**INNER, fastmath=True)
def hit_features(blots, made, other, other_bar, out):
    """out[16:19]: share of rolls that hit, that hit two, and the mean pips lost."""
    seen, twice, lost = 0, 0, 0.0
    closed = reversed_points(made)
    entry = ~(made >> 1) & 63
    while blots != 0:
        blot = lowest_bit(blots)  # the lowest loses the most pips
        blots &= blots - 1
        rolls = shots_at(blot, closed, entry, other, other_bar)
        lost += (25 - blot) * roll_share(rolls & ~seen)
        twice |= seen & rolls
        seen |= rolls
    out[16] = roll_share(seen)
    out[17] = roll_share(twice)
    out[18] = lost / 10.0


@njit(**INNER, fastmath=True)
def short_counts(cells, own, held, made, front, out):
    """Columns of one side's checkers by themselves; returns its pips. `front`: the other's rearmost, my way."""
    pips = outside = timing = stacked = spares = spread = back = in_contact = 0
    points = held
    while points != 0:
        point = lowest_bit(points)
        points &= points - 1
        count = np.int64(cells[own + point])
        pips += point * count
        spread += point * point * count
        beyond = max(point - 6, 0) * count
        outside += beyond
        timing += beyond * (point <= 18)
        stacked += max(count - 3, 0)
        spares += max(count - 2, 0) * (point >= 3 and point <= 13)
        back += count * (point >= 13)
        in_contact += count * (point >= front)
    out[0] = pips / 100.0
    out[2] = bit_count(made & HOME_POINTS) / 6.0
    out[3] = (cells[own + 1] + cells[own + 2]) / 6.0
    out[4] = stacked / 6.0
    out[5] = spares / 6.0
    out[6] = outside / 60.0
    out[7] = timing / 60.0
    mean = pips / 15.0
    out[8] = np.sqrt(max(spread / 15.0 - mean * mean, 0.0)) / 8.0
    if front < 25:
        out[26] = in_contact / 15.0
        out[27] = back / 5.0
    return pips


@njit(**INNER, fastmath=True)
def short_contact(cells, own, made, blots, held, made_other, held_other, rear, rear_other, out):
    """Columns that matter only while the sides can meet; the other side's masks in its own points."""
    anchors = made & BACK_POINTS
    out[9] = bit_count(anchors) / 3.0
    if anchors != 0:
        out[10] = (25 - lowest_bit(anchors)) / 6.0
    out[11] = longest_run(made) / 6.0
    out[12] = longest_run(ahead(made, rear_other)) / 6.0
    out[13] = bit_count(blots & HOME_POINTS) / 3.0
    out[14] = bit_count(blots & BACK_POINTS) / 2.0
    out[15] = bit_count(blots & ~HOME_POINTS & ~BACK_POINTS) / 3.0
    hit_features(blots, made, held_other, cells[26 - own + 25], out)
    window = ahead(made_other, rear)
    out[19] = TRAVEL[window]
    out[20] = ESCAPE[window]
    total = np.float32(0.0)
    points = held >> 13
    while points != 0:
        point = lowest_bit(points) + 13
        points &= points - 1
        total += np.float32(cells[own + point]) * (np.float32(1.0) - TRAVEL[ahead(made_other, point)])
    out[21] = total / 3.0
    least, travel = np.float32(1.0), np.float32(0.0)
    for point in range(19, 26):
        reach = TRAVEL[ahead(made, point)]
        least = min(least, reach)
        travel += reach
    out[22] = travel / 7.0
    out[23] = least
    closed = reversed_points(made_other)
    moves, dead = 0, 0
    movers = held if rear < 25 else 1 << 25  # from the bar first
    for die in range(1, 7):
        free = bit_count(movers & ~(closed << die) & ~((2 << die) - 1))
        moves += free
        dead += free == 0
    out[24] = moves / 30.0
    out[25] = dead / 6.0


@njit(**INNER, fastmath=True)
def shared_columns(pips, pips_other, overlap, out):
    """Race columns of both games: pip lead, the lead against its spread, and how far the sides overlap."""
    lead = pips_other - pips
    out[0] = lead / 50.0
    spread = (lead - 4.0) / (1.5 * np.sqrt(pips + pips_other + 1.0))
    shrunk = exp_float32(np.float32(-2.0 * abs(spread)))
    size = (np.float32(1.0) - shrunk) / (np.float32(1.0) + shrunk)  # tanh
    out[1] = size if spread > 0.0 else -size
    out[2] = overlap


@njit(**INNER, fastmath=True)
def short_features(cells, out):
    held_cells, many = cells_above(address(cells), 0), cells_above(address(cells), 1)
    held, held_other = held_cells & OWN_CELLS, (held_cells >> 26) & OWN_CELLS
    if held == 0 or held_other == 0:
        return
    made, made_other = many & POINTS, (many >> 26) & POINTS
    rear, rear_other = highest_bit(held), highest_bit(held_other)
    mine, theirs = out[:SHORT_SIDE], out[SHORT_SIDE : 2 * SHORT_SIDE]
    is_contact = rear + rear_other > 25
    nowhere = 26
    pips = short_counts(cells, MINE, held, made, max(25 - rear_other, 1) if is_contact else nowhere, mine)
    pips_other = short_counts(
        cells, THEIRS, held_other, made_other, max(25 - rear, 1) if is_contact else nowhere, theirs
    )
    mine[1], theirs[1] = rear / 25.0, rear_other / 25.0
    if is_contact:
        blots, blots_other = held & POINTS & ~made, held_other & POINTS & ~made_other
        short_contact(cells, MINE, made, blots, held, made_other, held_other, rear, rear_other, mine)
        short_contact(cells, THEIRS, made_other, blots_other, held_other, made, held, rear_other, rear, theirs)
    shared_columns(pips, pips_other, max(rear + rear_other - 25, 0) / 25.0, out[2 * SHORT_SIDE :])


@njit(**INNER, inline="always")
def shifted(mask):
    """A mask of points 1..24 in the other side's points (12 further, round the table)."""
    points = mask >> 1
    return (((points << 12) | (points >> 12)) & 0xFFFFFF) << 1


@njit(**INNER, fastmath=True)
def long_counts(cells, own, held, rear, out):
    """Columns of one side's checkers by themselves; returns its pips."""
    pips = outside = home = stacked = doubled = tallest = 0
    points = held
    while points != 0:
        point = lowest_bit(points)
        points &= points - 1
        count = np.int64(cells[own + point])
        pips += point * count
        outside += max(point - 6, 0) * count
        home += count * (point <= 6)
        several = count * (count > 1 and point < 24)
        doubled += several > 0
        stacked += max(several - 2, 0)
        tallest = max(tallest, several)
    out[0] = pips / 100.0
    out[1] = outside / 100.0
    out[2] = rear / 24.0
    out[3] = home / 15.0
    out[4] = cells[own + 24] / 15.0
    out[5] = stacked / 10.0
    out[6] = doubled / 6.0
    out[7] = tallest / 8.0
    out[8] = bit_count(held) / 10.0
    out[9] = 0.0 if cells[own] > 0 else lowest_bit(held) / 24.0
    return pips


@njit(**INNER, fastmath=True)
def long_contact(cells, own, held, held_other, rear, rear_other, out):
    """Columns that matter only while a point can be contested."""
    closed = shifted(held_other)
    out[10] = bit_count(closed & ((1 << rear) - 1)) / 10.0
    obstacles = reversed_points(closed)
    travel, least, moving = np.float32(0.0), np.float32(1.0), np.float32(0.0)
    points = held >> 7
    while points != 0:
        point = lowest_bit(points) + 7
        points &= points - 1
        reach = TRAVEL[ahead(obstacles, point)]
        least = min(least, reach)
        travel += np.float32(cells[own + point]) * reach
        moving += np.float32(cells[own + point])
    if moving > 0:
        out[11] = np.float32(1.0) - travel / moving
        out[12] = np.float32(1.0) - least
    window = ahead(obstacles, rear)
    out[13] = TRAVEL[window]
    out[14] = ESCAPE[window]
    for die in range(1, 7):
        out[14 + die] = bit_count(held & ~(closed << die) & ~((2 << die) - 1)) / 8.0
    front = shifted(held) & ((1 << rear_other) - 1)  # my points that the other side has still to pass
    run = longest_run(front)
    out[21] = run / 6.0
    most = 0
    if bit_count(front) >= 4:
        for first in range(1, 20):
            most = max(most, bit_count((front >> first) & 63))
    out[22] = most / 6.0 if most >= 4 else 0.0
    if run >= 3:
        folded = front
        for _ in range(run - 1):
            folded &= folded >> 1
        trapped = 0
        for point in range(highest_bit(folded) + run, 25):
            trapped += cells[26 - own + point]
        out[23] = trapped / 15.0


@njit(**INNER, fastmath=True)
def long_features(cells, out):
    held_cells = cells_above(address(cells), 0)
    first, second = held_cells & OWN_CELLS, (held_cells >> 26) & OWN_CELLS
    if first == 0 or second == 0:
        return
    rear, rear_other = highest_bit(first), highest_bit(second)
    mine, theirs = out[:LONG_SIDE], out[LONG_SIDE : 2 * LONG_SIDE]
    pips = long_counts(cells, MINE, first, rear, mine)
    pips_other = long_counts(cells, THEIRS, second, rear_other, theirs)
    furthest = max(rear, rear_other)
    if furthest > 12:
        long_contact(cells, MINE, first, second, rear, rear_other, mine)
        long_contact(cells, THEIRS, second, first, rear_other, rear, theirs)
    shared_columns(pips, pips_other, max(furthest - 12, 0) / 12.0, out[2 * LONG_SIDE :])


@njit(**INNER)
def board_features(feature_set, cells, out):
    """Dense features of 52 cells, row 0 the player who just moved, into out."""
    out[:] = 0.0
    if feature_set == SHORT_V1:
        short_features(cells, out)
    elif feature_set == LONG_V1:
        long_features(cells, out)


@njit(**ENTRY)
def batch_features(feature_set, boards, out):
    """Dense features of boards [N, 52] into out [N, F]."""
    for i in range(boards.shape[0]):
        board_features(feature_set, boards[i], out[i])
