"""Checkpoints."""

import os

import pytest
import torch

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


def test_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(ConfigError, match="cannot be written: No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
