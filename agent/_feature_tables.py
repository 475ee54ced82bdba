"""Constant tables behind the dense features, built once at import from the rules of a roll.

Rolls are bits: bit die - 1 for the double of a die (weight 1 of 36), then the 15 pairs of two numbers (weight 2).
"""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

PAIRS = tuple(itertools.combinations(range(1, 7), 2))
DOUBLES = 63  # the bits of the six doubles
WINDOW = 12

Masks = npt.NDArray[np.int64]


def roll_bit(die1: int, die2: int) -> int:
    """Bit number of a roll."""
    return die1 - 1 if die1 == die2 else 6 + PAIRS.index((min(die1, die2), max(die1, die2)))


def reach_table() -> npt.NDArray[np.float32]:
    """What the next 12 points let one checker do with a roll played by it alone.

    Returns:
        float32 [4096, 2]: by mask (bit d - 1: the point d ahead is closed), mean pips it can travel, as a share of
        the mean roll (8 1/6), and the share of the 36 rolls that take it past the longest closed run.
    """
    masks = np.arange(1 << WINDOW)
    beyond = _end_of_longest_run(masks)
    table = np.zeros((len(masks), 2), dtype=np.float32)
    for die1, die2 in itertools.combinations_with_replacement(range(1, 7), 2):
        pips = _furthest(masks, die1, die2)
        weight = 1 if die1 == die2 else 2
        table[:, 0] += weight * pips
        table[:, 1] += weight * (pips > beyond)
    table /= np.array([36 * (8 + 1 / 6), 36], dtype=np.float32)
    return table


def _is_open(masks: Masks, distance: int) -> npt.NDArray[np.bool_]:
    return np.asarray(masks >> (distance - 1) & 1 == 0)  # beyond the window nothing is known to be closed


def _furthest(masks: Masks, die1: int, die2: int) -> Masks:
    if die1 == die2:
        opened = np.array([_is_open(masks, die1 * k) for k in range(1, 5)])
        return np.asarray(die1 * np.logical_and.accumulate(opened).sum(axis=0))
    first, second = _is_open(masks, die1), _is_open(masks, die2)
    both = (first | second) & _is_open(masks, die1 + die2)
    one = np.maximum(die1 * first, die2 * second)
    return np.where(both, die1 + die2, one)


def _end_of_longest_run(masks: Masks) -> Masks:
    longest, end, length = np.zeros_like(masks), np.zeros_like(masks), np.zeros_like(masks)
    for distance in range(1, WINDOW + 1):
        length = np.where(_is_open(masks, distance), 0, length + 1)
        end = np.where(length > longest, distance, end)
        longest = np.maximum(longest, length)
    return end


def shot_tables() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rolls by which a checker hits a blot.

    Returns:
        int64 [25, 64]: by distance and the open ones among the six points before the blot (bit j - 1: the point j
        before it is open), the rolls that hit directly, by two dice or by two steps of a double; and int64 [7, 64]:
        by direct distance and the open entry points (bit die - 1), the rolls whose other die enters from the bar.
    """
    shots = np.zeros((25, 64), dtype=np.int64)
    partner = np.zeros((7, 64), dtype=np.int64)
    for free in range(64):
        for die1, die2 in itertools.combinations_with_replacement(range(1, 7), 2):
            bit = 1 << roll_bit(die1, die2)
            for die in (die1, die2):
                shots[die, free] |= bit
            if (free >> (die1 - 1) | free >> (die2 - 1)) & 1:
                shots[die1 + die2, free] |= bit
            for die, other in ((die1, die2), (die2, die1)):
                if free >> (other - 1) & 1:
                    partner[die, free] |= bit
    return shots, partner


def step_table() -> npt.NDArray[np.int64]:
    """Hits by three and four steps of a double.

    Returns:
        int64 [25, 2, 2]: by distance and steps - 3, a mask of the points before the blot (bit j - 1: j before it)
        that must be open, and the roll, no roll where the distance is no multiple.
    """
    table = np.zeros((25, 2, 2), dtype=np.int64)
    for die in range(1, 7):
        for steps in (3, 4):
            if die * steps < len(table):
                table[die * steps, steps - 3] = (
                    sum(1 << (die * k - 1) for k in range(1, steps)),
                    1 << roll_bit(die, die),
                )
    return table


TRAVEL, ESCAPE = (np.ascontiguousarray(column) for column in reach_table().T)
SHOTS, ENTER_AND_HIT = shot_tables()
STEPS = step_table()
