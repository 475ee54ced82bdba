"""The training loop, on the real game kernels with a net of a few units."""

import os
import signal
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from agent.evaluator import load_evaluator
from engine.errors import ConfigError
from engine.rules import get_rules
from training.checkpoint import CHECKPOINT_FILE, TENSORS, load_checkpoint
from training.config import CheckConfig, LearnConfig, NetConfig, PlayConfig, StageConfig, TrainConfig
from training.curves import CURVE_FILE, read_metrics
from training.loop import NET_FILE, Run, RunOptions, plan_rounds, run_training

QUIET = RunOptions(threads=2, is_quiet=True)
FILES = {CHECKPOINT_FILE, CURVE_FILE, NET_FILE, "metrics.jsonl"}


def tiny_config(rules="short", **changes):
    stages = (
        StageConfig(name="random", games=20, play=PlayConfig(games_per_round=10, random_rate=1.0)),
        StageConfig(name="td", games=25, play=PlayConfig(games_per_round=10), learn=LearnConfig(batch=300)),
    )
    check = CheckConfig(every_games=20, match_pairs=2, opponents=("random",), checkpoint_s=0.0)
    config = TrainConfig(rules=rules, seed=7, net=NetConfig(hidden=(8, 4)), stages=stages, check=check)
    return replace(config, **changes)


def timeless(metrics):
    return [{key: value for key, value in metric.items() if key != "seconds"} for metric in metrics]


@pytest.fixture(scope="module", params=["short", "long_classic"])
def whole_run(request, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "whole"
    run_training(tiny_config(request.param), folder, QUIET)
    return folder


def test_rounds_cover_every_game_once_and_end_each_stage_at_its_budget():
    rounds = plan_rounds(tiny_config())
    assert [(r.first_game, r.games, r.stage.name) for r in rounds] == [
        (0, 10, "random"),
        (10, 10, "random"),
        (20, 10, "td"),
        (30, 10, "td"),
        (40, 5, "td"),
    ]
    assert [r.progress for r in rounds[2:]] == [(0.0, 0.4), (0.4, 0.8), (0.8, 1.0)]


def test_run_leaves_a_net_that_plays_its_metrics_and_a_curve(whole_run):
    config = load_checkpoint(whole_run).config
    assert {path.name for path in whole_run.iterdir()} == FILES
    evaluator = load_evaluator(config.rules, whole_run / NET_FILE)
    start = get_rules(config.rules).start_board()
    chosen = evaluator.choose(start[None], np.array([[6, 4]], dtype=np.int8))
    assert chosen.shape == (1, 2, 26)
    metrics = read_metrics(whole_run)
    assert [m["games"] for m in metrics if m["kind"] == "round"] == [10, 20, 30, 40, 45]
    assert [m["games"] for m in metrics if m["kind"] == "match"] == [20, 40, 45]


def test_samples_are_learnt_from_in_as_many_rounds_as_replay_says_and_no_longer():
    config = tiny_config(check=CheckConfig(match_pairs=0))
    stages = tuple(replace(stage, targets=replace(stage.targets, replay=2)) for stage in config.stages)
    run = Run(replace(config, stages=stages), Path("unused"), QUIET)
    held = []
    for this in plan_rounds(run.config):
        run._keep(this, this.number)  # any object will do for the samples of a round
        held.append(list(run.recent))
    assert held == [[0], [0, 1], [2], [2, 3], [3, 4]]


@pytest.mark.parametrize("stop_after", [1, 3])
def test_stopped_and_resumed_equals_uninterrupted_bit_for_bit(whole_run, tmp_path, stop_after):
    config = load_checkpoint(whole_run).config
    run_training(config, tmp_path, replace(QUIET, stop_after=stop_after))
    assert load_checkpoint(tmp_path).rounds == stop_after
    run_training(config, tmp_path, replace(QUIET, threads=1), is_resumed=True)
    whole, resumed = load_checkpoint(whole_run), load_checkpoint(tmp_path)
    assert all(torch.equal(whole.tensors[name], resumed.tensors[name]) for name in TENSORS)
    assert (whole.rounds, whole.games, whole.steps) == (resumed.rounds, resumed.games, resumed.steps)
    assert timeless(read_metrics(whole_run)) == timeless(read_metrics(tmp_path))
    assert (whole_run / NET_FILE).read_bytes()[-1000:] == (tmp_path / NET_FILE).read_bytes()[-1000:]


def test_metrics_written_after_the_last_checkpoint_are_not_repeated(tmp_path):
    config = tiny_config(check=CheckConfig(every_games=20, match_pairs=0, checkpoint_s=0.0))
    run_training(config, tmp_path, replace(QUIET, stop_after=2))
    old = (tmp_path / CHECKPOINT_FILE).read_bytes()
    run_training(config, tmp_path, replace(QUIET, stop_after=4), is_resumed=True)
    (tmp_path / CHECKPOINT_FILE).write_bytes(old)  # as after a kill before the next checkpoint
    run_training(config, tmp_path, QUIET, is_resumed=True)
    assert [metric["round"] for metric in read_metrics(tmp_path)] == [1, 2, 3, 4, 5]


def test_finished_run_can_be_resumed_and_does_nothing(whole_run):
    before = load_checkpoint(whole_run)
    run = run_training(before.config, whole_run, QUIET, is_resumed=True)
    assert run.games == before.config.games
    assert torch.equal(load_checkpoint(whole_run).tensors["weights"], before.tensors["weights"])


def test_signal_finishes_the_round_and_saves(tmp_path):
    config = tiny_config(stages=(StageConfig(games=100_000, play=PlayConfig(games_per_round=10, random_rate=1.0)),))
    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    run = run_training(config, tmp_path, QUIET)
    assert 0 < run.games < 100_000
    assert load_checkpoint(tmp_path).games == run.games
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_starts_from_the_weights_of_a_net(whole_run, tmp_path):
    from agent.net import load_net

    config = load_checkpoint(whole_run).config
    init = load_net(whole_run / NET_FILE)
    frozen = StageConfig(games=10, play=PlayConfig(games_per_round=10), learn=LearnConfig(rate=1e-9, final_rate=0.0))
    run = run_training(replace(config, stages=(frozen,)), tmp_path, QUIET, init=init)
    assert run.net().rows == pytest.approx(init.rows, abs=1e-6)


def test_refuses_what_would_overwrite_or_mix_runs(whole_run, tmp_path):
    config = load_checkpoint(whole_run).config
    with pytest.raises(ConfigError, match="not an empty folder; name another one, or go on in it with --resume"):
        run_training(config, whole_run, QUIET)
    with pytest.raises(ConfigError, match="trained with other settings"):
        run_training(replace(config, seed=8), whole_run, QUIET, is_resumed=True)
    with pytest.raises(ConfigError, match="holds no checkpoint"):
        run_training(config, tmp_path, QUIET, is_resumed=True)


def test_net_of_the_other_game_is_no_start(whole_run, tmp_path):
    from agent.net import load_net

    init = load_net(whole_run / NET_FILE)
    other = "long_classic" if init.game == "short" else "short"
    with pytest.raises(ConfigError, match=f"plays {init.game} nardy, this run trains"):
        run_training(tiny_config(other), tmp_path / "other", QUIET, init=init)


def test_another_seed_trains_another_net(whole_run, tmp_path):
    config = load_checkpoint(whole_run).config
    run_training(replace(config, seed=8), tmp_path, QUIET)
    weights = (load_checkpoint(folder).tensors["weights"] for folder in (whole_run, tmp_path))
    assert not torch.equal(*weights)
