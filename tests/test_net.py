"""Net files: what is written comes back, and whatever is wrong with a file is said in one line."""

import json
from dataclasses import replace

import numpy as np
import pytest
import safetensors.numpy

from agent import net as net_module
from agent.evaluator import load_evaluator
from agent.net import Net, check_fit, load_net, save_net, shipped_net
from damage import flipped_bits
from engine.errors import NetError
from engine.rules import RULES, get_rules
from plain_net import random_net

SHORT, LONG = RULES["short"], RULES["long_classic"]


@pytest.fixture
def net() -> Net:
    return replace(random_net(SHORT, "short_v1", (16, 8), ("contact", "race")), metadata={"games": "12", "note": "ойн"})


def content_of(net, tmp_path):
    path = tmp_path / "whole.safetensors"
    save_net(net, path)
    return path.read_bytes()


def file_with(tmp_path, net, *, tensors=None, metadata=None):
    """A net file with some tensors or metadata entries replaced; None removes one."""
    entries = {**net.metadata, "format": net_module.FORMAT, "game": net.game, "rules": net.rules}
    entries |= {"features": net.features, "experts": json.dumps(net.experts)} | (metadata or {})
    arrays = net.tensors() | (tensors or {})
    path = tmp_path / "changed.safetensors"
    kept = {name: np.ascontiguousarray(array) for name, array in arrays.items() if array is not None}
    path.write_bytes(safetensors.numpy.save(kept, {k: v for k, v in entries.items() if v is not None}))
    return path


def test_what_is_saved_comes_back_bit_for_bit(net, tmp_path):
    path = tmp_path / "folder" / "mine.safetensors"
    save_net(net, path)
    back = load_net(path)
    assert back.name == "mine"
    assert (back.game, back.rules, back.features, back.experts) == (net.game, net.rules, net.features, net.experts)
    assert back.metadata == net.metadata
    assert list(back.tensors()) == list(net.tensors())
    for name, array in net.tensors().items():
        assert np.array_equal(back.tensors()[name], array), name
    assert back.digest == net.digest


def test_digest_names_the_weights(net):
    rows = net.rows.copy()
    rows[0, 20, 3] += 1.0
    assert replace(net, rows=rows).digest != net.digest
    assert replace(net, name="other").digest == net.digest
    assert len(net.digest) == 12


def test_saving_replaces_the_old_file_and_leaves_nothing_else(net, tmp_path):
    path = tmp_path / "net.safetensors"
    for each in (net, random_net(LONG)):
        save_net(each, path)
    assert load_net(path).game == "long"
    assert [p.name for p in tmp_path.iterdir()] == ["net.safetensors"]


def test_saving_where_nothing_can_be_written_is_one_line(net, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NetError, match=r"cannot write net .*file/net"):
        save_net(net, tmp_path / "file" / "net.safetensors")


def test_missing_file_and_folder_are_named(tmp_path):
    with pytest.raises(NetError, match=r"cannot read net .*gone\.safetensors: No such file"):
        load_net(tmp_path / "gone.safetensors")
    with pytest.raises(NetError, match=r"cannot read net .*: Is a directory"):
        load_net(tmp_path)


@pytest.mark.parametrize("text", [b"", b"{}", b"\0" * 7, b"PK\x03\x04 a zip", b"\x80\x04\x95 a pickle" * 9], ids=repr)
def test_other_files_are_not_readable_nets(text, tmp_path):
    path = tmp_path / "other.safetensors"
    path.write_bytes(text)
    with pytest.raises(NetError, match="not a readable safetensors file"):
        load_net(path)


