"""Ctrl-C and SIGTERM at whatever moment they come: the process ends quietly, with what it started.

A program (`nardy`, `nardy-train`) watches for them; the library alone leaves the signals as they are.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

EXIT_INTERRUPTED = 128 + signal.SIGINT  # as a shell reports it
_ENDING = ("SIGTERM", "SIGHUP")  # the latter where the system has it
_AGAIN_S = 0.01

Handler = Callable[[int, FrameType | None], object]


@contextmanager
def no_traceback(*, is_last: bool) -> Iterator[None]:
    """Outside `Interrupts.watched`, such as while modules load, Ctrl-C ends the process at once, with 130.

    Nothing is begun then that could be kept, and an exception out of the middle of another package's import would not
    come through whole.

    Args:
        is_last: whether nothing but the end of the process follows, through which this then holds as well.
    """
    with _handled({signal.SIGINT: end_at_once}, is_last=is_last):
        yield


def end_at_once(number: int, frame: FrameType | None = None) -> None:
    """End this process and the programs it has started, without clearing up: a signal handler."""
    channels = sys.modules.get("agent.channels")  # only where it is loaded can there be programs
    if channels is not None:
        channels.end_programs()
    os._exit(128 + number)


class Interrupts:
    """While it is entered, the first Ctrl-C raises KeyboardInterrupt, and a second or a SIGTERM ends at once.

    Attributes:
        came: whether Ctrl-C was pressed; what fails afterwards fails because of it.
    """

    def __init__(self) -> None:
        self.came = False
        self._report = sys.unraisablehook

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Handle the signals as long as this lasts."""
        handlers: dict[int, Handler] = {getattr(signal, name): end_at_once for name in _ENDING if hasattr(signal, name)}
        with _handled({signal.SIGINT: self._interrupt, **handlers}):
            self._report, sys.unraisablehook = sys.unraisablehook, self._deliver_again
            try:
                yield
            finally:
                sys.unraisablehook = self._report

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self.came:
            end_at_once(number)
        self.came = True
        raise KeyboardInterrupt

    def _deliver_again(self, unraisable: Any) -> None:
        """A Ctrl-C that hit a finalizer, which lets no exception out, comes once more a moment later."""
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            self._report(unraisable)
            return
        self.came = False
        is_done = threading.Lock()
        with is_done:  # what came before the end of this hook would be lost in it as well
            threading.Thread(target=_interrupt_main, args=(is_done,)).start()


def _interrupt_main(may_begin: threading.Lock) -> None:
    with may_begin:
        time.sleep(_AGAIN_S)
    main = threading.main_thread().ident  # that very thread: what it waits for must end
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)


@contextmanager
def _handled(handlers: dict[int, Handler], *, is_last: bool = False) -> Iterator[None]:
    """Handlers for those signals that do what they do in any program, or end this one; others are somebody's choice."""
    ordinary = (signal.default_int_handler, signal.SIG_DFL, end_at_once)
    is_main = threading.current_thread() is threading.main_thread()  # no other may set them
    free = [number for number in handlers if is_main and signal.getsignal(number) in ordinary]
    before = {number: signal.signal(number, handlers[number]) for number in free}
    try:
        yield
    finally:
        for number, handler in before.items():
            if not is_last:
                signal.signal(number, handler)
