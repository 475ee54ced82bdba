"""The commands `nardy play`, `nardy replay`, `nardy dice verify` and `nardy dice stats`."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agent.cli_options import JsonOption, LangOption, RulesOption, note_first_compile, print_json

if TYPE_CHECKING:
    from engine.records import Record

ColorOption = Annotated[bool | None, typer.Option("--color/--no-color", help="Colours; by default as the terminal is.")]

dice_app = typer.Typer(help="Check the dice of a game, or of the generator.", no_args_is_help=True)


def mount(app: typer.Typer) -> None:
    """Add these commands to an app."""
    app.command()(play)
    app.command()(replay)
    app.add_typer(dice_app, name="dice")


def play(
    player_1: Annotated[str, typer.Argument(help="you, you:NAME, or a player such as net, net@1ply, random.")] = "you",
    player_2: Annotated[str, typer.Argument(help="The same for the other side.")] = "net",
    rules: RulesOption = "long_classic",
    enforce: Annotated[
        str, typer.Option("--enforce", help="strict refuses wrong turns; claims lets the opponent accept or demand.")
    ] = "strict",
    dice: Annotated[str, typer.Option("--dice", help="seed, typed (real dice), or verifiable.")] = "seed",
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Seed of dice and bots; else a new one.")] = None,
    record: Annotated[Path | None, typer.Option("--record", help="File for the record; else one is named.")] = None,
    resume: Annotated[Path | None, typer.Option("--resume", help="Go on with this record; other options rest.")] = None,
    match: Annotated[int | None, typer.Option("--match", min=1, help="Play a match to so many points.")] = None,
    next_first: Annotated[
        str, typer.Option("--next-first", help="Who starts the next game: toss, winner or alternate.")
    ] = "toss",
    trust: Annotated[bool, typer.Option("--trust", help="With --resume: run programs that the record names.")] = False,
    lang: LangOption = "en",
    color: ColorOption = None,
) -> None:
    """Play in the terminal, against any player or between two people. help lists what can be typed."""
    from agent import terminal_match
    from agent.screen import Screen
    from engine.rules import get_rules

    screen = Screen.of_terminal(lang, color)
    if resume is not None:
        from engine.records import RecordWarning
        from engine.table import Table

        note_first_compile()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecordWarning)
            table, read = Table.resume(resume)
        _note_torn(read, screen.lang)
        terminal_match.go_on(table, read, screen, is_trusted=trust)
        return
    options = terminal_match.PlayOptions(
        rules=get_rules(rules),
        players=(player_1, player_2),
        enforce=enforce,
        dice=dice,
        seed=seed,
        record=record,
        length=match,
        next_first=next_first,
    )
    note_first_compile()
    terminal_match.play(options, screen)


def replay(
    file: Annotated[Path, typer.Argument(help="A record that nardy play wrote.")],
    steps: Annotated[
        bool | None, typer.Option("--steps/--all", help="Wait after each event; by default in a terminal.")
    ] = None,
    lang: LangOption = "en",
    color: ColorOption = None,
) -> None:
    """Step through a recorded game."""
    from agent.replay import replay as show
    from agent.screen import Screen

    screen = Screen.of_terminal(lang, color)
    show(_read(file, screen.lang), screen, steps=steps)


@dice_app.command()
def verify(
    record: Annotated[Path, typer.Argument(help="A record with seeded or verifiable dice.")],
    lang: LangOption = "en",
    as_json: JsonOption = False,
) -> None:
    """Recompute every roll of a record and replay it; the first wrong roll is named."""
    from agent.lang import as_lang
    from agent.play_words import say
    from engine.dice_proof import verify_dice

    words = as_lang(lang)
    read = _read(record, words)
    proof = verify_dice(read)
    read.replay()
    if as_json:
        print_json({"kind": proof.kind, "rolls": proof.rolls, "said": proof.said, "events": len(read.events)})
        return
    typer.echo(say("verified", words, n=proof.rolls, kind=proof.kind, said=proof.said, events=len(read.events)))


@dice_app.command()
def stats(
    rolls: Annotated[int, typer.Option("--rolls", min=1, max=100_000_000, help="How many rolls to throw.")] = 1_000_000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the generator.")] = 1,
    record: Annotated[Path | None, typer.Option("--record", help="Count the rolls of this record instead.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Count rolls against expectation: faces, doubles, chi-square p-values, for each player."""
    from agent.dice_report import print_stats, seeded_stats
    from engine.dice_proof import rolls_by_player
    from engine.dice_stats import dice_stats

    if record is None:
        source, found = f"seed {seed}", seeded_stats(seed, rolls)
    else:
        players = rolls_by_player(_read(record, "en"))
        source, found = str(record), {name: dice_stats(thrown) for name, thrown in players.items() if len(thrown)}
    if as_json:
        print_json({"source": source, "players": {name: one.to_dict() for name, one in found.items()}})
    else:
        print_stats(source, found)


def _note_torn(record: Record, lang: str) -> None:
    """Say on stderr that a record's last line was dropped."""
    from agent.play_words import say

    if record.torn_bytes:
        typer.echo(f"nardy: {say('torn', lang, n=record.torn_bytes)}", err=True)


def _read(path: Path, lang: str) -> Record:
    from engine.records import RecordWarning, read_record

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordWarning)  # said by `_note_torn`, in the user's language
        record = read_record(path)
    _note_torn(record, lang)
    return record
