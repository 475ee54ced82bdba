"""The mean of related nets."""

from __future__ import annotations

import numpy as np
import pytest

from agent.net import load_net, save_net
from engine.errors import ConfigError
from engine.rules import get_rules
from plain_net import random_net
from training.average import averaged_net
from training.cli import main
from training.grow import grown_net
from training.value_net import shape_of

LONG, SHORT = get_rules("long_classic"), get_rules("short")


def test_each_weight_is_the_mean_of_the_nets_weights() -> None:
    nets = [random_net(LONG, "long_v1", (16, 8), ("contact", "race"), seed=seed) for seed in (1, 2, 3)]
    mean = averaged_net(nets).tensors()
    for name, array in mean.items():
        assert array.dtype == np.float32
        np.testing.assert_allclose(array, sum(net.tensors()[name] for net in nets) / 3.0, atol=1e-6)
    same = averaged_net([nets[0], nets[0]])
    assert same.digest == nets[0].digest


def test_nets_of_different_kinds_are_refused() -> None:
    net = random_net(LONG, "long_v1", (16, 8), ("contact", "race"))
    for other in (
        random_net(SHORT, "short_v1", (16, 8), ("contact", "race")),
        random_net(LONG, "long_v1", (16, 8), ("all",)),
        random_net(LONG, "counts_v1", (16, 8), ("contact", "race")),
    ):
        with pytest.raises(ConfigError, match="differ"):
            averaged_net([net, other])
    with pytest.raises(ConfigError, match="does not fit into long_v1"):
        averaged_net([net, random_net(LONG, "long_v1", (24, 4), ("contact", "race"))])
    with pytest.raises(ConfigError, match="two nets or more, got 1"):
        averaged_net([net])


def test_a_net_that_was_outgrown_counts_by_its_share() -> None:
    small = random_net(LONG, "long_v1", (16, 8), ("contact", "race"), seed=1)
    fresh = random_net(LONG, "long_v1", (24, 16), ("contact", "race"), seed=2)
    grown = grown_net(small, fresh, shape_of(fresh))
    assert averaged_net([small, grown]).digest == grown.digest
    assert averaged_net([grown, small]).digest == grown.digest
    weight, _ = averaged_net([small, fresh]).layers[0]
    np.testing.assert_allclose(weight[:, 16:, :8], fresh.layers[0][0][:, 16:, :8] / 2.0, atol=1e-7)
    np.testing.assert_array_equal(weight[:, :, 8:], fresh.layers[0][0][:, :, 8:])


def test_the_command_writes_the_mean(tmp_path, capsys) -> None:
    nets = [random_net(SHORT, "short_v1", (16, 8), ("contact", "race"), seed=seed) for seed in (1, 2)]
    paths = [tmp_path / f"{i}.safetensors" for i in range(2)]
    for net, path in zip(nets, paths, strict=True):
        save_net(net, path)
    out = tmp_path / "mean.safetensors"
    assert main(["average", *map(str, paths), "--out", str(out)]) == 0
    assert capsys.readouterr().out.strip() == str(out)
    assert load_net(out).digest == averaged_net(nets).digest
    assert main(["average", str(paths[0]), str(tmp_path / "none.safetensors"), "--out", str(out)]) == 2
