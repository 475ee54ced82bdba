"""The extra turn of `last_turn=second_player`: no player judges it, for its opponent has finished."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from engine.board import Boards
from engine.movegen import afterstates_of
from engine.outcome import UNFINISHED, outcome_class
from engine.rules import BAR, CHECKERS, OFF, Rules


def extra_turn(boards: Boards, rolls: npt.NDArray[np.int8], rules: Rules) -> Boards:
    """The second player's last turn (RULES.md section 7), played for the fewest points lost: a draw if he can.

    Args:
        boards: int8 [n, 2, 26], row 0 the player to move, row 1 the one who has finished.
        rolls: int8 [n, 2].
        rules: the exact variant.
    Returns:
        Afterstates int8 [n, 2, 26], row 0 the same player.
    """
    ghosts = boards.copy()  # a finished opponent stands nowhere; one checker on his bar keeps the board unfinished
    ghosts[:, 1] = 0
    ghosts[:, 1, OFF], ghosts[:, 1, BAR] = CHECKERS - 1, 1
    plays, offsets = afterstates_of(ghosts, rolls, rules, threads=1)
    plays[:, 1] = np.repeat(boards[:, 1], np.diff(offsets), axis=0)
    outcome = outcome_class(plays, rules)
    points = np.where(outcome == UNFINISHED, 0.0, rules.points[outcome])
    owner = np.repeat(np.arange(len(boards)), np.diff(offsets))
    return plays[np.lexsort((-points, owner))[offsets[:-1]]]
