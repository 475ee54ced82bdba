"""Worker processes and programs end with the match that started them, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.workers import worker_processes

ROOT = Path(__file__).resolve().parent.parent
HANGS = """
import os, sys, time
if not sys.stdin.readline():
    sys.exit()  # nobody asks any more
with open(sys.argv[1], "a") as file:
    file.write(f"{os.getpid()} {os.getppid()}\\n")
time.sleep(600)
"""


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError):
        return False


def comes_true(condition: Callable[[], bool], within_s: float) -> bool:
    end = time.monotonic() + within_s
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc to see processes")
@pytest.mark.parametrize(
    ("number", "workers", "code"),
    [(signal.SIGTERM, 1, 143), (signal.SIGINT, 2, 130), (signal.SIGKILL, 2, -9)],
    ids=["SIGTERM", "Ctrl-C", "SIGKILL"],
)
def test_a_program_that_hangs_ends_with_its_arena(tmp_path: Path, number: int, workers: int, code: int) -> None:
    (tmp_path / "bot.py").write_text(HANGS)
    asked = tmp_path / "asked"
    bot = f"cmd@600s:'{sys.executable}' '{tmp_path / 'bot.py'}' '{asked}'"
    command = [sys.executable, "-m", "agent.cli", "arena", bot, "random", "--rules", "short", "--games", "64"]
    command += ["--workers", str(workers)]
    arena = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True)
    try:
        assert comes_true(lambda: asked.exists() and asked.read_text().count("\n") == workers, 120)
        if number == signal.SIGINT:
            os.killpg(arena.pid, number)  # as a terminal does
        else:
            arena.send_signal(number)
        errors = arena.communicate(timeout=60)[1]
    finally:
        arena.kill()
        arena.wait()
    started = {int(pid) for line in asked.read_text().splitlines() for pid in line.split()} - {arena.pid}
    assert arena.returncode == code and len(started) == (1 if workers == 1 else 2 * workers)
    assert comes_true(lambda: not any(map(is_running, started)), 20)
    assert errors.count("\n") <= 2 and "Traceback" not in errors


def test_workers_finish_what_they_were_given_when_nothing_goes_wrong() -> None:
    with worker_processes(2) as submit:
        found = [submit(divmod, number, 3) for number in range(20)]
    assert [task.result() for task in found] == [divmod(number, 3) for number in range(20)]


def test_workers_are_given_no_more_after_an_exception() -> None:
    with pytest.raises(ValueError, match="stop"), worker_processes(1) as submit:
        found = [submit(time.sleep, 5) for _ in range(20)]
        raise ValueError("stop")
    assert found[-1].cancelled()
