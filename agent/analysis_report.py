"""An analysis for readers: as text on the terminal, and as one HTML page with boards and equity curves."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from agent.analysis import ILLEGAL, GameAnalysis, MatchAnalysis, TurnAnalysis
from agent.analysis_tables import (
    Table,
    games_table,
    heading,
    illegal_table,
    mark_text,
    notes,
    per_game,
    players_table,
    short_name,
    turns_table,
)
from agent.analysis_words import say
from agent.cli_table import print_table
from agent.html_page import html_page
from agent.lang import number
from agent.svg import board_svg, play_arrows
from engine.steps import play_steps
from engine.whole_file import write_whole

MAX_BOARDS = 40  # pictures on a page: the plays that lost most
BOARD_PX = 460
_CURVE_WIDTH, _CURVE_HEIGHT = 560.0, 170.0
_CURVE_LEFT, _CURVE_EDGE = 52.0, 14.0  # the left one holds the figures
_CURVE_FONT = 16  # still 10 px high where a phone shows the picture
_MOST_TURNS_SHOWN = 5000  # rows of the last table; a longer match names its worst plays only

_STYLE = """
tr.doubtful td { background: #d6a80022; } tr.error td { background: #e0700033; }
tr.blunder td { background: #d0302044; } tr.illegal td { background: #8030d033; }
.boards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(24rem, 100%), 1fr)); gap: 1rem; }
.curves { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(32rem, 100%), 1fr)); gap: .6rem; }
figure { margin: 0; } figcaption { font-size: .9rem; }
summary { cursor: pointer; }
"""


def show(analysis: MatchAnalysis, *, lang: str = "en", worst: int = 10, all_plays: bool = False) -> None:
    """Print an analysis: figures, games, the worst plays, illegal ones and notes.

    Args:
        analysis: what `agent.analysis.analyze` gave.
        lang: `en` or `ru`.
        worst: how many of the plays that lost most to list; 0 leaves the list out.
        all_plays: also list every turn.
    """
    print("\n".join(heading(analysis, lang)))
    _print(players_table(analysis, lang))
    print(say("rates", lang))
    _print(games_table(analysis, lang))
    if any(game.is_estimated for game in analysis.games):
        print(say("estimated", lang))
    print(per_game(analysis, lang))
    if worst:
        found = analysis.worst(worst)
        print(f"\n{say('worst' if found else 'none_worst', lang)}")
        if found:
            _print(turns_table(found, analysis, lang))
    if analysis.illegal:
        print(f"\n{say('illegal_plays', lang)}")
        _print(illegal_table(analysis, lang))
    if all_plays:
        print(f"\n{say('all_plays', lang)}")
        _print(turns_table(list(analysis.turns), analysis, lang))
    for note in notes(analysis):
        print(f"- {note}")


def write_html(analysis: MatchAnalysis, path: str | Path, *, lang: str = "en") -> None:
    """Write `analysis_html` to a file, whole or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    write_whole(path, analysis_html(analysis, lang=lang).encode())


def analysis_html(analysis: MatchAnalysis, *, lang: str = "en") -> str:
    """One page without outside parts: figures, games, equity curves, boards of the errors, every play.

    Args:
        analysis: what `agent.analysis.analyze` gave.
        lang: `en` or `ru`.
    """
    match = analysis.match
    title = say("title", lang, first=short_name(match.players[0]), second=short_name(match.players[1]))
    facts = "<br>".join(escape(line) for line in heading(analysis, lang)[1:])
    parts = [f"<h1>{escape(title)}</h1>", f"<p>{facts}</p>"]
    parts += [_section("players", players_table(analysis, lang), lang), f"<p>{escape(say('rates', lang))}</p>"]
    parts += [_section("games", games_table(analysis, lang), lang), f"<p>{escape(per_game(analysis, lang))}</p>"]
    if any(game.is_estimated for game in analysis.games):
        parts.append(f"<p>{escape(say('estimated', lang))}</p>")
    parts += [f"<h2>{escape(say('curves', lang))}</h2>", f"<p>{escape(_curve_text(analysis, lang))}</p>"]
    curves = "\n".join(_curve_figure(game, lang) for game in analysis.games if game.turns)
    parts.append(f'<div class="curves">{curves}</div>')
    shown = analysis.worst(MAX_BOARDS, at_least=analysis.config.marks[1])
    if shown:
        boards = "\n".join(_board_figure(game, turn, analysis, lang) for game, turn in shown)
        parts += [f"<h2>{escape(say('worst', lang))}</h2>", f'<div class="boards">{boards}</div>']
    if analysis.illegal:
        parts.append(_section("illegal_plays", illegal_table(analysis, lang), lang))
    parts += _notes(analysis, lang)
    pairs = list(analysis.turns)[:_MOST_TURNS_SHOWN]
    table = _html_table(turns_table(pairs, analysis, lang), [turn.mark for _, turn in pairs])
    parts.append(f"<details><summary>{escape(say('all_plays', lang))}</summary>{table}</details>")
    return html_page(title, parts, style=_STYLE, lang=lang)


