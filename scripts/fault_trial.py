"""Kill long jobs with SIGKILL at random moments, start them again to the end, and compare with an undisturbed run.

Last line: `kills N, lost L, corrupt C`. Lost is work that was on the disk before a kill and is not after it, or an end
that differs from the undisturbed one; corrupt is a file that cannot be read. Exit code 1 unless both are 0.

Every run is a process of its own, forked before any kernel is loaded, so that kills fall into the work and not into
imports. It is killed and started again up to five times, then left to finish.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import fault_jobs
from fault_jobs import JOBS, Job
from tqdm import tqdm

KILLS_A_RUN = 5
PATIENCE = 60.0  # a run that takes so many times as long as the undisturbed one hangs


@dataclass
class Tally:
    """What became of the runs of one kind."""

    runs: int = 0
    kills: int = 0
    lost: int = 0
    corrupt: int = 0
    leftovers: int = 0


def start(work: Callable[[], object], log: Path) -> int:
    """Do this in a process of its own; its output is added to the log, its exit code is 0 if nothing was raised."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        with log.open("ab", buffering=0) as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        code = int(work() or 0)  # type: ignore[call-overload]
        sys.stdout.flush()
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    os._exit(code)


def ended(pid: int, seconds: float) -> int | None:
    """The wait status of a process that ends in this time, else None."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return status
        time.sleep(0.002)
    return None


def kill(pid: int) -> None:
    """SIGKILL, and wait for the end."""
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def in_child(check: Callable[[], object], folder: Path) -> str:
    """What a check raises, as one line; nothing where it passes. It runs apart, for it may load kernels or torch."""
    log = folder.with_suffix(".check")
    log.unlink(missing_ok=True)
    status = ended(start(check, log), 600.0)
    return "" if status == 0 else f"{status}: {log.read_text(errors='replace').strip()[-300:]}"


@dataclass
class Trial:
    """The runs of one kind of job, compared with one undisturbed run."""

    job: Job
    folder: Path
    rng: random.Random
    tally: Tally
    seconds: float = 0.0

    def undisturbed(self) -> None:
        """Run once to the end and note how long it takes with its kernels compiled."""
        for name in ("first", "whole"):
            place = self._fresh(name)
            began = time.monotonic()
            status = ended(start(partial(self.job.work, place), place.with_suffix(".log")), 1800.0)
            self.seconds = time.monotonic() - began
            if status != 0:
                raise SystemExit(f"{self.job.name} fails undisturbed: {place.with_suffix('.log').read_text()[-500:]}")

    def run(self, most: int) -> Iterator[int]:
        """Kill a run up to so many times, each at a random moment; gives 1 for each kill."""
        self.tally.runs += 1
        place = self._fresh(f"run{self.tally.runs}")
        for _ in range(most):
            pid = start(lambda: self.job.work(place), place.with_suffix(".log"))
            if ended(pid, self.rng.uniform(0.0, self.seconds)) is not None:
                break  # it had less to do than the whole, and was done
            kill(pid)
            self.tally.kills += 1
            self.note("corrupt", in_child(lambda: self.job.is_sound(place), place))
            yield 1
        pid = start(lambda: self.job.work(place), place.with_suffix(".log"))
        status = ended(pid, max(60.0, PATIENCE * self.seconds))
        if status is None:
            kill(pid)
        said = place.with_suffix(".log").read_text(errors="replace").strip()[-300:]
        self.note("lost", "" if status == 0 else f"the last restart ends with {status}: {said}")
        whole = place.with_name("whole")
        self.note("lost", in_child(lambda: self.job.is_same(whole, place), place))
        self.tally.leftovers += len(list(place.rglob("*.tmp")))

    def note(self, kind: str, fault: str) -> None:
        """Count a fault and say it."""
        if fault:
            setattr(self.tally, kind, getattr(self.tally, kind) + 1)
            tqdm.write(f"{self.job.name} run {self.tally.runs}, {kind}: {fault}", file=sys.stdout)

    def _fresh(self, name: str) -> Path:
        place = self.folder / self.job.name / name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        return place


def shares(kills: int, jobs: list[Job]) -> dict[str, int]:
    """Kills of each kind, in proportion to their weights, with the sum asked for."""
    total, given, done = sum(job.weight for job in jobs), {}, 0
    for job in jobs:
        done += job.weight
        given[job.name] = round(kills * done / total) - sum(given.values())
    return given


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="kills in all")
    parser.add_argument("--seed", type=int, default=1, help="seed of the moments; which work they hit depends on load")
    parser.add_argument("--kinds", default=",".join(job.name for job in JOBS), help="what is killed")
    parser.add_argument("--folder", type=Path, help="where the runs are kept; else a temporary folder")
    args = parser.parse_args()
    known = {job.name: job for job in JOBS}
    if args.kills < 1 or not set(args.kinds.split(",")) <= set(known):
        parser.error(f"--kills must be at least 1, --kinds some of {','.join(known)}")
    jobs = [known[name] for name in args.kinds.split(",")]
    tqdm.monitor_interval = 0  # no thread may run when a process is forked
    fault_jobs.import_all()
    tallies = {}
    with tempfile.TemporaryDirectory() as temporary, tqdm(total=args.kills, unit="kill") as bar:
        for name, wanted in shares(args.kills, jobs).items():
            rng, tally = random.Random(f"{args.seed} {name}"), tallies.setdefault(name, Tally())
            trial = Trial(known[name], args.folder or Path(temporary), rng, tally)
            bar.set_postfix_str(name)
            if wanted:
                trial.undisturbed()
            while tally.kills < wanted:
                for kills in trial.run(min(KILLS_A_RUN, wanted - tally.kills)):
                    bar.update(kills)
    print(f"{'kind':<10} {'runs':>5} {'kills':>6} {'lost':>5} {'corrupt':>8} {'temporary files left':>21}")
    total: Counter[str] = Counter()
    for name, tally in tallies.items():
        print(f"{name:<10} {tally.runs:>5} {tally.kills:>6} {tally.lost:>5} {tally.corrupt:>8} {tally.leftovers:>21}")
        total.update(vars(tally))
    print(f"kills {total['kills']}, lost {total['lost']}, corrupt {total['corrupt']}")
    return 1 if total["lost"] or total["corrupt"] else 0


if __name__ == "__main__":
    sys.exit(main())
