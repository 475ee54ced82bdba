"""The value net in torch: the same numbers as `agent.net.Net`, with gradients.

All parameters are views of one flat vector, so that the optimizer, the weight average, the all-reduce and the
checkpoint each handle one tensor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from agent.net import Net
from engine.board import Boards
from engine.errors import ConfigError
from engine.rules import SLOTS, Rules
from training._embedding_kernels import add_row_gradients, sum_rows

COUNTS = 16
ROWS = 2 * SLOTS * COUNTS
ACTIVE_ROWS = 20.0  # rows a board takes on average; the scale of the first layer at the start


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What fixes the size of every array of a net."""

    features: str
    feature_count: int
    experts: tuple[str, ...]
    hidden: tuple[int, ...]
    outcomes: int

    def parameters(self) -> dict[str, tuple[int, ...]]:
        """Shape of each parameter of one expert, in the order of the flat vector."""
        first = self.hidden[0]
        shapes: dict[str, tuple[int, ...]] = {
            "rows": (ROWS, first),
            "feature_weights": (self.feature_count, first),
            "bias": (first,),
        }
        for layer, (size_in, size_out) in enumerate(self._dense_sizes()):
            shapes[f"weight_{layer}"] = (size_in, size_out)
            shapes[f"bias_{layer}"] = (size_out,)
        return shapes

    def _dense_sizes(self) -> list[tuple[int, int]]:
        sizes = (*self.hidden, self.outcomes)
        return list(pairwise(sizes))

    @property
    def layer_count(self) -> int:
        """Dense layers after the first."""
        return len(self.hidden)

    @property
    def size(self) -> int:
        """Numbers in the flat vector: all parameters of all experts."""
        return len(self.experts) * sum(prod(shape) for shape in self.parameters().values())


class ValueNet:
    """A net that can be trained: `flat` holds every parameter, `gradient` their gradients.

    Args:
        shape: sizes and names.
        device: where torch keeps it.
    """

    def __init__(self, shape: Shape, device: str = "cpu") -> None:
        self.shape = shape
        self.device = torch.device(device)
        self.flat = torch.zeros(shape.size, device=self.device)
        self.gradient = torch.zeros(shape.size, device=self.device)
        self.experts = self._views()

    def _views(self) -> list[dict[str, Tensor]]:
        experts: list[dict[str, Tensor]] = []
        start = 0
        for _ in self.shape.experts:
            views: dict[str, Tensor] = {}
            for name, shape in self.shape.parameters().items():
                stop = start + prod(shape)
                view = self.flat[start:stop].view(shape).detach().requires_grad_()
                view.grad = self.gradient[start:stop].view(shape)
                views[name], start = view, stop
            experts.append(views)
        return experts

    def initialize(self, rng: np.random.Generator) -> None:
        """Draw starting weights: every expert the same numbers, small in the last layer."""
        draws = {}
        for name, shape in self.shape.parameters().items():
            scale = np.sqrt(2.0 / max(1, shape[0]))
            if name == "rows":
                scale = 0.5 / np.sqrt(ACTIVE_ROWS)
            elif name == "feature_weights":
                scale *= 0.25
            elif name.startswith("bias"):
                scale = 0.0
            elif name == f"weight_{self.shape.layer_count - 1}":
                scale *= 0.1
            draws[name] = rng.standard_normal(shape, dtype=np.float32) * np.float32(scale)
        draws["rows"].reshape(-1, COUNTS, self.shape.hidden[0])[:, 0] = 0.0
        with torch.no_grad():
            for expert in self.experts:
                for name, values in draws.items():
                    expert[name].copy_(torch.from_numpy(values))

    def logits(self, boards: Tensor, features: Tensor, expert: int) -> Tensor:
        """Log-odds of the outcome classes by one expert, before the softmax.

        Args:
            boards: int8 [N, 2, 26], afterstates.
            features: float32 [N, F].
            expert: index into `shape.experts`.
        Returns:
            float32 [N, K].
        """
        weights = self.experts[expert]
        if boards.device.type == "cpu":
            hidden: Tensor = _SumRows.apply(weights["rows"], weights["bias"], boards)  # type: ignore[no-untyped-call]
        else:
            hidden = sum_rows_torch(weights["rows"], boards) + weights["bias"]
        if self.shape.feature_count:
            hidden = torch.addmm(hidden, features, weights["feature_weights"])
        for layer in range(self.shape.layer_count):
            hidden = torch.addmm(weights[f"bias_{layer}"], functional.relu(hidden), weights[f"weight_{layer}"])
        return hidden

    def outcome_probs(self, boards: Boards, features: npt.NDArray[np.float32], experts: npt.NDArray[np.int64]) -> Any:
        """float32 [N, K]: outcome probabilities of each board by the expert named for it (for tests and checks)."""
        result = torch.zeros(len(boards), self.shape.outcomes)
        with torch.no_grad():
            for expert in range(len(self.shape.experts)):
                picked = np.flatnonzero(experts == expert)
                some = torch.from_numpy(boards[picked]).to(self.device)
                dense = torch.from_numpy(features[picked]).to(self.device)
                result[picked] = torch.softmax(self.logits(some, dense, expert), dim=1).cpu()
        return result.numpy()

    def load_flat(self, values: Tensor) -> None:
        """Take every parameter from a flat vector of the same size."""
        with torch.no_grad():
            self.flat.copy_(values)


