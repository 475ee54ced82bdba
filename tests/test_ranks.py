"""Training on several ranks."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch

from engine.rules import get_rules
from training.checkpoint import CHECKPOINT_FILE, load_checkpoint
from training.config import LearnConfig
from training.curves import read_metrics
from training.learner import Learner
from training.loop import RunOptions, run_training
from training.ranks import Ranks
from training.selfplay import Samples
from training.value_net import Shape, ValueNet

K = 8
WAIT_S = 240


class ThreadRanks(Ranks):
    """Ranks that are threads of this process and meet at a barrier."""

    def __init__(self, rank: int, barrier: threading.Barrier, given: list[torch.Tensor | None]) -> None:
        super().__init__(rank, len(given))
        self.barrier, self.given = barrier, given

    def add_up(self, tensor: torch.Tensor) -> torch.Tensor:
        self.given[self.rank] = tensor.clone()
        self.barrier.wait(timeout=60)
        total = sum(self.given)
        self.barrier.wait(timeout=60)
        return tensor.copy_(total)


def some_samples(count, seed):
    rng = np.random.default_rng(seed)
    return Samples(
        boards=rng.integers(0, 3, (count, 2, 26), dtype=np.int8),
        features=np.zeros((count, 0), dtype=np.float32),
        experts=np.zeros(count, dtype=np.int64),
        targets=rng.dirichlet(np.ones(K), count).astype(np.float32),
        games=1,
        turns=count,
    )


def joined(parts):
    arrays = {
        name: np.concatenate([getattr(p, name) for p in parts]) for name in ("boards", "features", "experts", "targets")
    }
    return Samples(**arrays, games=1, turns=1)


def learner(ranks=None):
    shape = Shape(features="counts_v1", feature_count=0, experts=("all",), hidden=(8, 4), outcomes=K)
    value_net = ValueNet(shape)
    value_net.initialize(np.random.default_rng(0))
    return Learner(value_net, get_rules("short").points, ranks)


def learned_by_two(parts, config):
    barrier, given = threading.Barrier(2), [None, None]

    def learn(rank):
        mine = learner(ThreadRanks(rank, barrier, given))
        loss = mine.learn(parts[rank], config, np.random.default_rng(rank), (0.0, 0.1))
        return loss, mine.value_net.flat, int(mine.moments["step"])

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(learn, range(2)))


def test_share_covers_the_games_of_a_round_once():
    shares = [Ranks(rank, 3).share(100, 10) for rank in range(3)]
    assert [first + i for first, count in shares for i in range(count)] == list(range(100, 110))
    assert Ranks().share(100, 10) == (100, 10)


def test_two_ranks_learn_what_one_learns_from_the_samples_of_both():
    parts = [some_samples(40, 1), some_samples(25, 2)]
    config = LearnConfig(batch=1000)
    (loss, first, _), (other_loss, second, _) = learned_by_two(parts, config)
    alone = learner()
    whole_loss = alone.learn(joined(parts), config, np.random.default_rng(3), (0.0, 0.1))
    assert torch.equal(first, second)
    assert loss == other_loss
    assert abs(loss - whole_loss) < 1e-5
    assert torch.allclose(first, alone.value_net.flat, atol=1e-4)


def test_ranks_stay_equal_when_one_has_fewer_samples_than_there_are_batches():
    (_, first, _), (_, second, _) = learned_by_two([some_samples(50, 1), some_samples(2, 2)], LearnConfig(batch=10))
    assert torch.equal(first, second)


def test_an_update_takes_a_batch_of_each_rank():
    parts = [some_samples(40, 1), some_samples(40, 2)]
    assert [steps for _, _, steps in learned_by_two(parts, LearnConfig(batch=20))] == [2, 2]


def wait_for(condition, process):
    until = time.monotonic() + WAIT_S
    while not condition():
        assert process.poll() is None, "the run ended too early"
        assert time.monotonic() < until, "the run made no progress"
        time.sleep(0.1)


def rounds_of(folder):
    return [metric["round"] for metric in read_metrics(folder) if metric["kind"] == "round"]


def test_lost_rank_ends_the_run_and_one_rank_goes_on_from_the_checkpoint(tmp_path):
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m"]
    command += ["training.cli", "run", "--rules", "short", "--preset", "smoke", "--games", "1000000"]
    root = Path(__file__).parent.parent
    process = subprocess.Popen(
        [*command, "--out", str(folder)],
        cwd=root,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for(lambda: (folder / CHECKPOINT_FILE).exists() and len(rounds_of(folder)) >= 3, process)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(children[-1]), signal.SIGKILL)
    assert process.wait(timeout=WAIT_S) != 0
    checkpoint = load_checkpoint(folder)
    options = RunOptions(threads=1, is_quiet=True, stop_after=checkpoint.rounds + 1)
    run = run_training(checkpoint.config, folder, options, is_resumed=True)
    assert run.rounds_done == checkpoint.rounds + 1
    assert rounds_of(folder) == list(range(1, run.rounds_done + 1))
