"""The training loop: self-play and learning side by side, checks, checkpoints, exact resume."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch import Tensor
from tqdm import tqdm

from agent.features import feature_count
from agent.net import Net, save_net
from engine.errors import ConfigError
from engine.rules import Rules, get_rules
from training.checkpoint import (
    CHECKPOINT_FILE,
    Checkpoint,
    flat_vector,
    load_checkpoint,
    save_checkpoint,
)
from training.config import StageConfig, TrainConfig
from training.curves import Metric, append_metrics, drop_metrics_after, plot_curve
from training.evaluation import StrengthCheck, strength_text
from training.grow import grown_net
from training.learner import Learner, rate_at
from training.ranks import Ranks
from training.selfplay import Samples, play_round, pooled
from training.value_net import Shape, ValueNet, flat_from_net, net_from_flat, shape_of

NET_FILE = "net.safetensors"
WEIGHTS_STREAM, ORDER_STREAM, DICE_STREAM = range(3)  # spawn keys below the run's seed


@dataclass(frozen=True, kw_only=True)
class Round:
    """One update round of a run: which games it plays, and where its stage stands."""

    number: int
    stage: StageConfig
    first_game: int
    games: int
    progress: tuple[float, float]  # share of the stage before and after it


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How a run is carried out on this machine; none of it changes what is computed.

    `referee` is a file of reference decisions for the checks; `stop_after` and `stop_after_games` end the run after so
    many rounds or games, as a signal would.
    """

    threads: int = 2
    device: str = "cpu"
    referee: Path | None = None
    stop_after: int | None = None
    stop_after_games: int | None = None
    is_quiet: bool = False


def plan_rounds(config: TrainConfig) -> list[Round]:
    """All rounds of a run, in order."""
    rounds: list[Round] = []
    first_game = 0
    for stage in config.stages:
        for start in range(0, stage.games, stage.play.games_per_round):
            games = min(stage.play.games_per_round, stage.games - start)
            progress = (start / stage.games, (start + games) / stage.games)
            rounds.append(Round(number=len(rounds), stage=stage, first_game=first_game, games=games, progress=progress))
            first_game += games
    return rounds


