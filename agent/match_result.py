"""The result of a paired match: points per game, win rate and their errors, as numbers, text and JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agent.lockstep import DRAW, FORFEIT_LOST, FORFEIT_WON, Chunk, GameFault, GamePlays
from engine.errors import RecordError
from engine.rules import Rules, get_rules

Z95 = 1.959964
MIN_PAIRS = 30  # of fewer, the spread seen says too little about the next ones
MAX_DETAIL = 160  # of a fault, in a summary


class Mean(NamedTuple):
    """A mean over pairs with its standard error and 95 % interval."""

    value: float
    se: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval."""
        return self.value - Z95 * self.se, self.value + Z95 * self.se

    @property
    def has_error(self) -> bool:
        """Whether the values differed, so that their spread can tell the error."""
        return math.isfinite(self.se) and self.se > 0.0

    def __str__(self) -> str:
        return f"{self.value:+.4f} +- {self.se:.4f}" if self.has_error else f"{self.value:+.4f}"


@dataclass(frozen=True, kw_only=True, eq=False)
class MatchResult:
    """What a match between players `a` and `b` gave, seen by `a`.

    Attributes:
        points: float64 [P, 2], one row a pair; column 0 is the game in which `a` moved first.
        outcomes: int8 [P, 2], an index into `rules.outcomes`, or a code of `agent.lockstep`.
        turns: int32 [P, 2].
        luck: float64 [P, 2, 2] in points and in chance of winning, or None.
        faults: forfeited games.
        numbers: int64 [P], the numbers of the pairs, which with the seed name their dice; None: 0 to P - 1.
        plays: for each game (2 * pair, and 2 * pair + 1 where `b` moved first) the dice and afterstates of its turns;
            None unless they were kept. They are no part of the JSON form.
        elapsed_s: time spent playing, summed over chunks played side by side.
        info: what each player says of itself (net, hash, depth) and the versions in use.
    """

    a: str
    b: str
    rules: Rules
    seed: int
    points: npt.NDArray[np.float64] = field(repr=False)
    outcomes: npt.NDArray[np.int8] = field(repr=False)
    turns: npt.NDArray[np.int32] = field(repr=False)
    luck: npt.NDArray[np.float64] | None = field(default=None, repr=False)
    faults: tuple[GameFault, ...] = ()
    numbers: npt.NDArray[np.int64] | None = field(default=None, repr=False)
    plays: tuple[GamePlays, ...] | None = field(default=None, repr=False)
    elapsed_s: float = 0.0
    info: dict[str, Any] = field(default_factory=dict)

    @property
    def pairs(self) -> int:
        """Number of dice sequences, each played twice."""
        return len(self.points)

    @property
    def games(self) -> int:
        """Number of games."""
        return 2 * self.pairs

    @property
    def pair_numbers(self) -> npt.NDArray[np.int64]:
        """int64 [P]: which pairs these are; a stored match may lack some."""
        return np.arange(self.pairs) if self.numbers is None else self.numbers

    @property
    def pair_points(self) -> npt.NDArray[np.float64]:
        """float64 [P]: points per game of each pair, for `a`."""
        return np.asarray(self.points.mean(axis=1))

    @property
    def ppg_mean(self) -> Mean:
        """Points per game."""
        return mean_of(self.pair_points)

    @property
    def ppg(self) -> float:
        """Points per game."""
        return self.ppg_mean.value

    @property
    def se(self) -> float:
        """Standard error of `ppg`, over pairs."""
        return self.ppg_mean.se

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """float64 [P, 2]: 1 for a game won by `a`, 0.5 for a draw, 0 for a loss."""
        won = (self.outcomes >= 0) & (self.outcomes < self.rules.game.levels) | (self.outcomes == FORFEIT_WON)
        return np.where(self.outcomes == DRAW, 0.5, won.astype(np.float64))

    @property
    def win_rate_mean(self) -> Mean:
        """Share of games won, a draw being half."""
        return mean_of(self.scores.mean(axis=1))

    @property
    def win_rate(self) -> float:
        """Share of games won, a draw being half."""
        return self.win_rate_mean.value

    @property
    def win_rate_interval(self) -> tuple[float, float]:
        """The 95 % interval of the win rate; where all pairs gave the same, such as 0 or 1, that of Wilson over pairs.

        Source:
            Wilson, Probable inference, the law of succession, and statistical inference (1927).
        """
        mean, n = self.win_rate_mean, self.pairs
        if mean.has_error:
            low, high = mean.interval
            return max(0.0, low), min(1.0, high)
        if n == 0:
            return 0.0, 1.0
        centre = (mean.value + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
        half = Z95 / (1 + Z95**2 / n) * math.sqrt(mean.value * (1 - mean.value) / n + Z95**2 / (4 * n**2))
        return max(0.0, centre - half), min(1.0, centre + half)

    @property
    def adjusted_ppg(self) -> Mean | None:
        """Points per game with the luck of the rolls taken off; None when luck was not measured."""
        return None if self.luck is None else mean_of((self.points - self.luck[..., 0]).mean(axis=1))

    @property
    def adjusted_win_rate(self) -> Mean | None:
        """Win rate with the luck of the rolls taken off; None when luck was not measured."""
        return None if self.luck is None else mean_of((self.scores - self.luck[..., 1]).mean(axis=1))

    @property
    def outcome_counts(self) -> dict[str, int]:
        """Games by outcome for `a`: every class of the rules, then draws and forfeits where there are any."""
        counts = {name: int((self.outcomes == i).sum()) for i, name in enumerate(self.rules.outcomes)}
        for name, code in (("draw", DRAW), ("forfeit_won", FORFEIT_WON), ("forfeit_lost", FORFEIT_LOST)):
            if (self.outcomes == code).any():
                counts[name] = int((self.outcomes == code).sum())
        return counts

    @property
    def turns_per_game(self) -> float:
        """Mean number of turns of both players in a game."""
        return float(self.turns.mean()) if self.pairs else math.nan

    @property
    def games_per_s(self) -> float:
        """Games a second of one worker."""
        return self.games / self.elapsed_s if self.elapsed_s > 0 else math.nan

    @property
    def games_to_decide(self) -> int | None:
        """Games after which the 95 % interval would leave out zero at the measured ppg.

        None where that cannot be told: a ppg of zero, fewer than `MIN_PAIRS` pairs, or pairs that all gave the same.
        """
        if self.pairs < MIN_PAIRS or self.ppg == 0.0 or not self.ppg_mean.has_error:
            return None
        spread = self.se * math.sqrt(self.pairs)
        return 2 * max(1, math.ceil((Z95 * spread / abs(self.ppg)) ** 2))

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON values; `from_dict` reads it back."""
        return {
            "a": self.a,
            "b": self.b,
            "rules": str(self.rules),
            "seed": self.seed,
            "games": self.games,
            "pairs": self.pairs,
            "ppg": self.ppg,
            "se": _se(self.ppg_mean),
            "interval95": [x if self.ppg_mean.has_error else None for x in self.ppg_mean.interval],
            "win_rate": self.win_rate,
            "win_rate_se": _se(self.win_rate_mean),
            "win_rate_interval95": list(self.win_rate_interval),
            "adjusted_ppg": _mean_dict(self.adjusted_ppg),
            "adjusted_win_rate": _mean_dict(self.adjusted_win_rate),
            "outcomes": self.outcome_counts,
            "turns_per_game": _finite(self.turns_per_game),
            "games_to_decide": self.games_to_decide,
            "elapsed_s": self.elapsed_s,
            "games_per_s": _finite(self.games_per_s),
            "faults": [asdict(fault) for fault in self.faults],
            "info": self.info,
            "pair_results": {
                "points": self.points.tolist(),
                "outcomes": self.outcomes.tolist(),
                "turns": self.turns.tolist(),
                "luck": None if self.luck is None else self.luck.tolist(),
            },
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> MatchResult:
        """The result that `to_dict` wrote.

        Raises:
            RecordError: fields that are missing or of the wrong kind.
        """
        try:
            results = data["pair_results"]
            luck = results["luck"]
            return cls(
                a=data["a"],
                b=data["b"],
                rules=get_rules(data["rules"]),
                seed=int(data["seed"]),
                points=np.array(results["points"], dtype=np.float64).reshape(-1, 2),
                outcomes=np.array(results["outcomes"], dtype=np.int8).reshape(-1, 2),
                turns=np.array(results["turns"], dtype=np.int32).reshape(-1, 2),
                luck=None if luck is None else np.array(luck, dtype=np.float64).reshape(-1, 2, 2),
                faults=tuple(GameFault(**fault) for fault in data["faults"]),
                elapsed_s=float(data["elapsed_s"]),
                info=dict(data["info"]),
            )
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise RecordError(f"not a match result: {type(error).__name__}: {error}") from error

    def summary(self) -> str:
        """The result in a few lines for a terminal."""
        count = "1 pair" if self.pairs == 1 else f"{self.pairs} pairs"
        lines = [
            f"{self.a} against {self.b}, {self.rules}, {self.games} games in {count}, seed {self.seed}",
            f"ppg       {self.ppg_mean}   {self._error_text()}",
            f"win rate  {self.win_rate_text()}",
        ]
        if self.adjusted_ppg is not None and self.adjusted_win_rate is not None:
            lines.append(f"less luck {self.adjusted_ppg}   win rate {_percent(self.adjusted_win_rate)}")
        lines.append("outcomes  " + ", ".join(f"{name} {n}" for name, n in self.outcome_counts.items()))
        lines.append(
            f"{self.turns_per_game:.1f} turns a game, {self.games_per_s:.1f} games/s a worker, {self._decided()}"
        )
        lines += [f"forfeited by {name}: {n}, first: {first}" for name, n, first in fault_counts(self.faults)]
        return "\n".join(lines)

    def win_rate_text(self) -> str:
        """The win rate in per cent with its error, or with its interval where no error can be told."""
        if self.win_rate_mean.has_error:
            return _percent(self.win_rate_mean)
        low, high = self.win_rate_interval
        return f"{_percent(self.win_rate_mean)}   95 % [{100 * low:.2f} %, {100 * high:.2f} %]"

    def _error_text(self) -> str:
        if not self.ppg_mean.has_error:
            return "one pair has no standard error" if self.pairs == 1 else "all pairs gave the same: no error seen"
        low, high = self.ppg_mean.interval
        return f"95 % [{low:+.4f}, {high:+.4f}]"

    def _decided(self) -> str:
        if self.games_to_decide is not None:
            return f"{self.games_to_decide} games would decide"
        return "no difference seen" if self.ppg == 0.0 and self.pairs >= MIN_PAIRS else "too few games to tell"


def mean_of(values: npt.NDArray[np.float64]) -> Mean:
    """Mean and standard error of independent values [n]; the error is not a number for fewer than two."""
    n = len(values)
    if n == 0:
        return Mean(math.nan, math.nan)
    return Mean(float(values.mean()), float(values.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan)


class FaultCount(NamedTuple):
    """Forfeited games of one player by one kind of fault: `cmd:./bot (timeout)`, how many, and the first detail."""

    name: str
    games: int
    first: str


def fault_counts(faults: Sequence[GameFault]) -> list[FaultCount]:
    """Forfeited games by player and kind, in the order in which each was first seen."""
    found: dict[str, FaultCount] = {}
    for fault in faults:
        name = f"{fault.player} ({fault.kind})"
        known = found.get(name, FaultCount(name, 0, fault.detail[:MAX_DETAIL]))
        found[name] = known._replace(games=known.games + 1)
    return list(found.values())


def joined(
    a: str, b: str, rules: Rules, seed: int, chunks: Sequence[Chunk], *, elapsed_s: float, info: dict[str, Any]
) -> MatchResult:
    """The match that chunks of consecutive pairs make up, in the order of their pairs."""
    parts = sorted(chunks, key=lambda chunk: chunk.first)
    lucks = [part.luck for part in parts if part.luck is not None]
    plays = [part.plays for part in parts if part.plays is not None]
    return MatchResult(
        a=a,
        b=b,
        rules=rules,
        seed=seed,
        points=np.concatenate([part.points for part in parts]),
        outcomes=np.concatenate([part.outcomes for part in parts]),
        turns=np.concatenate([part.turns for part in parts]),
        luck=np.concatenate(lucks) if len(lucks) == len(parts) else None,
        faults=tuple(fault for part in parts for fault in part.faults),
        numbers=np.concatenate([part.first + np.arange(len(part.points)) for part in parts]),
        plays=tuple(game for part in plays for game in part) if len(plays) == len(parts) else None,
        elapsed_s=elapsed_s,
        info=info,
    )


def _percent(mean: Mean) -> str:
    shown = f"{100 * mean.value:.2f} %"
    return f"{shown} +- {100 * mean.se:.2f} %" if mean.has_error else shown


def _se(mean: Mean) -> float | None:
    return mean.se if mean.has_error else None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _mean_dict(mean: Mean | None) -> dict[str, Any] | None:
    return None if mean is None else {"value": mean.value, "se": _se(mean)}
