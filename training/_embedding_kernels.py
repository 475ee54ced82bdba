"""Kernels of the first layer: a sum of embedding rows picked by the counts of a board, and its gradient."""

from __future__ import annotations

from numba import njit

from engine._bit_kernels import ENTRY


@njit(**ENTRY)
def sum_rows(boards, rows, bias, out):  # type: ignore[no-untyped-def]
    """out [N, H] = bias + the rows [832, H] of every slot of boards [N, 2, 26] that holds a checker."""
    units = bias.shape[0]
    for n in range(boards.shape[0]):
        for h in range(units):
            out[n, h] = bias[h]
        for side in range(2):
            for slot in range(26):
                count = boards[n, side, slot]
                if count > 0:
                    row = (side * 26 + slot) * 16 + count
                    for h in range(units):
                        out[n, h] += rows[row, h]


@njit(**ENTRY)
def add_row_gradients(boards, out_gradient, row_gradient):  # type: ignore[no-untyped-def]
    """Add out_gradient [N, H] to row_gradient [832, H] at the rows that `sum_rows` took."""
    units = out_gradient.shape[1]
    for n in range(boards.shape[0]):
        for side in range(2):
            for slot in range(26):
                count = boards[n, side, slot]
                if count > 0:
                    row = (side * 26 + slot) * 16 + count
                    for h in range(units):
                        row_gradient[row, h] += out_gradient[n, h]
