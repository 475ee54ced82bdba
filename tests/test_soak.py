"""The soak finds memory that grows and descriptors that stay open, and passes on a server that is sound."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"


@pytest.fixture
def soak(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("soak")


@pytest.mark.parametrize(
    ("memory", "descriptors", "growth"),
    [
        (lambda t: 200.0 + t % 3, lambda t: 12 + t % 5, (0.0, 0)),
        (lambda t: 200.0 + min(t, 20), lambda t: 12, (0.0, 0)),  # while warming up
        (lambda t: 200.0 + t, lambda t: 12 + t // 50, (31.0, 1)),
        (lambda t: 200.0 - t, lambda t: 12 - t // 50, (-40.0, -1)),
    ],
)
def test_growth_is_that_between_the_two_windows(
    soak: Any, memory: Callable[[int], float], descriptors: Callable[[int], int], growth: tuple[float, int]
) -> None:
    samples = soak.Samples([memory(t) for t in range(100)], [descriptors(t) for t in range(100)])
    percent, left = samples.growth()
    assert percent == pytest.approx(growth[0], abs=1.0) and left == growth[1]


def test_a_short_soak_ends_with_its_verdict(is_long: bool) -> None:
    words = ("--minutes", "30") if is_long else ("--minutes", "0.1", "--clients", "2", "--limit", "100")
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / "soak.py"), *words], capture_output=True, text=True, timeout=3600
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout + done.stderr
    assert lines[-2] == "faults 0" and lines[-1].startswith("memory growth ") and "descriptors" in lines[-1]


def test_wrong_options_are_refused() -> None:
    done = subprocess.run([sys.executable, str(SCRIPTS / "soak.py"), "--minutes", "0"], capture_output=True, text=True)
    assert done.returncode == 2 and "--minutes must be above 0" in done.stderr
