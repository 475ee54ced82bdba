"""Dice: the 21 rolls and their weights, dice given as text or arrays, and sources of dice for one game.

Source: RULES.md 1, 6 and 8. Random dice are made from random bytes: bytes of 252 and more are rejected, the rest give
`byte % 6 + 1`, so no face is favoured (case E23). Bytes come from PCG64's raw words, which numpy keeps the same across
its versions; a recorded seed therefore stays valid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from engine.errors import DiceError

FACES = 6
REJECT_FROM = 252  # the largest multiple of six below 256
MAX_SEED = 2**64 - 1

Roll = tuple[int, int]
RollArray = npt.NDArray[np.int8]


def _all_rolls() -> RollArray:
    rolls = np.array([(a, b) for a in range(1, FACES + 1) for b in range(1, a + 1)], dtype=np.int8)
    rolls.setflags(write=False)
    return rolls


def _roll_weights(rolls: RollArray) -> npt.NDArray[np.float64]:
    weights = np.where(rolls[:, 0] == rolls[:, 1], 1.0, 2.0) / (FACES * FACES)
    weights.setflags(write=False)
    return weights


# int8 [21, 2], larger die first, in the order 1:1 2:1 2:2 3:1 ... 6:6, and float64 [21] summing to one.
ROLLS: RollArray = _all_rolls()
ROLL_WEIGHTS: npt.NDArray[np.float64] = _roll_weights(ROLLS)

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
    try:
        array = None if isinstance(dice, str) else np.asarray(dice)
    except (TypeError, ValueError):
        raise DiceError(f"dice of {n} boards must have shape [{n}, 2] or [2], got rows of unequal length") from None
    if array is None or array.shape == (2,):
        return np.tile(np.array(as_dice(dice), dtype=np.int8), (n, 1))
    if array.shape != (n, 2):
        raise DiceError(f"dice of {n} boards must have shape [{n}, 2] or [2], got {list(array.shape)}")
    if array.dtype.kind not in "iu":
        raise DiceError(f"dice must be whole numbers from 1 to 6, got {array.dtype}")
    if array.size and (array.min() < 1 or array.max() > FACES):
        raise DiceError(f"dice must be whole numbers from 1 to 6, got {array.min()} to {array.max()}")
    return np.ascontiguousarray(array, dtype=np.int8)


class DiceSource(Protocol):
    """Where the dice of one game come from. `kind` is the word records keep; `thrown` counts rolls so far."""

    kind: str
    thrown: int

    def roll(self) -> Roll:
        """The next two dice. Raises DiceError when there are none."""
        ...


class SeededDice:
    """Dice of game `index` of a run with `seed`: a stream of its own, so games do not depend on each other.

    Args:
        seed: 0 to 2**64 - 1.
        index: the game's number within the run.
        skip: rolls already thrown, for a game that is taken up again.
    Raises:
        DiceError: a negative or too large number.
    """

    kind = "seed"

    def __init__(self, seed: int, index: int = 0, skip: int = 0) -> None:
        self.seed, self.index = _whole("seed", seed), _whole("index of a game", index)
        self._bits = np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=(self.index,)))
        self._faces: list[int] = []
        self.thrown = 0
        for _ in range(_whole("number of rolls to skip", skip)):
            self.roll()

    def roll(self) -> Roll:
        """The next two dice."""
        while len(self._faces) < 2:
            self._faces += self._draw(8).tolist()
        self.thrown += 1
        return self._faces.pop(0), self._faces.pop(0)

    def rolls(self, count: int) -> RollArray:
        """The next `count` rolls at once, the same as `count` calls of `roll`.

        Returns:
            int8 [count, 2].
        """
        faces = np.array(self._faces, dtype=np.int8)
        while len(faces) < 2 * count:
            words = (2 * count - len(faces)) // 7 + 1
            faces = np.concatenate([faces, self._draw(words)])
        self._faces = faces[2 * count :].tolist()
        self.thrown += count
        return faces[: 2 * count].reshape(count, 2)

    def _draw(self, words: int) -> RollArray:
        return faces_of(self._bits.random_raw(words).astype("<u8").tobytes())


class GivenDice:
    """Dice known in advance, used in order (case T15).

    Args:
        rolls: anything `as_dice` takes, one item a roll; the first is the toss, if the game has one.
    Raises:
        DiceError: an item is no roll.
    """

    kind = "typed"

    def __init__(self, rolls: Iterable[Any]) -> None:
        self._rolls = [as_dice(roll) for roll in rolls]
        self.thrown = 0

    def roll(self) -> Roll:
        """The next two dice. Raises DiceError when all have been used."""
        if self.thrown == len(self._rolls):
            raise DiceError(f"the {len(self._rolls)} rolls given are used up, and the game needs another")
        self.thrown += 1
        return self._rolls[self.thrown - 1]


def faces_of(data: bytes) -> RollArray:
    """The dice in a string of random bytes: those from 252 on are left out, the rest give `byte % 6 + 1`.

    Returns:
        int8 [n], n at most the number of bytes.
    """
    values = np.frombuffer(data, dtype=np.uint8)
    return (values[values < REJECT_FROM] % FACES + 1).astype(np.int8)


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value <= MAX_SEED:
        raise DiceError(f"{name} must be a whole number from 0 to {MAX_SEED}, got {value!r}")
    return int(value)
