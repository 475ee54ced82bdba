"""Players that are not ours: how their answers are checked, what a failure costs, and a callable of one's own."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from agent.players import BasePlayer, Dice, Player
from engine.board import Boards
from engine.errors import PlayerError
from engine.movegen import Offsets, afterstates_of
from engine.rules import SLOTS, Rules

FORFEIT_RULE = (
    "A player that crashes, exceeds its time or answers illegally forfeits that game, which counts as lost by a gammon "
    "(mars). It is asked again in its other games; a program that fails three times in a row is given up and forfeits "
    "what is left of the match."
)


class Fault(NamedTuple):
    """Why a game was forfeited (`FORFEIT_RULE`): `crash`, `timeout` or `illegal`, and one line of detail."""

    kind: str
    detail: str


Answers = tuple[Boards, dict[int, Fault]]  # the afterstates, and the rows that failed


@dataclass(kw_only=True)
class OutsidePlayer(BasePlayer):
    """A player whose answers are checked. Subclasses give `ask`; boards without a choice are never asked."""

    is_trusted: ClassVar[bool] = False
    pairs_per_chunk: int = 16
    cost: float = 50.0
    fingerprint: str = ""  # of its own code, where that is a file: stored results of other code are not its own

    def ask(self, boards: Boards, dice: Dice, rng: np.random.Generator) -> Answers:
        """Answers for boards that each have a choice: int8 [N, 2, 26] and the faults by row."""
        raise NotImplementedError

    def answers(self, boards: Boards, dice: Dice, rng: np.random.Generator) -> Answers:
        """Legal afterstates, and a `Fault` for each row that has none.

        Args:
            boards: int8 [N, 2, 26], none finished, row 0 the player on roll.
            dice: int8 [N, 2].
            rng: for players that choose at random.
        Returns:
            int8 [N, 2, 26] (a failed row repeats its board) and a dict from row to `Fault`.
        """
        afterstates, offsets = afterstates_of(boards, dice, self.rules, threads=1)
        chosen = np.ascontiguousarray(afterstates[offsets[:-1]])
        open_rows = np.flatnonzero(np.diff(offsets) > 1)
        if not open_rows.size:
            return chosen, {}
        asked, faults = self.ask(boards[open_rows], dice[open_rows], rng)
        chosen[open_rows] = asked
        is_legal = are_legal(chosen, afterstates, offsets)
        found = {int(open_rows[row]): fault for row, fault in faults.items()}
        for row in np.flatnonzero(~is_legal).tolist():
            found.setdefault(row, Fault("illegal", _illegal_text(boards[row], dice[row], chosen[row])))
        for row in found:
            chosen[row] = boards[row]
        return chosen, found

    def choose(self, boards: Boards, dice: Dice, rng: np.random.Generator) -> Boards:
        """The chosen afterstates, int8 [N, 2, 26]; arguments as for `answers`.

        Raises:
            PlayerError: the player crashed, hung or answered illegally.
        """
        chosen, faults = self.answers(boards, dice, rng)
        for fault in faults.values():
            raise PlayerError(f"player {self.name}: {fault.kind}: {fault.detail}")
        return chosen


def answers_of(player: Player, boards: Boards, dice: Dice, rng: np.random.Generator) -> Answers:
    """`OutsidePlayer.answers` of any player; one that is trusted has no faults."""
    if isinstance(player, OutsidePlayer):
        return player.answers(boards, dice, rng)
    if getattr(player, "is_trusted", False):
        return player.choose(boards, dice, rng), {}
    wrapped = CallablePlayer(
        name=player.name, rules=player.rules, function=lambda b, d, rules, rng: player.choose(b, d, rng)
    )
    return wrapped.answers(boards, dice, rng)


def are_legal(chosen: Boards, afterstates: Boards, offsets: Offsets) -> npt.NDArray[np.bool_]:
    """Whether each chosen afterstate is among the legal ones of its board.

    Args:
        chosen: int8 [B, 2, 26].
        afterstates: int8 [M, 2, 26] with offsets int64 [B + 1], every board having at least one row.
    Returns:
        bool [B].
    """
    owner = np.repeat(np.arange(len(chosen)), np.diff(offsets))
    is_same = (afterstates == chosen[owner]).all(axis=(1, 2))
    return np.asarray(np.logical_or.reduceat(is_same, offsets[:-1]))


def _illegal_text(board: Boards, dice: Dice, chosen: Boards) -> str:
    if (chosen == board).all():
        return f"with {dice[0]}:{dice[1]} it answered a pass, but the roll can be played"
    return f"with {dice[0]}:{dice[1]} its afterstate {chosen.tolist()} is no legal play of {board.tolist()}"


PlayFunction = Callable[[Boards, Dice, Rules, np.random.Generator], Any]


@dataclass(kw_only=True)
class CallablePlayer(OutsidePlayer):
    """Your own `choose(boards, dice, rules, rng) -> afterstates`. It runs inside: a hang cannot be stopped."""

    is_thread_safe: ClassVar[bool] = False
    function: PlayFunction
    pairs_per_chunk: int = 64

    def ask(self, boards: Boards, dice: Dice, rng: np.random.Generator) -> Answers:
        """One call for the whole batch; if it fails, one call a board, so that only failing games are forfeited."""
        try:
            return self._call(boards, dice, rng), {}
        except (Exception, SystemExit) as error:  # whatever a stranger's code raises must not stop the tournament
            if len(boards) == 1:
                return boards.copy(), {0: Fault("crash", one_line(error))}
        chosen, faults = boards.copy(), {}
        for row in range(len(boards)):
            one = slice(row, row + 1)
            try:
                chosen[one] = self._call(boards[one], dice[one], rng)
            except (Exception, SystemExit) as error:
                faults[row] = Fault("crash", one_line(error))
        return chosen, faults

    def _call(self, boards: Boards, dice: Dice, rng: np.random.Generator) -> Boards:
        with _stdout_kept():
            answer = np.asarray(self.function(boards.copy(), dice.copy(), self.rules, rng))
        if answer.shape != (len(boards), 2, SLOTS) or answer.dtype.kind not in "iu":
            raise PlayerError(
                f"choose must return whole numbers of shape [{len(boards)}, 2, {SLOTS}], "
                f"got {answer.dtype} {list(answer.shape)}"
            )
        if answer.size and not -128 <= answer.min() <= answer.max() <= 127:
            raise PlayerError(f"choose must return counts of checkers, got {answer.min()} to {answer.max()}")
        return answer.astype(np.int8)


def _stdout_kept() -> contextlib.AbstractContextManager[object]:
    """Sends to stderr what a stranger's code prints: stdout is the answer of the command, JSON perhaps."""
    return contextlib.redirect_stdout(sys.stderr)


