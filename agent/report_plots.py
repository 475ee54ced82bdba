"""Plots of arena results as SVG text; matplotlib (extra `report`) is imported when one is asked for."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from agent.match_result import Z95, MatchResult
from agent.rating import Ratings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH_IN = 8.0
ROW_IN = 0.42  # height of a bar with its label
MAX_LINES = 8  # matches that can be told apart in one plot
MAX_POINTS = 400  # of a line: more cannot be told apart on paper
_WON = ("#1f6f54", "#3d9970", "#7fbf9f", "#b7dcc8")  # single, gammon, home, bar
_LOST = ("#8c3b2e", "#c0604f", "#dd9a8d", "#efccc4")
_OTHER = {"forfeit_won": "#5577aa", "draw": "#b8b8b8", "forfeit_lost": "#886699"}  # between wins and losses


def ratings_svg(ratings: Ratings) -> str:
    """Ratings with their 95 % intervals, the strongest on top."""
    players = ratings.players[::-1]
    figure, axes = _figure(0.9 + ROW_IN * len(players))
    rows = np.arange(len(players))
    axes.errorbar(
        [p.elo for p in players], rows, xerr=[Z95 * p.se for p in players], fmt="o", color="#1f4e79", capsize=4
    )
    axes.set_yticks(rows, [_short(p.player) for p in players])
    axes.set_ylim(-0.6, len(players) - 0.4)
    axes.set_xlabel(f"Elo, {_short(ratings.anchor) if ratings.anchor else 'the mean'} = 0; bars are 95 % intervals")
    axes.grid(axis="x", color="#dddddd")
    return _svg(figure, "ratings")


def progress_svg(matches: Sequence[MatchResult]) -> str:
    """Points per game of each match as pairs add up, with the 95 % band."""
    figure, axes = _figure(4.2)
    for match in matches:
        points = match.pair_points
        count = np.arange(1, len(points) + 1)
        mean = np.cumsum(points) / count
        spread = np.sqrt(np.maximum(np.cumsum(points**2) / count - mean**2, 0.0) / count)
        shown = np.unique(np.linspace(0, len(points) - 1, MAX_POINTS).astype(int))
        (line,) = axes.plot(2 * count[shown], mean[shown], linewidth=1.4, label=_pair(match))
        low, high = mean - Z95 * spread, mean + Z95 * spread
        axes.fill_between(2 * count[shown], low[shown], high[shown], color=line.get_color(), alpha=0.12, linewidth=0)
    axes.axhline(0.0, color="#555555", linewidth=0.8)
    axes.set_xlabel("games")
    axes.set_ylabel("points per game so far, with 95 % band")
    axes.grid(color="#eeeeee")
    axes.legend(fontsize=8, ncols=1 + (len(matches) > 6), frameon=False)
    return _svg(figure, "progress")


def outcomes_svg(matches: Sequence[MatchResult]) -> str:
    """Shares of the outcome classes in each match, wins of the first player on the left."""
    figure, axes = _figure(1.1 + ROW_IN * len(matches))
    found = dict.fromkeys(name for match in matches for name in match.outcome_counts)
    names = sorted(
        found, key=lambda name: ("win", *_OTHER, "lose").index(name if name in _OTHER else name[: name.index("_")])
    )
    left = np.zeros(len(matches))
    rows = np.arange(len(matches))[::-1]
    for name in names:
        share = np.array([100 * match.outcome_counts.get(name, 0) / match.games for match in matches])
        axes.barh(rows, share, left=left, height=0.7, color=_colour(name), label=name.replace("_", " "))
        left += share
    axes.set_yticks(rows, [_pair(match) for match in matches])
    axes.set_ylim(-0.6, len(matches) - 0.4)
    axes.set_xlim(0, 100)
    axes.axvline(50, color="#333333", linewidth=0.8, linestyle=":")
    axes.set_xlabel("% of games, seen by the player named first")
    figure.legend(fontsize=8, ncols=4, loc="outside lower center", frameon=False)
    return _svg(figure, "outcomes")


def turns_svg(matches: Sequence[MatchResult]) -> str:
    """How many turns the games took."""
    figure, axes = _figure(3.0)
    turns = np.concatenate([match.turns.reshape(-1) for match in matches])
    bins = np.histogram_bin_edges(turns, bins=min(40, max(5, int(np.ptp(turns)) + 1)))
    for match in matches:
        axes.hist(match.turns.reshape(-1), bins=bins, histtype="step", density=True, linewidth=1.2)
    axes.set_xlabel("turns of both players in a game")
    axes.set_ylabel("share of games, colours as above")
    return _svg(figure, "turns")


def _colour(name: str) -> str:
    side, _, level = name.partition("_")
    if name in _OTHER:
        return _OTHER[name]
    return (_WON if side == "win" else _LOST)[("single", "gammon", "home", "bar").index(level)]


def _short(name: str, length: int = 34) -> str:
    """A player's name for an axis: long paths keep their end."""
    return name if len(name) <= length else f"{name[:6]}…{name[7 - length :]}"


def _pair(match: MatchResult) -> str:
    return f"{_short(match.a, 22)} : {_short(match.b, 22)}"


def _figure(height_in: float) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
    return figure, figure.subplots()


def _svg(figure: Figure, name: str) -> str:
    """The figure as an SVG element; `name` keeps its ids apart from those of other figures on the page."""
    from matplotlib import rc_context

    out = io.StringIO()
    settings: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": name}  # text stays text
    with rc_context(settings):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = out.getvalue()
    return text[text.index("<svg") :]
