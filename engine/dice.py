"""Dice: the 21 rolls and their weights, dice given as text, and seeded dice that belong to one game.

Source: RULES.md 1 and 6. Random dice draw faces by `Generator.integers`, which has no modulo bias (case E23).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import DiceError

FACES = 6

Roll = tuple[int, int]
RollArray = npt.NDArray[np.int8]


def _all_rolls() -> RollArray:
    rolls = np.array([(a, b) for a in range(1, FACES + 1) for b in range(1, a + 1)], dtype=np.int8)
    rolls.setflags(write=False)
    return rolls


def _roll_weights() -> npt.NDArray[np.float64]:
    weights = np.where(ROLLS[:, 0] == ROLLS[:, 1], 1.0, 2.0) / (FACES * FACES)
    weights.setflags(write=False)
    return weights


# int8 [21, 2], larger die first, in the order 1:1 2:1 2:2 3:1 ... 6:6, and float64 [21] summing to one.
ROLLS: RollArray = _all_rolls()
ROLL_WEIGHTS: npt.NDArray[np.float64] = _roll_weights()

_DICE_TEXT = re.compile(r"\s*([1-6])\s*[:\-,/ ]?\s*([1-6])\s*", re.ASCII)


def as_dice(value: Any) -> Roll:
    """Two dice, in the order given.

    Args:
        value: a pair of whole numbers, or text such as `64`, `6:4`, `6-4`, `6 4`.
    Raises:
        DiceError: anything but two numbers from 1 to 6.
    """
    if isinstance(value, str):
        match = _DICE_TEXT.fullmatch(value)
        if match:
            return int(match[1]), int(match[2])
    elif not isinstance(value, (bytes, bytearray, dict, set)):
        pair = _pair(value)
        if pair is not None:
            return pair
    raise DiceError(f"dice must be two numbers from 1 to 6, such as 64 or 6:4, got {str(value)[:40]!r}")


def _pair(value: Any) -> Roll | None:
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        return None
    if array.shape != (2,) or array.dtype.kind not in "iu" or array.min() < 1 or array.max() > FACES:
        return None
    return int(array[0]), int(array[1])


def as_dice_batch(dice: Any, n: int) -> RollArray:
    """Checked dice of `n` boards.

    Args:
        dice: [n, 2] whole numbers, or one roll (anything `as_dice` takes) for all boards.
        n: number of boards.
    Returns:
        int8 [n, 2], contiguous.
    Raises:
        DiceError: a wrong shape, or a number outside 1..6.
    """
    array = None if isinstance(dice, str) else np.asarray(dice)
    if array is None or array.shape == (2,):
        return np.tile(np.array(as_dice(dice), dtype=np.int8), (n, 1))
    if array.shape != (n, 2):
        raise DiceError(f"dice of {n} boards must have shape [{n}, 2] or [2], got {list(array.shape)}")
    if array.dtype.kind not in "iu" or (array.size and (array.min() < 1 or array.max() > FACES)):
        raise DiceError("dice must be whole numbers from 1 to 6")
    return np.ascontiguousarray(array, dtype=np.int8)
