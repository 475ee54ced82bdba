"""`nardy ratings`, `ladder` and `ubgi`: results of many matches, and our nets for other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from agent.cli_arena import command_line, played, show_tournament
from agent.cli_options import JsonOption, NetOption, RulesOption, SeedOption, note_first_compile


def mount(app: typer.Typer) -> None:
    """Add these commands to an app."""
    app.command()(ratings)
    app.command()(ladder)
    app.command()(ubgi)


ReportOption = Annotated[Path | None, typer.Option("--report", help="Also write an HTML page with plots here.")]
AnchorOption = Annotated[str | None, typer.Option("--anchor", help="The player rated 0; else the mean is 0.")]


def ratings(
    results: Annotated[Path, typer.Argument(help="A file that `nardy arena --results` or `nardy ladder` wrote.")],
    rules: Annotated[
        str | None,
        typer.Option("--rules", "-r", help="Only matches of these rules; needed where the file has several."),
    ] = None,
    anchor: AnchorOption = None,
    report: ReportOption = None,
    as_json: JsonOption = False,
) -> None:
    """Rate all players of all matches in a results file."""
    from agent.arena import stored_tournament

    tournament = stored_tournament(results, rules, anchor=anchor)
    show_tournament(tournament, as_json=as_json, report=report, command=command_line())


def ladder(
    rules: RulesOption,
    seed: SeedOption = 1,
    plies: Annotated[str, typer.Option("--plies", help="Depths at which each net plays.")] = "0,1,2",
    share: Annotated[float, typer.Option("--share", help="Part of the standard number of games that is played.")] = 1.0,
    workers: Annotated[int | None, typer.Option("--workers", help="Work side by side; without it all cores.")] = None,
    results: Annotated[
        Path | None, typer.Option("--results", help="File that finished games are kept in and taken from.")
    ] = None,
    report: ReportOption = None,
    anchor: AnchorOption = "random",
    as_json: JsonOption = False,
) -> None:
    """Let the fixed players and every shipped net at each depth meet, and rate them."""
    from agent.ladder import ladder_config, ladder_fixtures
    from engine.rules import get_rules

    bound = get_rules(rules)
    fixtures = ladder_fixtures(bound, ladder_config(plies, share))
    tournament = played(fixtures, bound, seed, report=report, workers=workers, results=results, anchor=anchor)
    show_tournament(tournament, as_json=as_json, report=report, command=command_line())


def ubgi(
    rules: Annotated[str, typer.Option("--rules", "-r", help="Rules of short nardy.")] = "short_backgammon",
    net: NetOption = None,
    plies: Annotated[int, typer.Option("--plies", help="Turns looked ahead.")] = 0,
) -> None:
    """Answer UBGI lines on stdin, so that other programs can play our nets (short nardy)."""
    from agent.evaluator import load_evaluator
    from agent.levels import as_level
    from agent.ubgi_server import UbgiEngine, bounded_lines, serve_ubgi
    from engine.rules import get_rules

    engine = UbgiEngine(load_evaluator(get_rules(rules), net), as_level(plies))
    note_first_compile()
    serve_ubgi(engine, bounded_lines(sys.stdin), sys.stdout)
