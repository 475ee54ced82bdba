"""The net on the CPU: first layer by rows of an embedding table, updated from parent to afterstate.

A board enters as one row per (side, slot, count), 52 x 16 rows, plus dense features (`_feature_kernels`). An
afterstate differs from the board it comes from in a few slots, so its first layer is the parent's, changed by the
rows of those slots. `Net` of net.py documents the arrays.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from agent._bearoff_kernels import bearoff_probs
from agent._feature_kernels import board_features
from agent._vector_kernels import add_scaled_rows
from engine._movegen_kernels import BAR, OPPONENT_POINT, generate

CONTACT, RACE, BEAROFF = 0, 1, 2  # as engine.board.PHASES
COUNTS = 16
COUNT_ROWS = 52 * COUNTS
ZONE_LOW, ZONE_HIGH, NEEDS_NONE_OFF, LEVELS = 3, 4, 5, 6  # places in Rules.code


class NetArrays(NamedTuple):
    """A net as kernels take it; E experts of one shape, all widths padded with zeros to multiples of 8."""

    rows: np.ndarray  # float32 [E, 832 + F, H1]: the table of the first layer, then the weights of the dense features
    bias: np.ndarray  # float32 [E, H1]
    dense: np.ndarray  # float32 [E, D]: for each layer its [in, out] weights, then its [out] biases
    widths: np.ndarray  # int64 [L + 1]: H1, H2, ..., and the padded K
    experts: np.ndarray  # int64 [3]: the expert of each phase
    sizes: np.ndarray  # int64 [3]: code of the feature set, F, K


class NetScratch(NamedTuple):
    """Scratch memory of one thread."""

    base: np.ndarray  # float32 [E, H1]: first layer of the parent, by expert
    has_base: np.ndarray  # bool [E]
    layers: np.ndarray  # float32 [2, widest]: sums of a layer and of the next
    features: np.ndarray  # float32 [F]
    rows: np.ndarray  # int64 [widest + F + 104]: rows to add ...
    scales: np.ndarray  # float32, the same size: ... and how often
    probs: np.ndarray  # float32 [K]: the last board judged
    best: np.ndarray  # float32 [K]: the best afterstate of the last decision


@njit(cache=True, nogil=True)
def new_scratch(net):
    experts, first = net.bias.shape
    features, outputs = net.sizes[1], net.sizes[2]
    widest = first
    for width in net.widths:
        widest = max(widest, width)
    most_rows = widest + features + 104
    return NetScratch(
        np.zeros((experts, first), np.float32),
        np.zeros(experts, np.bool_),
        np.zeros((2, widest), np.float32),
        np.zeros(features, np.float32),
        np.zeros(most_rows, np.int64),
        np.zeros(most_rows, np.float32),
        np.zeros(outputs, np.float32),
        np.zeros(outputs, np.float32),
    )


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def phase_of(cells, code):
    """CONTACT, RACE or BEAROFF of an unfinished board of 52 cells, as engine.board.phase."""
    mine = BAR
    while mine > 0 and cells[mine] == 0:
        mine -= 1
    theirs = BAR
    while theirs > 0 and cells[26 + theirs] == 0:
        theirs -= 1
    if mine <= 6 and theirs <= 6:
        return BEAROFF
    if code[OPPONENT_POINT + 1] == 24:  # the sides meet head on
        return RACE if mine + theirs <= BAR else CONTACT
    return RACE if mine <= 12 and theirs <= 12 else CONTACT


@njit(cache=True, nogil=True)
def dense_probs(net, expert, scratch):
    """Probabilities from the first layer's sums in scratch.layers[0]; into scratch.probs."""
    weights = net.dense[expert]
    rows, scales = scratch.rows, scratch.scales
    place = 0
    for layer in range(net.widths.shape[0] - 1):
        wide, out = net.widths[layer], net.widths[layer + 1]
        source, target = scratch.layers[layer & 1], scratch.layers[1 - (layer & 1), :out]
        count = 0
        for i in range(wide):
            rows[count] = i
            scales[count] = source[i]
            count += source[i] > 0.0
        bias = place + wide * out
        target[:] = weights[bias : bias + out]
        add_scaled_rows(target, weights[place:bias], rows, scales, count)
        place = bias + out
    softmax(scratch.layers[(net.widths.shape[0] - 1) & 1], scratch.probs)