def curve_svg(game: GameAnalysis) -> str:
    """Equity of player 0 after each turn of a game as an SVG document."""
    values = [
        (place, turn.equity * (1 - 2 * turn.turn.player), turn.mark)
        for place, turn in enumerate(game.turns)
        if turn.equity is not None
    ]
    top = max([1.0, *(abs(value) for _, value, _ in values)])
    middle, half = _CURVE_HEIGHT / 2, _CURVE_HEIGHT / 2 - _CURVE_EDGE
    across = (_CURVE_WIDTH - _CURVE_LEFT - _CURVE_EDGE) / max(len(game.turns) - 1, 1)
    points = [(_CURVE_LEFT + across * place, middle - half * value / top, mark) for place, value, mark in values]
    lines = [_rule_svg(middle - half * level / top, level) for level in (-top, 0.0, top)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
    lines.append(f'<polyline points="{path}" fill="none" stroke="#1f4e79" stroke-width="1.6"/>')
    lines += [_mark_svg(x, y, mark) for x, y, mark in points if mark]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_CURVE_WIDTH:g} {_CURVE_HEIGHT:g}" role="img" '
        f'font-family="system-ui, sans-serif"><title>{game.game.number}</title>' + "".join(lines) + "</svg>"
    )


def _rule_svg(y: float, level: float) -> str:
    x = _CURVE_WIDTH - _CURVE_EDGE
    shown = f"{level:+.2g}" if level else "0"
    return (
        f'<line x1="{_CURVE_LEFT:g}" y1="{y:.1f}" x2="{x:g}" y2="{y:.1f}" stroke="#ccc" stroke-width="1"/>'
        f'<text x="{_CURVE_LEFT - 6:g}" y="{y + _CURVE_FONT / 3:.1f}" font-size="{_CURVE_FONT}" text-anchor="end" '
        f'fill="#444">{shown}</text>'
    )


def _mark_svg(x: float, y: float, mark: str) -> str:
    if mark == ILLEGAL:
        path = f"M{x - 4:.1f},{y - 4:.1f} l8,8 m0,-8 l-8,8"
        return f'<path d="{path}" stroke="#8030d0" stroke-width="2" fill="none"/>'
    radius, colour = {"doubtful": (0.0, ""), "error": (3.0, "#e07000"), "blunder": (4.5, "#d03020")}[mark]
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}"/>' if radius else ""


def _curve_text(analysis: MatchAnalysis, lang: str) -> str:
    return say("curve", lang, name=short_name(analysis.match.players[0]))


def _curve_figure(game: GameAnalysis, lang: str) -> str:
    caption = f"{say('game', lang)} {game.game.number}"
    return f"<figure>{curve_svg(game)}<figcaption>{escape(caption)}</figcaption></figure>"


def _board_figure(game: GameAnalysis, turn: TurnAnalysis, analysis: MatchAnalysis, lang: str) -> str:
    played, best = turn.turn.afterstate, turn.best
    assert played is not None and best is not None and turn.equity is not None and turn.best_equity is not None
    board, dice, rules = turn.turn.board, turn.turn.dice, turn.rules
    arrows = play_arrows(play_steps(board, dice, best, rules), 0)
    arrows += play_arrows(play_steps(board, dice, played, rules), 1)
    captions = [
        say("caption_best", lang, play=turn.best_text, equity=turn.best_equity),
        say("caption_played", lang, play=turn.play_text, equity=turn.equity),
    ]
    svg = board_svg(board, rules, dice=dice, arrows=arrows, captions=captions, size=BOARD_PX)
    name = short_name(analysis.match.players[turn.turn.player])
    place = f"{say('game', lang)} {game.game.number}, {say('turn', lang)} {turn.number}: {name}"
    lost = f"{say('loss', lang)} {number(turn.loss or 0.0, lang, is_signed=False)} ({mark_text(turn.mark, lang)})"
    return f"<figure><figcaption>{escape(place)}. {escape(lost)}</figcaption>{svg}</figure>"


def _section(title: str, table: Table, lang: str) -> str:
    return f"<h2>{escape(say(title, lang))}</h2>{_html_table(table)}"


def _html_table(table: Table, classes: Sequence[str] = ()) -> str:
    def cell(tag: str, place: int, text: str) -> str:
        kind = ' class="text"' if place < table.left else ""
        return f"<{tag}{kind}>{escape(text)}</{tag}>"

    head = "".join(cell("th", place, text) for place, text in enumerate(table.columns))
    body = []
    for line, row in enumerate(table.rows):
        kind = f' class="{classes[line]}"' if classes and classes[line] else ""
        body.append(f"<tr{kind}>" + "".join(cell("td", place, text) for place, text in enumerate(row)) + "</tr>")
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>'


def _notes(analysis: MatchAnalysis, lang: str) -> list[str]:
    items = "".join(f"<li>{escape(note)}</li>" for note in notes(analysis))
    return [f"<h2>{escape(say('notes', lang))}</h2><ul>{items}</ul>"] if items else []


def _print(table: Table) -> None:
    print_table(table.columns, table.rows, left=table.left)
