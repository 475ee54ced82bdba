"""The net on the CPU: first layer by rows of an embedding table, updated from afterstate to afterstate.

A board enters as one row per (side, slot, count), 52 x 16 rows, plus dense features (`_feature_kernels`). Afterstates
of one decision differ in a few slots and features, so the first layer of each is that of the one before, changed by
the rows of those (measured: 18 rows instead of 53). `Net` of net.py documents the arrays.

Boards are judged in groups: 64 units of the first layer for every board of the group, and at once what these units
add to the second, then the next 64. So the part of the tables in use fits the first-level cache (measured: 512 units
with features 1.5 times as fast as board by board). Kernels that allocate nothing are compiled without reference
counts, two locked instructions for each array touched (measured: 1.5 times as fast).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from agent._bearoff_kernels import bearoff_probs
from agent._feature_kernels import board_features
from agent._vector_kernels import (
    FLOAT_BYTES,
    WORD_BYTES,
    WORD_LANES,
    add_active_rows,
    add_scaled_rows,
    exp_float32,
    floats_that_differ,
)
from engine._bit_kernels import ENTRY, INNER, address, cells_above, cells_that_differ, highest_bit, lowest_bit
from engine._movegen_kernels import BAR, OPPONENT_POINT, generate

CONTACT, RACE, BEAROFF = 0, 1, 2  # as engine.board.PHASES
COUNTS = 16
COUNT_ROWS = 52 * COUNTS
MOST_ROWS = 106  # rows that lead from one board to another, without features, and room to write two more
OWN_CELLS = (1 << 26) - 1
NOT_OFF = ((1 << 52) - 1) & ~1 & ~(1 << 26)
ZONE_LOW, ZONE_HIGH, NEEDS_NONE_OFF, LEVELS = 3, 4, 5, 6  # places in Rules.code
GROUP = 32  # boards judged side by side; the mean number of plays is 16 to 22
# Typed numbers: one in the source would get a compiled form of its own.
STRANGERS, SIBLINGS, ONE_WORD = np.int64(0), np.int64(1), np.int64(1)


class NetArrays(NamedTuple):
    """A net as kernels take it; E experts of one shape, widths padded with zeros: H1 to 64, the others to 8."""

    rows: np.ndarray  # float32 [E, 832 + F, H1]: the table of the first layer, then the weights of the dense features
    bias: np.ndarray  # float32 [E, H1]
    dense: np.ndarray  # float32 [E, D]: for each layer its [in, out] weights, then its [out] biases
    widths: np.ndarray  # int64 [L + 1]: H1, H2, ..., and the padded K
    experts: np.ndarray  # int64 [3]: the expert of each phase
    sizes: np.ndarray  # int64 [3]: code of the feature set, F, K


class NetScratch(NamedTuple):
    """Scratch memory of one thread; G = GROUP, F64 = F up to a multiple of 64."""

    features: np.ndarray  # float32 [G, F64]: the dense features of each board
    rows: np.ndarray  # int64 [G, F + 106]: rows of the first layer to add for a board ...
    scales: np.ndarray  # float32 [G, F + 106]: ... how often ...
    counts: np.ndarray  # int64 [G]: ... and their number
    experts: np.ndarray  # int64 [G]: the expert of a board, -1 where it needs none
    last: np.ndarray  # int64 [E]: the last board of the group that an expert judges, -1 before the first
    first: np.ndarray  # float32 [64]: a part of the first layer of the board at hand
    first_bits: np.ndarray  # int64 [1]: a bit for each of these above 0
    sums: np.ndarray  # float32 [G, L, widest]: the layers after the first
    bits: np.ndarray  # int64 [G, L, words]: a bit for each of these above 0
    board: np.ndarray  # int8 [2, 26]: a board as the bear-off tables take it
    probs: np.ndarray  # float32 [G, K]
    best: np.ndarray  # float32 [K]: the best afterstate of the last decision


@njit(**ENTRY)
def new_scratch(net):
    features, outputs = net.sizes[1], net.sizes[2]
    layers = net.widths.shape[0] - 1
    widest = 0
    for layer in range(1, layers + 1):
        widest = max(widest, net.widths[layer])
    padded = (features + WORD_LANES - 1) // WORD_LANES * WORD_LANES
    return NetScratch(
        np.zeros((GROUP, padded), np.float32),
        np.zeros((GROUP, features + MOST_ROWS), np.int64),
        np.zeros((GROUP, features + MOST_ROWS), np.float32),
        np.zeros(GROUP, np.int64),
        np.zeros(GROUP, np.int64),
        np.zeros(net.bias.shape[0], np.int64),
        np.zeros(WORD_LANES, np.float32),
        np.zeros(1, np.int64),
        np.zeros((GROUP, layers, widest), np.float32),
        np.zeros((GROUP, layers, (widest + WORD_LANES - 1) // WORD_LANES), np.int64),
        np.zeros((2, 26), np.int8),
        np.zeros((GROUP, outputs), np.float32),
        np.zeros(outputs, np.float32),
    )


@njit(**INNER)
def finished_class(cells, code):
    """Outcome class of 52 cells seen by row 0, or -1 (RULES.md 4.3 and 5.4)."""
    if cells[0] == 15:
        loser, side = 26, 0
    elif cells[26] == 15:
        loser, side = 0, code[LEVELS]
    else:
        return -1
    none_off = cells[loser] == 0
    level = 1 if none_off else 0
    if none_off or code[NEEDS_NONE_OFF] == 0:
        for slot in range(code[ZONE_LOW], code[ZONE_HIGH] + 1):
            if cells[loser + slot] > 0:
                level = 2
        if cells[loser + BAR] > 0:
            level = 3
    return side + level


@njit(**INNER)
def phase_of(held, code):
    """CONTACT, RACE or BEAROFF of an unfinished board by the bits of its held cells, as engine.board.phase."""
    mine = highest_bit(held & OWN_CELLS)
    theirs = highest_bit(held >> 26)
    if mine <= 6 and theirs <= 6:
        return BEAROFF
    if code[OPPONENT_POINT + 1] == 24:  # the sides meet head on
        return RACE if mine + theirs <= BAR else CONTACT
    return RACE if mine <= 12 and theirs <= 12 else CONTACT


@njit(**INNER)
def whole_rows(cells, board, place, features, scratch):
    """Rows that make a board's first layer from the bias: one per held slot and per feature."""
    count = 0
    rows, scales = scratch.rows, scratch.scales
    for cell in range(52):
        rows[place, count] = cell * COUNTS + cells[board, cell]
        scales[place, count] = 1.0
        count += cells[board, cell] > 0
    for i in range(features):
        rows[place, count] = COUNT_ROWS + i
        scales[place, count] = scratch.features[place, i]
        count += scratch.features[place, i] != 0.0
    scratch.counts[place] = count


