"""Bear-off tables: built on first need, cached on disk, and turned into outcome probabilities.

One table for both games, since neither side can be in the other's way once both are home (RULES.md 3 and 5.1: in long
nardy my 1..6 are the opponent's 13..18).

- One-sided: for each way to have up to 15 checkers on 6 points, the chances to need exactly t rolls to bear them all
  off, and (with all 15 left) to bear the first one off, each under the policy that makes its expected number least.
- Two-sided, for at most 6 checkers a side: the win chance under best play for the win. It is exact equity, because
  both sides have borne checkers off and no gammon is left.

Boards outside the second table are answered by convolution of the first, which is an approximation: neither side
adapts its play to the other's. `scripts/bench_bearoff.py` measures it. Against the two-sided table the win chance errs
by 0.0009 in the mean and 0.014 at most, and choosing plays by it loses 0.01 millipoints a roll, 18 at most. The gammon
chance of a side with all 15 left against 1 to 4 checkers errs by 0.00001 in the mean and 0.003 at most; under the
policy that clears the board fastest, which does not hurry to save the gammon, it would be 0.002 and 0.17 too high.
"""

from __future__ import annotations

import hashlib
import logging
import math
import os
import stat
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load as parse_safetensors
from safetensors.numpy import save as format_safetensors
from tqdm import tqdm

from agent._bearoff_kernels import (
    FEW_ROWS,
    NONE_OFF_ROW,
    POINTS,
    ROLLS,
    ROWS,
    BearoffArrays,
    bearoff_probs_batch,
    first_not_home,
    least_rolls,
    list_plays,
    roll_distributions,
    two_sided_shells,
)
from engine.board import Boards
from engine.errors import ConfigError, PositionError, RulesError
from engine.rules import CHECKERS, SLOTS, Rules
from engine.whole_file import write_whole

__all__ = ["BearoffArrays", "BearoffTables", "build_tables", "cache_path", "empty_arrays", "load_tables"]

VERSION = 1  # of the file; raise it with any change of the tables or their layout
FILE_NAME = "bearoff.safetensors"
FINISH_ROLLS = 24  # columns; the chance to need more is below 1e-14 for every row and stays in the last column
FIRST_OFF_ROLLS = 12  # no row can need more than 10
MAX_HEADER = 4096  # bytes of a file beyond its arrays
PLAYS_ROOM = 80_000  # 69,022 plays of rows with at most 6 checkers

_SHAPES = {
    "one_sided": (ROWS, FINISH_ROLLS),
    "first_off": (ROWS - NONE_OFF_ROW, FIRST_OFF_ROLLS),
    "two_sided": (FEW_ROWS, FEW_ROWS),
}

_log = logging.getLogger(__name__)
_lock = threading.Lock()
_loaded: BearoffTables | None = None


@dataclass(frozen=True)
class BearoffTables:
    """The tables of one process, for boards with both sides home.

    Attributes:
        arrays: what kernels take; `agent._bearoff_kernels.bearoff_probs(board, arrays, levels, out)` answers one board.
    """

    arrays: BearoffArrays

    @property
    def is_empty(self) -> bool:
        """Whether there are no tables (`load_tables(build=False)` found none)."""
        return len(self.arrays.one_sided) == 0

    def outcome_probs(self, afterstates: Boards, rules: Rules) -> npt.NDArray[np.float32]:
        """Outcome probabilities of boards with both sides home, finished ones included.

        Args:
            afterstates: int8 [N, 2, 26], row 0 the player who just moved.
        Returns:
            float32 [N, K] in the order of `rules.outcomes`, seen by row 0: exact where both sides have at most 6
            checkers left, else a convolution. Of the classes only single and gammon can occur.
        Raises:
            PositionError: wrong shape or dtype, or a side is not all home.
            RulesError: the rules give the other side a last turn.
            ConfigError: the tables are empty.
        """
        if self.is_empty:
            raise ConfigError("the bear-off tables are empty; call load_tables() to build them")
        if rules.last_turn != "none":
            raise RulesError(f"bear-off tables answer last_turn=none only, got {rules}")
        _check_home(afterstates)
        probs = np.empty((len(afterstates), len(rules.outcomes)), dtype=np.float32)
        bearoff_probs_batch(np.ascontiguousarray(afterstates), self.arrays, rules.game.levels, probs)
        return probs


