"""Opponents from other packages (extra `peers`): pubeval and GNU Backgammon's nets (gnubg-nn), and bgsage.

They play short nardy under their own backgammon scoring, whatever the match counts. Nothing of theirs is included
here: the packages are imported when such a player is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from typing import Any, ClassVar

import numpy as np

from agent.outside import Answers, Fault, OutsidePlayer, one_line
from agent.players import Dice
from engine.board import Boards
from engine.errors import PlayerError
from engine.rules import BAR, CHECKERS, OFF, SLOTS, Rules

PlayOne = Callable[[Boards, int, int], Boards]


@dataclass(kw_only=True)
class PeerPlayer(OutsidePlayer):
    """An engine of another package, asked one board at a time; its library is not safe to enter twice."""

    is_thread_safe: ClassVar[bool] = False
    play_one: PlayOne

    def ask(self, boards: Boards, dice: Dice, rng: np.random.Generator) -> Answers:
        """The engine's play of each board; `rng` is not used."""
        chosen, faults = boards.copy(), {}
        for row in range(len(boards)):
            try:
                chosen[row] = self.play_one(boards[row], int(dice[row, 0]), int(dice[row, 1]))
            except Exception as error:  # a fault of the package must not stop the tournament
                faults[row] = Fault("crash", one_line(error))
        return chosen, faults


def peer_player(kind: str, rules: Rules) -> PeerPlayer:
    """One of `pubeval`, `gnubg0`, `gnubg1`, `gnubg2` (plies) and `bgsage1`, `bgsage2` (its plies count the play).

    Raises:
        PlayerError: the game is not short nardy, or the package is not installed.
    """
    if not rules.can_hit:
        raise PlayerError(f"player {kind} knows short nardy only, not {rules}")
    package = "bgsage" if kind.startswith("bgsage") else "gnubg-nn"
    try:
        play_one = _MAKERS[kind.rstrip("012")](kind)
        version = metadata.version(package)
    except ImportError as error:
        raise PlayerError(
            f"player {kind} needs the package {package}: pip install 'nardy[peers]' ({one_line(error)})"
        ) from error
    return PeerPlayer(name=kind, rules=rules, info={"package": package, "version": version}, play_one=play_one)


def _pubeval(kind: str) -> PlayOne:
    """Tesauro's public evaluation function (1993), as shipped in gnubg-nn."""
    import gnubg_nn

    def play(board: Boards, first: int, second: int) -> Boards:
        flat = gnubg_nn.pub_best_move(_gnubg_board(board), first, second)  # from, to, from, to ..., counted from 0
        return _after_steps(board, [(a + 1, b + 1) for a, b in zip(flat[::2], flat[1::2], strict=True)])

    return play


def _gnubg(kind: str) -> PlayOne:
    import gnubg_nn

    plies = int(kind[-1])

    def play(board: Boards, first: int, second: int) -> Boards:
        _, key = gnubg_nn.best_move(_gnubg_board(board), first, second, n=plies, b=1)
        return _from_gnubg_rows(gnubg_nn.board_from_position_key(key))

    return play


def _gnubg_board(board: Boards) -> list[list[int]]:
    """Two rows of 25 counts, points 1..24 then the bar: the opponent first, then the player on roll."""
    return [board[1, 1:].tolist(), board[0, 1:].tolist()]


def _from_gnubg_rows(rows: tuple[tuple[int, ...], tuple[int, ...]]) -> Boards:
    """An afterstate from the two rows that a key holds: the player who moved first."""
    board = np.zeros((2, SLOTS), dtype=np.int8)
    board[:, 1:] = rows
    board[:, OFF] = CHECKERS - board[:, 1:].sum(axis=1)
    return board


def _after_steps(board: Boards, steps: list[tuple[int, int]]) -> Boards:
    """The board after steps given as (from, to) with 25 the bar and 0 or less off; a checker met alone is hit."""
    after = board.copy()
    for start, end in steps:
        end = max(end, OFF)
        after[0, start] -= 1
        after[0, end] += 1
        if end != OFF and after[1, BAR - end] == 1:
            after[1, BAR - end] = 0
            after[1, BAR] += 1
    return after


def _bgsage(kind: str) -> PlayOne:
    import bgsage

    analyzer = bgsage.BgBotAnalyzer(eval_level=f"{kind[-1]}ply", cubeful=False, parallel_threads=1)

    def play(board: Boards, first: int, second: int) -> Boards:
        moves = analyzer.checker_play(_signed(board), first, second, jacoby=False, beaver=False).moves
        return _unsigned(moves[0].board)

    return play


def _signed(board: Boards) -> list[int]:
    """26 numbers: own checkers positive by own point, the opponent's negative, index 25 own bar, index 0 his."""
    row = board[0].astype(int)
    row[OFF] = 0
    row[1:BAR] -= board[1, BAR - 1 : OFF : -1]
    row[OFF] = board[1, BAR]
    return [int(x) for x in row]


def _unsigned(numbers: Any) -> Boards:
    board = np.zeros((2, SLOTS), dtype=np.int8)
    row = np.asarray(numbers)
    board[0, 1:BAR] = np.maximum(row[1:BAR], 0)
    board[1, 1:BAR] = np.maximum(-row[BAR - 1 : OFF : -1], 0)
    board[0, BAR], board[1, BAR] = row[BAR], abs(row[OFF])
    board[:, OFF] = CHECKERS - board[:, 1:].sum(axis=1)
    return board


_MAKERS: dict[str, Callable[[str], PlayOne]] = {"pubeval": _pubeval, "gnubg": _gnubg, "bgsage": _bgsage}
