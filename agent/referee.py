"""Error rate on a set of decisions with reference equities, and calibration against reference probabilities.

The file is an `.npz` as described in the README of the reference set: decisions of short nardy under backgammon
scoring, each with all legal afterstates and the equity that stronger engines give them.
"""

from __future__ import annotations

import math
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agent.players import Player, make_player
from agent.ranking import Judge
from engine.board import Boards, as_boards, opponent_view
from engine.errors import ConfigError, NardyError, PlayerError, RecordError
from engine.outcome import opponent_probs
from engine.rules import RULES, SLOTS, Rules

CLASSES = ("contact", "crashed", "race", "bearoff")
MPT = 1000.0
RULES_OF_REFERENCE = "short_backgammon"
MAX_BYTES = 1 << 29
MAX_EQUITY = 3.001

# Arrays that a referee file must hold, with dtype and shape; N decisions, M afterstates.
_DECISION_ARRAYS: dict[str, tuple[str, tuple[int | str, ...]]] = {
    "boards": ("int8", ("N", 2, SLOTS)),
    "dice": ("uint8", ("N", 2)),
    "phase": ("int8", ("N",)),
    "offsets": ("int32", ("N+1",)),
    "afters": ("int8", ("M", 2, SLOTS)),
    "eq": ("float32", ("M",)),
}
_CALIBRATION_ARRAYS: dict[str, tuple[str, tuple[int | str, ...]]] = {
    "cal_boards": ("int8", ("K", 2, SLOTS)),
    "cal_probs": ("float32", ("K", 5)),
    "cal_phase": ("int8", ("K",)),
}
CUMULATIVE = ("win", "win_gammon_or_better", "win_backgammon", "lose_gammon_or_worse", "lose_backgammon")

Floats = npt.NDArray[np.float64]


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


@dataclass(frozen=True, kw_only=True)
class ClassError:
    """Mean equity lost in one class of decisions, in millipoints, with its standard error."""

    name: str
    decisions: int
    error_rate_mpt: float
    se_mpt: float
    best_share: float  # decisions in which the reference's best play was chosen


@dataclass(frozen=True, kw_only=True)
class RefereeResult:
    """Error rates of a player by class, `all` last."""

    player: str
    file: str
    rules: Rules
    classes: tuple[ClassError, ...]

    def __getitem__(self, name: str) -> ClassError:
        return next(c for c in self.classes if c.name == name)

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON values."""
        return {
            "player": self.player,
            "file": self.file,
            "rules": str(self.rules),
            "classes": {
                c.name: {
                    "decisions": c.decisions,
                    "error_rate_mpt": round(c.error_rate_mpt, 3),
                    "se_mpt": round(c.se_mpt, 3) if math.isfinite(c.se_mpt) else None,
                    "best_share": round(c.best_share, 4),
                }
                for c in self.classes
            },
        }

    def table(self) -> str:
        """The result as aligned text."""
        lines = [f"{self.player} on {self.file}, {self.rules}: equity lost per decision in millipoints"]
        lines += [
            f"{c.name:<8} {c.error_rate_mpt:8.2f} +- {c.se_mpt:5.2f}   {c.decisions:5} decisions, "
            f"best play {100 * c.best_share:5.1f} %"
            for c in self.classes
        ]
        return "\n".join(lines)


@dataclass(frozen=True, kw_only=True)
class ClassCalibration:
    """How far an evaluator's values lie from the reference in one class; mean differences with errors, and RMS."""

    name: str
    positions: int
    equity_bias: float
    equity_bias_se: float
    equity_rms: float
    bias: tuple[float, ...]  # by `CUMULATIVE`
    rms: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class CalibrationBin:
    """Positions whose predicted chance of winning lies in one tenth: mean prediction and mean reference."""

    low: float
    high: float
    positions: int
    predicted: float
    reference: float


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Calibration of an evaluator by class (`all` last) and by predicted chance of winning."""

    net: str
    classes: tuple[ClassCalibration, ...]
    bins: tuple[CalibrationBin, ...]

    def table(self) -> str:
        """The calibration as aligned text."""
        lines = [f"{self.net}: equity less the reference's, player on roll"]
        lines += [
            f"{c.name:<8} bias {c.equity_bias:+.4f} +- {c.equity_bias_se:.4f}   rms {c.equity_rms:.4f}   "
            f"win {c.bias[0]:+.4f} rms {c.rms[0]:.4f}   {c.positions} positions"
            for c in self.classes
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The calibration as JSON values."""
        return {
            "net": self.net,
            "classes": {
                c.name: {
                    "positions": c.positions,
                    "equity_bias": c.equity_bias,
                    "equity_bias_se": c.equity_bias_se,
                    "equity_rms": c.equity_rms,
                    "bias": dict(zip(CUMULATIVE, c.bias, strict=True)),
                    "rms": dict(zip(CUMULATIVE, c.rms, strict=True)),
                }
                for c in self.classes
            },
            "bins": [vars(b) for b in self.bins],
        }


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
    has_calibration = all(name in arrays for name in _CALIBRATION_ARRAYS)
    if has_calibration:
        for name, (dtype, shape) in _CALIBRATION_ARRAYS.items():
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
    wanted = {*_DECISION_ARRAYS, *_CALIBRATION_ARRAYS}
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(item.file_size for item in archive.infolist())
        if size > MAX_BYTES:
            raise RecordError(f"{path} unpacks to {size} bytes; a referee file may have {MAX_BYTES}")
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files if name in wanted}
    except (OSError, ValueError, zipfile.BadZipFile, EOFError, KeyError) as error:
        if isinstance(error, NardyError):
            raise
        raise RecordError(f"{path} is no referee file (.npz of plain arrays): {error}") from error


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


