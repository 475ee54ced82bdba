"""Bear-off tables: what they cost, and how far the convolution is from the truth.

    python scripts/bench_bearoff.py [--referee FILE]

Times are seconds of one core. Errors are stated in win or gammon chance and in millipoints (mpt) of equity lost by the
plays that are chosen. Truth is the two-sided table for at most 6 checkers a side, and for gammons an exact recursion of
its own over all positions of 15 checkers, none off, against 1 to 4.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from agent._bearoff_kernels import FEW_ROWS, NONE_OFF_ROW, ROWS, list_plays, row_counts, rows_after
from agent.bearoff import BearoffTables, build_tables, load_tables
from engine.movegen import legal_afterstates
from engine.rules import RULES

SHORT = RULES["short_backgammon"]
ROLLS = [(high, low) for high in range(1, 7) for low in range(1, high + 1)]
WEIGHTS = np.array([1 if high == low else 2 for high, low in ROLLS]) / 36.0
FOUR_CHECKERS = 210  # rows below have at most 4
BUILD = "import time; from agent.bearoff import build_tables as b; b(progress=False); print(time.process_time())"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--referee", type=Path, help="referee set (npz) whose bear-off decisions are scored")
    arguments = parser.parse_args()
    tables = load_tables()
    report_cost(tables)
    report_win_chance(tables)
    report_gammon_chance(tables)
    report_consistency(tables)
    if arguments.referee:
        report_referee(tables, arguments.referee)


def report_cost(tables: BearoffTables) -> None:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", BUILD],
            env={**os.environ, "NUMBA_CACHE_DIR": folder},
            cwd=Path(__file__).resolve().parent.parent,
            capture_output=True,
            text=True,
            check=True,
        )
    print(f"import, compile and build on a fresh machine: {float(done.stdout):.1f} s of one core")
    print(f"build, compiled before: {seconds(lambda: build_tables(progress=False)):.2f} s")
    rng = np.random.default_rng(1)
    for name, low, high in (("two-sided", 1, 6), ("convolution", 7, 15), ("convolution, 15 left", 15, 15)):
        boards = random_boards(rng, 20_000, low, high)
        probs = tables.outcome_probs(boards, SHORT)
        assert len(probs) == 20_000 and np.allclose(probs.sum(axis=1), 1.0, atol=1e-5)
        kernel = seconds(lambda boards=boards: tables.outcome_probs(boards, SHORT)) / 20_000
        naive = seconds(lambda boards=boards: [naive_win(tables, board) for board in boards[:500]]) / 500
        print(f"{name}: {kernel * 1e9:.0f} ns a board, {naive / kernel:.0f} times as fast as one numpy convolution")


def report_win_chance(tables: BearoffTables) -> None:
    few = tables.arrays.one_sided[:FEW_ROWS].astype(float)
    later = 1.0 - np.cumsum(few, axis=1)
    convolved = few @ later.T  # [just moved, on roll]: the chance of the side that just moved
    exact = 1.0 - tables.arrays.two_sided.astype(float).T
    error = np.abs(convolved - exact)[1:, 1:]
    offsets = np.zeros((FEW_ROWS, 22), dtype=np.int64)
    rows = np.zeros(80_000, dtype=np.int32)
    list_plays(tables.arrays.ranks, offsets, rows)
    loss = np.zeros((FEW_ROWS, 21, FEW_ROWS))  # [row on roll, roll, other row]
    for row in range(1, FEW_ROWS):
        for roll in range(21):
            plays = rows[offsets[row, roll] : offsets[row, roll + 1]]
            chosen = plays[convolved[plays].argmax(axis=0)]
            loss[row, roll] = exact[plays].max(axis=0) - exact[chosen, np.arange(FEW_ROWS)]
    loss = 2000.0 * loss[1:, :, 1:]
    print(f"win chance, {error.size} positions of 1..6 checkers: error mean {error.mean():.5f}, max {error.max():.4f}")
    print(f"plays chosen by it: {np.tensordot(WEIGHTS, loss, (0, 1)).mean():.4f} mpt a roll, max {loss.max():.1f} mpt")


def report_gammon_chance(tables: BearoffTables) -> None:
    saver, attacker = exact_gammons(tables)
    first_off = tables.arrays.first_off.astype(float)
    finish = tables.arrays.one_sided[:FOUR_CHECKERS, : first_off.shape[1]].astype(float)
    none_off = 1.0 - np.cumsum(first_off, axis=1)
    for name, convolved, exact in (
        ("side with 15 on roll", none_off @ finish.T, saver),
        ("side with few on roll", (none_off + first_off) @ finish.T, attacker),
    ):
        error = np.abs(convolved - exact)[:, 1:]
        print(f"gammon chance, {name}, {error.size} positions: error mean {error.mean():.1e}, max {error.max():.4f}")


def exact_gammons(tables: BearoffTables) -> tuple[np.ndarray, np.ndarray]:
    """P(gammon) under best play for and against it, float64 [15504, 210] each: the side with 15 on roll, the other."""
    offsets = np.zeros((FOUR_CHECKERS, 22), dtype=np.int64)
    rows = np.zeros(80_000, dtype=np.int32)
    used = list_plays(tables.arrays.ranks, offsets, rows)
    starts = offsets[1:, :21].ravel()
    saver = np.zeros((ROWS - NONE_OFF_ROW, FOUR_CHECKERS))
    attacker = np.zeros_like(saver)
    saver[:, 0] = attacker[:, 0] = 1.0
    counts, found = np.zeros(7, dtype=np.int64), np.zeros(126, dtype=np.int64)
    for index in range(len(saver)):
        row_counts(index + NONE_OFF_ROW, tables.arrays.ranks, counts)
        for roll, weight in zip(ROLLS, WEIGHTS, strict=True):
            plays = found[: rows_after(counts, *roll, tables.arrays.ranks, found)] - NONE_OFF_ROW
            if plays.min() >= 0:  # no play of this roll bears a checker off
                saver[index, 1:] += weight * attacker[plays, 1:].min(axis=0)
        best = np.maximum.reduceat(saver[index, rows[:used]], starts).reshape(-1, 21)
        attacker[index, 1:] = best @ WEIGHTS
    return saver, attacker


def report_consistency(tables: BearoffTables) -> None:
    boards = random_boards(np.random.default_rng(2), 2000, 7, 15)
    static = tables.outcome_probs(boards, SHORT) @ SHORT.points
    ahead = np.zeros(len(boards))
    for roll, weight in zip(ROLLS, WEIGHTS, strict=True):
        dice = np.full((len(boards), 2), roll, dtype=np.int8)
        afterstates, offsets = legal_afterstates(boards[:, ::-1], dice, SHORT)
        equity = tables.outcome_probs(afterstates, SHORT) @ SHORT.points
        ahead -= weight * np.maximum.reduceat(equity, offsets[:-1])
    error = 1000.0 * np.abs(static - ahead)
    print(
        f"7..15 checkers, {len(boards)} positions against one roll ahead: {error.mean():.2f} mpt, max {error.max():.1f}"
    )


def report_referee(tables: BearoffTables, path: Path) -> None:
    data = np.load(path, allow_pickle=False)
    losses = []
    for decision in np.flatnonzero(data["phase"] == 3):
        part = slice(data["offsets"][decision], data["offsets"][decision + 1])
        equity = tables.outcome_probs(data["afters"][part][:, ::-1], SHORT) @ SHORT.points
        reference = data["eq"][part].astype(float)
        losses.append(1000.0 * (reference.max() - reference[equity.argmax()]))
    error = np.std(losses) / np.sqrt(len(losses))
    print(f"referee, {len(losses)} bear-off decisions: {np.mean(losses):.3f} +- {error:.3f} mpt")


def random_boards(rng: np.random.Generator, n: int, low: int, high: int) -> np.ndarray:
    """int8 [n, 2, 26]: each side has low..high checkers, each on a random point of 1..6."""
    boards = np.zeros((n, 2, 26), dtype=np.int8)
    for left in np.ndindex(n, 2):
        points = rng.integers(1, 7, rng.integers(low, high + 1))
        boards[left][:7] = np.bincount(points, minlength=7)
        boards[left][0] = 15 - len(points)
    return boards


def naive_win(tables: BearoffTables, board: np.ndarray) -> float:
    ranks = tables.arrays.ranks[np.arange(6, 0, -1)]
    rows = [int(ranks[np.arange(6), np.cumsum(side[6:0:-1])].sum()) for side in board]
    mine, theirs = tables.arrays.one_sided[rows]
    return float(mine @ (1.0 - np.cumsum(theirs)))


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()
