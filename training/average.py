"""The mean of nets that grew out of one another: what their runs found by chance falls away, what they share stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from agent.net import Net
from engine.errors import ConfigError
from training.value_net import shape_of

Array = npt.NDArray[np.float32]


def averaged_net(nets: Sequence[Net]) -> Net:
    """The mean of the weights of nets of one shape; the first net's name and metadata are kept.

    It plays well only where each net started from another of them, or all from one: the units of nets trained apart
    have nothing to do with one another.

    Args:
        nets: two or more, of the same game, features, experts and sizes.
    Raises:
        ConfigError: fewer than two nets, or two that differ in these.
    Source:
        Wortsman et al., Model soups: averaging weights of multiple fine-tuned models (2022).
    """
    if len(nets) < 2:
        raise ConfigError(f"an average takes two nets or more, got {len(nets)}")
    first, *others = nets
    for other in others:
        if (other.game, shape_of(other)) != (first.game, shape_of(first)):
            raise ConfigError(
                f"net {other.name} ({other.game}, {other.features}, {other.experts}, {shape_of(other).hidden}) and net "
                f"{first.name} ({first.game}, {first.features}, {first.experts}, {shape_of(first).hidden}) differ"
            )
    mean: dict[str, Array] = {
        name: np.asarray(np.mean([net.tensors()[name] for net in nets], axis=0, dtype=np.float64), dtype=np.float32)
        for name in first.tensors()
    }
    return replace(
        first,
        rows=mean["rows"],
        feature_weights=mean["feature_weights"],
        bias=mean["bias"],
        layers=tuple((mean[f"layers.{i}.weight"], mean[f"layers.{i}.bias"]) for i in range(len(first.layers))),
    )
