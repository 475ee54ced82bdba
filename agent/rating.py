"""Ratings on the Elo scale from all results of all matches, with standard errors.

Bradley-Terry: the chance that i beats j is 1 / (1 + 10 ** ((r_j - r_i) / 400)). Results are scores of pairs of games,
which share their dice, so errors come from the spread of pair scores (a sandwich estimate), not from counting games as
if they were independent. All matches of one seed meet the same dice too: what a pair of dice gave a player counts once,
however many opponents met him over it (a sandwich over clusters: Liang and Zeger 1986).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agent.match_result import MIN_PAIRS, MatchResult
from engine.errors import ConfigError

ELO_SCALE = 400.0 / np.log(10.0)
PRIOR_GAMES = 1.0  # drawn games assumed of each pairing, so that a player who won everything stays finite
MAX_ITERATIONS = 200

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Rating:
    """A player's rating with its standard error, its games and its points per game over all opponents.

    Attributes:
        group: players of one number met, at least through others; only their ratings can be compared.
    """

    player: str
    elo: float
    se: float
    games: int
    score: float
    ppg: float
    group: int = 0


@dataclass(frozen=True, kw_only=True)
class Ratings:
    """Players from the strongest on; `anchor` names the one that is 0, or is None where the mean is 0.

    Players who never met the others, not even through someone else, are a group of their own whose mean is 0.

    Attributes:
        covariance: float64 [n, n] of the ratings in the order of `players`, for errors of differences.
    """

    players: tuple[Rating, ...]
    anchor: str | None
    covariance: Floats

    def difference(self, a: str, b: str) -> tuple[float, float]:
        """Rating of `a` less that of `b`, and its standard error.

        Raises:
            ConfigError: a player who has no rating, or two who never met, not even through others.
        """
        names = [rating.player for rating in self.players]
        for name in (a, b):
            if name not in names:
                raise ConfigError(f"no rating of {name!r}; rated: {', '.join(names)}")
        i, j = names.index(a), names.index(b)
        if self.players[i].group != self.players[j].group:
            raise ConfigError(f"{a!r} and {b!r} never met, not even through others: their ratings cannot be compared")
        variance = self.covariance[i, i] + self.covariance[j, j] - 2 * self.covariance[i, j]
        return self.players[i].elo - self.players[j].elo, float(np.sqrt(max(variance, 0.0)))

    @property
    def caution(self) -> str | None:
        """What to know before ratings are compared, where not all players met; else None."""
        groups: dict[int, list[str]] = {}
        for rating in self.players:
            groups.setdefault(rating.group, []).append(rating.player)
        if len(groups) < 2:
            return None
        shown = "; ".join(", ".join(names) for names in groups.values())
        zero = "in each the mean is 0" if self.anchor is None else f"without {self.anchor} their mean is 0"
        return f"{len(groups)} groups never met, so ratings compare only within one, {zero}: {shown}"

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
                    "group": r.group,
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
        return "\n".join(lines + ([self.caution] if self.caution else []))


@dataclass(frozen=True)
class _Pairing:
    i: int
    j: int
    games: float
    score: float  # sum of the scores of i
    variance: float  # of that sum
    seed: int
    numbers: npt.NDArray[np.int64]  # of its pairs: equal ones of one seed are the same dice
    spread: Floats  # [P], each pair's part of the score less the mean; their squares sum to the variance seen


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
    group = _groups(len(names), pairings)
    shift = np.eye(len(names))
    for i in range(len(names)):
        weight = (group == group[i]).astype(np.float64)
        if anchor is not None and group[names.index(anchor)] == group[i]:
            weight = np.eye(len(names))[names.index(anchor)]
        shift[i] -= weight / weight.sum()
    elo = ELO_SCALE * (shift @ log_odds)
    spread = ELO_SCALE**2 * shift @ covariance @ shift.T
    order = np.argsort(-elo, kind="stable")
    errors = np.sqrt(np.maximum(spread.diagonal(), 0.0))
    players = tuple(_rating(names[i], matches, float(elo[i]), float(errors[i]), int(group[i])) for i in order)
    return Ratings(players=players, anchor=anchor, covariance=spread[np.ix_(order, order)])


def _groups(n: int, pairings: Sequence[_Pairing]) -> npt.NDArray[np.int64]:
    """For each player the first one of those whom he met, at least through others: int64 [n]."""
    group = np.arange(n)
    for p in pairings:
        first, other = sorted((group[p.i], group[p.j]))
        group[group == other] = first
    return group


def _pairing(match: MatchResult, names: list[str]) -> _Pairing:
    scores = match.scores
    if match.luck is not None:
        scores = scores - match.luck[..., 1]
    sums = scores.sum(axis=1)  # [P], out of 2
    variance = len(sums) * float(sums.var(ddof=1)) if len(sums) > 1 else 0.0
    if variance == 0.0 and len(sums) < MIN_PAIRS:  # too few to believe that they never differ
        variance = 0.5 * match.games * 0.25  # half of what single games vary, for they share dice
    total = float(np.clip(sums.sum(), 0.0, match.games))
    return _Pairing(
        i=names.index(match.a),
        j=names.index(match.b),
        games=match.games,
        score=total,
        variance=max(variance, 0.25),
        seed=match.seed,
        numbers=match.pair_numbers,
        spread=(sums - sums.mean()) * np.sqrt(len(sums) / max(len(sums) - 1, 1)),
    )


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
    inverse = np.linalg.pinv(information)
    return theta, inverse @ _noise(n, pairings) @ inverse


def _noise(n: int, pairings: Sequence[_Pairing]) -> Floats:
    """Covariance of the scores of all players; too few pairs tell nothing of what they share with other matches."""
    noise = np.zeros((n, n))
    for seed in {p.seed for p in pairings}:
        same = [p for p in pairings if p.seed == seed]
        places = np.unique(np.concatenate([p.numbers for p in same]))
        shared = np.zeros((n, len(places)))
        for p in same:
            alone = p.variance
            if len(p.spread) >= MIN_PAIRS:
                columns = np.searchsorted(places, p.numbers)
                shared[p.i, columns] += p.spread
                shared[p.j, columns] -= p.spread
                alone -= float(p.spread @ p.spread)
            sign = np.zeros(n)
            sign[p.i], sign[p.j] = 1.0, -1.0
            noise += max(alone, 0.0) * np.outer(sign, sign)
        noise += shared @ shared.T
    return noise


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


def _rating(name: str, matches: Sequence[MatchResult], elo: float, se: float, group: int) -> Rating:
    games, score, points = 0, 0.0, 0.0
    for match in matches:
        if match.a == match.b or name not in (match.a, match.b):
            continue
        is_a = name == match.a
        won = match.scores.sum()
        games += match.games
        score += won if is_a else match.games - won
        points += match.points.sum() * (1 if is_a else -1)
    played = max(games, 1)
    ppg = float(points / played)
    return Rating(player=name, elo=elo, se=se, games=games, score=score / played, ppg=ppg, group=group)
