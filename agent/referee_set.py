"""Files of decisions with reference equities, checked field by field before anything is computed from them."""

from __future__ import annotations

import io
import math
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.board import Boards, as_boards, opponent_view
from engine.errors import NardyError, RecordError
from engine.rules import RULES, SLOTS

CLASSES = ("contact", "crashed", "race", "bearoff")
RULES_OF_REFERENCE = "short_backgammon"
MAX_BYTES = 1 << 29
MAX_EQUITY = 3.001

Floats = npt.NDArray[np.float64]

# Arrays that a referee file must hold, with dtype and shape; N decisions, M afterstates.
_DECISION_ARRAYS: dict[str, tuple[str, tuple[int | str, ...]]] = {
    "boards": ("int8", ("N", 2, SLOTS)),
    "dice": ("uint8", ("N", 2)),
    "phase": ("int8", ("N",)),
    "offsets": ("int32", ("N+1",)),
    "afters": ("int8", ("M", 2, SLOTS)),
    "eq": ("float32", ("M",)),
}
CALIBRATION_ARRAYS: dict[str, tuple[str, tuple[int | str, ...]]] = {
    "cal_boards": ("int8", ("K", 2, SLOTS)),
    "cal_probs": ("float32", ("K", 5)),
    "cal_phase": ("int8", ("K",)),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class RefereeSet:
    """Decisions with reference equities, and calibration positions where the file has them.

    Attributes:
        boards: int8 [N, 2, 26], row 0 on roll; dice: int8 [N, 2]; phase: int8 [N], an index into `CLASSES`.
        afterstates: int8 [M, 2, 26], row 0 the player who moved; decision i owns rows offsets[i]:offsets[i+1].
        equity: float64 [M], reference points for the player who moved.
        cal_boards: int8 [K, 2, 26], row 0 on roll; cal_probs: float64 [K, 5], cumulative (`CUMULATIVE`); cal_phase.
    """

    name: str
    boards: Boards
    dice: npt.NDArray[np.int8]
    phase: npt.NDArray[np.int8]
    offsets: npt.NDArray[np.int64]
    afterstates: Boards
    equity: Floats
    cal_boards: Boards | None = None
    cal_probs: Floats | None = None
    cal_phase: npt.NDArray[np.int8] | None = None


def load_referee(path: str | Path) -> RefereeSet:
    """The decisions of a referee file, checked.

    Raises:
        RecordError: the file is missing, is no `.npz`, holds Python objects, or an array has the wrong type, size or
            content.
    """
    arrays = _read_npz(Path(path))
    sizes: dict[str, int] = {}
    for name, (dtype, shape) in _DECISION_ARRAYS.items():
        _check_array(path, arrays, name, dtype, shape, sizes)
    has_calibration = all(name in arrays for name in CALIBRATION_ARRAYS)
    if has_calibration:
        for name, (dtype, shape) in CALIBRATION_ARRAYS.items():
            _check_array(path, arrays, name, dtype, shape, sizes)
    _check_content(path, arrays, sizes["N"], sizes["M"], has_calibration)
    rest: dict[str, Any] = {}
    if has_calibration:
        rest = {"cal_boards": arrays["cal_boards"], "cal_phase": arrays["cal_phase"]}
        rest["cal_probs"] = arrays["cal_probs"].astype(np.float64)
    return RefereeSet(
        name=Path(path).name,
        boards=arrays["boards"],
        dice=arrays["dice"].astype(np.int8),
        phase=arrays["phase"],
        offsets=arrays["offsets"].astype(np.int64),
        afterstates=np.ascontiguousarray(opponent_view(arrays["afters"])),
        equity=arrays["eq"].astype(np.float64),
        **rest,
    )


def _read_npz(path: Path) -> dict[str, npt.NDArray[Any]]:
    """The wanted arrays of an `.npz`; what it states of their sizes is checked before anything is allocated."""
    wanted = {f"{name}.npy": name for name in (*_DECISION_ARRAYS, *CALIBRATION_ARRAYS)}
    try:
        with zipfile.ZipFile(path) as archive:
            members = [item for item in archive.infolist() if item.filename in wanted]
            size = sum(item.file_size for item in members)
            if size > MAX_BYTES:
                raise RecordError(f"{path} unpacks to {size} bytes; a referee file may have {MAX_BYTES}")
            return {wanted[item.filename]: _read_npy(archive.read(item), item.filename) for item in members}
    except NardyError:
        raise
    except Exception as error:  # of zipfile, zlib and numpy, which know a dozen kinds
        reason = " ".join(str(error).split())[:160] or type(error).__name__
        raise RecordError(f"{path} is no referee file (.npz of plain arrays): {reason}") from error


def _read_npy(data: bytes, name: str) -> npt.NDArray[Any]:
    """One array. Raises ValueError where it holds objects, or more or less than its header states."""
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    if version != (1, 0):
        raise ValueError(f"{name} has format version {version}, plain arrays have (1, 0)")
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(file)
    body = data[file.tell() :]
    if dtype.hasobject or dtype.itemsize == 0 or math.prod(shape) * dtype.itemsize != len(body):
        raise ValueError(f"{name} holds objects, or not as much as it states")
    return np.frombuffer(body, dtype=dtype).reshape(shape, order="F" if is_fortran else "C").copy()


def _check_array(
    path: str | Path,
    arrays: dict[str, npt.NDArray[Any]],
    name: str,
    dtype: str,
    shape: tuple[int | str, ...],
    sizes: dict[str, int],
) -> None:
    if name not in arrays:
        raise RecordError(f"{path} has no array {name!r}; it needs {', '.join(_DECISION_ARRAYS)}")
    array = arrays[name]
    wanted = []
    for i, length in enumerate(shape):
        if isinstance(length, str) and length != "N+1" and i < array.ndim:
            sizes.setdefault(length, array.shape[i])
        wanted.append(
            sizes.get("N", 0) + 1 if length == "N+1" else sizes.get(length, -1) if isinstance(length, str) else length
        )
    if array.dtype != np.dtype(dtype) or list(array.shape) != wanted:
        raise RecordError(f"{name!r} in {path} must be {dtype} {wanted}, got {array.dtype} {list(array.shape)}")


def _check_content(
    path: str | Path, arrays: dict[str, npt.NDArray[Any]], decisions: int, rows: int, has_calibration: bool
) -> None:
    offsets = arrays["offsets"].astype(np.int64)
    if decisions == 0 or offsets[0] != 0 or offsets[-1] != rows or (np.diff(offsets) < 1).any():
        raise RecordError(
            f"'offsets' in {path} must rise from 0 to {rows}, with a row for each of {decisions} decisions"
        )
    if arrays["dice"].min() < 1 or arrays["dice"].max() > 6:
        raise RecordError(f"'dice' in {path} must be numbers from 1 to 6")
    if not (np.abs(arrays["eq"]) <= MAX_EQUITY).all():
        raise RecordError(f"'eq' in {path} must be finite equities within 3 points")
    phases, boards = ["phase"], ["boards", "afters"]
    if has_calibration:
        phases.append("cal_phase")
        boards.append("cal_boards")
        if not ((arrays["cal_probs"] >= -1e-6) & (arrays["cal_probs"] <= 1 + 1e-6)).all():
            raise RecordError(f"'cal_probs' in {path} must be probabilities")
    for name in phases:
        if arrays[name].size and (arrays[name].min() < 0 or arrays[name].max() >= len(CLASSES)):
            raise RecordError(f"{name!r} in {path} must be 0 to {len(CLASSES) - 1}")
    for name in boards:
        try:
            as_boards(arrays[name], RULES[RULES_OF_REFERENCE])
        except NardyError as error:
            raise RecordError(f"{name!r} in {path}: {error}") from error
