"""The learner: one pass of Adam on cross-entropy over the samples of a round, and the average of the weights."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from training.config import LearnConfig
from training.selfplay import Samples
from training.value_net import ValueNet

Indices = npt.NDArray[np.int64]


class Learner:
    """Weights with their optimizer: moments, average and number of updates.

    Args:
        value_net: the weights; changed in place.
    """

    def __init__(self, value_net: ValueNet) -> None:
        self.value_net = value_net
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
        """One pass over the samples.

        Args:
            samples: positions and targets; each is used once.
            config: step sizes and batch.
            rng: decides the order.
            progress: share of the stage done before and after this round, from 0 to 1.
        Returns:
            Mean cross-entropy before the updates, in nats.
        """
        batches = max(1, round(len(samples.boards) / config.batch))
        total = 0.0
        for number, picked in enumerate(np.array_split(rng.permutation(len(samples.boards)), batches)):
            done = progress[0] + (progress[1] - progress[0]) * (number + 0.5) / batches
            total += self._update(samples, picked, config, rate_at(config, done))
        return total / max(1, len(samples.boards))

    def _update(self, samples: Samples, picked: Indices, config: LearnConfig, rate: float) -> float:
        loss = 0.0
        self.value_net.gradient.zero_()
        for expert, some in self._by_expert(samples, picked):
            part = self._loss(samples, some, expert)
            (part / len(picked)).backward()  # type: ignore[no-untyped-call]
            loss += part.item()
        self.optimizer.param_groups[0]["lr"] = rate
        self.optimizer.step()
        self._update_average(config.average_decay)
        return loss

    def _by_expert(self, samples: Samples, picked: Indices) -> Iterator[tuple[int, Indices]]:
        experts = samples.experts[picked]
        for expert in range(len(self.value_net.shape.experts)):
            some = picked[experts == expert]
            if len(some):
                yield expert, some

    def _loss(self, samples: Samples, picked: Indices, expert: int) -> Tensor:
        device = self.value_net.device
        boards = torch.from_numpy(samples.boards[picked]).to(device)
        features = torch.from_numpy(samples.features[picked]).to(device)
        targets = torch.from_numpy(samples.targets[picked]).to(device)
        logits = self.value_net.logits(boards, features, expert)
        return functional.cross_entropy(logits, targets, reduction="sum")

    def _update_average(self, decay: float) -> None:
        with torch.no_grad():
            warm = min(decay, (1.0 + float(self.moments["step"])) / (10.0 + float(self.moments["step"])))
            self.average.lerp_(self.value_net.flat, 1.0 - warm)


def rate_at(config: LearnConfig, progress: float) -> float:
    """Adam's step size at a share of the stage from 0 to 1: a cosine from `rate` to `final_rate`."""
    share = 0.5 * (1.0 + math.cos(math.pi * min(1.0, max(0.0, progress))))
    return config.final_rate + (config.rate - config.final_rate) * share
