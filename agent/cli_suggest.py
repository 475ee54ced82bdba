"""`nardy suggest`, `evaluate` and `why`: what to play, what a position is worth, why a play is refused."""

from __future__ import annotations

from typing import Annotated

import typer

from agent.cli_options import (
    DiceOption,
    JsonOption,
    LangOption,
    NetOption,
    PositionOption,
    RulesOption,
    SvgOption,
    note_first_compile,
    print_json,
    read_position,
    require_dice,
    write_text,
)

PliesOption = Annotated[int | None, typer.Option("--plies", help="Turns looked ahead, 0 to 3.")]
LevelOption = Annotated[
    str | None, typer.Option("--level", help="Instead of --plies: fast, good, strong, deep, gnubg:2ply, xg:3ply.")
]
FilterOption = Annotated[
    str | None, typer.Option("--filter", help="Who is judged deeper: KEEP:WITHIN for each ply, such as 8:0.16,4:0.08.")
]
ScoringOption = Annotated[
    str | None,
    typer.Option("--scoring", help="Points to rank by, a name or such as 1/2/3; else the rules' own."),
]


def mount(app: typer.Typer) -> None:
    """Add these commands to an app."""
    app.command()(suggest)
    app.command()(evaluate)
    app.command()(why)


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
    reasons: Annotated[bool, typer.Option("--reasons", help="Explain the first plays in words.")] = False,
    lang: LangOption = "en",
    svg: SvgOption = None,
    as_json: JsonOption = False,
) -> None:
    """The best plays of a roll, best first."""
    from agent import show
    from agent.lang import as_lang
    from agent.suggest import as_judge, before_roll, chosen_level
    from agent.suggest import suggest as best_plays

    words, depth = as_lang(lang), chosen_level(plies, level, filters)
    judge = as_judge(rules, net, scoring)
    place, given = read_position(position, dice, judge.rules)
    roll = require_dice(given)
    note_first_compile()
    answer = best_plays(place.board, roll, judge.rules, judge, level=depth, top=top)
    if svg is not None:
        from agent.svg import suggestions_svg

        write_text(svg, suggestions_svg(answer, lang=words))
    if as_json:
        print_json({"position": place.echo, **answer.to_dict()})
        return
    before = before_roll(answer, judge) if reasons else None
    show.suggestions(answer, place.echo, lang=words, before=before, has_reasons=reasons)


def evaluate(
    rules: RulesOption,
    position: PositionOption = "start",
    plies: PliesOption = None,
    level: LevelOption = None,
    filters: FilterOption = None,
    scoring: ScoringOption = None,
    net: NetOption = None,
    lang: LangOption = "en",
    as_json: JsonOption = False,
) -> None:
    """What a position is worth before the roll, and the best play of each of the 21 rolls."""
    from agent import show
    from agent.lang import as_lang
    from agent.suggest import as_judge, chosen_level
    from agent.suggest import evaluate as worth

    words, depth = as_lang(lang), chosen_level(plies, level, filters)
    judge = as_judge(rules, net, scoring)
    place, _ = read_position(position, None, judge.rules)
    note_first_compile()
    answer = worth(place.board, judge.rules, judge, level=depth)
    if as_json:
        print_json({"position": place.echo, **answer.to_dict()})
        return
    show.evaluation(answer, place.echo, lang=words)


def why(
    play: Annotated[str, typer.Argument(help="The wanted play, such as '24/18 13/9'.")],
    rules: RulesOption,
    position: PositionOption = "start",
    dice: DiceOption = None,
    lang: LangOption = "en",
    as_json: JsonOption = False,
) -> None:
    """Say whether a play is legal and, if not, which rule it breaks."""
    from agent import show
    from agent.explain import why as sentence_of
    from agent.lang import as_lang
    from engine.legality import why_illegal
    from engine.notation import parse_moves
    from engine.rules import get_rules

    words, variant = as_lang(lang), get_rules(rules)
    place, given = read_position(position, dice, variant)
    roll = require_dice(given)
    note_first_compile()
    moves = parse_moves(play)
    reason = why_illegal(place.board, roll, moves, variant)
    sentence = sentence_of(place.board, roll, moves, variant, words, shown=play)
    if as_json:
        code = None if reason is None else {"code": reason.code, "data": reason.data}
        facts = {"rules": str(variant), "position": place.echo, "dice": roll, "play": play}
        print_json({**facts, "is_legal": reason is None, "reason": code, "message": sentence})
        return
    show.why(variant, place.echo, roll, sentence, lang=words)