def _check_home(boards: Boards) -> None:
    if boards.dtype != np.int8 or boards.ndim != 3 or boards.shape[1:] != (2, SLOTS):
        raise PositionError(f"afterstates must be int8 [N, 2, 26], got {boards.dtype} {list(boards.shape)}")
    bad = first_not_home(np.ascontiguousarray(boards))
    if bad >= 0:
        home = " and ".join(str(count) for count in boards[bad, :, : POINTS + 1].sum(axis=1))
        raise PositionError(f"bear-off tables need all 15 checkers of both sides on 0..6, board {bad} has {home}")


def load_tables(*, build: bool = True) -> BearoffTables:
    """The bear-off tables of this process: from memory, else from the cache file, else built and stored there.

    Safe to call from several threads and processes. A file that is damaged or of another version is replaced, one that
    cannot be stored is done without; each is said in one line by the logger of this module.

    Args:
        build: False returns empty tables rather than building any.
    """
    global _loaded
    with _lock:
        if _loaded is not None:
            return _loaded
        path = cache_path()
        arrays = _read_or_none(path) if path else None
        if arrays is None:
            if not build:
                return BearoffTables(empty_arrays())
            arrays = build_tables().arrays
            if path:
                _store(path, arrays)
        _loaded = BearoffTables(arrays)
        return _loaded


def cache_path() -> Path | None:
    """Where the tables are cached: `nardy/` in the user's cache folder; None where the environment names no folder.

    Source:
        XDG base directory specification (a relative XDG_CACHE_HOME is ignored); Library/Caches on macOS, LOCALAPPDATA
        on Windows.
    """
    folder = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(folder):
        if sys.platform == "win32":
            folder = os.environ.get("LOCALAPPDATA", "")
        else:
            home = os.environ.get("HOME", "")
            folder = os.path.join(home, "Library/Caches" if sys.platform == "darwin" else ".cache") if home else ""
    return Path(folder, "nardy", FILE_NAME) if os.path.isabs(folder) else None


def empty_arrays() -> BearoffArrays:
    """Arrays without tables, of the same types, for kernels that take `BearoffArrays` whether or not there are any."""
    return _frozen_arrays({"one_sided": _zeros(0, 0), "first_off": _zeros(0, 0), "two_sided": _zeros(0, 0)})


def build_tables(*, progress: bool = True) -> BearoffTables:
    """The tables computed anew, without the cache.

    Args:
        progress: whether to draw a progress bar on stderr.
    """
    rows = (ROWS - 1) + (ROWS - NONE_OFF_ROW) + (FEW_ROWS - 1)
    with tqdm(total=rows, desc="bear-off tables", unit="row", leave=False, disable=not progress) as bar:
        one_sided, first_off = _build_one_sided(bar)
        two_sided = _build_two_sided(bar)
    return BearoffTables(_frozen_arrays({"one_sided": one_sided, "first_off": first_off, "two_sided": two_sided}))


