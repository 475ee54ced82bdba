"""A net as arrays: the experts of one game in one safetensors file, loaded without running code.

File: tensors `rows`, `feature_weights`, `bias`, `layers.I.weight`, `layers.I.bias` (all float32, shapes below), and
text metadata `format`, `game`, `rules`, `features`, `experts` besides free entries such as `command` or `games`. Nets
written from now on carry `checksum`, the SHA-256 of all the rest (`content_checksum`); those without it load too.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import safetensors.numpy
from safetensors import SafetensorError

from agent._net_kernels import NetArrays
from agent.features import COUNT_ROWS, feature_code, feature_count
from engine.board import BEAROFF, CONTACT, RACE
from engine.bounded_file import read_bounded
from engine.errors import NetError
from engine.rules import GAMES, Rules, get_rules
from engine.whole_file import write_whole

Array = npt.NDArray[np.float32]

FORMAT = "nardy-net-1"
CHECKSUM = "checksum"
OWN_ENTRIES = ("format", "game", "rules", "features", "experts", CHECKSUM)  # of the metadata; the others are free
MAX_FILE_BYTES = 256 * 2**20
MAX_METADATA_CHARS = 100_000
MAX_WIDTH = 4096
MAX_LAYERS = 8
LANES, FIRST_LANES = 8, 64  # kernels add this many sums at a time, in the first layer as many as a word has bits
NETS_FOLDER = Path(__file__).parent / "nets"

# Which expert judges a phase: the first of these that the net has.
EXPERT_OF_PHASE = MappingProxyType(
    {CONTACT: ("contact", "all"), RACE: ("race", "contact", "all"), BEAROFF: ("bearoff", "race", "contact", "all")}
)
EXPERTS = ("all", "contact", "race", "bearoff")


@dataclass(frozen=True, kw_only=True)
class Net:
    """E experts of one shape that turn an afterstate into K outcome probabilities.

    First layer: the sum of one row per held (side, slot, count) and of the dense features times their weights, plus
    the bias; ReLU; then dense layers with ReLU between them; softmax at the end. Row 0 of the board is the player who
    just moved, and the probabilities are his, in the order of `Rules.outcomes`.

    Raises:
        NetError: unknown game, feature set or expert, a shape that does not fit, or a value that is not finite.
    """

    name: str
    game: str
    rules: str  # the rules text it was trained for
    features: str
    experts: tuple[str, ...]
    rows: Array  # [E, 832, H1]
    feature_weights: Array  # [E, F, H1]
    bias: Array  # [E, H1]
    layers: tuple[tuple[Array, Array], ...]  # ([E, in, out], [E, out]) from H1 down to K
    metadata: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.game not in GAMES:
            raise NetError(f"net {self.name}: unknown game {self.game!r}; allowed: {', '.join(GAMES)}")
        unknown = [e for e in self.experts if e not in EXPERTS]
        if unknown or not self.experts or len(set(self.experts)) != len(self.experts):
            raise NetError(f"net {self.name}: experts must be some of {', '.join(EXPERTS)}, got {self.experts}")
        if not {"all", "contact"} & set(self.experts):
            raise NetError(f"net {self.name}: needs an expert 'contact' or 'all', has {self.experts}")
        self._check_shapes()
        for name, array in self.tensors().items():
            if array.dtype != np.float32:
                raise NetError(f"net {self.name}: tensor {name} must be float32, got {array.dtype}")
            if not np.isfinite(array).all():
                raise NetError(f"net {self.name}: tensor {name} holds a value that is not finite")

    def _check_shapes(self) -> None:
        if not 1 <= len(self.layers) <= MAX_LAYERS:
            raise NetError(f"net {self.name}: needs 1 to {MAX_LAYERS} dense layers, has {len(self.layers)}")
        experts, wide = len(self.experts), self.bias.shape[-1] if self.bias.ndim else 0
        expected = {
            "rows": (experts, COUNT_ROWS, wide),
            "feature_weights": (experts, feature_count(self.features), wide),
            "bias": (experts, wide),
        }
        for i, (weight, _) in enumerate(self.layers):
            out = weight.shape[-1] if weight.ndim else 0
            if i == len(self.layers) - 1:
                out = 2 * GAMES[self.game].levels
            expected[f"layers.{i}.weight"] = (experts, wide, out)
            expected[f"layers.{i}.bias"] = (experts, out)
            wide = out
        for name, array in self.tensors().items():
            if array.shape != expected[name] or not all(0 <= n <= MAX_WIDTH for n in array.shape):
                raise NetError(f"net {self.name}: tensor {name} must have shape {expected[name]}, got {array.shape}")

    def tensors(self) -> dict[str, Array]:
        """The arrays, float32, by their names in the file; shapes as the class states them."""
        named = {"rows": self.rows, "feature_weights": self.feature_weights, "bias": self.bias}
        for i, (weight, bias) in enumerate(self.layers):
            named[f"layers.{i}.weight"], named[f"layers.{i}.bias"] = weight, bias
        return named

    @cached_property
    def arrays(self) -> NetArrays:
        """The net in the layout of the kernels."""
        experts = len(self.experts)
        first = self.bias.shape[1]
        widths = [first, *(weight.shape[2] for weight, _ in self.layers)]
        padded = [-(-width // LANES) * LANES for width in widths]
        padded[0] = -(-first // FIRST_LANES) * FIRST_LANES
        shapes = [shape for pair in pairwise(padded) for shape in (pair, pair[1:])]
        dense = [a for layer in self.layers for a in layer]
        flat = [_padded(a, *shape).reshape(experts, -1) for a, shape in zip(dense, shapes, strict=True)]
        by_phase = [
            next(self.experts.index(name) for name in names if name in self.experts)
            for names in EXPERT_OF_PHASE.values()
        ]
        return NetArrays(
            rows=_padded(np.concatenate([self.rows, self.feature_weights], axis=1), padded[0]),
            bias=_padded(self.bias, padded[0]),
            dense=np.ascontiguousarray(np.concatenate(flat, axis=1)),
            widths=np.array(padded, dtype=np.int64),
            experts=np.array(by_phase, dtype=np.int64),
            sizes=np.array([feature_code(self.features), self.feature_weights.shape[1], widths[-1]], dtype=np.int64),
        )

    @cached_property
    def digest(self) -> str:
        """First 12 hex digits of the SHA-256 of the tensors: names what was measured."""
        sha = hashlib.sha256()
        for name, array in self.tensors().items():
            sha.update(name.encode())
            sha.update(np.ascontiguousarray(array).tobytes())
        return sha.hexdigest()[:12]


def _padded(array: Array, *sizes: int) -> Array:
    """The array with its last axes filled up with zeros to these sizes, contiguous."""
    kept = array.ndim - len(sizes)
    pads = [(0, 0)] * kept + [(0, size - n) for n, size in zip(array.shape[kept:], sizes, strict=True)]
    return np.ascontiguousarray(np.pad(array, pads))


def save_net(net: Net, path: str | os.PathLike[str]) -> None:
    """Write a net, whole or not at all.

    Raises:
        NetError: the file cannot be written.
    """
    target = Path(path)
    metadata = {
        **{key: text for key, text in net.metadata.items() if key not in OWN_ENTRIES},
        "format": FORMAT,
        "game": net.game,
        "rules": net.rules,
        "features": net.features,
        "experts": json.dumps(net.experts),
    }
    tensors = {name: np.ascontiguousarray(array) for name, array in net.tensors().items()}
    content = safetensors.numpy.save(tensors, metadata | {CHECKSUM: content_checksum(tensors, metadata)})
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, content)
    except OSError as error:
        raise NetError(f"cannot write net {target}: {error.strerror or error}") from None


def load_net(path: str | os.PathLike[str]) -> Net:
    """Read a net from an untrusted file.

    Raises:
        NetError: missing, too large, damaged, or not a net of this version.
    """
    source = Path(path)
    content = _read(source)
    try:
        tensors = safetensors.numpy.load(content)
        metadata = _metadata(content)
    except (SafetensorError, ValueError, KeyError, TypeError, UnicodeDecodeError, RecursionError) as error:
        raise NetError(f"{source} is not a readable safetensors file: {str(error)[:120]}") from None
    if metadata.get("format") != FORMAT:
        given = repr(metadata["format"][:40]) if "format" in metadata else "no format entry"
        raise NetError(f"{source} is not a nardy net: format must be {FORMAT}, got {given}")
    net = _net_from(source, tensors, metadata)
    if CHECKSUM in metadata and metadata[CHECKSUM] != content_checksum(net.tensors(), metadata):
        raise NetError(f"{source} is damaged: its checksum does not fit its content; take another copy of the net")
    return net


def content_checksum(tensors: Mapping[str, Array], metadata: Mapping[str, str]) -> str:
    """What a net or checkpoint file says of its own content, so that a flipped bit is noticed.

    Args:
        tensors: float32 arrays by their names in the file.
        metadata: the text entries; one called `checksum` does not count.
    Returns:
        The SHA-256 in hexadecimal.
    """
    entries = {name: text for name, text in metadata.items() if name != CHECKSUM}
    sha = hashlib.sha256(json.dumps(entries, sort_keys=True).encode())
    for name in sorted(tensors):
        sha.update(f"{name} {tensors[name].shape} ".encode())
        sha.update(np.ascontiguousarray(tensors[name]).data)
    return sha.hexdigest()


def _read(source: Path) -> bytes:
    try:
        content = read_bounded(source, MAX_FILE_BYTES)
    except OSError as error:
        raise NetError(f"cannot read net {source}: {error.strerror or error}") from None
    if len(content) > MAX_FILE_BYTES:
        raise NetError(f"{source} is larger than {MAX_FILE_BYTES >> 20} MiB, the most a net may have")
    return content


def _metadata(content: bytes) -> dict[str, str]:
    size = int.from_bytes(content[:8], "little")
    if size > MAX_METADATA_CHARS:
        raise ValueError(f"header of {size} bytes, allowed are {MAX_METADATA_CHARS}")
    metadata = json.loads(content[8 : 8 + size]).get("__metadata__", {})
    return {str(key): str(value) for key, value in metadata.items()}


def _net_from(source: Path, tensors: dict[str, Array], metadata: dict[str, str]) -> Net:
    count = sum(name.endswith(".weight") for name in tensors)
    wanted = ["rows", "feature_weights", "bias"]
    wanted += [f"layers.{i}.{part}" for i in range(count) for part in ("weight", "bias")]
    if set(wanted) != set(tensors):
        odd = sorted(set(wanted) ^ set(tensors))[:4]
        raise NetError(f"{source} lacks or has unknown tensors: {', '.join(map(repr, odd))[:120]}")
    try:
        experts = json.loads(metadata["experts"])
        get_rules(metadata["rules"])
        names = {key: metadata[key] for key in ("game", "rules", "features")}
    except (KeyError, ValueError, RecursionError) as error:
        raise NetError(f"{source}: bad metadata: {str(error)[:120]}") from None
    if not isinstance(experts, list) or not all(isinstance(e, str) for e in experts):
        raise NetError(f"{source}: experts must be a list of names, got {metadata['experts'][:60]}")
    return Net(
        name=source.stem,
        **names,
        experts=tuple(experts),
        rows=tensors["rows"],
        feature_weights=tensors["feature_weights"],
        bias=tensors["bias"],
        layers=tuple((tensors[f"layers.{i}.weight"], tensors[f"layers.{i}.bias"]) for i in range(count)),
        metadata={k: v for k, v in metadata.items() if k not in OWN_ENTRIES},
    )


def shipped_net(rules: Rules) -> Path:
    """Path of the net that comes with the package for a game.

    Raises:
        NetError: this installation has none.
    """
    path = NETS_FOLDER / f"{rules.game.name}.safetensors"
    if not path.is_file():
        raise NetError(f"no net is shipped for {rules.game.name} nardy; train one or give a path")
    return path


def check_fit(net: Net, rules: Rules) -> None:
    """Refuse a net whose outcome classes do not mean what the rules say.

    Raises:
        NetError: another game, or options that change the classes themselves.
    """
    trained = get_rules(net.rules)
    if net.game != rules.game.name or trained.game is not rules.game:
        raise NetError(f"net {net.name} plays {net.game} nardy ({net.rules}), the rules are {rules}")
    for option in ("koks_zone", "koks_needs_none_off", "last_turn"):
        has, wants = getattr(trained, option), getattr(rules, option)
        if has != wants:
            raise NetError(
                f"net {net.name} was trained with {option}={has}, the rules say {option}={wants}: "
                "its outcome classes mean something else"
            )
