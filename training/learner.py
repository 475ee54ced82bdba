"""The learner: one pass of Adam on cross-entropy over the samples of a round, and the average of the weights."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from training.config import LearnConfig
from training.ranks import Ranks
from training.selfplay import Samples
from training.value_net import ValueNet

Indices = npt.NDArray[np.int64]


class Learner:
    """Weights with their optimizer: moments, average and number of updates.

    Args:
        value_net: the weights; changed in place.
        points: float32 [K], points of each outcome class: what makes probabilities an equity.
        ranks: over which gradients are added up.
    """

    def __init__(self, value_net: ValueNet, points: npt.NDArray[np.float32], ranks: Ranks | None = None) -> None:
        self.value_net = value_net
        self.points = torch.from_numpy(np.array(points)).to(value_net.device)
        self.ranks = ranks or Ranks()
        self.parameter = torch.nn.Parameter(value_net.flat)
        self.parameter.grad = value_net.gradient
        self.optimizer = torch.optim.Adam([self.parameter], fused=True)
        self.optimizer.state[self.parameter] = {
            "step": torch.tensor(0.0, device=value_net.device),
            "exp_avg": torch.zeros_like(value_net.flat),
            "exp_avg_sq": torch.zeros_like(value_net.flat),
        }
        self.average = value_net.flat.clone()

    @property
    def moments(self) -> dict[str, Tensor]:
        """Adam's state: `step`, `exp_avg`, `exp_avg_sq`."""
        state: dict[str, Tensor] = self.optimizer.state[self.parameter]
        return state

    def restart_average(self) -> None:
        """Let the average begin again at the present weights."""
        self.average.copy_(self.value_net.flat)

    def learn(
        self, samples: Samples, config: LearnConfig, rng: np.random.Generator, progress: tuple[float, float]
    ) -> float:
        """One pass over the samples of all ranks.

        Args:
            samples: positions and targets of this rank; each is used once.
            config: step sizes, and the batch that each rank brings to an update.
            rng: decides the order.
            progress: share of the stage done before and after this round, from 0 to 1.
        Returns:
            Mean cross-entropy before the updates, in nats.
        Raises:
            RankLostError: a rank is gone.
        """
        count = self.ranks.total(len(samples.boards))
        updates = max(1, round(count / (config.batch * self.ranks.world)))
        batches = _batches(samples, updates, rng)
        sizes = self.ranks.add_up(torch.tensor([len(batch) for batch in batches], dtype=torch.float64))
        total = 0.0
        for number, batch in enumerate(batches):
            done = progress[0] + (progress[1] - progress[0]) * (number + 0.5) / updates
            total += self._update(samples, batch, float(sizes[number]), config, rate_at(config, done))
        return self.ranks.total(total) / max(1.0, count)

    def _update(self, samples: Samples, batch: Indices, size: float, config: LearnConfig, rate: float) -> float:
        self.value_net.gradient.zero_()
        loss = torch.zeros(())
        if len(batch):
            logits, targets, rows = self._logits(samples, batch)
            loss = functional.cross_entropy(logits, targets, reduction="sum")
            wanted = loss
            if config.difference_weight and samples.groups is not None:
                wanted = loss + config.difference_weight * self._difference_loss(logits, targets, samples.groups[rows])
            (wanted / size).backward()  # type: ignore[no-untyped-call]
        self.ranks.add_up(self.value_net.gradient)
        self.optimizer.param_groups[0]["lr"] = rate
        self.optimizer.step()
        self._update_average(config.average_decay)
        return loss.item()

    def _logits(self, samples: Samples, batch: Indices) -> tuple[Tensor, Tensor, Indices]:
        """Logits and targets of a batch, and the sample that each row belongs to (experts one after another)."""
        device = self.value_net.device
        experts = samples.experts[batch]
        parts, rows = [], []
        for expert in range(len(self.value_net.shape.experts)):
            some = batch[experts == expert]
            if len(some):
                boards = torch.from_numpy(samples.boards[some]).to(device)
                features = torch.from_numpy(samples.features[some]).to(device)
                parts.append(self.value_net.logits(boards, features, expert))
                rows.append(some)
        order = np.concatenate(rows)
        return torch.cat(parts), torch.from_numpy(samples.targets[order]).to(device), order

    def _difference_loss(self, logits: Tensor, targets: Tensor, groups: Indices) -> Tensor:
        """Summed squared error of equities after each decision's mean error is taken off: plays against each other."""
        error = (torch.softmax(logits, dim=1) - targets) @ self.points
        _, places = np.unique(groups, return_inverse=True)
        place = torch.from_numpy(places.astype(np.int64)).to(error.device)
        sums = torch.zeros(int(places.max()) + 1, device=error.device).index_add(0, place, error)
        counts = torch.bincount(place).to(error.dtype)
        return (error - (sums / counts)[place]).pow(2).sum()

    def _update_average(self, decay: float) -> None:
        with torch.no_grad():
            warm = min(decay, (1.0 + float(self.moments["step"])) / (10.0 + float(self.moments["step"])))
            self.average.lerp_(self.value_net.flat, 1.0 - warm)


def _batches(samples: Samples, count: int, rng: np.random.Generator) -> list[Indices]:
    """The rows of each batch in random order; plays of one decision stay together."""
    if samples.groups is None:
        return np.array_split(rng.permutation(len(samples.boards)), count)
    _, groups = np.unique(samples.groups, return_inverse=True)
    sizes = np.bincount(groups)
    shuffled = rng.permutation(len(sizes))
    place = np.empty_like(shuffled)
    place[shuffled] = np.arange(len(sizes))
    rows = np.argsort(place[groups], kind="stable")
    ends = np.cumsum(sizes[shuffled])
    bounds = [int(ends[part[-1]]) if len(part) else 0 for part in np.array_split(np.arange(len(sizes)), count)[:-1]]
    return np.split(rows, bounds)


def rate_at(config: LearnConfig, progress: float) -> float:
    """Adam's step size at a share of the stage from 0 to 1: a cosine from `rate` to `final_rate`."""
    share = 0.5 * (1.0 + math.cos(math.pi * min(1.0, max(0.0, progress))))
    return config.final_rate + (config.rate - config.final_rate) * share