class _SumRows(torch.autograd.Function):
    """Sum of embedding rows by numba kernels (torch's embedding_bag needs 4 times as long for the gradient)."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, bias: Tensor, boards: Tensor) -> Tensor:
        out = torch.empty(len(boards), rows.shape[1])
        sum_rows(boards.numpy(), rows.detach().numpy(), bias.detach().numpy(), out.numpy())
        ctx.boards, ctx.row_shape = boards, rows.shape
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        row_gradient = torch.zeros(ctx.row_shape)
        out_gradient = gradients[0].contiguous()
        add_row_gradients(ctx.boards.numpy(), out_gradient.numpy(), row_gradient.numpy())
        return row_gradient, out_gradient.sum(0), None


def sum_rows_torch(rows: Tensor, boards: Tensor) -> Tensor:
    """The sum of embedding rows in plain torch: used on an accelerator, and the kernel's slow twin in tests.

    Args:
        rows: float32 [832, H].
        boards: int8 [N, 2, 26].
    Returns:
        float32 [N, H].
    """
    counts = boards.reshape(len(boards), 2 * SLOTS).long()
    first = torch.arange(2 * SLOTS, device=boards.device) * COUNTS
    index = torch.where(counts > 0, first + counts, 0)  # row 0 is unused: it stands for an empty slot
    return functional.embedding_bag(index, rows, mode="sum", padding_idx=0)


def shape_of(net: Net) -> Shape:
    """The shape of a finished net."""
    return Shape(
        features=net.features,
        feature_count=net.feature_weights.shape[1],
        experts=net.experts,
        hidden=(net.bias.shape[1], *(weight.shape[2] for weight, _ in net.layers[:-1])),
        outcomes=net.layers[-1][0].shape[2],
    )


def flat_from_net(net: Net, shape: Shape) -> Tensor:
    """The flat vector of a finished net.

    Raises:
        ConfigError: the net has another shape.
    """
    if shape_of(net) != shape:
        raise ConfigError(f"net {net.name} has the shape {shape_of(net)}, this run needs {shape}")
    value_net = ValueNet(shape)
    with torch.no_grad():
        for expert, weights in enumerate(value_net.experts):
            for name, values in _net_arrays(net, expert).items():
                weights[name].copy_(torch.from_numpy(np.array(values)))
    return value_net.flat


def _net_arrays(net: Net, expert: int) -> dict[str, npt.NDArray[np.float32]]:
    arrays = {"rows": net.rows[expert], "feature_weights": net.feature_weights[expert], "bias": net.bias[expert]}
    for layer, (weight, bias) in enumerate(net.layers):
        arrays[f"weight_{layer}"], arrays[f"bias_{layer}"] = weight[expert], bias[expert]
    return arrays


def net_from_flat(
    flat: Tensor, shape: Shape, rules: Rules, name: str, metadata: Mapping[str, str] | None = None
) -> Net:
    """A finished net that owns a copy of the numbers of a flat vector.

    Args:
        flat: float32 [shape.size].
        shape: sizes and names.
        rules: what it was trained for.
        name: shown with every answer of the net.
        metadata: kept in the net's file.
    """
    value_net = ValueNet(shape)
    value_net.load_flat(flat.detach().cpu())
    arrays = {
        key: np.stack([expert[key].detach().numpy() for expert in value_net.experts]) for key in shape.parameters()
    }
    return Net(
        name=name,
        game=rules.game.name,
        rules=str(rules),
        features=shape.features,
        experts=shape.experts,
        rows=arrays["rows"],
        feature_weights=arrays["feature_weights"],
        bias=arrays["bias"],
        layers=tuple((arrays[f"weight_{i}"], arrays[f"bias_{i}"]) for i in range(shape.layer_count)),
        metadata=dict(metadata or {}),
    )
