"""All legal plays of many positions, judged as deep as a level asks, and put in order.

Plays are judged at 0-ply first; a filter decides who is judged one ply deeper. A play that a filter stopped keeps the
figures and the ply it got that far, and stands behind every play that was judged deeper: an order never compares
equities of different plies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from agent.levels import Level, PlyFilter
from engine.board import Boards
from engine.movegen import afterstates_of
from engine.outcome import equity_of
from engine.rules import Rules
from engine.threads import default_threads

Probs = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


class Judge(Protocol):
    """What ranking, rollouts and luck ask of an evaluator: it is bound to one `Rules` and judges at 0-ply."""

    @property
    def rules(self) -> Rules:
        """The rules it is bound to."""

    @property
    def net_name(self) -> str:
        """The name that results are labelled with."""

    def outcome_probs(self, afterstates: Boards, *, offsets: Ints | None = None, threads: int | None = None) -> Probs:
        """float32 [N, K]: exclusive outcome probabilities of each afterstate for the player who just moved.

        `offsets` may say which rows are the plays of one decision, rows offsets[d]:offsets[d + 1].
        """

    def choose(self, boards: Boards, dice: npt.NDArray[np.int8], *, threads: int | None = None) -> Boards:
        """int8 [N, 2, 26]: the best afterstate of each board at 0-ply."""

    def choose_judged(
        self, boards: Boards, dice: npt.NDArray[np.int8], *, threads: int | None = None
    ) -> tuple[Boards, Probs]:
        """`choose`, and the float32 [N, K] probabilities of what was chosen."""


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The legal plays of B positions, best first within each; rows `offsets[b]:offsets[b+1]` belong to position b.

    Attributes:
        afterstates: int8 [M, 2, 26], row 0 the player who just moved.
        offsets: int64 [B + 1].
        probs: float32 [M, K], seen by that player, at the play's own ply.
        equity: float32 [M], points.
        loss: float32 [M], points lost against the best play, both judged at this play's ply.
        plies: int8 [M], the ply each play was judged at.
    """

    afterstates: Boards
    offsets: Ints
    probs: Probs
    equity: Probs
    loss: Probs
    plies: npt.NDArray[np.int8]


def rank_plays(
    judge: Judge, boards: Boards, dice: npt.NDArray[np.int8], level: Level, *, threads: int | None = None
) -> Ranking:
    """Every legal play of each position with its figures, best first.

    Args:
        judge: the evaluator, bound to the rules.
        boards: int8 [B, 2, 26], seen by the player on roll; none finished.
        dice: int8 [B, 2].
        level: depth and filters.
        threads: most CPU threads to use; None: all cores.
    """
    afterstates, offsets = afterstates_of(boards, dice, judge.rules, threads=threads)
    owner = np.repeat(np.arange(len(boards)), np.diff(offsets))
    probs = judge.outcome_probs(afterstates, offsets=offsets, threads=threads)
    equity = equity_of(probs, judge.rules)
    plies = np.zeros(len(owner), dtype=np.int8)
    ladder = [equity.copy()]  # equities of every play at each ply, or at the last one it reached
    for ply in range(1, level.plies + 1):
        going = _passing(equity, owner, plies == ply - 1, level.filters[ply - 1])
        probs[going] = _deeper_probs(judge, afterstates[going], ply, threads)
        equity[going] = equity_of(probs[going], judge.rules)
        plies[going] = ply
        ladder.append(equity.copy())
    order = np.lexsort((-np.arange(len(owner)), -equity, -plies, owner))  # of equals the last, as `choose` plays
    best = order[offsets[:-1]]  # [B]
    reference = np.stack(ladder)[plies, best[owner]]  # [M]: the best play's equity at each play's own ply
    return Ranking(
        afterstates=afterstates[order],
        offsets=offsets,
        probs=probs[order],
        equity=equity[order],
        loss=(reference - equity)[order],
        plies=plies[order],
    )


def choose_plays(
    judge: Judge, boards: Boards, dice: npt.NDArray[np.int8], level: Level, *, threads: int | None = None
) -> Boards:
    """The best play of each position at a level.

    Args:
        judge, boards, dice, level, threads: as for `rank_plays`.
    Returns:
        int8 [B, 2, 26], row 0 the player who just moved.
    """
    if level.plies == 0 or len(boards) == 0:
        return judge.choose(boards, dice, threads=threads)
    ranking = rank_plays(judge, boards, dice, level, threads=threads)
    return ranking.afterstates[ranking.offsets[:-1]]


def _passing(equity: Probs, owner: Ints, reached: npt.NDArray[np.bool_], ply_filter: PlyFilter) -> Ints:
    """Indices of the plays that pass a filter: among those that reached its ply, per position."""
    rows = np.flatnonzero(reached)
    rows = rows[np.lexsort((-equity[rows], owner[rows]))]  # best first within each position
    _, first = np.unique(owner[rows], return_index=True)
    sizes = np.diff(np.append(first, len(rows)))
    rank = np.arange(len(rows)) - np.repeat(first, sizes)
    behind = np.repeat(equity[rows[first]], sizes) - equity[rows]
    return np.sort(rows[(rank < ply_filter.keep) & (behind <= ply_filter.within)])


def _deeper_probs(judge: Judge, afterstates: Boards, plies: int, threads: int | None) -> Probs:
    from agent import search  # the only users of the look-ahead kernels are levels beyond the net alone

    probs: Probs = search.plies_probs(judge, afterstates, plies, threads=threads or default_threads())
    return probs
