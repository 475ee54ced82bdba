"""Dense features of a board, by feature set. `features.py` documents every column.

Masks of one side: bit p is its own point p; reversed masks have bit 25 - p, so that what lies ahead of a checker is
found by a shift: for a checker on q, bit d - 1 of `ahead(mask, q)` is the point d ahead of it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from agent._feature_tables import DOUBLES, ENTER_AND_HIT, REACH, SHOTS
from engine._bit_kernels import bit_count, highest_bit, lowest_bit

COUNTS_V1, SHORT_V1, LONG_V1 = range(3)
SHORT_SIDE, LONG_SIDE = 28, 24  # columns of one side
SHARED = 3
WINDOW_BITS = 4095
BACK_POINTS = ((1 << 25) - 1) & ~((1 << 19) - 1)  # 19..24
HOME_POINTS = 126  # 1..6


@njit(cache=True, nogil=True, inline="always")
def ahead(closed_reversed, point):
    return (closed_reversed >> (26 - point)) & WINDOW_BITS


@njit(cache=True, nogil=True)
def longest_run(mask):
    length = 0
    while mask != 0:
        mask &= mask >> 1
        length += 1
    return length


@njit(cache=True, nogil=True, inline="always")
def roll_share(rolls):
    """Share of the 36 rolls in a mask of `_feature_tables.roll_bit`."""
    return (2 * bit_count(rolls) - bit_count(rolls & DOUBLES)) / 36.0


@njit(cache=True, nogil=True)
def shots_at(blot, made, other, other_bar):
    """Rolls by which the other side hits a blot on my point `blot`.

    made: my points of two and more. other: the other side's points, both as plain masks of their own side.
    """
    target = 25 - blot  # the blot as the other side counts
    closed = 0
    rest = made
    while rest != 0:
        closed |= 1 << (25 - lowest_bit(rest))
        rest &= rest - 1
    before = closed >> (target + 1)
    free = ~before & 63
    entry = ~(made >> 1) & 63
    rolls = 0
    sources = other >> (target + 1)
    while sources != 0:
        distance = lowest_bit(sources) + 1
        sources &= sources - 1
        if other_bar > 0 and target + distance < 25:
            if distance <= 6 and other_bar == 1:
                rolls |= ENTER_AND_HIT[distance, entry]
            continue
        if other_bar > 1:
            if distance <= 6:
                rolls |= SHOTS[distance, 0]
            continue
        rolls |= SHOTS[distance, free]
        if distance % 3 == 0 and distance <= 18:
            die = distance // 3
            if (before >> (die - 1) | before >> (2 * die - 1)) & 1 == 0:
                rolls |= 1 << (die - 1)
        if distance % 4 == 0:
            die = distance // 4
            if (before >> (die - 1) | before >> (2 * die - 1) | before >> (3 * die - 1)) & 1 == 0:
                rolls |= 1 << (die - 1)
    return rolls


@njit(cache=True, nogil=True)
def hit_features(blots, made, other, other_bar, out):
    """out[0:3]: share of rolls that hit, that hit two, and the mean pips lost."""
    seen, twice, lost = 0, 0, 0.0
    while blots != 0:
        blot = lowest_bit(blots)  # the lowest loses the most pips
        blots &= blots - 1
        rolls = shots_at(blot, made, other, other_bar)
        lost += (25 - blot) * roll_share(rolls & ~seen)
        twice |= seen & rolls
        seen |= rolls
    out[0] = roll_share(seen)
    out[1] = roll_share(twice)
    out[2] = lost / 10.0


@njit(cache=True, nogil=True)
def short_side(cells, own, made, blots, held, made_other, held_other, rear, rear_other, out):
    """The SHORT_SIDE columns of the side whose row starts at `own`; the other side's masks in its own points."""
    other = 26 - own
    pips = outside = timing = deep = stacked = spares = spread = 0
    for point in range(1, 26):
        count = cells[own + point]
        if count == 0:
            continue
        pips += point * count
        spread += point * point * count
        if point > 6:
            outside += (point - 6) * count
            if point <= 18:
                timing += (point - 6) * count
        if point <= 2:
            deep += count
        if count > 3:
            stacked += count - 3
        if count > 2 and 3 <= point <= 13:
            spares += count - 2
    out[0] = pips / 100.0
    out[1] = rear / 25.0
    out[2] = bit_count(made & HOME_POINTS) / 6.0
    out[3] = deep / 6.0
    out[4] = stacked / 6.0
    out[5] = spares / 6.0
    out[6] = outside / 60.0
    out[7] = timing / 60.0
    mean = pips / 15.0
    out[8] = np.sqrt(max(spread / 15.0 - mean * mean, 0.0)) / 8.0
    if rear + rear_other <= 25:
        return
    anchors = made & BACK_POINTS
    out[9] = bit_count(anchors) / 3.0
    if anchors != 0:
        out[10] = (25 - lowest_bit(anchors)) / 6.0
    out[11] = longest_run(made) / 6.0
    out[12] = longest_run(ahead(made, rear_other)) / 6.0
    out[13] = bit_count(blots & HOME_POINTS) / 3.0
    out[14] = bit_count(blots & BACK_POINTS) / 2.0
    out[15] = bit_count(blots & ~HOME_POINTS & ~BACK_POINTS) / 3.0
    hit_features(blots & ((1 << 25) - 1), made, held_other, cells[other + 25], out[16:19])
    window = ahead(made_other, rear)
    out[19] = REACH[window, 0]
    out[20] = REACH[window, 1]
    total, back = 0.0, 0
    points = held >> 13
    while points != 0:
        point = lowest_bit(points) + 13
        points &= points - 1
        back += cells[own + point]
        total += cells[own + point] * (1.0 - REACH[ahead(made_other, point), 0])
    out[21] = total / 3.0
    least, mean = np.float32(1.0), 0.0
    for point in range(19, 26):
        travel = REACH[ahead(made, point), 0]
        least = min(least, travel)
        mean += travel
    out[22] = mean / 7.0
    out[23] = least
    closed = 0
    rest = made_other
    while rest != 0:
        closed |= 1 << (25 - lowest_bit(rest))
        rest &= rest - 1
    moves, dead = 0, 0
    movers = held if rear < 25 else 1 << 25  # from the bar first
    for die in range(1, 7):
        free = bit_count(movers & ~(closed << die) & ~((2 << die) - 1))
        moves += free
        dead += free == 0
    out[24] = moves / 30.0
    out[25] = dead / 6.0
    front = 25 - highest_bit(held_other)  # their rearmost checker, counted from my side
    in_contact = 0
    for point in range(max(front, 1), 26):
        in_contact += cells[own + point]
    out[26] = in_contact / 15.0
    out[27] = back / 5.0