def test_truncated_anywhere_is_refused(net, tmp_path):
    content = content_of(net, tmp_path)
    path = tmp_path / "cut.safetensors"
    for length in [*range(0, 1200, 37), len(content) // 2, len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(NetError, match="not a readable"):
            load_net(path)


def test_bytes_behind_the_tensors_are_refused(net, tmp_path):
    path = tmp_path / "longer.safetensors"
    path.write_bytes(content_of(net, tmp_path) + b"\0" * 8)
    with pytest.raises(NetError, match="not a readable"):
        load_net(path)


def test_flipped_bits_of_the_header_give_a_net_or_one_line(net, tmp_path, rng):
    content = content_of(net, tmp_path)
    header = 8 + int.from_bytes(content[:8], "little")
    path = tmp_path / "flipped.safetensors"
    refused = 0
    for damaged in flipped_bits(content, rng, 400, within=header):
        path.write_bytes(damaged)
        try:
            load_net(path)
        except NetError as error:
            refused += 1
            assert "\n" not in str(error)
    assert refused > 200


def test_any_flipped_bit_is_refused_or_changes_nothing(net, tmp_path, rng):
    content = content_of(net, tmp_path)
    path = tmp_path / "whole.safetensors"
    for damaged in flipped_bits(content, rng, 200):
        path.write_bytes(damaged)
        try:
            loaded = load_net(path)
        except NetError as error:
            assert "\n" not in str(error)
        else:
            assert loaded.digest == net.digest and (loaded.rules, loaded.features) == (net.rules, net.features)


def test_a_flipped_weight_is_said_to_be_damage(net, tmp_path):
    content = bytearray(content_of(net, tmp_path))
    content[-100] ^= 1
    (tmp_path / "flipped.safetensors").write_bytes(content)
    with pytest.raises(NetError, match="is damaged: its checksum does not fit"):
        load_net(tmp_path / "flipped.safetensors")


def test_a_net_written_before_there_were_checksums_loads(net, tmp_path):
    assert load_net(file_with(tmp_path, net)).digest == net.digest


def test_flipped_exponent_of_a_weight_is_refused(net, tmp_path):
    content = bytearray(file_with(tmp_path, net).read_bytes())
    content[-1] |= 0x7F
    content[-2] |= 0x80  # the exponent is all ones: infinite or not a number
    path = tmp_path / "flipped.safetensors"
    path.write_bytes(content)
    with pytest.raises(NetError, match="holds a value that is not finite"):
        load_net(path)


def test_header_that_claims_to_be_huge_is_refused(net, tmp_path):
    path = tmp_path / "huge.safetensors"
    content = content_of(net, tmp_path)
    for size in (2**63, 2**40, len(content)):
        path.write_bytes(size.to_bytes(8, "little") + content[8:])
        with pytest.raises(NetError, match="not a readable"):
            load_net(path)
    with pytest.raises(NetError, match=r"header of \d+ bytes, allowed are 100000"):
        load_net(file_with(tmp_path, net, metadata={"note": "x" * 100_001}))


def test_file_beyond_the_limit_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(net_module, "MAX_FILE_BYTES", 1 << 16)
    path = tmp_path / "large.safetensors"
    path.write_bytes(bytes((1 << 16) + 1))
    with pytest.raises(NetError, match="larger than 0 MiB"):
        load_net(path)


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"format": None}, "format must be nardy-net-1, got no format entry"),
        ({"format": "nardy-net-9"}, "format must be nardy-net-1, got 'nardy-net-9'"),
        ({"game": None}, "bad metadata: 'game'"),
        ({"game": "chess"}, "unknown game 'chess'; allowed: short, long"),
        ({"rules": "medium"}, "bad metadata: unknown rules 'medium'"),
        ({"features": "short_v9"}, "unknown feature set 'short_v9'; this version knows counts_v1"),
        ({"features": "counts_v1"}, "tensor feature_weights must have shape"),
        ({"experts": "contact"}, "bad metadata"),
        ({"experts": '{"contact": 1}'}, "experts must be a list of names"),
        ({"experts": '["contact", 3]'}, "experts must be a list of names"),
        ({"experts": '["contact", "crashed"]'}, "experts must be some of all, contact, race, bearoff"),
        ({"experts": '["contact", "contact"]'}, "experts must be some of"),
        ({"experts": '["race", "bearoff"]'}, "needs an expert 'contact' or 'all'"),
        ({"experts": '["contact"]'}, "must have shape"),
        ({"experts": "[" * 5000}, "bad metadata"),
        ({"format": "two\nlines"}, r"got 'two\nlines'"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_wrong_metadata_is_named(metadata, message, net, tmp_path):
    with pytest.raises(NetError) as caught:
        load_net(file_with(tmp_path, net, metadata=metadata))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": None}, "lacks or has unknown tensors: 'rows'"),
        ({"two\nlines": np.zeros(2, np.float32)}, r"unknown tensors: 'two\nlines'"),
        ({"extra": np.zeros(2, np.float32)}, "lacks or has unknown tensors: 'extra'"),
        ({"layers.0.bias": None}, "lacks or has unknown tensors: 'layers.0.bias'"),
        ({"layers.7.weight": np.zeros(2, np.float32)}, "unknown tensors"),
        ({"rows": np.zeros((2, 831, 16), np.float32)}, r"rows must have shape (2, 832, 16), got (2, 831, 16)"),
        ({"rows": np.zeros((2, 832), np.float32)}, "rows must have shape"),
        ({"bias": np.zeros((), np.float32)}, "must have shape"),
        ({"bias": np.zeros((2, 0), np.float32)}, "must have shape"),
        (
            {"layers.1.weight": np.zeros((2, 8, 6), np.float32)},
            "layers.1.weight must have shape (2, 8, 8), got (2, 8, 6)",
        ),
        ({"layers.0.weight": np.zeros((2, 15, 8), np.float32)}, "layers.0.weight must have shape (2, 16, 8)"),
        ({"rows": np.zeros((2, 832, 16))}, "rows must be float32, got float64"),
        ({"bias": np.zeros((2, 16), np.int8)}, "bias must be float32, got int8"),
        ({"bias": np.full((2, 16), np.nan, np.float32)}, "bias holds a value that is not finite"),
        ({"layers.1.bias": np.full((2, 8), np.inf, np.float32)}, "layers.1.bias holds a value that is not finite"),
    ],
    ids=lambda value: value if isinstance(value, str) else ",".join(value),
)
def test_wrong_tensors_are_named(changes, message, net, tmp_path):
    with pytest.raises(NetError) as caught:
        load_net(file_with(tmp_path, net, tensors=changes))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_too_wide_and_too_deep_nets_are_refused():
    with pytest.raises(NetError, match="must have shape"):
        random_net(SHORT, hidden=(4097,))
    with pytest.raises(NetError, match="needs 1 to 8 dense layers, has 9"):
        random_net(SHORT, hidden=(8,) * 9)


