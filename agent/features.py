"""Named, versioned feature sets: what a net is told about a board.

Every set starts with the counts: one row of the first layer per (side, slot, count), index
`(side * 26 + slot) * 16 + count`, nothing for count 0. A set may add dense columns. A changed encoding is a new name.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from agent import _feature_kernels as kernels
from engine.board import Boards
from engine.errors import NetError
from engine.rules import CHECKERS, SLOTS
from engine.threads import map_slices

COUNT_ROWS = 2 * SLOTS * (CHECKERS + 1)
BOARDS_WORTH_A_THREAD = 512

# Feature set -> names of its dense columns, in order.
FEATURE_SETS: MappingProxyType[str, tuple[str, ...]] = MappingProxyType({"counts_v1": ()})
_CODES = MappingProxyType({"counts_v1": kernels.COUNTS_V1})


def feature_code(feature_set: str) -> int:
    """The number by which kernels know a feature set.

    Raises:
        NetError: no set has this name.
    """
    if feature_set not in _CODES:
        raise NetError(f"unknown feature set {feature_set!r}; this version knows {', '.join(FEATURE_SETS)}")
    return _CODES[feature_set]


def feature_count(feature_set: str) -> int:
    """Number of dense columns F of a feature set.

    Raises:
        NetError: no set has this name.
    """
    feature_code(feature_set)
    return len(FEATURE_SETS[feature_set])


def dense_features(boards: Boards, feature_set: str, *, threads: int | None = None) -> npt.NDArray[np.float32]:
    """Dense columns of each board.

    Args:
        boards: int8 [N, 2, 26], row 0 the player who just moved.
        feature_set: a key of `FEATURE_SETS`.
        threads: most threads to use; None: all cores.
    Returns:
        float32 [N, F].
    Raises:
        NetError: no set has this name.
    """
    out = np.zeros((len(boards), feature_count(feature_set)), dtype=np.float32)
    if out.size:
        code = feature_code(feature_set)
        cells = np.ascontiguousarray(boards).reshape(len(boards), 2 * SLOTS)
        map_slices(
            lambda part: kernels.batch_features(code, cells[part], out[part]),
            len(boards),
            threads=threads,
            smallest=BOARDS_WORTH_A_THREAD,
        )
    return out