@njit(cache=True, nogil=True)
def point_masks(cells, own):
    """(made, blots, held) of one side as plain masks; the bar counts as held."""
    made = blots = 0
    for point in range(1, 25):
        count = cells[own + point]
        if count == 1:
            blots |= 1 << point
        elif count > 1:
            made |= 1 << point
    held = made | blots
    if cells[own + 25] > 0:
        held |= 1 << 25
    return made, blots, held


@njit(cache=True, nogil=True)
def shared_columns(pips, pips_other, contact, out):
    """Race columns of both games: pip lead, the lead against its spread, and how far the sides overlap."""
    lead = pips_other - pips
    out[0] = lead / 50.0
    out[1] = np.tanh((lead - 4.0) / (1.5 * np.sqrt(pips + pips_other + 1.0)))
    out[2] = contact


@njit(cache=True, nogil=True)
def short_features(cells, out):
    made, blots, held = point_masks(cells, 0)
    made_other, blots_other, held_other = point_masks(cells, 26)
    if held == 0 or held_other == 0:
        return
    rear, rear_other = highest_bit(held), highest_bit(held_other)
    split = SHORT_SIDE
    short_side(cells, 0, made, blots, held, made_other, held_other, rear, rear_other, out[:split])
    short_side(cells, 26, made_other, blots_other, held_other, made, held, rear_other, rear, out[split : 2 * split])
    overlap = max(rear + rear_other - 25, 0) / 25.0
    shared_columns(out[0] * 100.0, out[split] * 100.0, overlap, out[2 * split :])


