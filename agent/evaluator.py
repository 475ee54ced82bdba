"""Boards to outcome probabilities: a net's experts by phase, bear-off tables, finished boards exactly."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from agent import _net_kernels, _play_kernels
from agent._bearoff_kernels import BearoffArrays
from agent.bearoff import empty_arrays, load_tables
from agent.net import Net, check_fit, load_net, shipped_net
from engine.board import BEAROFF, Boards, as_boards, kernel_boards, phase
from engine.dice import as_dice_batch
from engine.errors import NetError, PositionError
from engine.outcome import equity_of
from engine.rules import SLOTS, Rules, get_rules
from engine.threads import map_slices

Probs = npt.NDArray[np.float32]
Offsets = npt.NDArray[np.int64]
BOARDS_WORTH_A_THREAD = 256
DECISIONS_WORTH_A_THREAD = 32


class Evaluator:
    """A net bound to one `Rules`: judges afterstates and picks plays at 0-ply.

    Attributes:
        rules: the exact variant; its points turn probabilities into equity.
        net: the net.
        net_name: what results are labelled with.
    """

    def __init__(self, net: Net, rules: Rules, *, use_tables: bool = True) -> None:
        check_fit(net, rules)
        self.net = net
        self.rules = rules
        self.net_name = net.name
        self.use_tables = use_tables
        self._tables = empty_arrays()

    def outcome_probs(
        self, afterstates: Boards, *, offsets: Offsets | None = None, threads: int | None = None
    ) -> Probs:
        """Outcome probabilities of afterstates, at 0-ply.

        Args:
            afterstates: int8 [N, 2, 26], row 0 the player who just moved.
            offsets: int64 [D + 1], from 0 to N: rows offsets[d]:offsets[d + 1] are the plays of one decision, which
                are judged about twice as fast side by side; None: unrelated boards.
            threads: most threads to use; None: all cores.
        Returns:
            float32 [N, K], seen by row 0, in the order of `rules.outcomes`; a finished board is certain.
        Raises:
            PositionError: not [N, 2, 26], a board that is not well formed, or offsets that do not cover the rows.
        """
        checked = _batch(afterstates, self.rules)
        tables = self.tables_for(checked)
        cells = checked.reshape(len(checked), 2 * SLOTS)
        out = np.empty((len(cells), len(self.rules.outcomes)), dtype=np.float32)
        net, code = self.net.arrays, self.rules.code
        if offsets is None:
            map_slices(
                lambda part: _net_kernels.judge_batch(net, cells[part], code, tables, out[part]),
                len(cells),
                threads=threads,
                smallest=BOARDS_WORTH_A_THREAD,
            )
            return out
        edges = _checked_offsets(offsets, len(cells))
        map_slices(
            lambda part: _net_kernels.judge_plays(net, cells, edges[part.start : part.stop + 1], code, tables, out),
            len(edges) - 1,
            threads=threads,
            smallest=DECISIONS_WORTH_A_THREAD,
        )
        return out

    def equity(self, afterstates: Boards, *, threads: int | None = None) -> Probs:
        """Equity of afterstates for the player who just moved, at 0-ply: float32 [N], in points per game."""
        return equity_of(self.outcome_probs(afterstates, threads=threads), self.rules)

    def choose(self, boards: Boards, dice: npt.NDArray[np.int8], *, threads: int | None = None) -> Boards:
        """The best afterstate of each board and roll at 0-ply; the board itself where it is finished.

        Args:
            boards: int8 [N, 2, 26], row 0 the player on roll.
            dice: int8 [N, 2].
            threads: most threads to use; None: all cores.
        Returns:
            int8 [N, 2, 26], rows not exchanged.
        Raises:
            PositionError: not [N, 2, 26], or a board that is not well formed.
            DiceError: a die is not 1..6, or boards and dice differ in number.
        """
        return self.choose_judged(boards, dice, threads=threads)[0]

    def choose_judged(
        self, boards: Boards, dice: npt.NDArray[np.int8], *, threads: int | None = None
    ) -> tuple[Boards, Probs]:
        """`choose`, and the float32 [N, K] probabilities of what was chosen, seen by the mover."""
        boards = _batch(boards, self.rules)
        dice = kernel_boards(as_dice_batch(dice, len(boards)))
        tables = self.tables_for(boards)
        chosen = np.empty_like(boards)
        probs = np.empty((len(boards), len(self.rules.outcomes)), dtype=np.float32)
        map_slices(
            lambda part: _play_kernels.choose_batch(
                self.net.arrays,
                boards[part],
                dice[part],
                self.rules.code,
                self.rules.points,
                tables,
                chosen[part],
                probs[part],
            ),
            len(boards),
            threads=threads,
            smallest=DECISIONS_WORTH_A_THREAD,
        )
        return chosen, probs

    def tables_for(self, boards: Boards) -> BearoffArrays:
        """The bear-off tables, built once a board is near enough to need them; until then an empty set."""
        if self.use_tables and not self._tables.one_sided.shape[0] and needs_tables(boards, self.rules):
            self._tables = load_tables().arrays
        return self._tables


def _batch(boards: Boards, rules: Rules) -> Boards:
    """Boards as the kernels, which check nothing, may read them."""
    checked = as_boards(boards, rules)
    if checked.ndim != 3:
        raise PositionError(f"an evaluator takes boards of shape [N, 2, 26], got {list(checked.shape)}")
    return checked


def _checked_offsets(offsets: Offsets, count: int) -> Offsets:
    """Offsets as the kernel, which checks nothing, may read them."""
    edges = np.ascontiguousarray(offsets, dtype=np.int64)
    if edges.ndim != 1 or not len(edges) or edges[0] != 0 or edges[-1] != count or (np.diff(edges) < 0).any():
        raise PositionError(f"offsets must rise from 0 to the {count} afterstates given")
    return edges


def needs_tables(boards: Boards, rules: Rules) -> bool:
    """Whether some board is a bear-off, or can be one after this turn."""
    if not len(boards):
        return False
    outside = boards[..., 7:].sum(axis=-1, dtype=np.int64).sum(axis=-1)
    return bool((outside <= 4).any() or (phase(boards, rules) == BEAROFF).any())


def expert_index(boards: Boards, net: Net, rules: Rules) -> npt.NDArray[np.int64]:
    """Which expert of a net judges each unfinished board: int64 [N], an index into `net.experts`.

    Args:
        boards: int8 [N, 2, 26].
    """
    return net.arrays.experts[np.minimum(phase(boards, rules), BEAROFF)]


def load_evaluator(rules: str | Rules, net: Net | str | os.PathLike[str] | None = None) -> Evaluator:
    """An evaluator of a net under exact rules.

    Args:
        rules: a `Rules` or its text.
        net: a `Net`, a path, or None for the shipped one.
    Raises:
        RulesError: unknown rules.
        NetError: the net cannot be read or does not fit the rules.
    """
    exact = get_rules(rules)
    if not isinstance(net, (Net, str, os.PathLike, type(None))):
        raise NetError(f"net must be a Net, a path or None, got {type(net).__name__}")
    if not isinstance(net, Net):
        net = load_net(shipped_net(exact) if net is None else Path(net))
    return Evaluator(net, exact)
