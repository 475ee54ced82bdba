"""The generator against the slow twin, and against gnubg-nn: differences, and the smallest position that shows one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from engine import Rules, legal_afterstates
from examples import board_text
from reference_rules import legal_rows

Int8 = npt.NDArray[np.int8]
TurnSet = set[bytes]  # 26 bytes an afterstate: two counts a byte, the lower index in the lower half
BatchGenerator = Callable[[Any, Any, Rules], Any]

ROW_BYTES = 13


def kernel_sets(boards: Int8, dice: Int8, rules: Rules, generate: BatchGenerator = legal_afterstates) -> list[TurnSet]:
    """The generator's legal turn sets.

    Raises:
        AssertionError: an afterstate occurs twice for one board.
    """
    afterstates, offsets = generate(boards, dice, rules)
    packed = (afterstates[:, :, ::2] | afterstates[:, :, 1::2] << 4).astype(np.uint8)
    keys = np.ascontiguousarray(packed.reshape(len(packed), 2 * ROW_BYTES)).view(f"V{2 * ROW_BYTES}")[:, 0].tolist()
    sets = [set(keys[start:end]) for start, end in pairwise(offsets)]
    assert sum(map(len, sets)) == len(keys), f"an afterstate occurs twice under {rules}"
    return sets


def twin_sets(boards: Int8, dice: Int8, rules: Rules) -> list[TurnSet]:
    """The slow twin's legal turn sets."""
    return [
        {mine.to_bytes(ROW_BYTES, "little") + theirs.to_bytes(ROW_BYTES, "little") for mine, theirs in rows}
        for rows in (
            legal_rows(board, (roll[0], roll[1]), rules)
            for board, roll in zip(boards.tolist(), dice.tolist(), strict=True)
        )
    ]


def gnubg_sets(boards: Int8, dice: Int8) -> list[set[str]]:
    """gnubg-nn's legal turn sets, as its position keys; a pass is an empty set."""
    import gnubg_nn

    theirs_first = gnubg_order(boards).tolist()
    return [set(gnubg_nn.moves(board, *roll)) for board, roll in zip(theirs_first, dice.tolist(), strict=True)]


def gnubg_order(boards: Int8) -> Int8:
    """[..., 2, 25] in gnubg's order: the opponent's row first, points 1..24 and the bar."""
    return boards[..., ::-1, 1:]


def kernel_gnubg_sets(boards: Int8, dice: Int8, rules: Rules) -> list[set[str]]:
    """The generator's legal turn sets as gnubg's position keys; a pass is an empty set."""
    import gnubg_nn

    afterstates, offsets = legal_afterstates(boards, dice, rules)
    keys = [gnubg_nn.key_of_board(board) for board in gnubg_order(afterstates).tolist()]
    sets = []
    for board, (start, end) in zip(boards, pairwise(offsets), strict=True):
        is_pass = end - start == 1 and np.array_equal(afterstates[start], board)
        sets.append(set() if is_pass else set(keys[start:end]))
    return sets


def different(
    boards: Int8, dice: Int8, rules: Rules, *, generate: BatchGenerator = legal_afterstates, peers: bool = False
) -> list[int]:
    """Indices of the boards on which the generator and the twin (or, with `peers`, gnubg-nn) disagree."""
    pairs = zip(kernel_sets(boards, dice, rules, generate), twin_sets(boards, dice, rules), strict=True)
    wrong = {i for i, (ours, theirs) in enumerate(pairs) if ours != theirs}
    if peers:
        keys = zip(kernel_gnubg_sets(boards, dice, rules), gnubg_sets(boards, dice), strict=True)
        wrong |= {i for i, (ours, theirs) in enumerate(keys) if ours != theirs}
    return sorted(wrong)


def smallest(board: Int8, roll: Int8, is_wrong: Callable[[Int8, Int8], bool]) -> Int8:
    """Bear checkers off while the position stays wrong, so that what is left is what matters.

    Args:
        board: int8 [2, 26], wrong.
        roll: int8 [2].
        is_wrong: whether a board and roll show the fault.
    """
    while True:
        for simpler in _with_one_more_off(board):
            if is_wrong(simpler, roll):
                board = simpler
                break
        else:
            return board


def _with_one_more_off(board: Int8) -> Iterator[Int8]:
    for side, index in np.argwhere(board > 0):
        if index > 0 and board[side, 0] < 14:
            simpler = board.copy()
            simpler[side, index] -= 1
            simpler[side, 0] += 1
            yield simpler


def difference_text(board: Int8, roll: Int8, rules: Rules, generate: BatchGenerator = legal_afterstates) -> str:
    """One line in the notation of RULES.md 1.2: the position and what each side answers."""
    ours = kernel_sets(board[None], roll[None], rules, generate)[0]
    twin = twin_sets(board[None], roll[None], rules)[0]
    position = f"{rules}  {board_text(board.tolist())}  {roll[0]}:{roll[1]}"
    alone = f"only engine {len(ours - twin)}, only twin {len(twin - ours)}"
    return f"{position}  => engine {len(ours)}, twin {len(twin)}, {alone}"