@njit(cache=True, nogil=True)
def softmax(logits, probs):
    outputs = probs.shape[0]
    largest = logits[0]
    for j in range(1, outputs):
        largest = max(largest, logits[j])
    total = np.float32(0.0)
    for j in range(outputs):
        probs[j] = np.exp(logits[j] - largest)
        total += probs[j]
    for j in range(outputs):
        probs[j] /= total


@njit(cache=True, nogil=True)
def load_base(net, expert, cells, scratch):
    """First layer of a board from nothing: bias and one row per held slot, into scratch.base[expert]."""
    count = 0
    for cell in range(52):
        if cells[cell] > 0:
            scratch.rows[count] = cell * COUNTS + cells[cell]
            scratch.scales[count] = 1.0
            count += 1
    base = scratch.base[expert]
    base[:] = net.bias[expert]
    add_scaled_rows(base, net.rows[expert], scratch.rows, scratch.scales, count)
    scratch.has_base[expert] = True


@njit(cache=True, nogil=True)
def changed_rows(parent, cells, rows, scales):
    """Rows that lead from the parent's first layer to that of another board; returns their number."""
    count = 0
    for cell in range(52):
        before, now = parent[cell], cells[cell]
        if before != now:
            if before > 0:
                rows[count] = cell * COUNTS + before
                scales[count] = -1.0
                count += 1
            if now > 0:
                rows[count] = cell * COUNTS + now
                scales[count] = 1.0
                count += 1
    return count


@njit(cache=True, nogil=True)
def judge_cells(net, parent, cells, scratch, code, tables):
    """Probabilities of an afterstate seen by the player who just moved, into scratch.probs.

    `parent`: cells of the board it came from, whose first layer stands in scratch.base where has_base says so.
    """
    outcome = finished_class(cells, code)
    if outcome >= 0:
        scratch.probs[:] = 0.0
        scratch.probs[outcome] = 1.0
        return
    phase = phase_of(cells, code)
    if phase == BEAROFF and tables.one_sided.shape[0] > 0:
        bearoff_probs(cells[:52].reshape(2, 26), tables, code[LEVELS], scratch.probs)
        return
    expert = net.experts[phase]
    if not scratch.has_base[expert]:
        load_base(net, expert, parent, scratch)
    rows, scales = scratch.rows, scratch.scales
    count = changed_rows(parent, cells, rows, scales)
    if net.sizes[0] > 0:
        board_features(net.sizes[0], cells, scratch.features)
        for i in range(scratch.features.shape[0]):
            rows[count] = COUNT_ROWS + i
            scales[count] = scratch.features[i]
            count += scratch.features[i] != 0.0
    first = scratch.layers[0, : net.widths[0]]
    first[:] = scratch.base[expert]
    add_scaled_rows(first, net.rows[expert], rows, scales, count)
    dense_probs(net, expert, scratch)


@njit(cache=True, nogil=True, fastmath=True)
def equity_of(probs, points):
    total = np.float32(0.0)
    for i in range(points.shape[0]):
        total += probs[i] * points[i]
    return total


@njit(cache=True, nogil=True)
def judge_batch(net, boards, code, tables, out):
    """Probabilities [N, K] of unrelated boards [N, 52]."""
    scratch = new_scratch(net)
    for i in range(boards.shape[0]):
        scratch.has_base[:] = False
        judge_cells(net, boards[i], boards[i], scratch, code, tables)
        out[i] = scratch.probs


@njit(cache=True, nogil=True)
def best_state(ws, net, scratch, board, die1, die2, code, points, tables):
    """Generate the plays of a roll and judge them: (best state, its equity, first, last).

    The best probabilities stand in scratch.best, the states in the workspace; of equals the first wins. The caller
    clears scratch.has_base whenever the board is another one.
    """
    first, last = generate(ws, board, die1, die2, code)
    parent = ws.cells[0]
    best, best_equity = -1, np.float32(-1e30)
    for state in range(first, last):
        judge_cells(net, parent, ws.cells[state], scratch, code, tables)
        equity = equity_of(scratch.probs, points)
        if equity > best_equity or best < 0:
            best, best_equity = state, equity
            scratch.best[:] = scratch.probs
    return best, best_equity, first, last
