"""What counts as a fault of a parser, and the smallest input that shows it."""

from __future__ import annotations

import os
import signal
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engine.errors import NardyError
from input_parsers import Parser

LONGEST_S = 1.0  # of CPU time, so that a busy machine makes no faults
HUNG_S = 5.0
LARGEST_KB = 100 * 1024
LONGEST_ERROR = 20_000
SMALLER_TRIES = 400
HAS_PEAK = os.access("/proc/self/clear_refs", os.W_OK)  # Linux; elsewhere memory is not measured
_LAYERS = ("engine", "agent", "training")


class HungError(Exception):
    """One input took far too long."""


@contextmanager
def time_limit() -> Iterator[None]:
    """Raises HungError in Python code that computes on and on; to be used in a main thread."""

    def ring(number: int, frame: Any) -> None:
        raise HungError

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, HUNG_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def kind_of_fault(parser: Parser, data: bytes, *, is_measured: bool = True) -> str | None:
    """What is wrong with how an input is read: empty text if it is refused as it should be, None if it is taken.

    Args:
        parser: what reads it.
        data: the input.
        is_measured: whether time and memory count; the first inputs load modules and compile kernels.
    """
    start, memory = time.process_time(), _restarted_peak_kb()
    answer = None
    try:
        with time_limit():
            parser.read(data)
    except NardyError as error:
        answer = ""
        if not 0 < len(str(error).strip()) <= LONGEST_ERROR:
            return f"an error of {len(str(error))} characters: {str(error)[:80]}"
    except Exception as error:  # whatever it is, it is a fault
        return _error_text(error)
    if is_measured and time.process_time() - start > LONGEST_S:
        return f"more than {LONGEST_S:g} s of CPU time"
    if is_measured and _peak_kb() - memory > LARGEST_KB:
        return f"more than {LARGEST_KB >> 10} MB of memory"
    return answer


def place_of(kind: str) -> str:
    """The part of a fault's text that is the same for all inputs which show it."""
    return kind.partition(": ")[0]


def smaller(parser: Parser, data: bytes, kind: str) -> bytes:
    """The input with as much taken out as leaves the same fault."""
    tries, size = 0, max(len(data) // 2, 1)
    while size and tries < SMALLER_TRIES:
        start, is_shorter = 0, False
        while start < len(data) and tries < SMALLER_TRIES:
            shorter = data[:start] + data[start + size :]
            tries += 1
            if place_of(kind_of_fault(parser, shorter) or "") == place_of(kind):
                data, is_shorter = shorter, True
            else:
                start += size
        size = size if is_shorter and size > 1 else size // 2
    return data


def _restarted_peak_kb() -> int:
    """Resident memory now, from which the peak is counted anew: an earlier one, even a parent's, hides nothing."""
    if HAS_PEAK:
        Path("/proc/self/clear_refs").write_text("5")
    return _peak_kb()


def _peak_kb() -> int:
    """Largest resident memory since the restart; 0 where the system does not tell it."""
    if not HAS_PEAK:
        return 0
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split(maxsplit=1)[0])


def _error_text(error: Exception) -> str:
    """The error with the line of ours that it came through last."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).parent.name in _LAYERS]
    last = (ours or list(frames))[-1]
    text = " ".join(str(error).split())[:160]
    return f"{type(error).__name__} at {Path(last.filename).name}:{last.lineno} in {last.name}: {text}"
