"""Kernel of the nine-feature value of long nardy; see `heuristics.py` for what it computes."""

import numpy as np
from numba import njit

from engine._bit_kernels import ENTRY

CHECKERS = 15
HEAD = 24
HOME_HIGH = 6
FACES = 6
FEATURES = 9


@njit(**ENTRY)
def nine_features(boards, opponent_point, out):
    """Features of each side of each board: out float64 [N, 2, 9], in the order of `heuristics.NINE_WEIGHTS`."""
    own = np.empty(HEAD + 1, dtype=np.int64)  # counts by own point
    blocked = np.empty(HEAD + 1, dtype=np.bool_)  # own points that the other side holds
    for n in range(boards.shape[0]):
        for side in range(2):
            for point in range(1, HEAD + 1):
                own[point] = boards[n, side, point]
                blocked[point] = boards[n, 1 - side, opponent_point[point]] > 0
            _side_features(own, blocked, opponent_point, boards[n, side, 0], out[n, side])


@njit(**ENTRY)
def _side_features(own, blocked, opponent_point, off, out):
    pips = squares = held = home = rear = landings = 0
    for point in range(1, HEAD + 1):
        count = own[point]
        if count == 0:
            continue
        pips += point * count
        squares += count * count
        held += 1
        rear = point
        if point <= HOME_HIGH:
            home += count
        for die in range(1, min(FACES, point - 1) + 1):
            if not blocked[point - die]:
                landings += 1
    run = longest = 0
    for theirs in range(HEAD, 0, -1):  # along the other side's route; the map is its own inverse
        run = run + 1 if own[opponent_point[theirs]] > 0 else 0
        longest = max(longest, run)
    out[0] = -pips / 360.0
    out[1] = -own[HEAD] / CHECKERS
    out[2] = home / CHECKERS
    out[3] = off / CHECKERS
    out[4] = held / CHECKERS
    out[5] = longest / CHECKERS
    out[6] = -squares / (CHECKERS * CHECKERS)
    out[7] = -rear / HEAD
    out[8] = landings / 90.0