class Run:
    """A training run in its folder.

    Args:
        config: what to train.
        folder: where checkpoint, metrics, curve and net go.
        options: threads, device, checks.
        ranks: the processes that train this net together; None: this one alone.
    """

    def __init__(self, config: TrainConfig, folder: Path, options: RunOptions, ranks: Ranks | None = None) -> None:
        self.config, self.folder, self.options = config, folder, options
        self.ranks = ranks or Ranks()
        self.rules: Rules = get_rules(config.rules)
        self.shape = Shape(
            features=config.net.features,
            feature_count=feature_count(config.net.features),
            experts=config.net.experts,
            hidden=config.net.hidden,
            outcomes=len(self.rules.outcomes),
        )
        self.check = StrengthCheck(self.rules, config.check, options.referee, threads=options.threads)
        self.value_net = ValueNet(self.shape, options.device)
        self.value_net.initialize(np.random.default_rng(_stream(config.seed, WEIGHTS_STREAM)))
        self.learner = Learner(self.value_net, self.rules.points, self.ranks)
        self.player = flat_vector(self.value_net.flat)
        self.recent: deque[Samples] = deque()  # rounds that are learnt from again; lost on resume, then it fills anew
        self.rounds_done, self.games, self.seconds = 0, 0, 0.0
        self.dice_seed = int(_stream(config.seed, DICE_STREAM).generate_state(1, np.uint64)[0] >> np.uint64(1))

    def start_from(self, net: Net) -> None:
        """Begin with the weights of a finished net, grown where this run's net is larger.

        Raises:
            ConfigError: the net is larger somewhere, has other features, or belongs to another game.
        """
        if net.game != self.rules.game.name:
            raise ConfigError(f"net {net.name} plays {net.game} nardy, this run trains {self.rules.game.name} nardy")
        if shape_of(net) != self.shape:
            fresh = net_from_flat(self.value_net.flat, self.shape, self.rules, "fresh")
            net = grown_net(net, fresh, self.shape)
        self.value_net.load_flat(flat_from_net(net, self.shape))
        self.learner.restart_average()
        self.player = flat_vector(self.value_net.flat)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go back to a checkpoint of the same config, and forget later metrics."""
        self.value_net.load_flat(checkpoint.tensors["weights"])
        with torch.no_grad():
            self.learner.average.copy_(checkpoint.tensors["average"])
            for name in ("exp_avg", "exp_avg_sq"):
                self.learner.moments[name].copy_(checkpoint.tensors[name])
            self.learner.moments["step"].fill_(checkpoint.steps)
        self.player = flat_vector(checkpoint.tensors["player"])
        self.rounds_done, self.games, self.seconds = checkpoint.rounds, checkpoint.games, checkpoint.seconds
        if self.ranks.is_first:
            drop_metrics_after(self.folder, self.rounds_done)

    def train(self) -> bool:
        """Play and learn until the budget is spent or a signal comes.

        Returns:
            Whether the budget is spent.
        """
        rounds = plan_rounds(self.config)
        torch.set_num_threads(1)  # self-play runs beside the learner
        began, saved = time.monotonic() - self.seconds, time.monotonic()
        with _caught_signals() as stop, self._progress() as bar, ThreadPoolExecutor(1) as pool:
            pending = self._submit(pool, rounds, self.rounds_done)
            while pending is not None and not self._is_stopped(stop):
                this = rounds[self.rounds_done]
                samples = pending.result()
                pending = self._submit(pool, rounds, this.number + 1)
                loss = self._learn(this, samples)
                self.seconds = time.monotonic() - began
                self._record(this, samples, loss, bar)
                if time.monotonic() - saved >= self.config.check.checkpoint_s:
                    self.save()
                    saved = time.monotonic()
        self.save()
        if self.ranks.is_first:
            plot_curve(self.folder)
        return self.rounds_done == len(rounds)

    def _is_stopped(self, stop: threading.Event) -> bool:
        limits = ((self.options.stop_after, self.rounds_done), (self.options.stop_after_games, self.games))
        is_due = any(limit is not None and done >= limit for limit, done in limits)
        return self.ranks.total(stop.is_set() or is_due) > 0  # all ranks stop after the same round

    def _submit(self, pool: ThreadPoolExecutor, rounds: list[Round], number: int) -> Future[Samples] | None:
        """Start playing a round, beside the learning of the one before; the first of a sitting plays as it did."""
        if number >= len(rounds):
            return None
        this = rounds[number]
        if number > self.rounds_done:
            uses_average = rounds[number - 1].stage.play.use_average
            self.player = flat_vector(self.learner.average if uses_average else self.value_net.flat)
        first_game, games = self.ranks.share(this.first_game, this.games)
        return pool.submit(
            play_round,
            net_from_flat(self.player, self.shape, self.rules, "self-play"),
            self.rules,
            this.stage,
            seed=self.dice_seed,
            first_game=first_game,
            games=games,
            threads=self.options.threads,
        )

    def _learn(self, this: Round, samples: Samples) -> float:
        rng = np.random.default_rng(_stream(self.config.seed, ORDER_STREAM, this.number, self.ranks.rank))
        self._keep(this, samples)
        loss = self.learner.learn(pooled(self.recent), this.stage.learn, rng, this.progress)
        self.rounds_done, self.games = this.number + 1, this.first_game + this.games
        return loss

    def _keep(self, this: Round, samples: Samples) -> None:
        """Put a round's samples with those of its stage that are to be learnt from again."""
        if this.progress[0] == 0.0:
            self.recent.clear()
        self.recent.append(samples)
        while len(self.recent) > this.stage.targets.replay:
            self.recent.popleft()

    def _record(self, this: Round, samples: Samples, loss: float, bar: Any) -> None:
        metric: Metric = {
            "kind": "round",
            "round": self.rounds_done,
            "games": self.games,
            "stage": this.stage.name,
            "loss": loss,
            "rate": rate_at(this.stage.learn, this.progress[1]),
            "turns": round(self.ranks.total(samples.turns)),
            "seconds": round(self.seconds, 3),
        }
        if not self.ranks.is_first:
            return
        metrics = [metric]
        every = self.config.check.every_games
        if self.games // every > this.first_game // every or self.games == self.config.games:
            metrics += self._strength(bar)
        append_metrics(self.folder, metrics)
        bar.update(this.games)
        bar.set_postfix(loss=f"{loss:.4f}", refresh=False)

    def _strength(self, bar: Any) -> list[Metric]:
        metrics = self.check.metrics(self.net())
        if metrics and not self.options.is_quiet:
            bar.write(f"{self.games} games: {strength_text(metrics)}", file=sys.stderr)
        stamp = {"round": self.rounds_done, "games": self.games, "seconds": round(self.seconds, 3)}
        return [metric | stamp for metric in metrics]

    def net(self) -> Net:
        """The net as it would be exported now: the averaged weights, with the run's story in its metadata."""
        metadata = {
            "preset": self.config.preset,
            "seed": str(self.config.seed),
            "games": str(self.games),
            "seconds": str(round(self.seconds)),
        }
        is_averaged = self.rounds_done > 0
        weights: Tensor = self.learner.average if is_averaged else self.value_net.flat
        name = f"{self.rules.game.name}-{self.config.preset}-{self.games}"
        return net_from_flat(weights, self.shape, self.rules, name, metadata)

    def save(self) -> None:
        """Write the checkpoint and the net of this moment, if this is the first rank."""
        if not self.ranks.is_first:
            return
        tensors = {
            "weights": self.value_net.flat,
            "average": self.learner.average,
            "player": self.player,
            "exp_avg": self.learner.moments["exp_avg"],
            "exp_avg_sq": self.learner.moments["exp_avg_sq"],
        }
        checkpoint = Checkpoint(
            config=self.config,
            tensors=tensors,
            rounds=self.rounds_done,
            games=self.games,
            steps=int(self.learner.moments["step"]),
            seconds=self.seconds,
        )
        save_checkpoint(checkpoint, self.folder)
        save_net(self.net(), self.folder / NET_FILE)

    @contextmanager
    def _progress(self) -> Iterator[Any]:
        with tqdm(
            total=self.config.games,
            initial=self.games,
            unit="game",
            disable=self.options.is_quiet or not self.ranks.is_first,
            smoothing=0.02,
        ) as bar:
            yield bar