def _build_one_sided(bar: tqdm[None]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    finish = np.zeros((ROWS, FINISH_ROLLS))
    finish[0, 0] = 1.0
    roll_distributions(1, ROWS, 0, least_rolls_policy(1, bar), finish)
    first_off = np.zeros((ROWS - NONE_OFF_ROW, FIRST_OFF_ROLLS))
    # A side that may be gammoned hurries to its first checker off, which is not the way that clears the board fastest.
    roll_distributions(NONE_OFF_ROW, ROWS, NONE_OFF_ROW, least_rolls_policy(NONE_OFF_ROW, bar), first_off)
    return finish, first_off


def least_rolls_policy(first: int, bar: tqdm[None] | None = None) -> npt.NDArray[np.int32]:
    """The row that each row and roll is played to when the expected rolls to get below row `first` are made least.

    Returns:
        int32 [54264, 21], the rolls in the order 1:1 2:1 2:2 3:1 ... 6:6; ties go to the lower row. Rows below
        `first` are left at 0.
    """
    ranks = _rank_table()
    mean = np.zeros(ROWS)
    policy = np.zeros((ROWS, ROLLS), dtype=np.int32)
    step = 4096
    for start in range(first, ROWS, step):
        stop = min(start + step, ROWS)
        least_rolls(start, stop, ranks, mean, policy)
        if bar is not None:
            bar.update(stop - start)
    return policy


def _build_two_sided(bar: tqdm[None]) -> npt.NDArray[np.float64]:
    offsets = np.zeros((FEW_ROWS, ROLLS + 1), dtype=np.int64)
    rows = np.zeros(PLAYS_ROOM, dtype=np.int32)
    list_plays(_rank_table(), offsets, rows)
    won = np.zeros((FEW_ROWS, FEW_ROWS))
    won[0] = 1.0  # the side on roll has finished already
    won[:, 0] = 0.0
    step = 77
    for start in range(1, FEW_ROWS, step):
        stop = min(start + step, FEW_ROWS)
        two_sided_shells(start, stop, offsets, rows, won)
        bar.update(stop - start)
    return won


def _rank_table() -> npt.NDArray[np.int32]:
    """int32 [7, 16]: C(h + 6 - p, 7 - p), the share of point p in a row number when h checkers stand on p or higher.

    Source:
        Combinatorial number system: multisets of at most 15 checkers on 6 points, ordered by size first.
    """
    ranks = np.zeros((POINTS + 1, CHECKERS + 1), dtype=np.int32)
    for point in range(1, POINTS + 1):
        ranks[point] = [math.comb(higher + POINTS - point, POINTS + 1 - point) for higher in range(CHECKERS + 1)]
    return ranks


def _zeros(*shape: int) -> npt.NDArray[np.float32]:
    return np.zeros(shape, dtype=np.float32)


def _frozen_arrays(tables: dict[str, npt.NDArray[Any]]) -> BearoffArrays:
    # Every BearoffArrays is made here: numba compiles anew for an array that is writable, or not aligned.
    copies: dict[str, Any] = {name: np.array(tables[name], dtype=np.float32, order="C") for name in _SHAPES}
    arrays = BearoffArrays(**copies, ranks=_rank_table())
    for array in arrays:
        array.setflags(write=False)
    return arrays


def _digest(tables: dict[str, npt.NDArray[Any]]) -> npt.NDArray[np.uint8]:
    digest = hashlib.sha256(f"bearoff {VERSION}".encode())
    for name in _SHAPES:
        digest.update(f"{name} {tables[name].shape}".encode())
        digest.update(tables[name].tobytes())
    return np.frombuffer(digest.digest(), dtype=np.uint8)


def _read_or_none(path: Path) -> BearoffArrays | None:
    """The cached arrays; None, with a line in the log unless there is no file, where they cannot be used."""
    try:
        fault = _size_fault(path)
        if not fault:
            tables = parse_safetensors(path.read_bytes())
            fault = _content_fault(tables)
            if not fault:
                return _frozen_arrays(tables)
    except FileNotFoundError:
        return None
    except OSError as error:
        fault = f"cannot be read ({error.strerror})"
    except (SafetensorError, KeyError, TypeError, ValueError):
        fault = "is damaged (no safetensors file)"
    _log.warning("bear-off tables: %s %s; they are built again", path, fault)
    return None


def _size_fault(path: Path) -> str:
    info = path.stat()
    if not stat.S_ISREG(info.st_mode):
        return "is no ordinary file"
    least = sum(4 * math.prod(shape) for shape in _SHAPES.values())
    if not least < info.st_size <= least + MAX_HEADER:
        return f"is damaged (has {info.st_size} bytes, should have about {least})"
    return ""


def _content_fault(tables: dict[str, npt.NDArray[Any]]) -> str:
    version = tables.get("version")
    if version is None or version.shape != (1,) or version[0] != VERSION:
        return f"is of another version (this is version {VERSION})"
    for name, shape in _SHAPES.items():
        if name not in tables or tables[name].shape != shape or tables[name].dtype != np.float32:
            return f"is damaged (no {name} of float32 {list(shape)})"
    if not np.array_equal(tables.get("sha256", ()), _digest(tables)):
        return "is damaged (checksum)"
    return ""


def _store(path: Path, arrays: BearoffArrays) -> None:
    """Write the cache file whole or not at all; a fault leaves the old file and a line in the log."""
    tables: dict[str, npt.NDArray[Any]] = {name: getattr(arrays, name) for name in _SHAPES}
    extra: dict[str, npt.NDArray[Any]] = {"version": np.array([VERSION], dtype=np.int32), "sha256": _digest(tables)}
    content = format_safetensors({**tables, **extra})
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        _log.warning("bear-off tables: cannot be stored in %s (%s); kept in memory", path.parent, error.strerror)