@njit(**INNER)
def changed_rows(cells, sibling, board, sibling_place, place, scratch):
    """Rows that lead from the first layer of a sibling in the group to a board's."""
    count = 0
    rows, scales = scratch.rows, scratch.scales
    changed = cells_that_differ(address(cells[sibling]), address(cells[board]))
    while changed != 0:
        cell = lowest_bit(changed)
        changed &= changed - 1
        before, now = cells[sibling, cell], cells[board, cell]
        rows[place, count] = cell * COUNTS + before
        scales[place, count] = -1.0
        count += before > 0
        rows[place, count] = cell * COUNTS + now
        scales[place, count] = 1.0
        count += now > 0
    features = scratch.features
    for start in range(0, features.shape[1], WORD_LANES):
        offset = start * FLOAT_BYTES
        changed = floats_that_differ(address(features[place]) + offset, address(features[sibling_place]) + offset)
        while changed != 0:
            i = start + lowest_bit(changed)
            changed &= changed - 1
            rows[place, count] = COUNT_ROWS + i
            scales[place, count] = features[place, i] - features[sibling_place, i]
            count += 1
    scratch.counts[place] = count


@njit(**INNER)
def enter_board(net, scratch, cells, first, place, kinship, code, tables):
    """Judge board first + place without a net where that can be done; else list the rows of its first layer."""
    board = first + place
    scratch.experts[place] = -1
    outcome = finished_class(cells[board], code)
    if outcome >= 0:
        for k in range(scratch.probs.shape[1]):
            scratch.probs[place, k] = k == outcome
        return
    phase = phase_of(cells_above(address(cells[board]), 0) & NOT_OFF, code)
    if phase == BEAROFF and tables.one_sided.shape[0] > 0:
        for slot in range(26):
            scratch.board[0, slot] = cells[board, slot]
            scratch.board[1, slot] = cells[board, 26 + slot]
        bearoff_probs(scratch.board, tables, code[LEVELS], scratch.probs[place])
        return
    expert = net.experts[phase]
    scratch.experts[place] = expert
    if net.sizes[0] > 0:
        board_features(net.sizes[0], cells[board], scratch.features[place])
    sibling = scratch.last[expert]
    if kinship == SIBLINGS and sibling >= 0:
        changed_rows(cells, first + sibling, board, sibling, place, scratch)
    else:
        whole_rows(cells, board, place, net.sizes[1], scratch)
    scratch.last[expert] = place


@njit(**INNER)
def first_layers(net, expert, scratch, count, kinship):
    """The second layer of the boards of one expert, from the rows listed."""
    wide, out = net.widths[0], net.widths[1]
    weights = address(net.dense[expert])
    bias = weights + wide * out * FLOAT_BYTES
    first, first_bits = address(scratch.first), address(scratch.first_bits)
    for unit in range(0, wide, WORD_LANES):
        start = address(net.bias[expert]) + unit * FLOAT_BYTES
        for place in range(count):
            if scratch.experts[place] != expert:
                continue
            add_scaled_rows(
                first,
                first_bits,
                start,
                address(net.rows[expert]) + unit * FLOAT_BYTES,
                address(scratch.rows[place]),
                address(scratch.scales[place]),
                scratch.counts[place],
                wide * FLOAT_BYTES,
            )
            if kinship == SIBLINGS:
                start = first
            sums = address(scratch.sums[place])
            so_far = bias if unit == 0 else sums
            part = weights + unit * out * FLOAT_BYTES
            add_active_rows(sums, address(scratch.bits[place]), so_far, part, first, first_bits, ONE_WORD, out)