def run_training(
    config: TrainConfig,
    folder: Path,
    options: RunOptions,
    *,
    is_resumed: bool = False,
    init: Net | None = None,
    ranks: Ranks | None = None,
) -> Run:
    """Train in a folder, from the start or from its last checkpoint.

    Args:
        config: what to train; a resumed run must be given the config it was started with.
        folder: made if missing; must be empty unless resumed.
        options: threads, device, checks.
        is_resumed: go on from the folder's checkpoint.
        init: starting weights of a fresh run.
        ranks: the processes that train together; all must see the folder. None: this one alone.
    Returns:
        The run, its net and checkpoint saved.
    Raises:
        ConfigError: the folder is not empty, or its checkpoint is missing, damaged or of another config.
        RankLostError: another rank is gone.
    """
    ranks = ranks or Ranks()
    checkpoint = load_checkpoint(folder) if is_resumed else None
    if checkpoint is None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"{folder} exists and is not an empty folder; name another one, or go on in it with --resume")
    if checkpoint is not None and checkpoint.config != config:
        raise ConfigError(f"{folder / CHECKPOINT_FILE} was trained with other settings than those given")
    run = Run(config, folder, options, ranks)
    ranks.total(0)  # every rank has read the folder before the first one writes
    folder.mkdir(parents=True, exist_ok=True)
    if checkpoint is not None:
        run.restore(checkpoint)
    elif init is not None:
        run.start_from(init)
    if checkpoint is None:
        run.save()  # whatever happens from here on, the folder can be gone on with
    run.train()
    return run


def _stream(seed: int, *key: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed, spawn_key=key)


@contextmanager
def _caught_signals() -> Iterator[threading.Event]:
    """An event that the first SIGINT or SIGTERM sets; a second SIGINT breaks off at once."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def ask_to_stop(number: int, frame: FrameType | None) -> None:
        if stop.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        stop.set()

    before = {number: signal.signal(number, ask_to_stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
