"""All legal plays of many boards at once, as afterstates in CSR form.

Source: RULES.md sections 2 to 5. The work is done in `_movegen_kernels.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from engine import _movegen_kernels as kernels
from engine.board import Boards, as_boards
from engine.dice import as_dice, as_dice_batch
from engine.rules import SLOTS, Rules
from engine.threads import map_slices

Offsets = npt.NDArray[np.int64]
BOARDS_WORTH_A_THREAD = 64
FIRST_GUESS = 24  # afterstates a board; the mean of random play is 16 to 22


def legal_afterstates(
    boards: Any, dice: Any, rules: Rules, *, threads: int | None = None
) -> Boards | tuple[Boards, Offsets]:
    """Every distinct legal afterstate of each board with its roll.

    Args:
        boards: int8 [B, 2, 26], or one board [2, 26]; row 0 the player on roll.
        dice: [B, 2], or one roll of two numbers 1..6 in any order.
        rules: the exact variant.
        threads: most threads to use; None: all cores.
    Returns:
        For a batch: int8 [M, 2, 26] and int64 [B + 1]; rows offsets[i]:offsets[i+1] belong to board i. For one
        board: int8 [M, 2, 26]. Rows are not exchanged and unique within a board. A pass is the board itself; a
        finished board has none.
    Raises:
        PositionError: a board is not well formed.
        DiceError: a die is not 1..6, or boards and dice differ in number.
    """
    checked = as_boards(boards, rules)
    if checked.ndim == 2:
        rolls = np.array([as_dice(dice)], dtype=np.int8)
        return afterstates_of(checked[None], rolls, rules, threads=1)[0]
    return afterstates_of(checked, as_dice_batch(dice, len(checked)), rules, threads=threads)


def afterstates_of(
    boards: Boards, dice: npt.NDArray[np.int8], rules: Rules, *, threads: int | None = None
) -> tuple[Boards, Offsets]:
    """`legal_afterstates` of a batch without the checks, for boards that the engine itself made.

    Args:
        boards: int8 [B, 2, 26], row 0 the player on roll.
        dice: int8 [B, 2].
        rules: the exact variant.
        threads: most CPU threads to use; None: all cores.
    Returns:
        int8 [N, 2, 26], rows not exchanged, and int64 [B + 1] offsets into them.
    """
    parts = map_slices(
        lambda part: _generate(boards[part], dice[part], rules.code),
        len(boards),
        threads=threads,
        smallest=BOARDS_WORTH_A_THREAD,
    )
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0] + [len(after) for after, _ in parts])
    offsets = [part[1][1:] + start for part, start in zip(parts, starts[:-1], strict=True)]
    return np.concatenate([after for after, _ in parts]), np.concatenate([[0], *offsets])


def _generate(boards: Boards, dice: npt.NDArray[np.int8], code: npt.NDArray[np.int64]) -> tuple[Boards, Offsets]:
    count = len(boards)
    offsets = np.zeros(count + 1, dtype=np.int64)
    out = np.empty((FIRST_GUESS * count + kernels.CAPACITY, 2, SLOTS), dtype=np.int8)
    done = 0
    while (done := kernels.generate_batch(boards, dice, code, done, out, offsets)) < count:
        grown = np.empty((2 * len(out), 2, SLOTS), dtype=np.int8)
        grown[: offsets[done]] = out[: offsets[done]]
        out = grown
    return out[: offsets[count]], offsets
