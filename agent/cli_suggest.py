"""`nardy suggest` and `evaluate`: what to play, and what a position is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agent.cli_options import (
    DiceOption,
    JsonOption,
    NetOption,
    PositionOption,
    RulesOption,
    note_first_compile,
    print_json,
    read_position,
    require_dice,
)
from agent.cli_table import print_table

if TYPE_CHECKING:
    from agent.ranking import Probs
    from engine.rules import Rules

PliesOption = Annotated[int | None, typer.Option("--plies", help="Turns looked ahead, 0 to 3.")]
LevelOption = Annotated[
    str | None, typer.Option("--level", help="Instead of --plies: fast, good, strong, deep, gnubg:2ply, xg:3ply.")
]
FilterOption = Annotated[
    str | None, typer.Option("--filter", help="Who is judged deeper: KEEP:WITHIN for each ply, such as 8:0.16,4:0.08.")
]
ScoringOption = Annotated[
    str | None,
    typer.Option("--scoring", help="Points to rank by, a name or such as 1/2/3, in place of the rules' own."),
]


def mount(app: typer.Typer) -> None:
    """Add these commands to an app."""
    app.command()(suggest)
    app.command()(evaluate)


def suggest(
    rules: RulesOption,
    position: PositionOption = "start",
    dice: DiceOption = None,
    plies: PliesOption = None,
    level: LevelOption = None,
    filters: FilterOption = None,
    top: Annotated[int, typer.Option("--top", min=1, help="How many plays to show.")] = 5,
    scoring: ScoringOption = None,
    net: NetOption = None,
    as_json: JsonOption = False,
) -> None:
    """The best plays of a roll, best first."""
    from agent.suggest import as_judge
    from agent.suggest import suggest as best_plays

    judge = as_judge(rules, net, scoring)
    place, given = read_position(position, dice, judge.rules)
    roll = require_dice(given)
    note_first_compile()
    answer = best_plays(place.board, roll, judge.rules, judge, plies=plies, level=level, top=top, filters=filters)
    if as_json:
        print_json({"position": place.echo, **answer.to_dict()})
        return
    _print_heading(answer.rules, answer.net_name, str(answer.level), f"{place.echo}  dice {roll[0]}:{roll[1]}")
    columns = ["", "play", "equity", "loss", *_chance_names(answer.rules), "level"]
    rows = [
        [str(i), s.play_text, f"{s.equity:+.4f}", f"{-s.equity_loss:.4f}", *_chances(s.probs, s.rules), s.level]
        for i, s in enumerate(answer, 1)
    ]
    print_table(columns, rows, left=2)
    if len(answer) < answer.n_legal:
        typer.echo(f"{len(answer)} of {answer.n_legal} legal plays")


def evaluate(
    rules: RulesOption,
    position: PositionOption = "start",
    plies: PliesOption = None,
    level: LevelOption = None,
    filters: FilterOption = None,
    scoring: ScoringOption = None,
    net: NetOption = None,
    as_json: JsonOption = False,
) -> None:
    """What a position is worth before the roll, and the best play of each of the 21 rolls."""
    from agent.suggest import as_judge
    from agent.suggest import evaluate as worth

    judge = as_judge(rules, net, scoring)
    place, _ = read_position(position, None, judge.rules)
    note_first_compile()
    answer = worth(place.board, judge.rules, judge, plies=plies, level=level, filters=filters)
    if as_json:
        print_json({"position": place.echo, **answer.to_dict()})
        return
    _print_heading(answer.rules, answer.net_name, str(answer.level), place.echo)
    print_table(
        ["equity", *_chance_names(answer.rules)],
        [[f"{answer.equity:+.4f}", *_chances(answer.probs, answer.rules)]],
        left=0,
    )
    rows = [
        [f"{r.best.dice[0]}:{r.best.dice[1]}", r.best.play_text, f"{r.best.equity:+.4f}", f"{r.luck:+.4f}"]
        for r in answer.rolls
    ]
    print_table(["dice", "best play", "equity", "luck"], rows, left=2)


def _print_heading(rules: Rules, net: str, level: str, position: str) -> None:
    typer.echo(f"rules {rules}  net {net}  level {level}")
    typer.echo(f"position {position}")


# What players call the classes after the first of each side; the code's names are in `rules.outcomes`.
_CLASS_WORDS = {"gammon": "mars", "home": "koks", "bar": "bar"}


def _chance_names(rules: Rules) -> list[str]:
    names = ["win %"]
    for outcome in rules.outcomes:
        side, _, level = outcome.partition("_")
        if level in _CLASS_WORDS:
            names.append(f"{side} {_CLASS_WORDS[level]}+")
    return names


def _chances(probs: Probs, rules: Rules) -> list[str]:
    """Cumulative chances in per cent, for the columns of `_chance_names`: each class or a dearer one of its side."""
    levels = rules.game.levels
    sums = [probs[:levels].sum()]
    sums += [probs[i : levels * (1 + i // levels)].sum() for i in range(2 * levels) if i % levels]
    return [f"{100 * share:.1f}" for share in sums]
