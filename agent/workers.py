"""Processes that work for this one and never outlive it, nor do the programs that they have started."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any

from agent.channels import end_programs

EXIT_ENDED = 128 + signal.SIGTERM


Submit = Callable[..., Future[Any]]


@contextmanager
def worker_processes(count: int) -> Iterator[Submit]:
    """A pool that is emptied at the end, or ended at once where an exception, a signal or a kill ends this process.

    Args:
        count: processes side by side.
    Returns:
        `submit` of an executor: a function and its arguments in, a future out.
    """
    context = get_context("spawn")
    # Nothing is ever sent: the workers see the other end of this pipe close, however that comes about.
    receiver, sender = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin, initargs=(receiver,))

    def submit(function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        with _blocked_interrupts():  # a new process inherits that: the terminal sends Ctrl-C to all, this one decides
            return pool.submit(function, *arguments)

    try:
        yield submit
        pool.shutdown(wait=True)
    except BaseException:
        sender.close()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        sender.close()
        receiver.close()


@contextmanager
def _blocked_interrupts() -> Iterator[None]:
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(employer: Connection) -> None:
    """Make a new worker end itself and its programs when it is told to, or when nobody employs it any more."""
    signal.signal(signal.SIGTERM, _end)
    threading.Thread(target=_end_with, args=(employer,), daemon=True).start()


def _end_with(employer: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        employer.recv_bytes()
    _end()


def _end(number: int = signal.SIGTERM, frame: FrameType | None = None) -> None:
    end_programs()
    os._exit(EXIT_ENDED)
