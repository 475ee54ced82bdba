"""`nardy analyze` and `convert`: whole games judged play by play, and positions from one form into another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent.cli_options import (
    DiceOption,
    JsonOption,
    LangOption,
    NetOption,
    RulesOption,
    note_first_compile,
    print_json,
)

if TYPE_CHECKING:
    from agent.analysis import AnalysisConfig, MatchAnalysis
    from agent.played import PlayedMatch
    from agent.ranking import Judge

DEFAULT_PLIES = 1
MAX_STDIN = 20_000


def mount(app: typer.Typer) -> None:
    """Add these commands to an app."""
    app.command()(analyze)
    app.command()(convert)


def analyze(
    files: Annotated[list[Path], typer.Argument(help="A .mat file, or one or more game records (.jsonl) of a match.")],
    rules: Annotated[
        str | None, typer.Option("--rules", "-r", help="Rules of a .mat file that does not say them; else backgammon.")
    ] = None,
    plies: Annotated[int | None, typer.Option("--plies", help="Turns looked ahead, 0 to 3; 1 where not given.")] = None,
    level: Annotated[str | None, typer.Option("--level", help="Instead of --plies: fast, good, strong, deep.")] = None,
    filters: Annotated[
        str | None, typer.Option("--filter", help="Who is judged deeper: KEEP:WITHIN for each ply, such as 8:0.16.")
    ] = None,
    marks: Annotated[
        str | None, typer.Option("--marks", help="Losses from which a play is doubtful, an error, a blunder.")
    ] = None,
    net: NetOption = None,
    worst: Annotated[int, typer.Option("--worst", min=0, help="How many of the worst plays to list.")] = 10,
    all_plays: Annotated[bool, typer.Option("--all", help="List every play.")] = False,
    html: Annotated[Path | None, typer.Option("--html", help="Also write a page with boards and curves here.")] = None,
    mat: Annotated[Path | None, typer.Option("--mat", help="Also write the games as a .mat file here.")] = None,
    lang: LangOption = "en",
    as_json: JsonOption = False,
) -> None:
    """Judge whole games: what each play lost, how lucky the rolls were, illegal plays, the result without luck."""
    from agent.analysis_words import say
    from agent.game_files import read_games
    from agent.lang import as_lang
    from agent.suggest import as_judge

    words, config = as_lang(lang), _config(plies, level, filters, marks)
    note_first_compile()
    match = read_games(files, rules)
    if html is not None:
        from agent.html_page import check_page

        check_page(html)
    if mat is not None:
        from agent.matfile import write_match

        write_match(match, mat)
    analysis = _judged(match, as_judge(match.rules, net), config)
    if as_json:
        from agent.analysis_schema import analysis_dict

        print_json(analysis_dict(analysis))
    else:
        from agent.analysis_report import show

        show(analysis, lang=words, worst=worst, all_plays=all_plays)
    if html is not None:
        from agent.analysis_report import write_html

        sys.stdout.flush()  # the analysis is shown before a page can fail to be written
        write_html(analysis, html, lang=words)
    if as_json:
        return
    for key, path in (("mat_written", mat), ("html_written", html)):
        if path is not None:
            typer.echo(say(key, words, path=path))


def convert(
    position: Annotated[
        str, typer.Argument(help="start, GNUBG ID, XGID, JSON rows, me{24:15} opp{24:15}, or - for a board on stdin.")
    ],
    rules: RulesOption,
    dice: DiceOption = None,
    to: Annotated[str | None, typer.Option("--to", help="Only this form: gnubg, xgid, rows, counts or board.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Write a position in every form, and say what each form cannot hold and what was lost."""
    from agent.convert import convert as converted
    from engine.rules import get_rules

    text = sys.stdin.read(MAX_STDIN) if position == "-" else position
    answer = converted(text, get_rules(rules), dice)
    if to is not None:
        form = answer.form(to)
        if form.lost:
            print(f"nardy: {to} leaves out or makes up: {'; '.join(form.lost)}", file=sys.stderr)
        if not as_json:
            typer.echo(form.text)
            return
    if as_json:
        print_json(answer.to_dict())
        return
    roll = "" if answer.dice is None else f"  dice {answer.dice[0]}:{answer.dice[1]}"
    typer.echo(f"rules {answer.rules}  read as {answer.position.source}{roll}")
    for form in answer.forms:
        shown = "-" if form.text is None else form.text
        gap = "\n" if "\n" in shown else ""
        typer.echo(f"\n{form.name:<8}{gap}{shown}")
        typer.echo(f"        cannot hold: {', '.join(form.cannot_hold)}")
        if form.text is not None and form.lost:
            typer.echo(f"        here: {'; '.join(form.lost)}")


def _config(plies: int | None, level: str | None, filters: str | None, marks: str | None) -> AnalysisConfig:
    from agent.analysis import AnalysisConfig
    from agent.suggest import chosen_level
    from engine.errors import ConfigError

    depth = chosen_level(DEFAULT_PLIES if plies is None and level is None else plies, level, filters)
    if marks is None:
        return AnalysisConfig(level=depth)
    try:
        first, second, third = (float(part) for part in marks.split(","))
    except ValueError as error:
        raise ConfigError(f"--marks takes three losses such as 0.02,0.04,0.08, got {marks[:40]!r}") from error
    return AnalysisConfig(level=depth, marks=(first, second, third))


def _judged(match: PlayedMatch, judge: Judge, config: AnalysisConfig) -> MatchAnalysis:
    from tqdm import tqdm

    from agent.analysis import analyze as judged

    with tqdm(total=match.turns, unit=" turns", disable=not sys.stderr.isatty()) as bar:
        return judged(match, judge, config, progress=bar.update)
