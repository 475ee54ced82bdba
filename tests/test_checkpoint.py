"""Checkpoints."""

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save

from agent.net import CHECKSUM
from damage import flipped_bits, full_disk
from engine.errors import ConfigError
from engine.rules import get_rules
from training.checkpoint import CHECKPOINT_FILE, TENSORS, Checkpoint, load_checkpoint, save_checkpoint, write_atomically
from training.config import preset_config


def some_checkpoint():
    return Checkpoint(
        config=preset_config("smoke", get_rules("short")),
        tensors={name: torch.randn(9) for name in TENSORS},
        rounds=3,
        games=300,
        steps=41,
        seconds=1.25,
    )


def test_comes_back_bit_for_bit(tmp_path):
    saved = some_checkpoint()
    save_checkpoint(saved, tmp_path)
    loaded = load_checkpoint(tmp_path)
    assert all(torch.equal(loaded.tensors[name], saved.tensors[name]) for name in TENSORS)
    assert (loaded.config, loaded.rounds, loaded.games) == (saved.config, 3, 300)
    assert (loaded.steps, loaded.seconds) == (41, 1.25)
    assert [path.name for path in tmp_path.iterdir()] == [CHECKPOINT_FILE]


def test_missing_damaged_and_foreign_files_are_one_line_errors(tmp_path):
    with pytest.raises(ConfigError, match=f"holds no {CHECKPOINT_FILE}"):
        load_checkpoint(tmp_path)
    save_checkpoint(some_checkpoint(), tmp_path)
    path = tmp_path / CHECKPOINT_FILE
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ConfigError, match="cannot be read as a checkpoint"):
        load_checkpoint(tmp_path)
    path.write_bytes(whole.replace(b"nardy-checkpoint-1", b"nardy-checkpoint-0"))
    with pytest.raises(ConfigError, match=r"nardy-checkpoint-0.*this version reads 'nardy-checkpoint-1'"):
        load_checkpoint(tmp_path)


def changed(folder, *, tensors=None, **entries):
    """A checkpoint of before there were checksums, with these entries or tensors in place of its own."""
    with safe_open(folder / CHECKPOINT_FILE, framework="pt") as file:
        metadata = {name: text for name, text in file.metadata().items() if name != CHECKSUM} | entries
        kept = {name: file.get_tensor(name) for name in file.keys()} | (tensors or {})  # noqa: SIM118  (not a dict)
    content = save(kept, {name: text for name, text in metadata.items() if text is not None})
    (folder / CHECKPOINT_FILE).write_bytes(content)


def test_checkpoint_without_a_checksum_loads(tmp_path):
    save_checkpoint(some_checkpoint(), tmp_path)
    changed(tmp_path)
    assert load_checkpoint(tmp_path).rounds == 3


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"state": "{"}, "its state must be JSON"),
        ({"state": "[" * 100_000}, "its state must be JSON"),
        ({"state": None}, "its state must be JSON"),
        ({"state": "3"}, "its state must hold rounds, games, steps, seconds, got '3'"),
        ({"state": '{"rounds": 1}'}, "its state must hold"),
        ({"state": '{"rounds": "1", "games": 1, "steps": 1, "seconds": 1}'}, "rounds must be a number from 0 on"),
        ({"state": '{"rounds": 1, "games": 1, "steps": -1, "seconds": 1}'}, "steps must be a number from 0 on, got -1"),
        ({"state": '{"rounds": 1, "games": 1, "steps": 1, "seconds": NaN}'}, "seconds must be a number from 0 on"),
        ({"config": None}, "a config must be JSON"),
        ({"config": "[" * 100_000}, "a config must be JSON"),
        ({"config": '{"rules": "chess"}'}, "unknown rules 'chess'"),
        ({"tensors": {"weights": torch.zeros(8)}}, "its tensors must be float32 of one length"),
        ({"tensors": {"weights": torch.zeros(9, dtype=torch.int64)}}, "its tensors must be float32 of one length"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_damaged_content_is_one_line_that_names_the_file(damage, message, tmp_path):
    save_checkpoint(some_checkpoint(), tmp_path)
    changed(tmp_path, **damage)
    with pytest.raises(ConfigError) as caught:
        load_checkpoint(tmp_path)
    assert message in str(caught.value) and str(tmp_path / CHECKPOINT_FILE) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_any_flipped_bit_is_refused_or_changes_nothing(tmp_path, rng):
    saved = some_checkpoint()
    save_checkpoint(saved, tmp_path)
    whole = (tmp_path / CHECKPOINT_FILE).read_bytes()
    for damaged in flipped_bits(whole, rng, 300):
        (tmp_path / CHECKPOINT_FILE).write_bytes(damaged)
        try:
            loaded = load_checkpoint(tmp_path)
        except ConfigError as error:
            assert "\n" not in str(error)
        else:
            assert all(torch.equal(loaded.tensors[name], saved.tensors[name]) for name in TENSORS)
            assert (loaded.config, loaded.rounds, loaded.steps) == (saved.config, saved.rounds, saved.steps)


def test_interrupted_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    write_atomically(path, b"old")
    with full_disk(), pytest.raises(ConfigError, match="cannot be written: No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
