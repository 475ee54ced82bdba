"""Error rate on a set of decisions with reference equities, and calibration against reference probabilities.

The file is an `.npz` as described in the README of the reference set: decisions of short nardy under backgammon
scoring, each with all legal afterstates and the equity that stronger engines give them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agent.players import Player, make_player
from agent.ranking import Judge
from agent.referee_set import CALIBRATION_ARRAYS, CLASSES, RULES_OF_REFERENCE, Floats, RefereeSet, load_referee
from engine.board import Boards, opponent_view
from engine.errors import ConfigError, PlayerError, RecordError
from engine.outcome import opponent_probs
from engine.rules import RULES, Rules
from engine.threads import default_threads

__all__ = [
    "CLASSES",
    "CUMULATIVE",
    "RULES_OF_REFERENCE",
    "Calibration",
    "RefereeResult",
    "RefereeSet",
    "calibration",
    "error_rate",
    "load_referee",
]

MPT = 1000.0

CUMULATIVE = ("win", "win_gammon_or_better", "win_backgammon", "lose_gammon_or_worse", "lose_backgammon")


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
    """How far an evaluator's values lie from the reference in one class: mean differences with errors, MAE, RMS."""

    name: str
    positions: int
    equity_bias: float
    equity_bias_se: float
    equity_rms: float
    bias: tuple[float, ...]  # by `CUMULATIVE`
    mae: tuple[float, ...]  # mean absolute error
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
            f"win {c.bias[0]:+.4f} mae {c.mae[0]:.4f} rms {c.rms[0]:.4f}   {c.positions} positions"
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
                    "mae": dict(zip(CUMULATIVE, c.mae, strict=True)),
                    "rms": dict(zip(CUMULATIVE, c.rms, strict=True)),
                }
                for c in self.classes
            },
            "bins": [vars(b) for b in self.bins],
        }


def error_rate(player: str | Player | Judge, file: str | Path | RefereeSet) -> RefereeResult:
    """How much equity a player loses per decision.

    Args:
        player: a player or its text, or an evaluator, which then plays at 0-ply.
        file: a referee file, or one already loaded.
    Returns:
        Error rates in millipoints by class with standard errors over decisions.
    Raises:
        RecordError: a file that is no referee file.
        ConfigError: the player is bound to other rules than those of the reference equities.
        PlayerError: it chose a play that is not legal.
    """
    decisions = file if isinstance(file, RefereeSet) else load_referee(file)
    chooser = _as_player(player)
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


def _as_player(player: str | Player | Judge) -> Player:
    from agent.levels import Level
    from agent.net_players import NetPlayer, player_of

    if isinstance(player, str):
        player = make_player(player, RULES_OF_REFERENCE)
    elif not isinstance(player, Player):
        player = player_of(player, Level())
    return replace(player, threads=default_threads()) if isinstance(player, NetPlayer) else player


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
        raise RecordError(f"{decisions.name} has no calibration arrays ({', '.join(CALIBRATION_ARRAYS)})")
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
        mae=tuple(float(x) for x in np.abs(difference).mean(axis=0)) if n else (),
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
