"""Feed mutated inputs to everything that reads what strangers wrote; the last line is `faults: K`.

A fault is any exception but a NardyError (over HTTP: status 500), more than a second of CPU time, or more than 100 MB
of memory for one input. Each kind of fault is printed once, with the smallest input found. Exit code 1 if K > 0.
"""

from __future__ import annotations

import argparse
import logging
import resource
import sys
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
from tqdm import tqdm

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "tests")]

from input_faults import kind_of_fault, place_of, smaller
from input_parsers import SHARES, Parser, parsers_with
from mutation import mutated

CHUNK = 2000
ROOM_BYTES = 4 << 30  # of a worker in all; a parser that wants it all gets a MemoryError

_parsers: dict[str, Parser] = {}
_warm: set[str] = set()
_folder: tempfile.TemporaryDirectory[str] | None = None


class Outcome(NamedTuple):
    """A chunk: how many inputs were refused, the CPU time, and an input for each kind of fault."""

    parser: str
    count: int
    refused: int
    cpu_s: float
    faults: dict[str, bytes]


def warm_parser(name: str) -> Parser:
    """A parser that has read its seeds, made once in each process, with a folder in memory where there is one."""
    global _folder
    if _folder is None:
        shm = "/dev/shm" if Path("/dev/shm").is_dir() else None
        _folder = tempfile.TemporaryDirectory(prefix="nardy-fuzz-", dir=shm, ignore_cleanup_errors=True)
        warnings.simplefilter("ignore")  # a torn line of a record is said as a warning
        np.seterr(all="ignore")
        logging.disable()  # damaged bear-off tables are said in the log
        resource.setrlimit(resource.RLIMIT_AS, (ROOM_BYTES, resource.RLIM_INFINITY))
    if name not in _parsers:
        _parsers.update(parsers_with(name, Path(_folder.name)))
    if name not in _warm:
        for seed in _parsers[name].seeds:
            kind_of_fault(_parsers[name], seed, is_measured=False)
        _warm.add(name)
    return _parsers[name]


def chunk_outcome(name: str, seed: int, chunk: int, count: int) -> Outcome:
    """What some mutated inputs of one parser come to; the chunk has random numbers of its own."""
    parser, rng = warm_parser(name), Random(f"{seed} {name} {chunk}")
    start, refused = time.process_time(), 0
    faults: dict[str, tuple[str, bytes]] = {}
    for _ in range(count):
        data = mutated(rng.choice(parser.seeds), parser.seeds, rng, parser.mutations)
        kind = kind_of_fault(parser, data)
        if kind and place_of(kind) not in faults:
            faults[place_of(kind)] = (kind, smaller(parser, data, kind))
        refused += kind == ""
    return Outcome(name, count, refused, time.process_time() - start, dict(faults.values()))


def counts_by_parser(total: int, only: str) -> dict[str, int]:
    """Inputs of each parser, at least one of each."""
    wanted = {name: share for name, share in SHARES.items() if not only or name in only.split(",")}
    return {name: max(1, total * share // sum(wanted.values())) for name, share in wanted.items()}


def print_outcomes(counts: dict[str, int], outcomes: list[Outcome]) -> None:
    """A line for each parser."""
    print(f"{'parser':<12} {'inputs':>9} {'refused':>9} {'CPU us':>8}")
    for name, count in counts.items():
        mine = [outcome for outcome in outcomes if outcome.parser == name]
        cost = 1e6 * sum(outcome.cpu_s for outcome in mine) / count
        print(f"{name:<12} {count:>9} {sum(outcome.refused for outcome in mine):>9} {cost:>8.0f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000, help="inputs over all parsers")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help=f"some of the parsers, divided by commas: {', '.join(SHARES)}")
    args = parser.parse_args()
    counts = counts_by_parser(args.inputs, args.only)
    if args.inputs < 1 or args.workers < 1 or not counts:
        parser.error(f"--inputs and --workers must be at least 1, --only takes {', '.join(SHARES)}")

    tasks = [
        (name, args.seed, number, min(CHUNK, count - number * CHUNK))
        for name, count in counts.items()
        for number in range(-(-count // CHUNK))
    ]
    outcomes, faults = [], {}
    with ProcessPoolExecutor(args.workers, mp_context=get_context("spawn")) as pool:
        jobs = [pool.submit(chunk_outcome, *task) for task in tasks]
        with tqdm(total=sum(counts.values()), unit="input") as bar:
            for job in as_completed(jobs):
                outcomes.append(job.result())
                bar.update(outcomes[-1].count)
                for kind, data in outcomes[-1].faults.items():
                    faults.setdefault((outcomes[-1].parser, place_of(kind)), f"{kind}\n    {data[:1000]!r}")
    print_outcomes(counts, outcomes)
    for (name, _), text in faults.items():
        print(f"{name}: {text}")
    print(f"{sum(counts.values())} inputs, seed {args.seed}")
    print(f"faults: {len(faults)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
