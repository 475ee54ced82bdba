"""Linear players: a published nine-feature value for long nardy and our own linear value for short.

Both are yardsticks for the arena and never training targets. A value is computed for whole batches of afterstates;
higher is better for row 0, the player who just moved.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from agent import _heuristic_kernels as kernels
from engine.board import Boards, pip_count, rearmost
from engine.rules import BAR, CHECKERS, HEAD, OFF, Rules

Values = npt.NDArray[np.float64]
ValueFunction = Callable[[Boards, Rules], Values]

WON = 1000.0  # an immediate win is worth more than any linear value
POINTS = slice(1, BAR)
HOME = slice(1, 7)


def linear_value(rules: Rules) -> ValueFunction:
    """The linear value function of the game that `rules` belong to."""
    return short_value if rules.can_hit else nine_feature_value


NINE_WEIGHTS = {
    "pips": 1.0,
    "head": 0.45,
    "home": 0.25,
    "off": 2.0,
    "occupied": 0.2,
    "run": 0.25,
    "squares": 0.15,
    "rear": 0.2,
    "mobility": 0.15,
}


def nine_feature_value(afterstates: Boards, rules: Rules) -> Values:
    """Weighted sum of nine features of long nardy, mine minus the opponent's; `WON` once row 0 has finished.

    Args:
        afterstates: int8 [N, 2, 26].
    Returns:
        float64 [N].
    Source:
        The linear baseline of the EvoNardy project (MIT licence), features and weights as published there.
    """
    features = np.empty((len(afterstates), 2, len(NINE_WEIGHTS)))
    kernels.nine_features(np.ascontiguousarray(afterstates), rules.opponent_point, features)
    difference = features[:, 0] - features[:, 1]
    value = (difference * np.array(list(NINE_WEIGHTS.values()))).sum(axis=1)
    return np.where(afterstates[:, 0, OFF] == CHECKERS, WON, value)


# Short nardy: set by hand from ordinary backgammon advice, in points of equity.
PIP_WORTH = 0.007
GAP_COST = 0.025  # an empty home point while bearing off, and pips that a stack wastes
OFF_WORTH = 0.045
FIRST_OFF_WORTH = 0.1  # the first checker off saves a gammon
POINT_WORTH = np.array([0, 0.02, 0.04, 0.07, 0.10, 0.12, 0.10, 0.08, 0.05, 0.02, 0.02, 0.02, 0.01])  # by own point
ANCHOR_WORTH = np.array([0.05, 0.06, 0.08, 0.14, 0.16, 0.12])  # own point 24, 23, ... 19
PRIME_WORTH = np.array([0, 0, 0, 0.03, 0.10, 0.22, 0.40])
STACK_COST = 0.012  # each checker above three on one point
BAR_COST = 0.10
BACK_COST = 0.03  # each checker still in the opponent's home
SHOT_WEIGHT = 0.9
# Chance in 36 that one given blot is hit from the distance 1..24, all points in between open: direct shots with
# their combinations, then combinations only (the usual table of backgammon books).
HIT_CHANCE = np.array([11, 12, 14, 15, 15, 17, 6, 6, 5, 3, 2, 3, 0, 0, 1, 1, 0, 1, 0, 1, 0, 0, 0, 1]) / 36.0


def short_value(afterstates: Boards, rules: Rules) -> Values:
    """A linear value for short nardy with hand-set weights; `WON` once row 0 has finished.

    Args:
        afterstates: int8 [N, 2, 26].
    Returns:
        float64 [N], roughly in points.
    Source:
        Written for this project as a fixed opponent; no weights come from another program.
    """
    pips = pip_count(afterstates).astype(np.float64)
    rear = rearmost(afterstates)
    is_race = rear.sum(axis=1) <= BAR
    side = _race_side(afterstates) - PIP_WORTH * pips  # [N, 2]
    value = side[:, 0] - side[:, 1]
    contact = np.flatnonzero(~is_race)
    if contact.size:
        boards = afterstates[contact]
        layout = _layout_side(boards)
        value[contact] += layout[:, 0] - layout[:, 1] - _blot_danger(boards)
    return np.where(afterstates[:, 0, OFF] == CHECKERS, WON, value)


def _race_side(boards: Boards) -> Values:
    off = boards[:, :, OFF].astype(np.float64)
    low_stacks = np.maximum(boards[:, :, 1:3].astype(np.int64) - 2, 0).sum(axis=2)
    gaps = (boards[:, :, 4:7] == 0).sum(axis=2) * (off < 10)
    waste = GAP_COST * (low_stacks + 0.5 * gaps)
    return np.asarray(OFF_WORTH * off + FIRST_OFF_WORTH * np.minimum(off, 1) - waste)


def _longest_run(marks: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Longest run of True along the last axis."""
    run = np.zeros(marks.shape[:-1], dtype=np.int64)
    longest = run.copy()
    for i in range(marks.shape[-1]):
        run = (run + 1) * marks[..., i]
        np.maximum(longest, run, out=longest)
    return longest


def _layout_side(boards: Boards) -> Values:
    """Worth of the made points, primes and anchors of each side, less stacks, stragglers and the bar: [N, 2]."""
    made = boards >= 2
    worth = (made[:, :, :13] * POINT_WORTH).sum(axis=2)
    worth += (made[:, :, 24:18:-1] * ANCHOR_WORTH).sum(axis=2)
    worth += PRIME_WORTH[np.minimum(_longest_run(made[:, :, 2:13]), 6)]
    worth -= STACK_COST * np.maximum(boards[:, :, POINTS].astype(np.int64) - 3, 0).sum(axis=2)
    worth -= BACK_COST * boards[:, :, 19:BAR].sum(axis=2)
    closed = made[:, ::-1, HOME].sum(axis=2)
    return np.asarray(worth - boards[:, :, BAR] * (BAR_COST + 0.05 * closed))


def _blot_danger(boards: Boards) -> Values:
    """Expected loss of row 0 from hits by the opponent, who is on roll: [N]."""
    blots = boards[:, 0, POINTS] == 1  # [N, 24], own point 1..24
    hitters = boards[:, 1, ::-1] > 0  # column 25 - p: my index of their checker, 0 being their bar
    safe = np.ones(blots.shape, dtype=np.float64)
    for distance in range(1, HEAD + 1):
        # A checker on my point q moves upwards in my numbers and hits a blot on q + distance.
        source = hitters[:, 0 : HEAD + 1 - distance]
        safe[:, distance - 1 :] *= 1.0 - HIT_CHANCE[distance - 1] * source
    stake = (BAR - np.arange(1, BAR)) * PIP_WORTH * 1.6 + 0.08
    closed = (boards[:, 1, HOME] >= 2).sum(axis=1)
    return np.asarray(SHOT_WEIGHT * ((1.0 - safe) * blots * stake).sum(axis=1) * (1.0 + 0.12 * closed))
