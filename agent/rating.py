"""Ratings on the Elo scale from all results of all matches, with standard errors.

Bradley-Terry: the chance that i beats j is 1 / (1 + 10 ** ((r_j - r_i) / 400)). Results are scores of pairs of games,
which share their dice, so errors come from the spread of pair scores (a sandwich estimate), not from counting games as
if they were independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agent.match_result import MatchResult
from engine.errors import ConfigError

ELO_SCALE = 400.0 / np.log(10.0)
PRIOR_GAMES = 1.0  # drawn games assumed of each pairing, so that a player who won everything stays finite
MAX_ITERATIONS = 200

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Rating:
    """A player's rating with its standard error, its games and its points per game over all opponents."""

    player: str
    elo: float
    se: float
    games: int
    score: float
    ppg: float


@dataclass(frozen=True, kw_only=True)
class Ratings:
    """Players from the strongest on; `anchor` names the one that is 0, or is None where the mean is 0.

    Attributes:
        covariance: float64 [n, n] of the ratings in the order of `players`, for errors of differences.
    """

    players: tuple[Rating, ...]
    anchor: str | None
    covariance: Floats

    def difference(self, a: str, b: str) -> tuple[float, float]:
        """Rating of `a` less that of `b`, and its standard error.

        Raises:
            ConfigError: a player who has no rating.
        """
        names = [rating.player for rating in self.players]
        for name in (a, b):
            if name not in names:
                raise ConfigError(f"no rating of {name!r}; rated: {', '.join(names)}")
        i, j = names.index(a), names.index(b)
        variance = self.covariance[i, i] + self.covariance[j, j] - 2 * self.covariance[i, j]
        return self.players[i].elo - self.players[j].elo, float(np.sqrt(max(variance, 0.0)))

    def to_dict(self) -> dict[str, Any]:
        """The ratings as JSON values."""
        return {
            "anchor": self.anchor,
            "scale": "elo",
            "players": [
                {
                    "player": r.player,
                    "elo": round(r.elo, 1),
                    "se": round(r.se, 1),
                    "games": r.games,
                    "score": round(r.score, 4),
                    "ppg": round(r.ppg, 4),
                }
                for r in self.players
            ],
        }

    def table(self) -> str:
        """The ratings as aligned text."""
        width = max([len(r.player) for r in self.players] + [6])
        lines = [f"{'player':<{width}}     elo      se    games    win %       ppg"]
        lines += [
            f"{r.player:<{width}} {r.elo:>7.0f} {r.se:>7.1f} {r.games:>8} {100 * r.score:>8.2f} {r.ppg:>+9.4f}"
            for r in self.players
        ]
        return "\n".join(lines)


@dataclass(frozen=True)
class _Pairing:
    i: int
    j: int
    games: float
    score: float  # sum of the scores of i
    variance: float  # of that sum


def rate(matches: Sequence[MatchResult], anchor: str | None = None) -> Ratings:
    """Ratings of all players of all matches.

    Args:
        matches: results, in any order; several between the same players add up. Luck-adjusted scores are used where
            luck was measured.
        anchor: the player whose rating is 0; None: the mean of all is 0.
    Raises:
        ConfigError: the anchor did not play.
    """
    names = list(dict.fromkeys(name for match in matches for name in (match.a, match.b)))
    if anchor is not None and anchor not in names:
        raise ConfigError(f"the anchor {anchor!r} is not among the players: {', '.join(names)}")
    pairings = [_pairing(match, names) for match in matches if match.a != match.b and match.pairs]
    log_odds, covariance = _fit(len(names), pairings)
    shift = np.eye(len(names)) - (
        np.full((len(names), len(names)), 1.0 / max(len(names), 1))
        if anchor is None
        else np.tile(np.eye(len(names))[names.index(anchor)], (len(names), 1))
    )
    elo = ELO_SCALE * (shift @ log_odds)
    spread = ELO_SCALE**2 * shift @ covariance @ shift.T
    order = np.argsort(-elo, kind="stable")
    players = tuple(_rating(names[i], matches, float(elo[i]), float(np.sqrt(max(spread[i, i], 0.0)))) for i in order)
    return Ratings(players=players, anchor=anchor, covariance=spread[np.ix_(order, order)])


def _pairing(match: MatchResult, names: list[str]) -> _Pairing:
    scores = match.scores
    if match.luck is not None:
        scores = scores - match.luck[..., 1]
    sums = scores.sum(axis=1)  # [P], out of 2
    binomial = 0.5 * match.games * 0.25  # the least we believe, for matches of few pairs or without any spread
    variance = len(sums) * float(sums.var(ddof=1)) if len(sums) > 1 else binomial
    total = float(np.clip(sums.sum(), 0.0, match.games))
    return _Pairing(names.index(match.a), names.index(match.b), match.games, total, max(variance, 0.25))


def _fit(n: int, pairings: Sequence[_Pairing]) -> tuple[Floats, Floats]:
    """Log odds of the players and their covariance, by Newton's method on the likelihood with drawn prior games."""
    theta = np.zeros(n)
    information = np.zeros((n, n))
    for _ in range(MAX_ITERATIONS):
        gradient, information = _slopes(theta, pairings, n)
        step = np.linalg.pinv(information) @ gradient
        size = float(np.abs(step).max()) if n else 0.0
        theta += step * min(1.0, 2.0 / max(size, 1e-12))
        if size < 1e-10:
            break
    noise = np.zeros((n, n))
    for p in pairings:
        sign = np.zeros(n)
        sign[p.i], sign[p.j] = 1.0, -1.0
        noise += p.variance * np.outer(sign, sign)
    inverse = np.linalg.pinv(information)
    return theta, inverse @ noise @ inverse


def _slopes(theta: Floats, pairings: Sequence[_Pairing], n: int) -> tuple[Floats, Floats]:
    gradient = np.zeros(n)
    information = np.zeros((n, n))
    for p in pairings:
        chance = 1.0 / (1.0 + np.exp(theta[p.j] - theta[p.i]))
        games = p.games + PRIOR_GAMES
        slope = p.score + 0.5 * PRIOR_GAMES - games * chance
        weight = games * chance * (1.0 - chance)
        gradient[p.i] += slope
        gradient[p.j] -= slope
        information[[p.i, p.j], [p.i, p.j]] += weight
        information[[p.i, p.j], [p.j, p.i]] -= weight
    return gradient, information


def _rating(name: str, matches: Sequence[MatchResult], elo: float, se: float) -> Rating:
    games, score, points = 0, 0.0, 0.0
    for match in matches:
        if match.a == match.b or name not in (match.a, match.b):
            continue
        is_a = name == match.a
        won = match.scores.sum()
        games += match.games
        score += won if is_a else match.games - won
        points += match.points.sum() * (1 if is_a else -1)
    return Rating(
        player=name, elo=elo, se=se, games=games, score=score / max(games, 1), ppg=float(points / max(games, 1))
    )
