"""Calibration of a net on its own games: whether positions it gives 30 % are won 30 times in 100."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from agent.net import Net
from agent.play import GameRecords, game_seeds, play_games
from engine.errors import ConfigError
from engine.outcome import UNFINISHED, opponent_probs
from engine.rules import Rules

GAMES_A_PART = 2000  # whose records are in memory at once
LEAST_IN_BIN = 2000
MOST_BINS = 20
ALLOWED_GAP = 0.01  # beside two standard errors
DRAW_STREAM = 2  # spawn key of the random numbers that pick positions
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class GapBin:
    """Positions of similar predictions: the mean prediction, how often it came true, and the difference."""

    positions: int
    predicted: float
    happened: float
    se: float  # of the difference

    @property
    def gap(self) -> float:
        """Predicted less happened."""
        return self.predicted - self.happened

    @property
    def is_allowed(self) -> bool:
        """Whether the gap is within `ALLOWED_GAP` and two standard errors."""
        return abs(self.gap) <= ALLOWED_GAP + 2 * self.se


@dataclass(frozen=True, kw_only=True)
class SelfCalibration:
    """What a net predicts of its own games against how they ended, for events such as a win."""

    net: str
    rules: Rules
    games: int
    seed: int
    events: dict[str, tuple[GapBin, ...]]

    @property
    def worst_gap(self) -> float:
        """The largest absolute gap of any bin."""
        return max(abs(b.gap) for bins in self.events.values() for b in bins)

    @property
    def is_allowed(self) -> bool:
        """Whether every bin's gap is allowed."""
        return all(b.is_allowed for bins in self.events.values() for b in bins)

    def table(self) -> str:
        """The bins as aligned text."""
        lines = [f"{self.net}, {self.rules}, one position from each of {self.games} games, seed {self.seed}"]
        for event, bins in self.events.items():
            lines.append(f"{event:<14}{'positions':>10}{'predicted':>11}{'happened':>10}{'gap':>18}")
            for b in bins:
                mark = "" if b.is_allowed else "  too far"
                gap = f"{b.gap:+.4f} +- {b.se:.4f}"
                lines.append(f"{'':<14}{b.positions:>10}{b.predicted:>11.4f}{b.happened:>10.4f}{gap:>18}{mark}")
        verdict = "every gap" if self.is_allowed else "not every gap"
        lines.append(f"largest gap {self.worst_gap:.4f}; {verdict} within {ALLOWED_GAP} + 2 SE")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The calibration as JSON values."""
        return {
            "net": self.net,
            "rules": str(self.rules),
            "games": self.games,
            "seed": self.seed,
            "events": {name: [vars(b) | {"gap": b.gap} for b in bins] for name, bins in self.events.items()},
            "worst_gap": self.worst_gap,
            "is_allowed": self.is_allowed,
        }


def self_calibration(
    net: Net, rules: Rules, *, games: int, seed: int = 1, threads: int | None = None, show_progress: bool = False
) -> SelfCalibration:
    """Play games of a net against itself and compare one random position of each with how its game ended.

    Args:
        net: plays both sides at 0-ply.
        rules: the game.
        games: how many; a game cut for length is left out.
        seed: of dice and positions.
        threads: for the kernels; the result does not depend on it.
        show_progress: draw a bar on stderr.
    Returns:
        Bins of at least 2,000 positions each, or a single one, for a win and for each higher level of winning
        together with those above it, as the player who has just moved sees them.
    Raises:
        ConfigError: less than one game.
        NetError: the net does not fit the rules.
    """
    if games < 1:
        raise ConfigError(f"games must be 1 or more, got {games}")
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(DRAW_STREAM,)))
    parts = []
    with tqdm(total=games, desc="games", unit="game", disable=not show_progress) as bar:
        for first in range(0, games, GAMES_A_PART):
            count = min(GAMES_A_PART, games - first)
            records = play_games(net, rules, game_seeds(seed, first, count), threads=threads)
            parts.append(_drawn_positions(records, rng))
            bar.update(count)
    predicted = np.concatenate([part[0] for part in parts])
    happened = np.concatenate([part[1] for part in parts])
    wins = rules.outcomes[: rules.game.levels]
    events = {
        name if level == 0 else f"{name}_or_better": _bins(
            predicted[:, level : len(wins)].sum(axis=1), happened[:, level : len(wins)].sum(axis=1)
        )
        for level, name in enumerate(("win", *wins[1:]))
    }
    return SelfCalibration(net=net.name, rules=rules, games=len(predicted), seed=seed, events=events)


def _drawn_positions(records: GameRecords, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Predictions and outcomes, both [G, K] and seen by the mover, of a random unfinished position of each game."""
    turns = np.diff(records.offsets)
    picked = (rng.random(len(turns)) * (turns - 1)).astype(np.int64)  # not the last turn, which ends the game
    kept = (records.outcomes != UNFINISHED) & (turns > 1)
    predicted = records.values[records.offsets[:-1] + picked]
    ended = np.eye(predicted.shape[1], dtype=np.float32)[records.outcomes]
    is_last_mover = (turns - 1 - picked) % 2 == 0
    happened = np.where(is_last_mover[:, None], ended, opponent_probs(ended))
    return predicted[kept].astype(np.float64), happened[kept].astype(np.float64)


def _bins(predicted: Floats, happened: Floats) -> tuple[GapBin, ...]:
    count = max(1, min(MOST_BINS, len(predicted) // LEAST_IN_BIN))
    bins = []
    for rows in np.array_split(np.argsort(predicted, kind="stable"), count):
        error = predicted[rows] - happened[rows]
        bins.append(
            GapBin(
                positions=len(rows),
                predicted=float(predicted[rows].mean()),
                happened=float(happened[rows].mean()),
                se=float(error.std(ddof=1) / math.sqrt(len(rows))) if len(rows) > 1 else math.inf,
            )
        )
    return tuple(bins)
