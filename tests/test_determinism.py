"""One seed, one result: in other processes, with other hash seeds and with other numbers of workers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
TIMED = ("elapsed_s", "games_per_s", "seconds")


def start(*words: str, hash_seed: int, module: str = "agent.cli") -> subprocess.Popen[str]:
    """A command in a process of its own, in which sets and dicts of text are ordered by another hash."""
    environment = os.environ | {"PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", module, *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=1800)
    assert process.returncode == 0, err
    return out


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: timeless(part) for key, part in value.items() if key not in TIMED}
    return [timeless(part) for part in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("arena net heuristic random --rules long_classic --games 160 --seed 5", "workers"),
        ("rollout --rules short --dice 31 --trials 144 --truncate 6 --seed 5", "threads"),
    ],
    ids=["arena", "rollout"],
)
def test_another_process_with_more_workers_gives_the_same_answer(words: str, option: str) -> None:
    running = [start(*words.split(), "--json", f"--{option}", str(n), hash_seed=n) for n in (1, 2)]
    one, two = (timeless(json.loads(ended(process))) for process in running)
    assert one == two


def test_smoke_training_gives_the_same_net_in_another_process_with_more_threads(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from agent.net import load_net
    from training.checkpoint import load_checkpoint
    from training.curves import read_metrics

    words = ("run", "--rules", "short", "--preset", "smoke", "--games", "300", "--seed", "9")
    folders = [tmp_path / f"{n} threads" for n in (1, 2)]
    for n, folder in enumerate(folders, start=1):
        ended(start(*words, "--out", str(folder), "--threads", str(n), hash_seed=n, module="training.cli"))
    nets = [load_net(folder / "net.safetensors") for folder in folders]
    assert nets[0].digest == nets[1].digest
    one, two = (load_checkpoint(folder) for folder in folders)
    assert all(torch.equal(one.tensors[name], two.tensors[name]) for name in one.tensors)
    assert (one.config, one.rounds, one.games, one.steps) == (two.config, two.rounds, two.games, two.steps)
    assert timeless(read_metrics(folders[0])) == timeless(read_metrics(folders[1]))
