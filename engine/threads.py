"""Splitting batches over the cores: kernels release the interpreter lock, so plain threads are enough."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import TypeVar

from engine.errors import ConfigError

Result = TypeVar("Result")

MAX_THREADS = 256


def default_threads() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool(threads: int, pid: int) -> ThreadPoolExecutor:  # pid: a forked child needs a pool of its own
    return ThreadPoolExecutor(max_workers=threads, thread_name_prefix="nardy")


def map_slices(
    work: Callable[[slice], Result], count: int, *, threads: int | None = None, smallest: int = 1
) -> list[Result]:
    """Results of `work` on consecutive slices of range(count), in order, computed side by side.

    Args:
        work: called with each slice; must release the interpreter lock to gain anything.
        count: number of items; 0 gives one empty slice.
        threads: most threads to use; None: all cores.
        smallest: items below which a slice is not worth a thread.
    Raises:
        ConfigError: threads is not between 1 and 256.
    """
    threads = default_threads() if threads is None else threads
    if not 1 <= threads <= MAX_THREADS:
        raise ConfigError(f"threads must lie between 1 and {MAX_THREADS}, got {threads}")
    parts = max(1, min(threads, count // max(smallest, 1)))
    edges = [count * i // parts for i in range(parts + 1)]
    slices = [slice(a, b) for a, b in pairwise(edges)]
    if parts == 1:
        return [work(slices[0])]
    return list(_pool(threads, os.getpid()).map(work, slices))
