"""Strength checks while a net trains: error rate on a referee file, points against fixed opponents."""

from __future__ import annotations

from pathlib import Path

from agent.net import Net
from engine.rules import Rules
from training.config import CheckConfig
from training.curves import Metric

CHECK_SEED = 20_261_130  # the same dice for every check of every run: curves differ by the nets alone


def strength_metrics(
    net: Net, rules: Rules, config: CheckConfig, referee: Path | None, *, threads: int
) -> list[Metric]:
    """Strength of a net at 0-ply, one metric per opponent and per class of the referee file.

    Args:
        net: what is measured.
        rules: the game.
        config: opponents and pairs.
        referee: a file like `referee/visible.npz`, or None.
        threads: for the matches.
    """
    return []
