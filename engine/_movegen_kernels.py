"""Move generation: layers of single steps, breadth first, duplicates removed by hash.

One kernel for both games: `code` is `Rules.code`. A state is one afterstate in the making: 52 cells (row 0, then
row 1) in 7 words of a `Workspace`. The hash of a board is the sum of (count x weight) over its cells, so a step
changes it by two adds (four with a hit). Two of the at most 3,876 states of a turn collide with probability below
1e-12, which is why equal hashes count as equal boards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from engine._bit_kernels import ENTRY, INNER, highest_bit, lowest_bit

CELLS = 52
WORDS = 7
CAPACITY = 4096  # states of one turn: 1 + 15 + 120 + 680 + 3060 at most
TABLE = 8192  # hash slots of one layer, a power of two
# Arguments that are numbers in the source would each get a compiled form of their own; typed ones share one.
ZERO, ONE, TWO, ALL_CHECKERS = np.int64(0), np.int64(1), np.int64(2), np.int64(15)
FULL = np.int64(TABLE)
SMALL = np.int64(1024)  # enough for two steps (at most 450 states), and stays in the first-level cache
BAR = 25
ROUTE = 32  # where the opponent's view of a held point starts in a mask
OWN_BITS = (1 << 26) - 1
HOME_END, HEAD_BIT, BAR_BIT = 1 << 7, 1 << 24, 1 << 25

CAN_HIT, FIRST_TURN, BLOCK = 0, 1, 2  # places in Rules.code, asserted by a test to equal rules.CODE_*
OPPONENT_POINT = 10
UNLIMITED, NONE, CLASSIC, COMMON, FNR2026 = range(5)  # Rules.code[FIRST_TURN], in the order of rules.FIRST_TURNS
BLOCK_OFF, BLOCK_STEP, BLOCK_TURN = range(3)

WEIGHTS = np.random.default_rng(20261130).integers(-(2**63), 2**63 - 1, size=CELLS, dtype=np.int64) | 1


class Workspace(NamedTuple):
    """Scratch memory of one thread."""

    words: np.ndarray  # int64 [CAPACITY, 7]: the states, row 0 and row 1 side by side
    cells: np.ndarray  # int8 [CAPACITY, 56]: the same memory cell by cell
    hashes: np.ndarray  # int64 [CAPACITY]
    masks: np.ndarray  # int64 [CAPACITY]: own points, see point_bits
    keys: np.ndarray  # int64 [TABLE]
    stamps: np.ndarray  # int64 [TABLE + 1]: the layer that last wrote a slot; the last entry counts layers


@njit(**ENTRY)
def new_workspace():
    words = np.zeros((CAPACITY, WORDS), np.int64)
    return Workspace(
        words,
        words.view(np.int8),
        np.empty(CAPACITY, np.int64),
        np.empty(CAPACITY, np.int64),
        np.empty(TABLE, np.int64),
        np.zeros(TABLE + 1, np.int64),
    )


@njit(**INNER, inline="always")
def point_bits(slot, code):
    """A held point in a state's mask: bit `slot`, and bit 32 + the same point on the opponent's route."""
    return (1 << slot) | (1 << (ROUTE + code[OPPONENT_POINT + slot]))


@njit(**INNER)
def load_board(ws, board, code):
    """Put a board into state 0; return the mask of points closed to the mover, which no step of his changes."""
    total = 0
    mask = 0
    closed = 0
    fewest = 2 if code[CAN_HIT] != 0 else 1
    for slot in range(26):
        mine = board[0, slot]
        theirs = board[1, slot]
        ws.cells[0, slot] = mine
        ws.cells[0, 26 + slot] = theirs
        total += mine * WEIGHTS[slot] + theirs * WEIGHTS[26 + slot]
        if slot > 0:
            if mine > 0:
                mask |= point_bits(slot, code)
            if theirs >= fewest and slot < BAR:
                closed |= 1 << code[OPPONENT_POINT + slot]
    ws.hashes[0] = total
    ws.masks[0] = mask
    return closed


@njit(**INNER, inline="always")
def has_run_of_six(route):
    pairs = route & (route >> 1)
    fours = pairs & (pairs >> 2)
    return (fours & (pairs >> 4)) != 0


@njit(**INNER)
def before_all_opponents(ws):
    """Bits of the route points that lie ahead of every opposing checker (none once one is off)."""
    for slot in range(26):
        if ws.cells[0, 26 + slot] > 0:
            return (1 << slot) - 1 if slot > 0 else 0
    return 0


@njit(**INNER, inline="always")
def movable(own, die, closed, is_head_spent):
    """Bits of the points from which one checker may move by `die`, blocks apart."""
    starts = own & ~(closed << die) & ~((2 << die) - 1)
    if own < HOME_END:  # nothing beyond the home: bearing off
        if (own >> die) & 1:
            starts |= 1 << die
        elif own < (1 << die) and own > 0:
            starts |= 1 << highest_bit(own)
    elif own >= BAR_BIT:
        starts &= BAR_BIT
    if is_head_spent:
        starts &= ~HEAD_BIT
    return starts


@njit(**INNER)
def expand(ws, first, last, stop, die, head_floor, closed, code, ahead, slots):
    """Append to `stop`.. every new state one step of `die` away from states first..last; return the new end.

    `head_floor`: checkers that must stay on the head. `ahead`: the part of the route in which a run of six is
    forbidden, 0 where the step is not tested. `slots`: hash slots to use, a power of two above twice the states
    of the layer. States appended under the current layer stamp are never repeated.
    """
    layer = ws.stamps[TABLE]
    for parent in range(first, last):
        held = ws.masks[parent]
        starts = movable(held & OWN_BITS, die, closed, ws.cells[parent, 24] <= head_floor)
        while starts != 0:
            start = lowest_bit(starts)
            starts &= starts - 1
            end = max(start - die, 0)
            key = ws.hashes[parent] - WEIGHTS[start] + WEIGHTS[end]
            mask = held
            if ws.cells[parent, start] == 1:
                mask &= ~point_bits(start, code)
            hit = -1
            if end > 0:
                mask |= point_bits(end, code)
                theirs = code[OPPONENT_POINT + end]
                if ws.cells[parent, 26 + theirs] > 0:
                    hit = theirs
                    key += WEIGHTS[26 + BAR] - WEIGHTS[26 + hit]
            if ahead != 0 and has_run_of_six((mask >> ROUTE) & ahead):
                continue
            place = (key ^ (key >> 29)) & (slots - 1)
            while ws.stamps[place] == layer and ws.keys[place] != key:
                place = (place + 1) & (slots - 1)
            if ws.stamps[place] == layer:
                continue
            ws.stamps[place] = layer
            ws.keys[place] = key
            for word in range(WORDS):
                ws.words[stop, word] = ws.words[parent, word]
            ws.cells[stop, start] -= 1
            ws.cells[stop, end] += 1
            if hit >= 0:
                ws.cells[stop, 26 + hit] = 0
                ws.cells[stop, 26 + BAR] += 1
            ws.hashes[stop] = key
            ws.masks[stop] = mask
            stop += 1
    return stop


@njit(**INNER)
def keep_unblocked(ws, first, last, ahead):
    """Move the states of first..last without a forbidden block to the front; return their end."""
    end = first
    for state in range(first, last):
        if not has_run_of_six((ws.masks[state] >> ROUTE) & ahead):
            for word in range(WORDS):
                ws.words[end, word] = ws.words[state, word]
            end += 1
    return end


@njit(**INNER)
def play_double(ws, die, head_floor, closed, code, ahead_step, ahead_turn):
    """States after the most steps of a double: (first, last, steps played)."""
    best_first, best_last, best_steps = ZERO, ONE, ZERO
    first, last = ZERO, ONE
    for steps in range(1, 5):
        ws.stamps[TABLE] += 1
        stop = expand(ws, first, last, last, die, head_floor, closed, code, ahead_step, SMALL if steps < 3 else FULL)
        if stop == last:
            break
        first, last = last, stop
        if ahead_turn == 0:
            best_first, best_last, best_steps = first, last, steps
        else:  # the layer itself must stay whole: it is still to be expanded
            for state in range(first, last):
                if not has_run_of_six((ws.masks[state] >> ROUTE) & ahead_turn):
                    best_first, best_last, best_steps = first, last, steps
                    break
    if ahead_turn != 0 and best_steps > 0:
        best_last = keep_unblocked(ws, best_first, best_last, ahead_turn)
    return best_first, best_last, best_steps


@njit(**INNER)
def play_two_dice(ws, high, low, head_floor, closed, code, ahead_step, ahead_turn):
    """States after the most steps of two different dice: (first, last, steps played)."""
    ws.stamps[TABLE] += 1
    high_last = expand(ws, ZERO, ONE, ONE, high, head_floor, closed, code, ahead_step, SMALL)
    ws.stamps[TABLE] += 1
    low_last = expand(ws, ZERO, ONE, high_last, low, head_floor, closed, code, ahead_step, SMALL)
    ws.stamps[TABLE] += 1
    last = expand(ws, ONE, high_last, low_last, low, head_floor, closed, code, ahead_step, SMALL)
    last = expand(ws, high_last, low_last, last, high, head_floor, closed, code, ahead_step, SMALL)
    if ahead_turn != 0:
        last = keep_unblocked(ws, low_last, last, ahead_turn)
    if last > low_last:
        return low_last, last, 2
    low_first = high_last
    if ahead_turn != 0:
        high_last = keep_unblocked(ws, ONE, high_last, ahead_turn)
        low_last = keep_unblocked(ws, low_first, low_last, ahead_turn)
    if high_last > 1:  # one die only, and the larger can be played
        return 1, high_last, 1
    if low_last > low_first:
        return low_first, low_last, 1
    return 0, 1, 0


@njit(**INNER)
def play_roll(ws, die1, die2, head_limit, closed, code):
    head_floor = max(ws.cells[0, 24] - head_limit, 0)
    ahead = before_all_opponents(ws) if code[BLOCK] != BLOCK_OFF else 0
    ahead_step = ahead if code[BLOCK] == BLOCK_STEP else 0
    ahead_turn = ahead if code[BLOCK] == BLOCK_TURN else 0
    if die1 == die2:
        return play_double(ws, die1, head_floor, closed, code, ahead_step, ahead_turn)
    return play_two_dice(ws, max(die1, die2), min(die1, die2), head_floor, closed, code, ahead_step, ahead_turn)


@njit(**INNER)
def generate(ws, board, die1, die2, code):
    """Fill the workspace with the legal afterstates of one board and roll: states first..last.

    A pass is state 0 alone; a finished board has no states.
    Source: RULES.md sections 2 to 5; 5.2 for the head.
    """
    if board[0, 0] == 15 or board[1, 0] == 15:
        return 0, 0
    closed = load_board(ws, board, code)
    kind = code[FIRST_TURN]
    if kind == UNLIMITED:
        first, last, steps = play_roll(ws, die1, die2, ALL_CHECKERS, closed, code)
        return first, last
    limit = ONE
    is_big_double = die1 == die2 and (die1 == 3 or die1 == 4 or die1 == 6)
    if board[0, 24] == 15 and kind >= CLASSIC:
        if kind == CLASSIC:
            dice = 4 if die1 == die2 else 2
            first, last, steps = play_roll(ws, die1, die2, ONE, closed, code)
            if steps == dice:
                return first, last
            first, last, steps = play_roll(ws, die1, die2, TWO, closed, code)
            if steps == dice or (die1 == 6 and die2 == 6):
                return first, last
        elif is_big_double and (kind == COMMON or board[1, 24] != 15):
            limit = TWO
    first, last, steps = play_roll(ws, die1, die2, limit, closed, code)
    return first, last


@njit(**ENTRY)
def generate_batch(boards, dice, code, start, out, offsets):
    """Afterstates of boards start.. into `out` from row offsets[start] on, until `out` has no room left.

    Fills offsets[i + 1] for every board done; returns the first board not done.
    """
    ws = new_workspace()
    total = offsets[start]
    for i in range(start, boards.shape[0]):
        first, last = generate(ws, boards[i], dice[i, 0], dice[i, 1], code)
        if total + last - first > out.shape[0]:
            return i
        for state in range(first, last):
            for slot in range(26):
                out[total, 0, slot] = ws.cells[state, slot]
                out[total, 1, slot] = ws.cells[state, 26 + slot]
            total += 1
        offsets[i + 1] = total
    return boards.shape[0]