@njit(**INNER)
def last_layers(net, scratch, place):
    """Probabilities of a board from its second layer, into scratch.probs[place]."""
    layers, widest = scratch.sums.shape[1], scratch.sums.shape[2]
    words = scratch.bits.shape[2]
    weights = address(net.dense[scratch.experts[place]]) + (net.widths[0] + 1) * net.widths[1] * FLOAT_BYTES
    sums, bits = address(scratch.sums[place]), address(scratch.bits[place])
    for layer in range(1, layers):
        wide, out = net.widths[layer], net.widths[layer + 1]
        bias = weights + wide * out * FLOAT_BYTES
        next_sums, next_bits = sums + widest * FLOAT_BYTES, bits + words * WORD_BYTES
        add_active_rows(next_sums, next_bits, bias, weights, sums, bits, (wide + WORD_LANES - 1) // WORD_LANES, out)
        weights, sums, bits = bias + out * FLOAT_BYTES, next_sums, next_bits
    softmax(scratch.sums[place, layers - 1], scratch.probs[place])


@njit(**INNER)
def softmax(logits, probs):
    outputs = probs.shape[0]
    largest = logits[0]
    for j in range(1, outputs):
        largest = max(largest, logits[j])
    total = np.float32(0.0)
    for j in range(outputs):
        probs[j] = exp_float32(logits[j] - largest)
        total += probs[j]
    for j in range(outputs):
        probs[j] /= total


@njit(**INNER)
def judge_group(net, scratch, cells, first, count, kinship, code, tables):
    """Probabilities of boards first .. first + count - 1 (at most GROUP) of cells, into scratch.probs.

    Seen by row 0, the player who just moved. SIBLINGS come from one board, so that the first layer of each is that
    of the one before, changed; a chain ends with the group, before rounding adds up.
    """
    for expert in range(scratch.last.shape[0]):
        scratch.last[expert] = -1
    for place in range(count):
        enter_board(net, scratch, cells, first, place, kinship, code, tables)
    for expert in range(net.bias.shape[0]):
        if scratch.last[expert] >= 0:
            first_layers(net, expert, scratch, count, kinship)
    for place in range(count):
        if scratch.experts[place] >= 0:
            last_layers(net, scratch, place)


@njit(**INNER)
def equity_of(probs, points):
    total = np.float32(0.0)
    for i in range(points.shape[0]):
        total += probs[i] * points[i]
    return total


@njit(**ENTRY)
def judge_batch(net, boards, code, tables, out):
    """Probabilities [N, K] of unrelated boards [N, 52]."""
    scratch = new_scratch(net)
    for start in range(0, boards.shape[0], GROUP):
        count = min(GROUP, boards.shape[0] - start)
        judge_group(net, scratch, boards, start, count, STRANGERS, code, tables)
        out[start : start + count] = scratch.probs[:count]


@njit(**ENTRY)
def judge_plays(net, plays, offsets, code, tables, out):
    """Probabilities [M, K] of plays [M, 52]; rows offsets[d]:offsets[d + 1] are those of one decision."""
    scratch = new_scratch(net)
    for decision in range(offsets.shape[0] - 1):
        for start in range(offsets[decision], offsets[decision + 1], GROUP):
            count = min(GROUP, offsets[decision + 1] - start)
            judge_group(net, scratch, plays, start, count, SIBLINGS, code, tables)
            out[start : start + count] = scratch.probs[:count]


@njit(**INNER)
def best_state(ws, net, scratch, board, die1, die2, code, points, tables):
    """Generate the plays of a roll and judge them: (best state, its equity, first, last).

    The best probabilities stand in scratch.best, the states in the workspace. Of equals the last wins, as in
    `ranking.rank_plays`: mostly the play of the rearmost checkers, so that a lost or won game is played on sensibly.
    """
    first, last = generate(ws, board, die1, die2, code)
    best, best_equity = -1, np.float32(-1e30)
    for start in range(first, last, GROUP):
        count = min(GROUP, last - start)
        judge_group(net, scratch, ws.cells, start, count, SIBLINGS, code, tables)
        for place in range(count):
            equity = equity_of(scratch.probs[place], points)
            if equity >= best_equity or best < 0:
                best, best_equity = start + place, equity
                for k in range(scratch.best.shape[0]):
                    scratch.best[k] = scratch.probs[place, k]
    return best, best_equity, first, last
