"""`nardy arena` and `referee`: how strong players are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.cli_options import JsonOption, RulesOption, SeedOption, note_first_compile, print_json
from agent.cli_table import print_table

if TYPE_CHECKING:
    from agent.arena import Tournament


def mount(app: typer.Typer) -> None:
    """Add these commands to an app."""
    app.command()(arena)


def arena(
    players: Annotated[
        list[str],
        typer.Argument(help="Two or more, such as random, heuristic, net, net@1ply, net:PATH, py:MODULE:NAME."),
    ],
    rules: RulesOption,
    games: Annotated[int, typer.Option("--games", help="Games of each two players; even, for dice are paired.")] = 1000,
    seed: SeedOption = 1,
    luck: Annotated[
        str | None, typer.Option("--luck", help="Take off the luck of the rolls by this net: a path, or net.")
    ] = None,
    workers: Annotated[int | None, typer.Option("--workers", help="Work side by side; without it all cores.")] = None,
    results: Annotated[
        Path | None, typer.Option("--results", help="File that finished games are kept in and taken from.")
    ] = None,
    anchor: Annotated[str | None, typer.Option("--anchor", help="The player rated 0; else the mean is 0.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Let players meet over paired dice: points per game, win rate and ratings, with their errors."""
    from agent.arena import pairs_of_games, round_robin, run_tournament

    fixtures = round_robin(players, pairs_of_games(games), luck)
    note_first_compile()
    tournament = run_tournament(
        fixtures, rules, seed, workers=workers, results=results, show_progress=sys.stderr.isatty(), anchor=anchor
    )
    if as_json:
        print_json(_tournament_dict(tournament))
        return
    for match in tournament.matches:
        typer.echo(match.summary() + "\n")
    if len(players) > 2:
        _print_ratings(tournament)


def _tournament_dict(tournament: Tournament) -> dict[str, Any]:
    """The match itself where there is one; else all matches and the ratings."""
    if len(tournament.matches) == 1:
        return tournament.matches[0].to_dict()
    ratings = [{key: getattr(r, key) for key in _RATING_KEYS} for r in tournament.ratings.players]
    return {
        "rules": str(tournament.rules),
        "seed": tournament.seed,
        "anchor": tournament.ratings.anchor,
        "ratings": ratings,
        "matches": [match.to_dict() for match in tournament.matches],
    }


_RATING_KEYS = ("player", "elo", "se", "games", "score", "ppg")


def _print_ratings(tournament: Tournament) -> None:
    anchor = tournament.ratings.anchor
    typer.echo(f"ratings, {tournament.rules}, seed {tournament.seed}, {anchor or 'the mean'} = 0")
    rows = [
        [r.player, f"{r.elo:+.0f}", f"{r.se:.0f}", str(r.games), f"{100 * r.score:.1f}", f"{r.ppg:+.4f}"]
        for r in tournament.ratings.players
    ]
    print_table(["player", "Elo", "+-", "games", "score %", "ppg"], rows)
