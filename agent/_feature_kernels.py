"""Dense features of a board, by feature set. `features.py` documents every column."""

from __future__ import annotations

from numba import njit

COUNTS_V1 = 0


@njit(cache=True, nogil=True)
def board_features(feature_set, cells, out):
    """Dense features of 52 cells, row 0 the player who just moved, into out."""


@njit(cache=True, nogil=True)
def batch_features(feature_set, boards, out):
    """Dense features of boards [N, 52] into out [N, F]."""
    for i in range(boards.shape[0]):
        board_features(feature_set, boards[i], out[i])
