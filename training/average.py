"""The mean of nets that grew out of one another: what their runs found by chance falls away, what they share stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from agent.net import Net
from engine.errors import ConfigError
from training.grow import grown_net
from training.value_net import shape_of

Array = npt.NDArray[np.float32]


def averaged_net(nets: Sequence[Net]) -> Net:
    """The mean of the weights of nets; the first net's name and metadata are kept.

    It plays well only where each net started from another of them, or all from one: the units of nets trained apart
    have nothing to do with one another. A net that another one outgrew gets the units it lacks from the largest,
    without effect on what it says, so that in the mean these count by their share.

    Args:
        nets: two or more, of the same game, features and experts.
    Raises:
        ConfigError: fewer than two nets, or two that differ in these, or of which neither fits into the other.
    Source:
        Wortsman et al., Model soups: averaging weights of multiple fine-tuned models (2022).
    """
    if len(nets) < 2:
        raise ConfigError(f"an average takes two nets or more, got {len(nets)}")
    first, *others = nets
    for other in others:
        if _kind(other) != _kind(first):
            raise ConfigError(f"net {other.name} {_kind(other)} and net {first.name} {_kind(first)} differ")
    largest = max(nets, key=lambda net: shape_of(net).hidden)
    first, *others = nets = [grown_net(net, largest, shape_of(largest)) for net in nets]
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


def _kind(net: Net) -> tuple[str, str, tuple[str, ...]]:
    return net.game, net.features, net.experts
