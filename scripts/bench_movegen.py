"""Afterstates a second of both games on random-play positions, one core; `--peers` adds gnubg-nn in the same run.

The work is asserted first: the twin's plays on a part of the positions, gnubg-nn's number of plays on all. Times are
CPU seconds, the best of several rounds that take turns, so that other programs disturb the ratios little.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "tests")]

from engine import get_rules, legal_afterstates
from random_positions import random_play
from twin_comparison import different, gnubg_order

CHECKED = 1000

Work = tuple[Callable[[], object], int]  # what to time, and how many afterstates it makes


def kernel_work(preset: str, boards: np.ndarray, dice: np.ndarray) -> Work:
    """One call of the generator on all positions."""
    rules = get_rules(preset)
    assert not different(boards[:CHECKED], dice[:CHECKED], rules), "the generator and the twin disagree"
    made = legal_afterstates(boards, dice, rules, threads=1)[1][-1]
    return lambda: legal_afterstates(boards, dice, rules, threads=1), int(made)


def gnubg_work(boards: np.ndarray, dice: np.ndarray) -> Work:
    """A call of gnubg-nn's generator for every position, boards and rolls already in its form."""
    import gnubg_nn

    calls = [(board, *roll) for board, roll in zip(gnubg_order(boards).tolist(), dice.tolist(), strict=True)]
    keys = [len(gnubg_nn.moves(*call)) for call in calls]
    ours = np.diff(legal_afterstates(boards, dice, get_rules("short"))[1])
    assert [max(count, 1) for count in keys] == ours.tolist(), "gnubg-nn counts other plays"

    def all_calls() -> None:
        for call in calls:
            gnubg_nn.moves(*call)

    return all_calls, sum(keys)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--positions", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peers", action="store_true", help="time gnubg_nn.moves on the same short positions")
    args = parser.parse_args()
    if args.positions < CHECKED or args.rounds < 1 or args.seed < 0:
        parser.error(f"--positions must be at least {CHECKED}, --rounds at least 1, --seed at least 0")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

    start = time.perf_counter()
    legal_afterstates(get_rules("short").start_board(), (6, 5), get_rules("short"))
    print(f"first call: {time.perf_counter() - start:.2f} s, to compile the kernel or load it from the cache")
    rng = np.random.default_rng(args.seed)
    positions = {preset: random_play(get_rules(preset), args.positions, rng) for preset in ("short", "long_classic")}
    works = {preset: kernel_work(preset, *positions[preset]) for preset in positions}
    if args.peers:
        works["gnubg_nn.moves"] = gnubg_work(*positions["short"])

    best = dict.fromkeys(works, float("inf"))
    for _ in range(args.rounds):
        for name, (work, _) in works.items():
            start = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - start)
    rates = {name: made / best[name] for name, (_, made) in works.items()}
    for name, (_, made) in works.items():
        print(f"{name}: {rates[name] / 1e6:.2f} M afterstates/s ({made} on {args.positions} positions)")
    if args.peers:
        print(f"short / gnubg_nn.moves: {rates['short'] / rates['gnubg_nn.moves']:.2f}, wanted at least 2")
    print(f"long_classic / short: {rates['long_classic'] / rates['short']:.2f}, wanted at least 0.45")
    return 0


if __name__ == "__main__":
    sys.exit(main())
