"""Ctrl-C at any moment: while modules load, while kernels compile, in a finalizer. Work itself is in test_cli."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.interrupts import Interrupts

ROOT = Path(__file__).resolve().parent.parent
PRESSED_AT = """
import importlib, os, signal, sys

class Presses:
    def find_spec(self, name, path=None, target=None):
        if name == moment:
            sys.meta_path.remove(self)
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except KeyboardInterrupt:  # as modules in C do, whose imports then fail
                raise ImportError(name) from None

moment, module = sys.argv.pop(1), sys.argv.pop(1)
sys.meta_path.insert(0, Presses())
sys.exit(importlib.import_module(module).main())
"""


def pressed_at(moment: str, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command of a module, with Ctrl-C pressed when the module `moment` begins to load."""
    command = [sys.executable, "-c", PRESSED_AT, moment, module, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300)


@pytest.mark.parametrize(
    ("moment", "module", "arguments"),
    [
        ("typer", "agent.cli", ["info"]),
        ("numpy", "agent.cli", ["suggest", "--rules", "short", "--dice", "31"]),
        ("agent.show", "agent.cli", ["suggest", "--rules", "short", "--dice", "31"]),
        ("torch", "training.entry", ["run", "--rules", "short", "--out", "/nowhere"]),
    ],
)
def test_ctrl_c_while_modules_load_ends_quietly_with_130(moment: str, module: str, arguments: list[str]) -> None:
    done = pressed_at(moment, module, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_ctrl_c_while_kernels_compile_ends_quietly_with_130(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "agent.cli", "suggest", "--rules", "short", "--dice", "31"]
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment)
    assert process.stderr is not None
    try:
        first = process.stderr.readline()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=120)[1]
    finally:
        process.kill()
        process.wait()
    assert "compiling its kernels" in first
    assert rest == ""
    # CPython ends by the signal itself if Ctrl-C came through text that numba runs as code; a shell shows 130 for both.
    assert process.returncode in (130, -signal.SIGINT)


@pytest.mark.parametrize("again_s", [0.01, 0.0])
def test_ctrl_c_in_a_finalizer_which_lets_no_exception_out_comes_again(
    again_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.interrupts._AGAIN_S", again_s)

    class Interrupted:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    interrupts = Interrupts()
    with interrupts.watched():
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            Interrupted()
            time.sleep(60)
        assert time.monotonic() - start < 30
    assert interrupts.came


def test_signals_are_afterwards_handled_as_before() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)], sys.unraisablehook
    with pytest.raises(KeyboardInterrupt), Interrupts().watched():
        signal.raise_signal(signal.SIGINT)
    assert ([signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)], sys.unraisablehook) == before


def test_a_handler_of_somebody_else_stays() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)  # as nohup and its like do
    try:
        with Interrupts().watched():
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)
