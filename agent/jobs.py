"""Work behind the HTTP service: quick jobs beside slow ones, limits, and slow jobs that can be stopped.

Quick jobs have threads of their own, so a slow one never keeps them waiting for a place. Kernels release the
interpreter lock, and every job computes on its own thread only.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from agent._bearoff_kernels import BearoffArrays
from agent.evaluator import Evaluator
from agent.net import Net
from engine.board import Boards
from engine.errors import NardyError
from engine.rules import Rules
from engine.threads import default_threads

Result = TypeVar("Result")

LOOK_S = 0.25  # how often it is looked whether the asker is still there


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one request, and all of them together, may ask for."""

    body_bytes: int = field(default=1024 * 1024, metadata={"help": "Longest request body."})
    plies: int = field(default=3, metadata={"help": "Deepest look-ahead of a suggestion."})
    top: int = field(default=200, metadata={"help": "Most plays in one answer."})
    batch: int = field(default=256, metadata={"help": "Most positions in one batch."})
    candidates: int = field(default=10, metadata={"help": "Most plays in one rollout."})
    trials: int = field(default=20_736, metadata={"help": "Most trials of a candidate in one rollout."})
    slow_jobs: int = field(default_factory=default_threads, metadata={"help": "Slow jobs at the same time."})
    waiting_jobs: int = field(default=64, metadata={"help": "Slow jobs that may wait for their turn."})
    slow_s: float = field(default=300.0, metadata={"help": "Longest that a slow job may compute."})
    games: int = field(default=5000, metadata={"help": "Most games kept in the folder."})
    events: int = field(default=4000, metadata={"help": "Most events of a record that is loaded."})
    open_games: int = field(default=64, metadata={"help": "Games held in memory."})
    watchers: int = field(default=64, metadata={"help": "Connections that watch games at the same time."})


class JobStopped(NardyError):
    """A slow job was ended before its time: the asker left, its time was up, or the server stops."""


class Busy(NardyError):
    """Too much is being computed already; the same request can be sent again later."""


class StopFlag:
    """Ends a slow job from outside.

    Args:
        limit_s: how long the job may compute, from `start` on.
    """

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s
        self._reason = ""
        self._end = float("inf")

    def start(self) -> None:
        """The job begins to compute."""
        self._end = time.monotonic() + self.limit_s

    def stop(self, reason: str) -> None:
        """End the job as soon as it looks."""
        self._reason = self._reason or reason

    def check(self) -> None:
        """Called by the job. Raises JobStopped when it must end."""
        if time.monotonic() > self._end:
            self.stop(f"this took longer than {self.limit_s:g} s; ask for fewer plies, plays or trials")
        if self._reason:
            raise JobStopped(self._reason)


class StoppableEvaluator(Evaluator):
    """An evaluator that looks at a flag whenever it is asked: every look-ahead and every turn of a rollout asks."""

    def __init__(self, net: Net, rules: Rules, flag: StopFlag) -> None:
        super().__init__(net, rules)
        self._flag = flag

    def tables_for(self, boards: Boards) -> BearoffArrays:
        """The bear-off tables, as in `Evaluator`. Raises JobStopped when the flag says so."""
        self._flag.check()
        return super().tables_for(boards)


class Jobs:
    """Runs quick jobs and slow ones on separate threads, the slow ones within limits."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._quick = ThreadPoolExecutor(max_workers=4, thread_name_prefix="nardy-quick")
        self._slow = ThreadPoolExecutor(max_workers=limits.slow_jobs, thread_name_prefix="nardy-slow")
        self._flags: set[StopFlag] = set()
        self._lock = threading.Lock()
        self.is_stopping = False

    async def quick(self, work: Callable[[], Result]) -> Result:
        """The result of a short piece of work."""
        return await asyncio.get_running_loop().run_in_executor(self._quick, work)

    def reserve(self) -> StopFlag:
        """A place among the slow jobs; `release` must follow.

        Raises:
            Busy: all places to wait in are taken, or the server stops.
        """
        flag = StopFlag(self.limits.slow_s)
        with self._lock:
            if self.is_stopping:
                raise Busy("the server is stopping")
            if len(self._flags) >= self.limits.slow_jobs + self.limits.waiting_jobs:
                raise Busy(f"{len(self._flags)} slow requests are being computed already; try again later")
            self._flags.add(flag)
        return flag

    def release(self, flag: StopFlag) -> None:
        """Give a place back."""
        with self._lock:
            self._flags.discard(flag)

    async def slow(
        self, work: Callable[[StopFlag], Result], has_left: Callable[[], Awaitable[bool]], flag: StopFlag | None = None
    ) -> Result:
        """The result of a long piece of work, which ends early once the asker has left.

        Args:
            work: called with the flag it must look at.
            has_left: whether nobody waits for the result any more.
            flag: a place already reserved.
        Raises:
            Busy, JobStopped: see `reserve` and `StopFlag`.
        """
        flag = self.reserve() if flag is None else flag

        def run() -> Result:
            try:
                flag.check()
                flag.start()
                return work(flag)
            finally:
                self.release(flag)

        future = asyncio.get_running_loop().run_in_executor(self._slow, run)
        try:
            while not future.done():
                await asyncio.wait({future}, timeout=LOOK_S)
                if not future.done() and await has_left():
                    flag.stop("the connection was closed")
        except asyncio.CancelledError:
            flag.stop("the request was cancelled")
            future.add_done_callback(lambda done: done.cancelled() or done.exception())  # its error is expected
            raise
        return await future

    def stop(self) -> None:
        """End all slow jobs and take no more."""
        with self._lock:
            self.is_stopping = True
            flags = list(self._flags)
        for flag in flags:
            flag.stop("the server is stopping")

    def close(self) -> None:
        """`stop`, and let the threads go."""
        self.stop()
        self._quick.shutdown(wait=False, cancel_futures=True)
        self._slow.shutdown(wait=False, cancel_futures=True)
