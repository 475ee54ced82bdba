"""`nardy arena`, `referee` and `calibrate`: how strong players are, and how true their chances."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.cli_options import JsonOption, NetOption, RulesOption, SeedOption, note_first_compile, print_json
from agent.cli_table import print_table

if TYPE_CHECKING:
    from agent.arena import Fixture, Tournament
    from engine.rules import Rules


def mount(app: typer.Typer) -> None:
    """Add these commands to an app."""
    app.command()(arena)
    app.command()(referee)
    app.command()(calibrate)


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
    report: Annotated[Path | None, typer.Option("--report", help="Also write an HTML page with plots here.")] = None,
    export_mat: Annotated[
        Path | None, typer.Option("--export-mat", help="Also write the games as .mat files into this folder.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Let players meet over paired dice: points per game, win rate and ratings, with their errors."""
    from agent.arena import pairs_of_games, round_robin
    from engine.rules import get_rules

    fixtures = round_robin(players, pairs_of_games(games), luck)
    bound = get_rules(rules)
    if export_mat is not None:
        from agent.arena_games import check_export

        check_export(games, bound)
        export_mat.mkdir(parents=True, exist_ok=True)  # a wrong folder is found before the first game
    settings: dict[str, Any] = {"workers": workers, "results": results, "anchor": anchor}
    settings["keep_plays"] = export_mat is not None
    tournament = played(fixtures, bound, seed, report=report, **settings)
    show_tournament(tournament, as_json=as_json, report=report, command=command_line())
    if export_mat is not None:
        _export(tournament, export_mat)


def played(
    fixtures: Sequence[Fixture], rules: Rules, seed: int, *, results: Path | None, report: Path | None, **settings: Any
) -> Tournament:
    """The tournament, with a bar on a terminal; what would stop its report is found before the first game.

    Raises:
        KeyboardInterrupt: Ctrl-C, after saying how to go on.
    """
    from agent.arena import run_tournament

    if report is not None:
        from agent.report import check_report

        check_report(report)
    note_first_compile()
    is_shown = sys.stderr.isatty()
    try:
        return run_tournament(fixtures, rules, seed, results=results, show_progress=is_shown, **settings)
    except KeyboardInterrupt:
        kept = f"what is finished is kept in {results}, and" if results else "with --results FILE"
        print(f"nardy: stopped; {kept} the same command goes on from there", file=sys.stderr)
        raise


def show_tournament(tournament: Tournament, *, as_json: bool, report: Path | None, command: str) -> None:
    """All matches and ratings on stdout, as text or JSON, and on an HTML page where one is asked for."""
    if as_json:
        print_json(_tournament_dict(tournament))
    else:
        _print_tournament(tournament)
    if report is None:
        return
    from agent.report import write_report

    sys.stdout.flush()  # what was played is shown before a page can fail to be written
    write_report(tournament, report, command=command)
    if not as_json:
        typer.echo(f"report written to {report}")


def _print_tournament(tournament: Tournament) -> None:
    from agent.outside import FORFEIT_RULE

    for match in tournament.matches:
        typer.echo(match.summary() + "\n")
    if any(match.faults for match in tournament.matches):
        typer.echo(FORFEIT_RULE + "\n")
    _print_nets(tournament)
    if len(tournament.matches) > 1:
        _print_ratings(tournament)


def _export(tournament: Tournament, folder: Path) -> None:
    from agent.arena_games import write_games

    files = write_games(tournament.matches, folder)
    print(f"nardy: {len(files)} match file{'s' if len(files) > 1 else ''} written to {folder}", file=sys.stderr)


def command_line() -> str:
    """The command that is running, to be repeated."""
    return shlex.join(["nardy", *sys.argv[1:]])


def referee(
    file: Annotated[Path, typer.Argument(help="Decisions with reference equities, an .npz file.")],
    player: Annotated[str, typer.Option("--player", help="Who is measured, such as net@1ply or gnubg0.")] = "net",
    calibrated: Annotated[
        bool, typer.Option("--calibration", help="Also compare the values of a net with the reference's.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """How much equity a player loses per decision, in millipoints by class of position."""
    from agent.net_players import NetPlayer
    from agent.players import make_player
    from agent.referee import RULES_OF_REFERENCE, calibration, error_rate, load_referee
    from engine.errors import ConfigError

    decisions = load_referee(file)
    measured = make_player(player, RULES_OF_REFERENCE)
    if calibrated and not isinstance(measured, NetPlayer):
        raise ConfigError(f"--calibration compares the values of a net, {player} is none")
    note_first_compile()
    result = error_rate(measured, decisions)
    answer: dict[str, Any] = result.to_dict() | {"info": getattr(measured, "info", {})}
    lines = [result.table(), *_info_lines({result.player: answer["info"]})]
    if calibrated and isinstance(measured, NetPlayer):
        values = calibration(measured.judge, decisions)
        answer["calibration"] = values.to_dict()
        lines.append("\n" + values.table())
    if as_json:
        print_json(answer)
        return
    typer.echo("\n".join(lines))


def calibrate(
    rules: RulesOption,
    net: NetOption = None,
    games: Annotated[int, typer.Option("--games", help="Games of the net against itself.")] = 20_000,
    seed: SeedOption = 1,
    as_json: JsonOption = False,
) -> None:
    """Whether a net's chances come true in its own games: one random position of each against how it ended."""
    from agent.calibration import self_calibration
    from agent.evaluator import load_evaluator

    judge = load_evaluator(rules, net)
    note_first_compile()
    result = self_calibration(judge.net, judge.rules, games=games, seed=seed, show_progress=sys.stderr.isatty())
    if as_json:
        print_json(result.to_dict())
        return
    typer.echo(result.table())


def _print_nets(tournament: Tournament) -> None:
    """What each player says of itself: its net and depth."""
    infos: dict[str, dict[str, Any]] = {}
    for match in tournament.matches:
        infos |= {match.a: match.info.get("a", {}), match.b: match.info.get("b", {})}
    for line in _info_lines(infos):
        typer.echo(line)


def _info_lines(infos: Mapping[str, Mapping[str, Any]]) -> list[str]:
    facts = {name: {k: v for k, v in info.items() if k != "name"} for name, info in infos.items()}
    return [f"{name}: " + ", ".join(f"{k} {v}" for k, v in known.items()) for name, known in facts.items() if known]


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


_RATING_KEYS = ("player", "elo", "se", "games", "score", "ppg", "group")


def _print_ratings(tournament: Tournament) -> None:
    anchor = tournament.ratings.anchor
    typer.echo(f"ratings, {tournament.rules}, seed {tournament.seed}, {anchor or 'the mean'} = 0")
    rows = [
        [r.player, f"{r.elo:+.0f}", f"{r.se:.0f}", str(r.games), f"{100 * r.score:.1f}", f"{r.ppg:+.4f}"]
        for r in tournament.ratings.players
    ]
    print_table(["player", "Elo", "+-", "games", "score %", "ppg"], rows)
    if tournament.ratings.caution:
        typer.echo(tournament.ratings.caution)
