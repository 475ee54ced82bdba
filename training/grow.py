"""Starting a larger net from a smaller one: it judges the same at first, and has room to learn more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from agent.net import EXPERT_OF_PHASE, Net
from engine.errors import ConfigError
from training.value_net import Shape, shape_of

Array = npt.NDArray[np.float32]


def grown_net(net: Net, fresh: Net, shape: Shape) -> Net:
    """The net in a larger shape, giving the same probabilities.

    Old units keep their weights and give nothing to new ones that is not new; new units take their incoming weights
    from `fresh` and feed the next layer with zeros, so they matter once they have learnt to. New dense features start
    at zero for old units. A new expert starts as the old one that judged its phase.

    Args:
        net: a trained net.
        fresh: an untrained net of the larger shape.
        shape: the larger shape.
    Raises:
        ConfigError: the net is larger somewhere, or has other dense features.
    """
    old = shape_of(net)
    is_larger = len(old.hidden) == len(shape.hidden) and all(
        a <= b for a, b in zip(old.hidden, shape.hidden, strict=True)
    )
    if not is_larger or old.outcomes != shape.outcomes or old.features not in ("counts_v1", shape.features):
        raise ConfigError(
            f"net {net.name} ({old.features}, hidden {old.hidden}) does not fit into {shape.features}, {shape.hidden}"
        )
    sources = [net.experts.index(_source(expert, net)) for expert in shape.experts]
    wide = old.hidden[0]
    rows, bias = fresh.rows.copy(), fresh.bias.copy()
    feature_weights = fresh.feature_weights.copy()
    rows[:, :, :wide], bias[:, :wide] = net.rows[sources], net.bias[sources]
    feature_weights[:, :, :wide] = 0.0
    if old.features == shape.features:
        feature_weights[:, :, :wide] = net.feature_weights[sources]
    layers = []
    for (old_weight, old_bias), (new_weight, new_bias) in zip(net.layers, fresh.layers, strict=True):
        weight, layer_bias = new_weight.copy(), new_bias.copy()
        size_in, size_out = old_weight.shape[1:]
        weight[:, size_in:, :size_out] = 0.0
        weight[:, :size_in, :size_out], layer_bias[:, :size_out] = old_weight[sources], old_bias[sources]
        layers.append((weight, layer_bias))
    return replace(
        net,
        features=shape.features,
        experts=shape.experts,
        rows=rows,
        feature_weights=feature_weights,
        bias=bias,
        layers=tuple(layers),
    )


def _source(expert: str, net: Net) -> str:
    if expert in net.experts:
        return expert
    names = next((names for names in EXPERT_OF_PHASE.values() if expert in names), ())
    for name in (*names[names.index(expert) :], "all", "contact"):
        if name in net.experts:
            return name
    raise ConfigError(f"net {net.name} has no expert to start {expert!r} from; it has {net.experts}")