@njit(cache=True, nogil=True)
def shifted(mask):
    """A mask of points 1..24 in the other side's points (12 further, round the table)."""
    points = mask >> 1
    return (((points << 12) | (points >> 12)) & 0xFFFFFF) << 1


@njit(cache=True, nogil=True)
def reversed_points(mask):
    """Bit 25 - p for every bit p."""
    result = 0
    while mask != 0:
        result |= 1 << (25 - lowest_bit(mask))
        mask &= mask - 1
    return result


@njit(cache=True, nogil=True)
def long_side(cells, own, held, held_other, rear_other, out):
    """The LONG_SIDE columns of the side whose row starts at `own`."""
    pips = outside = home = stacked = doubled = tallest = 0
    for point in range(1, 25):
        count = cells[own + point]
        if count == 0:
            continue
        pips += point * count
        if point > 6:
            outside += (point - 6) * count
        else:
            home += count
        if count > 1 and point < 24:
            doubled += 1
            stacked += count - 2
            tallest = max(tallest, count)
    rear = highest_bit(held)
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
    if rear <= 12 and rear_other <= 12:
        return
    closed = shifted(held_other)
    below = (1 << rear) - 1
    out[10] = bit_count(closed & below) / 10.0
    obstacles = reversed_points(closed)
    travel, least, moving = 0.0, np.float32(1.0), 0
    points = held >> 7
    while points != 0:
        point = lowest_bit(points) + 7
        points &= points - 1
        reach = REACH[ahead(obstacles, point), 0]
        least = min(least, reach)
        travel += cells[own + point] * reach
        moving += cells[own + point]
    if moving > 0:
        out[11] = 1.0 - travel / moving
        out[12] = 1.0 - least
    window = ahead(obstacles, rear)
    out[13] = REACH[window, 0]
    out[14] = REACH[window, 1]
    for die in range(1, 7):
        out[14 + die] = bit_count(held & ~(closed << die) & ~((2 << die) - 1)) / 8.0
    route = shifted(held)  # my points where the other side has to pass
    front = route & ((1 << rear_other) - 1)
    run = longest_run(front)
    out[21] = run / 6.0
    most, trapped = 0, 0
    for first in range(1, 20):
        in_window = bit_count((front >> first) & 63)
        if in_window >= most and in_window >= 4:
            most = in_window
    out[22] = most / 6.0
    if run >= 3:
        folded = front
        for _ in range(run - 1):
            folded &= folded >> 1
        for point in range(highest_bit(folded) + run, 25):
            trapped += cells[26 - own + point]
    out[23] = trapped / 15.0


@njit(cache=True, nogil=True)
def long_features(cells, out):
    _, _, first = point_masks(cells, 0)
    _, _, second = point_masks(cells, 26)
    if first == 0 or second == 0:
        return
    split = LONG_SIDE
    long_side(cells, 0, first, second, highest_bit(second), out[:split])
    long_side(cells, 26, second, first, highest_bit(first), out[split : 2 * split])
    overlap = max(max(highest_bit(first), highest_bit(second)) - 12, 0) / 12.0
    shared_columns(out[0] * 100.0, out[split] * 100.0, overlap, out[2 * split :])


@njit(cache=True, nogil=True)
def board_features(feature_set, cells, out):
    """Dense features of 52 cells, row 0 the player who just moved, into out."""
    out[:] = 0.0
    if feature_set == SHORT_V1:
        short_features(cells, out)
    elif feature_set == LONG_V1:
        long_features(cells, out)


@njit(cache=True, nogil=True)
def batch_features(feature_set, boards, out):
    """Dense features of boards [N, 52] into out [N, F]."""
    for i in range(boards.shape[0]):
        board_features(feature_set, boards[i], out[i])