def test_net_of_the_other_game_is_refused_with_both_sides(net):
    with pytest.raises(NetError, match=r"net random plays short nardy \(short\), the rules are long_classic"):
        load_evaluator("long_classic", net)


@pytest.mark.parametrize(
    "option",
    ["koks_zone=first_quarter", "koks_zone=home_or_behind", "koks_needs_none_off=False", "last_turn=second_player"],
)
def test_net_whose_classes_mean_something_else_is_refused(option):
    with pytest.raises(
        NetError, match=rf"net random was trained with {option.split('=')[0]}=.* the rules say {option}"
    ):
        check_fit(random_net(LONG), get_rules(f"long_classic({option})"))


@pytest.mark.parametrize("rules", ["long_fnr2026", "long_common", "long_classic(block_check=off,scoring=1/2/5)"])
def test_net_serves_every_variant_that_keeps_its_classes(rules):
    check_fit(random_net(LONG), get_rules(rules))


def test_shipped_net_is_a_path_or_one_line(monkeypatch, tmp_path):
    monkeypatch.setattr(net_module, "NETS_FOLDER", tmp_path)
    with pytest.raises(NetError, match="no net is shipped for short nardy; train one or give a path"):
        shipped_net(SHORT)
    save_net(random_net(SHORT), tmp_path / "short.safetensors")
    assert load_evaluator("short").net_name == "short"
