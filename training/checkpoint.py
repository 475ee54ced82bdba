"""Checkpoints: tensors and JSON in one safetensors file, written so that a kill at any moment leaves a whole one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from agent.net import CHECKSUM, content_checksum
from engine.errors import ConfigError, NardyError
from engine.whole_file import write_whole
from training.config import TrainConfig, config_from_json, config_json

CHECKPOINT_FILE = "checkpoint.safetensors"
FORMAT = "nardy-checkpoint-1"
STATE = MappingProxyType({"rounds": (int,), "games": (int,), "steps": (int,), "seconds": (int, float)})
TENSORS = ("weights", "average", "player", "exp_avg", "exp_avg_sq")


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """A run between two rounds: all that the next round depends on.

    `tensors` are flat float32 vectors: the weights, their average, the weights that play the next round, and Adam's
    two moments.
    """

    config: TrainConfig
    tensors: Mapping[str, Tensor]
    rounds: int
    games: int
    steps: int  # updates made
    seconds: float  # time trained so far, over all sittings


def save_checkpoint(checkpoint: Checkpoint, folder: Path) -> None:
    """Write the checkpoint of a run folder, in place of the one before.

    Raises:
        ConfigError: the folder cannot be written.
    """
    state = {name: getattr(checkpoint, name) for name in STATE}
    metadata = {"format": FORMAT, "config": config_json(checkpoint.config), "state": json.dumps(state)}
    tensors = {name: checkpoint.tensors[name].detach().cpu().contiguous() for name in TENSORS}
    metadata[CHECKSUM] = _checksum(tensors, metadata)
    write_atomically(folder / CHECKPOINT_FILE, save(tensors, metadata))


def load_checkpoint(folder: Path) -> Checkpoint:
    """The last checkpoint of a run folder.

    Raises:
        ConfigError: there is none, or it is damaged or of another format.
    """
    path = folder / CHECKPOINT_FILE
    if not path.is_file():
        raise ConfigError(f"{folder} holds no {CHECKPOINT_FILE}; give a folder that nardy-train run has written")
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (not a dict)
    except (SafetensorError, OSError) as error:
        raise ConfigError(f"{path} cannot be read as a checkpoint: {error}") from None
    if metadata.get("format") != FORMAT or set(tensors) != set(TENSORS):
        raise ConfigError(f"{path} has the format {metadata.get('format')!r}, this version reads {FORMAT!r}")
    shapes = {(tensor.dtype, tensor.shape) for tensor in tensors.values()}
    if len(shapes) > 1 or any(tensor.dtype != torch.float32 or tensor.ndim != 1 for tensor in tensors.values()):
        raise ConfigError(f"{path} cannot be read as a checkpoint: its tensors must be float32 of one length")
    if CHECKSUM in metadata and metadata[CHECKSUM] != _checksum(tensors, metadata):
        raise ConfigError(f"{path} is damaged: its checksum does not fit its content")
    try:
        state = _state_from_json(metadata.get("state", ""))
        return Checkpoint(config=config_from_json(metadata.get("config", "")), tensors=tensors, **state)
    except NardyError as error:
        raise ConfigError(f"{path} cannot be read as a checkpoint: {error}") from None


def _checksum(tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> str:
    return content_checksum({name: tensor.numpy() for name, tensor in tensors.items()}, metadata)


def _state_from_json(text: str) -> dict[str, Any]:
    """The counters of a checkpoint. Raises ConfigError where one is missing, unknown or no number from 0 on."""
    try:
        state = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"its state must be JSON: {str(error)[:120]}") from None
    if not isinstance(state, dict) or set(state) != set(STATE):
        raise ConfigError(f"its state must hold {', '.join(STATE)}, got {text[:80]!r}")
    for name, kinds in STATE.items():
        value = state[name]
        if not isinstance(value, kinds) or isinstance(value, bool) or not 0 <= value < 2**63:
            raise ConfigError(f"{name} must be a number from 0 on, got {value!r}")
    return state


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that readers see the old or the new one, whole.

    Raises:
        ConfigError: the path cannot be written.
    """
    try:
        write_whole(path, content)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from None


def flat_vector(values: Tensor) -> Tensor:
    """A copy of a flat vector that later updates leave alone."""
    return values.detach().clone().to(torch.float32)
