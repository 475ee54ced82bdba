"""Damage to files and disks, for tests of what a program says to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest


def flipped_bits(content: bytes, rng: np.random.Generator, count: int, within: int | None = None) -> Iterator[bytes]:
    """The content `count` times with one bit flipped each time, in its first `within` bytes where that is given."""
    for bit in rng.integers(0, 8 * (within or len(content)), size=count):
        damaged = bytearray(content)
        damaged[bit // 8] ^= 1 << (bit % 8)
        yield bytes(damaged)


@contextmanager
def full_disk() -> Iterator[None]:
    """A time in which nothing that is written reaches the disk."""

    def fail(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        yield
