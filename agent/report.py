"""A tournament as one HTML page: who played what, tables, ratings and plots, with all that is needed to repeat it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from agent.arena import Tournament, versions
from agent.html_page import check_page, html_page
from agent.match_result import MIN_PAIRS, MatchResult, Mean, fault_counts
from agent.outside import FORFEIT_RULE
from engine.whole_file import write_whole

_STAY = "\u00a0"  # a space that no line breaks at, within a figure
_STYLE = """
th:first-child, td:first-child { text-align: left; }
.wide th, .wide td { white-space: normal; }
.wide td:first-child { overflow-wrap: anywhere; min-width: 11rem; max-width: 30rem; }
td.text { white-space: normal; overflow-wrap: anywhere; }
.even { opacity: .45; } .sure { font-weight: 700; }
"""


def check_report(path: str | Path) -> None:
    """Whether a report can be written there and drawn, to be asked before hours of play.

    Raises:
        ConfigError: its folder does not exist, or it is a folder.
        ModuleNotFoundError: matplotlib is not installed (extra `report`).
    """
    import matplotlib  # noqa: F401

    check_page(path)


def write_report(tournament: Tournament, path: str | Path, *, command: str | None = None) -> None:
    """Write `tournament_html` to a file, whole or not at all.

    Args:
        tournament: what was played.
        path: the HTML file.
        command: the command line that repeats it, shown on the page.
    Raises:
        OSError: the file cannot be written.
        ModuleNotFoundError: matplotlib is not installed (extra `report`).
    """
    write_whole(path, tournament_html(tournament, command=command).encode())


def tournament_html(tournament: Tournament, *, command: str | None = None, with_plots: bool = True) -> str:
    """One page without outside parts.

    Args:
        tournament: what was played.
        command: the command line that repeats it.
        with_plots: whether to draw; needs matplotlib.
    """
    matches = tournament.matches
    games = sum(match.games for match in matches)
    has_luck = any(match.luck is not None for match in matches)
    title = f"Arena: {games} games of {tournament.rules}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        _facts(tournament, command),
        "<h2>Matches</h2>",
        "<p>Points per game (ppg) and wins of the player named first, with standard errors over pairs of games; "
        "where all pairs gave the same, a 95 % interval of the wins. Bold: zero lies outside the 95 % interval.</p>",
        _table(_match_head(has_luck), [_match_row(match, has_luck) for match in matches]),
    ]
    if len(matches) > 1:
        parts += ["<h2>Everyone against everyone</h2><p>Points per game of the row against the column.</p>"]
        parts += [_crosstable(tournament)]
    parts += ["<h2>Ratings</h2>", _ratings_table(tournament)]
    if with_plots:
        parts += _plots(tournament)
    parts += ["<h2>Outcomes</h2>", _outcome_table(matches), _forfeits(matches), "<h2>Players</h2>", _players(matches)]
    return html_page(title, parts, style=_STYLE)


def _facts(tournament: Tournament, command: str | None) -> str:
    shown = {"rules": str(tournament.rules), "seed": str(tournament.seed)}
    shown["dice"] = "paired: each sequence is played twice with seats swapped"
    shown["versions"] = ", ".join(f"{name} {version}" for name, version in versions().items())
    shown["written"] = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    if command:
        shown["command"] = command
    cells = [f'<tr><td>{name}</td><td class="text">{escape(text)}</td></tr>' for name, text in shown.items()]
    return f"<table>{''.join(cells)}</table>"


def _match_head(has_luck: bool) -> list[str]:
    luck = ["ppg less luck", "wins less luck"] if has_luck else []
    return ["match", "games", "ppg", "95 %", "wins", *luck, "turns", "games/s", "games to decide"]


def _match_row(match: MatchResult, has_luck: bool) -> list[str]:
    """Cells under `_match_head`; those of luck stay empty for a match that measured none."""
    low, high = match.ppg_mean.interval
    is_told = match.ppg_mean.has_error
    sure = "sure" if is_told and match.pairs >= MIN_PAIRS and (low > 0 or high < 0) else ""
    adjusted = ["", ""] if has_luck else []
    if match.adjusted_ppg is not None and match.adjusted_win_rate is not None:
        adjusted = [_signed(match.adjusted_ppg), _percent(match.adjusted_win_rate)]
    decide = match.games_to_decide
    return [
        f"{escape(match.a)} : {escape(match.b)}",
        str(match.games),
        f'<span class="{sure}">{_signed(match.ppg_mean)}</span>',
        f"{low:+.3f} to{_STAY}{high:+.3f}" if is_told else "",
        _win_rate(match),
        *adjusted,
        f"{match.turns_per_game:.1f}",
        f"{match.games_per_s:.1f}",
        "too few to tell" if decide is None and match.ppg != 0.0 else str(decide or ""),
    ]


def _crosstable(tournament: Tournament) -> str:
    names = [rating.player for rating in tournament.ratings.players]
    cells: dict[tuple[str, str], str] = {}
    for match in tournament.matches:
        mean = match.ppg_mean
        cells[match.a, match.b] = _signed(mean)
        cells[match.b, match.a] = _signed(Mean(0.0 - mean.value, mean.se))  # never minus zero
    rows = [
        [
            f"{place}. {escape(row)}",
            *('<span class="even">·</span>' if row == col else cells.get((row, col), "") for col in names),
        ]
        for place, row in enumerate(names, start=1)
    ]
    return _table(["", *(str(place) for place in range(1, len(names) + 1))], rows)


def _ratings_table(tournament: Tournament) -> str:
    rows = [
        [escape(r.player), f"{r.elo:+.0f} ±{_STAY}{r.se:.0f}", str(r.games), f"{100 * r.score:.1f} %", f"{r.ppg:+.3f}"]
        for r in tournament.ratings.players
    ]
    anchor = tournament.ratings.anchor
    text = f"Bradley-Terry on the Elo scale, {escape(anchor) if anchor else 'the mean'} = 0, with standard errors."
    if tournament.ratings.caution:
        text += f" <b>{escape(tournament.ratings.caution)}</b>"
    return f"<p>{text}</p>" + _table(["player", "Elo", "games", "score", "ppg"], rows)


def _plots(tournament: Tournament) -> list[str]:
    from agent import report_plots as plots

    drawn = [plots.ratings_svg(tournament.ratings)] if len(tournament.ratings.players) > 2 else []
    drawn.append(plots.outcomes_svg(tournament.matches))
    if len(tournament.matches) <= plots.MAX_LINES:
        drawn += [plots.progress_svg(tournament.matches), plots.turns_svg(tournament.matches)]
    return [f"<figure>{svg}</figure>" for svg in drawn]


def _outcome_table(matches: Sequence[MatchResult]) -> str:
    names = list(dict.fromkeys(name for match in matches for name in match.outcome_counts))
    rows = [
        [f"{escape(m.a)} : {escape(m.b)}", *(str(m.outcome_counts.get(name, 0)) for name in names)] for m in matches
    ]
    return _table(["match", *(name.replace("_", " ") for name in names)], rows)


def _forfeits(matches: Sequence[MatchResult]) -> str:
    counts = fault_counts([fault for match in matches for fault in match.faults])
    if not counts:
        return ""
    rows = [[escape(name), str(games), escape(first)] for name, games, first in counts]
    return f"<h2>Forfeited games</h2><p>{escape(FORFEIT_RULE)}</p>" + _table(["player", "games", "the first"], rows)


def _players(matches: Sequence[MatchResult]) -> str:
    info: dict[str, dict[str, Any]] = {}
    for match in matches:
        info[match.a] = match.info.get("a", {})
        info[match.b] = match.info.get("b", {})
    rows = [
        [escape(name), escape(", ".join(f"{key} {value}" for key, value in said.items() if key != "name"))]
        for name, said in info.items()
    ]
    return _table(["player", "plays with"], rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    assert all(len(row) == len(head) for row in rows), "each row has a cell in every column"
    header = "".join(f"<th>{cell}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{header}</tr></thead><tbody>{body}</tbody></table></div>'


def _signed(mean: Mean) -> str:
    return f"{mean.value:+.4f} ±{_STAY}{mean.se:.4f}" if mean.has_error else f"{mean.value:+.4f}"


def _percent(mean: Mean) -> str:
    shown = f"{100 * mean.value:.1f}{_STAY}%"
    return f"{shown} ±{_STAY}{100 * mean.se:.1f}" if mean.has_error else shown


def _win_rate(match: MatchResult) -> str:
    low, high = match.win_rate_interval
    shown = _percent(match.win_rate_mean)
    return shown if match.win_rate_mean.has_error else f"{shown} ({100 * low:.1f} to{_STAY}{100 * high:.1f})"
