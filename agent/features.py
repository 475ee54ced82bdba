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

# Columns of one side, each given for the player who just moved (`my_`) and for the other (`their_`). "travel" is the
# mean pips that one checker can travel with a roll played by it alone, as a share of the mean roll; "escape" the share
# of rolls that take it past the longest closed run of the next 12 points (`_feature_tables.reach_table`). Ideas: the
# field's usual handcrafted inputs (Tesauro 1995, Berliner 1980); scales bring each column to about [0, 1].
_SHORT_SIDE = (
    "pips",  # / 100
    "rear",  # rearmost checker / 25
    "home_points",  # made points in the home / 6
    "deep",  # checkers on 1 and 2 / 6
    "stacked",  # checkers above the third on a point / 6
    "spares",  # checkers above the second on 3..13 / 6
    "outside_pips",  # pips to bring all home / 60
    "timing",  # of these, those of checkers on 7..18 / 60
    "spread",  # standard deviation of the points held / 8
    "anchors",  # made points in the opponent's home / 3
    "front_anchor",  # the most advanced of them, (25 - point) / 6
    "prime",  # longest run of made points / 6
    "prime_ahead",  # the same within 12 points ahead of the opponent's rearmost checker / 6
    "blots_home",  # / 3
    "blots_back",  # on 19..24, / 2
    "blots_outside",  # on 7..18, / 3
    "hit",  # share of rolls by which the opponent hits
    "hit_two",  # share of rolls that hit either of two blots
    "hit_pips",  # mean pips lost by the dearest hit / 10
    "rear_travel",
    "rear_escape",
    "back_held",  # sum of (1 - travel) of checkers on 13.. / 3
    "blockade_mean",  # mean travel of an opposing checker on his 19..25
    "blockade_least",  # the least of these
    "moves",  # sources that can move (the bar alone while it is held), summed over the six dice / 30
    "dead_dice",  # dice that move nothing / 6
    "in_contact",  # checkers that an opposing one may still meet / 15
    "back",  # checkers on 13.. / 5
)
_LONG_SIDE = (
    "pips",  # / 100
    "outside_pips",  # pips to bring all home / 100
    "rear",  # rearmost checker / 24
    "home",  # checkers home / 15
    "head",  # checkers on the head / 15
    "stacked",  # checkers above the second on a point, head apart / 10
    "doubled",  # points of two and more, head apart / 6
    "tallest",  # tallest of these / 8
    "points",  # points held / 10
    "lead",  # foremost checker / 24, 0 once one is off: decides whether the opponent's six-point block is legal
    "obstacles",  # opposing points ahead of the rearmost checker / 10
    "held",  # 1 - mean travel of the checkers outside the home
    "most_held",  # 1 - the least of these
    "rear_travel",
    "rear_escape",
    "moves_1",  # sources that can move by the die / 8
    "moves_2",
    "moves_3",
    "moves_4",
    "moves_5",
    "moves_6",
    "run_ahead",  # longest run ahead of the opponent's rearmost checker / 6
    "six_window",  # most points of six consecutive ones there, from 4 on / 6
    "trapped",  # opposing checkers behind a run of 3 and more / 15
)
_SHARED = (
    "lead",  # the opponent's pips minus mine / 50
    "lead_spread",  # tanh of the lead, less half a roll, against the spread of the race
    "overlap",  # how far the sides have still to pass each other, 0..1
)


def _both(side: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{whose}_{name}" for whose in ("my", "their") for name in side) + _SHARED


# Feature set -> names of its dense columns, in order.
FEATURE_SETS: MappingProxyType[str, tuple[str, ...]] = MappingProxyType(
    {"counts_v1": (), "short_v1": _both(_SHORT_SIDE), "long_v1": _both(_LONG_SIDE)}
)
_CODES = MappingProxyType({"counts_v1": kernels.COUNTS_V1, "short_v1": kernels.SHORT_V1, "long_v1": kernels.LONG_V1})


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