def error_rate(player: str | Player | Judge, file: str | Path | RefereeSet, *, plies: int = 0) -> RefereeResult:
    """How much equity a player loses per decision.

    Args:
        player: a player or its text, or an evaluator, which then plays at `plies`.
        file: a referee file, or one already loaded.
        plies: look-ahead of an evaluator given as `player`; players carry their own depth.
    Returns:
        Error rates in millipoints by class with standard errors over decisions.
    Raises:
        RecordError: a file that is no referee file.
        ConfigError: the player is bound to other rules than those of the reference equities.
        PlayerError: it chose a play that is not legal.
    """
    decisions = file if isinstance(file, RefereeSet) else load_referee(file)
    chooser = _as_player(player, plies)
    _check_rules(chooser.name, chooser.rules)
    chosen = chooser.choose(decisions.boards, decisions.dice, np.random.default_rng(0))
    rows = _chosen_rows(chooser.name, decisions, chosen)
    best = np.maximum.reduceat(decisions.equity, decisions.offsets[:-1])
    loss = MPT * (best - decisions.equity[rows])
    classes = [_class_error(name, loss[decisions.phase == i]) for i, name in enumerate(CLASSES)]
    return RefereeResult(
        player=chooser.name,
        file=decisions.name,
        rules=chooser.rules,
        classes=(*(c for c in classes if c.decisions), _class_error("all", loss)),
    )


def _as_player(player: str | Player | Judge, plies: int) -> Player:
    if isinstance(player, str):
        return make_player(player, RULES_OF_REFERENCE)
    if isinstance(player, Player):
        return player
    from agent.levels import Level
    from agent.net_players import player_of

    return player_of(player, Level(plies=plies))


def _check_rules(name: str, rules: Rules) -> None:
    if not rules.can_hit or rules.level_points != RULES[RULES_OF_REFERENCE].level_points:
        raise ConfigError(f"the reference equities hold for {RULES_OF_REFERENCE}, {name} is bound to {rules}")


