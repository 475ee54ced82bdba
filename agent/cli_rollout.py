"""`nardy rollout` and `openings`: equities measured by games played out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.cli_options import (
    DiceOption,
    JsonOption,
    LangOption,
    NetOption,
    PositionOption,
    RulesOption,
    SeedOption,
    note_first_compile,
    print_json,
    read_position,
    require_dice,
)

if TYPE_CHECKING:
    from agent.rollout import RolloutConfig

TrialsOption = Annotated[
    int, typer.Option("--trials", help="Games a candidate; 36 or a multiple covers first rolls evenly.")
]
TruncateOption = Annotated[
    int | None, typer.Option("--truncate", help="Turns before the net judges; without it to the end of the game.")
]
LevelOption = Annotated[str, typer.Option("--level", help="Depth at which the games are played.")]
PlainOption = Annotated[bool, typer.Option("--plain", help="Leave the luck of the rolls in the results.")]
ThreadsOption = Annotated[int | None, typer.Option("--threads", min=1, max=256, help="Threads; without it all cores.")]


def mount(app: typer.Typer) -> None:
    """Add these commands to an app."""
    app.command()(rollout)
    app.command()(openings)


def rollout(
    rules: RulesOption,
    position: PositionOption = "start",
    dice: DiceOption = None,
    play: Annotated[list[str] | None, typer.Option("--play", help="A play to roll out; may be given again.")] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="How many of the best plays, where none is named.")] = 3,
    trials: TrialsOption = 1296,
    truncate: TruncateOption = None,
    level: LevelOption = "fast",
    plain: PlainOption = False,
    stop_at_joint_se: Annotated[
        float | None, typer.Option("--stop-jsd", help="Stop when all others are behind by this many standard errors.")
    ] = None,
    stop_at_se: Annotated[
        float | None, typer.Option("--stop-se", help="Stop when every standard error is this small.")
    ] = None,
    min_trials: Annotated[int, typer.Option("--min-trials", help="Games before a stop rule applies.")] = 324,
    first: Annotated[
        bool | None, typer.Option("--mover-first/--mover-second", help="Who began; asked for by last_turn only.")
    ] = None,
    seed: SeedOption = 1,
    threads: ThreadsOption = None,
    net: NetOption = None,
    lang: LangOption = "en",
    as_json: JsonOption = False,
) -> None:
    """Play games out from the plays of a roll: equities with standard errors, best first."""
    from agent import show
    from agent.lang import as_lang
    from agent.rollout import rollout_plays
    from engine.rules import get_rules

    words, variant = as_lang(lang), get_rules(rules)
    config = _config(
        trials,
        truncate,
        level,
        seed,
        variance_reduction=not plain,
        stop_at_joint_se=stop_at_joint_se,
        stop_at_se=stop_at_se,
        min_trials=min_trials,
    )
    place, given = read_position(position, dice, variant)
    roll = require_dice(given)
    note_first_compile()
    answer = rollout_plays(
        place.board,
        roll,
        variant,
        net,
        config,
        top=top,
        plays=play or (),
        mover_is_first=first,
        threads=threads,
        show_progress=sys.stderr.isatty(),
    )
    if as_json:
        print_json({"position": place.echo, **answer.to_dict()})
        return
    show.rollout(answer, place.echo, lang=words)


def openings(
    rules: RulesOption,
    trials: TrialsOption = 1296,
    plays: Annotated[int, typer.Option("--plays", min=1, help="Plays of a roll that are rolled out.")] = 2,
    replies: Annotated[bool, typer.Option("--replies", help="Also the replies to each first turn.")] = False,
    truncate: TruncateOption = None,
    level: LevelOption = "fast",
    seed: SeedOption = 1,
    net: NetOption = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Also draw the table into this .png or .svg.")] = None,
    lang: LangOption = "en",
    as_json: JsonOption = False,
) -> None:
    """First turns, and replies to them, by rollout with 95 % intervals."""
    from agent import show
    from agent.lang import as_lang
    from agent.openings import roll_out_openings
    from agent.openings_plot import check_plot, plot_openings
    from agent.suggest import as_judge

    words = as_lang(lang)
    config = _config(trials, truncate, level, seed)
    judge = as_judge(rules, net)
    if plot is not None:
        check_plot(plot)
    note_first_compile()
    table = roll_out_openings(judge, config, plays=plays, has_replies=replies, watch=_count_on_terminal)
    if as_json:
        print_json(table.to_dict())
    else:
        show.openings(table, lang=words)
    if plot is not None:
        plot_openings(table, plot, lang=words)


def _config(trials: int, truncate: int | None, level: str, seed: int, **rest: Any) -> RolloutConfig:
    from agent.levels import as_level
    from agent.rollout import RolloutConfig

    return RolloutConfig(trials=trials, truncate=truncate, level=as_level(level), seed=seed, **rest)


def _count_on_terminal(done: int, planned: int) -> None:
    if sys.stderr.isatty():
        end = "\n" if done == planned else ""
        print(f"\rrollouts {done} of {planned}", end=end, file=sys.stderr, flush=True)
