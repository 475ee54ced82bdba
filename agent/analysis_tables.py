"""The tables of an analysis as rows of text: what the terminal and the HTML page both show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from agent.analysis import ILLEGAL, MARKS, MPT, Figures, GameAnalysis, MatchAnalysis, TurnAnalysis
from agent.analysis_words import say
from agent.lang import number, reason_text, text
from agent.match_result import Mean

LONGEST_NAME = 24
LONGEST_HEADING = 12

Pair = tuple[GameAnalysis, TurnAnalysis]


class Table(NamedTuple):
    """Headings, rows of cells, and how many columns from the first on hold words."""

    columns: list[str]
    rows: list[list[str]]
    left: int


def short_name(name: str, longest: int = LONGEST_NAME) -> str:
    """A player's name for a column: a long path keeps its end."""
    return name if len(name) <= longest else f"{name[: longest // 4]}…{name[longest // 4 + 1 - longest :]}"


def heading(analysis: MatchAnalysis, lang: str) -> list[str]:
    """What was judged, and how, in a few lines."""
    match, marks = analysis.match, analysis.config.marks
    shown = dict(zip(MARKS, (number(mark, lang, 2, is_signed=False) for mark in marks), strict=True))
    length = say("money", lang) if match.length is None else say("length", lang, length=match.length)
    return [
        f"{say('title', lang, first=match.players[0], second=match.players[1])}  {length}",
        say("heading", lang, rules=match.rules, net=analysis.net_name, level=analysis.config.level),
        say("marks", lang, **shown),
    ]


def players_table(analysis: MatchAnalysis, lang: str) -> Table:
    """Each player's figures over all games."""
    words = ("player", "plays", "unforced", "error_rate", "pr", *MARKS, ILLEGAL, "luck")
    rows = [
        [short_name(name), str(f.plays), str(f.unforced), *rate_cells(f, lang), *_counts(f), number(f.luck, lang)]
        for name, f in zip(analysis.match.players, analysis.figures, strict=True)
    ]
    return Table([say(word, lang) for word in words], rows, 1)


def rate_cells(figures: Figures, lang: str) -> list[str]:
    """Error rate with its standard error, and PR; empty where there was no choice."""
    if not figures.unforced:
        return ["", ""]
    rate = number(figures.error_rate_mpt, lang, 2, is_signed=False)
    if math.isfinite(figures.error_rate.se):
        rate += f" +- {number(MPT * figures.error_rate.se, lang, 2, is_signed=False)}"
    return [rate, number(figures.pr, lang, 2, is_signed=False)]


def games_table(analysis: MatchAnalysis, lang: str) -> Table:
    """Each game: how it ended, the players' PR, and its points with and without luck."""
    first, second = (short_name(name, LONGEST_HEADING) for name in analysis.match.players)
    columns = [say("game", lang), say("score", lang), say("result", lang), say("turns", lang)]
    columns += [f"PR {first}", f"PR {second}", say("points", lang, name=first), say("luck", lang)]
    rows = [
        [
            str(entry.game.number),
            "-".join(f"{points:g}" for points in entry.game.score),
            result_text(entry, analysis, lang),
            str(len(entry.turns)),
            *(rate_cells(figures, lang)[1] for figures in entry.figures),
            _value(entry, lang),
            *_luck_cells(entry, lang),
        ]
        for entry in analysis.games
    ]
    return Table([*columns, say("adjusted", lang)], rows, 3)


def result_text(entry: GameAnalysis, analysis: MatchAnalysis, lang: str) -> str:
    """How a game ended."""
    game, names = entry.game, [short_name(name) for name in analysis.match.players]
    if game.winner is None:
        return say("draw" if game.result is not None else "no_end", lang)
    data = {"name": names[game.winner], "other": names[1 - game.winner]}
    if game.result is None:
        return say("dropped" if any(a.action == "drop" for a in game.cube) else "no_end", lang, **data)
    return say(game.result.how, lang, level=text(str(game.result.level), lang), **data)


def per_game(analysis: MatchAnalysis, lang: str) -> str:
    """Points per game with and without luck, in one line."""
    name = short_name(analysis.match.players[0])
    return say("per_game", lang, name=name, ppg=_mean(analysis.ppg, lang), adjusted=_mean(analysis.adjusted_ppg, lang))


def turns_table(pairs: Sequence[Pair], analysis: MatchAnalysis, lang: str) -> Table:
    """Plays with what they lost, one a row."""
    words = ("game", "turn", "player", "dice", "played", "best", "equity", "loss", "luck", "level", "mark")
    columns = [text(word, lang) if word == "level" else say(word, lang) for word in words]
    return Table(columns, [_turn_row(game, turn, analysis, lang) for game, turn in pairs], 6)


def illegal_table(analysis: MatchAnalysis, lang: str) -> Table:
    """Plays against the rules, each with the rule it breaks."""
    words = ("game", "turn", "player", "dice", "played", "why")
    rows = []
    for game, turn in analysis.illegal:
        assert turn.turn.reason is not None
        rows.append([*_place(game, turn, analysis), turn.play_text, reason_text(turn.turn.reason, lang)])
    return Table([say(word, lang) for word in words], rows, 6)


def notes(analysis: MatchAnalysis) -> list[str]:
    """What was odd about the file and its games."""
    return [*analysis.match.notes, *(note for game in analysis.match.games for note in game.notes)]


def mark_text(mark: str, lang: str) -> str:
    """A mark in words; empty for none."""
    return say(mark, lang) if mark else ""


def _place(game: GameAnalysis, turn: TurnAnalysis, analysis: MatchAnalysis) -> list[str]:
    dice = f"{turn.turn.dice[0]}:{turn.turn.dice[1]}"
    name = short_name(analysis.match.players[turn.turn.player])
    return [str(game.game.number), str(turn.number), name, dice]


def _turn_row(game: GameAnalysis, turn: TurnAnalysis, analysis: MatchAnalysis, lang: str) -> list[str]:
    is_made = turn.turn.afterstate is not None
    is_better = turn.best is not None and (turn.loss is None or turn.loss > 0.0)
    return [
        *_place(game, turn, analysis),
        turn.play_text if is_made else say("not_played", lang),
        turn.best_text if is_better else "",
        "" if turn.equity is None else number(turn.equity, lang),
        "" if turn.loss is None else number(turn.loss, lang, is_signed=False),
        number(turn.luck, lang),
        turn.level,
        mark_text(turn.mark, lang),
    ]


def _counts(figures: Figures) -> list[str]:
    return [str(figures.counts[mark]) for mark in (*MARKS, ILLEGAL)]


def _value(entry: GameAnalysis, lang: str) -> str:
    if entry.value is None:
        return ""
    return ("~" if entry.is_estimated else "") + number(entry.value, lang)


def _luck_cells(entry: GameAnalysis, lang: str) -> list[str]:
    """Luck that led to the value of a game, and the value without it; a roll after an estimated position is no part."""
    if entry.value is None or entry.adjusted is None:
        return ["", ""]
    return [number(entry.value - entry.adjusted, lang), number(entry.adjusted, lang)]


def _mean(mean: Mean, lang: str) -> str:
    if not math.isfinite(mean.value):
        return "-"
    shown = number(mean.value, lang)
    return f"{shown} +- {number(mean.se, lang, is_signed=False)}" if math.isfinite(mean.se) else shown