def one_line(error: BaseException) -> str:
    """An exception as one short line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:200]


def callable_player(argument: str, rules: Rules) -> CallablePlayer:
    """A player from `MODULE:NAME` or `FILE.py:NAME`; modules are also looked for in the current folder.

    Raises:
        PlayerError: the module or the name is not there, or is not callable.
    """
    module_name, colon, name = argument.rpartition(":")
    if not colon or not module_name or not name:
        raise PlayerError(f"write py:MODULE:NAME or py:FILE.py:NAME, got py:{argument}")
    try:
        with _stdout_kept():
            module = _load_module(module_name)
    except (Exception, SystemExit) as error:
        raise PlayerError(f"cannot import {module_name!r} for py:{argument}: {one_line(error)}") from error
    function = getattr(module, name, None)
    if not callable(function):
        raise PlayerError(f"{module_name} has no callable {name!r}; it needs choose(boards, dice, rules, rng)")
    code = fingerprint_of(getattr(module, "__file__", None) or "")
    return CallablePlayer(name=f"py:{argument}", rules=rules, function=function, fingerprint=code)


def fingerprint_of(*paths: str) -> str:
    """SHA-256 over those of the paths that are files, or nothing when none is."""
    digest, is_any = hashlib.sha256(), False
    for path in paths:
        with contextlib.suppress(OSError, ValueError):
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
                is_any = True
    return digest.hexdigest() if is_any else ""


def _load_module(module_name: str) -> Any:
    if module_name.endswith(".py"):
        path = Path(module_name)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None or not path.is_file():
            raise FileNotFoundError(f"no file {module_name}")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    return importlib.import_module(module_name)
