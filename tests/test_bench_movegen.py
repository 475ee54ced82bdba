"""The generator's benchmark asserts the work it times and prints its ratios."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "scripts" / "bench_movegen.py"


def run_bench(*options: str) -> subprocess.CompletedProcess[str]:
    """The script in a process of its own."""
    return subprocess.run([sys.executable, str(SCRIPT), *options], capture_output=True, text=True, timeout=300)


def test_the_benchmark_prints_rates_and_their_ratio() -> None:
    done = run_bench("--positions", "1000", "--rounds", "1")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == ["first call", "short", "long_classic", "long_classic / short"]
    assert lines[1].endswith("on 1000 positions)") and float(lines[3].split()[3].rstrip(",")) > 0


def test_too_few_positions_to_check_are_refused() -> None:
    done = run_bench("--positions", "10")
    assert done.returncode == 2 and "--positions must be at least 1000" in done.stderr