def _chosen_rows(name: str, decisions: RefereeSet, chosen: Boards) -> npt.NDArray[np.int64]:
    owner = np.repeat(np.arange(len(decisions.boards)), np.diff(decisions.offsets))
    rows = np.flatnonzero((decisions.afterstates == chosen[owner]).all(axis=(1, 2)))
    found, first = np.unique(owner[rows], return_index=True)
    if len(found) != len(chosen):
        missing = int(np.setdiff1d(np.arange(len(chosen)), found)[0])
        raise PlayerError(f"{name} chose no legal play of decision {missing}: {chosen[missing].tolist()}")
    return np.asarray(rows[first])


def _class_error(name: str, loss: Floats) -> ClassError:
    n = len(loss)
    return ClassError(
        name=name,
        decisions=n,
        error_rate_mpt=float(loss.mean()) if n else math.nan,
        se_mpt=float(loss.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan,
        best_share=float((loss <= 0).mean()) if n else math.nan,
    )


def calibration(evaluator: Judge, file: str | Path | RefereeSet) -> Calibration:
    """How an evaluator's own values compare with reference probabilities, for the player on roll.

    Args:
        evaluator: bound to rules with backgammon scoring.
        file: a referee file with calibration arrays, or one already loaded.
    Raises:
        RecordError: the file has no calibration arrays.
        ConfigError: the evaluator is bound to other rules.
    """
    decisions = file if isinstance(file, RefereeSet) else load_referee(file)
    _check_rules(evaluator.net_name, evaluator.rules)
    if decisions.cal_boards is None or decisions.cal_probs is None or decisions.cal_phase is None:
        raise RecordError(f"{decisions.name} has no calibration arrays ({', '.join(_CALIBRATION_ARRAYS)})")
    seen = evaluator.outcome_probs(np.ascontiguousarray(opponent_view(decisions.cal_boards)))
    predicted = _cumulative(opponent_probs(seen).astype(np.float64))
    difference = predicted - decisions.cal_probs
    classes = [_class_calibration(name, difference[decisions.cal_phase == i]) for i, name in enumerate(CLASSES)]
    return Calibration(
        net=evaluator.net_name,
        classes=(*(c for c in classes if c.positions), _class_calibration("all", difference)),
        bins=tuple(_bins(predicted[:, 0], decisions.cal_probs[:, 0])),
    )


def _cumulative(probs: Floats) -> Floats:
    """The five cumulative figures of backgammon from eight exclusive classes: [K, 8] -> [K, 5]."""
    win, lose = probs[:, :4], probs[:, 4:]
    columns = [win.sum(axis=1), win[:, 1:].sum(axis=1), win[:, 2:].sum(axis=1)]
    columns += [lose[:, 1:].sum(axis=1), lose[:, 2:].sum(axis=1)]
    return np.stack(columns, axis=1)


_EQUITY = np.array([2.0, 1.0, 1.0, -1.0, -1.0])


def _class_calibration(name: str, difference: Floats) -> ClassCalibration:
    n = len(difference)
    equity = difference @ _EQUITY
    return ClassCalibration(
        name=name,
        positions=n,
        equity_bias=float(equity.mean()) if n else math.nan,
        equity_bias_se=float(equity.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan,
        equity_rms=float(np.sqrt((equity**2).mean())) if n else math.nan,
        bias=tuple(float(x) for x in difference.mean(axis=0)) if n else (),
        rms=tuple(float(x) for x in np.sqrt((difference**2).mean(axis=0))) if n else (),
    )


def _bins(predicted: Floats, reference: Floats) -> list[CalibrationBin]:
    bins = []
    tenth = np.minimum((predicted * 10).astype(np.int64), 9)
    for i in range(10):
        inside = tenth == i
        if inside.any():
            bins.append(
                CalibrationBin(
                    low=i / 10,
                    high=(i + 1) / 10,
                    positions=int(inside.sum()),
                    predicted=float(predicted[inside].mean()),
                    reference=float(reference[inside].mean()),
                )
            )
    return bins
