"""Dice of paired games: a roll is a function of the pair's key and the turn number, so both games see the same.

The key of pair i is drawn from `SeedSequence(seed, spawn_key=(i,))`; roll t of a pair is SplitMix64 of the key and t.
A later turn never depends on an earlier one, so a game that is longer than its twin changes nothing.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from engine.rules import Rules

Keys = npt.NDArray[np.uint64]

_STEP = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_FACES = np.uint64(6)


def pair_keys(seed: int, first: int, count: int) -> Keys:
    """Keys of the pairs `first` to `first + count - 1` of a match: uint64 [count]."""
    keys = [
        np.random.SeedSequence(seed, spawn_key=(pair,)).generate_state(1, np.uint64)[0]
        for pair in range(first, first + count)
    ]
    return np.array(keys, dtype=np.uint64)


def turn_dice(keys: Keys, turn: int, rules: Rules) -> npt.NDArray[np.int8]:
    """The roll of a turn in each pair.

    Args:
        keys: uint64 [N], one a pair.
        turn: 0 for the first turn of the game.
        rules: with `opening_roll=kept` turn 0 plays the two dice of the toss, which are never equal.
    Returns:
        int8 [N, 2], in the order thrown.
    Source:
        SplitMix64 (Steele, Lea and Flood 2014); the high bits choose one of 36 rolls, bias below 1e-17.
    """
    bits = _splitmix(keys + np.uint64(_STEP * (turn + 1) & _MASK))
    high = bits >> np.uint64(32)
    first = (high * _FACES) >> np.uint64(32)
    low = bits & np.uint64(0xFFFFFFFF)
    if turn == 0 and rules.opening_roll == "kept":
        second = (low * np.uint64(5)) >> np.uint64(32)
        second += second >= first  # one of the five faces that differ
    else:
        second = (low * _FACES) >> np.uint64(32)
    return np.stack([first, second], axis=1).astype(np.int8) + np.int8(1)


def _splitmix(state: Keys) -> Keys:
    state = (state ^ (state >> np.uint64(30))) * _MIX_1
    state = (state ^ (state >> np.uint64(27))) * _MIX_2
    return state ^ (state >> np.uint64(31))
