"""Several processes training one net: who plays what, and sums over all of them.

Under `torchrun` each process is a rank: it plays its share of every round, gradients are added up, and all ranks take
the same update, so their weights stay equal without being sent. Rank 0 writes. Without torchrun there is one rank.
"""

from __future__ import annotations

import os
from datetime import timedelta

import torch
from torch import Tensor
from torch import distributed as dist

from engine.errors import ConfigError

TIMEOUT = timedelta(minutes=20)  # a strength check or a checkpoint of rank 0 takes less


class RankLostError(ConfigError):
    """Another rank of the run is gone; what the last checkpoint holds is kept."""


class Ranks:
    """The ranks of this run, seen by one of them; alone by default.

    Args:
        rank: this process's number, from 0.
        world: how many there are.
    """

    def __init__(self, rank: int = 0, world: int = 1) -> None:
        self.rank, self.world = rank, world

    @classmethod
    def from_environment(cls) -> Ranks:
        """The ranks that torchrun started (joined over gloo), or this process alone.

        Raises:
            ConfigError: torchrun's variables are there but the ranks cannot meet.
        """
        if int(os.environ.get("WORLD_SIZE", "1")) <= 1 or "RANK" not in os.environ:
            return cls()
        try:
            dist.init_process_group("gloo", timeout=TIMEOUT)
        except (RuntimeError, ValueError) as error:
            raise ConfigError(f"the ranks of torchrun cannot meet: {_first_line(error)}") from None
        return cls(dist.get_rank(), dist.get_world_size())

    @property
    def is_first(self) -> bool:
        """Whether this rank writes files and shows progress."""
        return self.rank == 0

    @property
    def local(self) -> int:
        """Ranks on this machine."""
        return int(os.environ.get("LOCAL_WORLD_SIZE", "1")) if self.world > 1 else 1

    def share(self, first: int, count: int) -> tuple[int, int]:
        """This rank's part of games first .. first + count - 1: its first game and how many."""
        start, stop = (count * rank // self.world for rank in (self.rank, self.rank + 1))
        return first + start, stop - start

    def add_up(self, tensor: Tensor) -> Tensor:
        """Replace a tensor by its sum over the ranks, the same bits on each.

        Raises:
            RankLostError: a rank is gone.
        """
        if self.world > 1:
            try:
                dist.all_reduce(tensor)
            except RuntimeError as error:
                raise RankLostError(f"a rank of the run is gone ({_first_line(error)}); go on with --resume") from None
        return tensor

    def total(self, value: float) -> float:
        """The sum of a number over the ranks."""
        return float(self.add_up(torch.tensor([value], dtype=torch.float64))[0])

    def close(self) -> None:
        """Leave the others."""
        if self.world > 1 and dist.is_initialized():
            dist.destroy_process_group()


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:160]
