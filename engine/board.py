"""Boards as arrays: layout, checks, the opponent's view, pips and phases.

A board is int8 [..., 2, 26]: row 0 the player on roll, row 1 the opponent, each row indexed from its own player's
side: 0 borne off, 1..24 the points by distance to bearing off, 25 the bar (RULES.md 1.1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import PositionError
from engine.rules import BAR, CHECKERS, HEAD, OFF, SLOTS, Rules

Boards = npt.NDArray[np.int8]

CONTACT, RACE, BEAROFF, FINISHED = range(4)
PHASES = ("contact", "race", "bearoff", "finished")
HOME_HIGH = 6


def opponent_view(boards: Boards) -> Boards:
    """The same boards seen by the other player: the two rows exchanged (a view, not a copy).

    Args:
        boards: int8 [..., 2, 26].
    """
    return boards[..., ::-1, :]


def kernel_boards(array: Any) -> Boards:
    """Boards of any shape, int8, as kernels take them: contiguous and writable, so one compiled form serves all."""
    return np.require(array, dtype=np.int8, requirements=["C", "W"])


def as_boards(boards: Any, rules: Rules) -> Boards:
    """Checked boards as a contiguous int8 array of the shape given.

    Args:
        boards: [2, 26] or [B, 2, 26], any whole numbers.
        rules: what makes a board well formed.
    Raises:
        PositionError: wrong shape, a count outside 0..15, a row that does not sum to 15, a shared point, a checker
            on a bar that the game does not have, or both sides finished.
    """
    try:
        array = np.asarray(boards)
    except (TypeError, ValueError):
        raise PositionError("a board must have shape [2, 26] (or [B, 2, 26]), got rows of unequal length") from None
    if array.ndim not in (2, 3) or array.shape[-2:] != (2, SLOTS):
        raise PositionError(f"a board must have shape [2, 26] (or [B, 2, 26]), got {list(array.shape)}")
    if array.dtype.kind not in "iu":
        raise PositionError(f"a board must hold whole numbers, got {array.dtype}")
    if array.size and (array.min() < 0 or array.max() > CHECKERS):
        raise PositionError(f"a point holds 0 to 15 checkers, got {array.min()} to {array.max()}")
    checked = kernel_boards(array)
    fault = _fault(checked.reshape(-1, 2, SLOTS), rules)
    if fault:
        raise PositionError(fault)
    return checked


def as_board(board: Any, rules: Rules) -> Boards:
    """One checked board as a contiguous int8 array [2, 26]; see `as_boards`.

    Args:
        board: [2, 26], any whole numbers.
        rules: what makes a board well formed.
    Raises:
        PositionError: a batch, or what `as_boards` refuses.
    """
    checked = as_boards(board, rules)
    if checked.ndim != 2:
        raise PositionError(f"one board has shape [2, 26], got {list(checked.shape)}")
    return checked


def _fault(boards: Boards, rules: Rules) -> str:
    sums = boards.sum(axis=2, dtype=np.int64)
    for row, name in enumerate(("the player on roll", "the opponent")):
        bad = np.flatnonzero(sums[:, row] != CHECKERS)
        if bad.size:
            return f"each side has 15 checkers (borne off ones at index 0), {name} has {sums[bad[0], row]}"
    if not rules.can_hit and boards[:, :, BAR].any():
        return f"{rules.preset} has no bar, yet index 25 holds a checker"
    opposite = boards[:, 1, rules.opponent_point]
    shared = (boards[:, 0, 1:BAR] > 0) & (opposite[:, 1:BAR] > 0)
    if shared.any():
        point = int(np.argwhere(shared)[0][1]) + 1
        return f"point {point} (the opponent's {rules.opponent_point[point]}) is held by both sides"
    if rules.last_turn == "none" and ((boards[:, :, OFF] == CHECKERS).all(axis=1)).any():
        return "both sides have borne off all 15 checkers"
    return ""


def pip_count(boards: Boards) -> npt.NDArray[np.int16]:
    """Pips each side still has to travel; a checker on the bar counts 25.

    Args:
        boards: int8 [..., 2, 26].
    Returns:
        int16 [..., 2]: the player on roll, the opponent.
    """
    return np.asarray((boards * np.arange(SLOTS, dtype=np.int16)).sum(axis=-1, dtype=np.int16))


def rearmost(boards: Boards) -> npt.NDArray[np.int64]:
    """Index of each side's checker with the longest way to go, 0 when all are off.

    Args:
        boards: int8 [..., 2, 26].
    Returns:
        int64 [..., 2].
    """
    return np.asarray(((boards > 0) * np.arange(SLOTS)).max(axis=-1))


def phase(boards: Boards, rules: Rules) -> npt.NDArray[np.int8]:
    """Phase of each board: CONTACT, RACE (no point can be contested any more), BEAROFF (and both home), FINISHED.

    Args:
        boards: int8 [..., 2, 26].
    Returns:
        int8 [...], an index into `PHASES`.
    Source:
        Short: the sides have passed each other. Long: both rearmost checkers stand on 12 or lower, since my 12..1
        are the opponent's 24..13.
    """
    rear = rearmost(boards)
    if rules.game.point_shift is None:
        is_race = rear.sum(axis=-1) <= BAR
    else:
        is_race = rear.max(axis=-1) <= HEAD - rules.game.point_shift
    result = np.where(is_race, RACE, CONTACT)
    result = np.where(rear.max(axis=-1) <= HOME_HIGH, BEAROFF, result)
    return np.where(rear.min(axis=-1) == 0, FINISHED, result).astype(np.int8)
