"""Answers on the terminal: suggestions, evaluations, rollouts and opening tables as text and rich tables."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from agent.chances import probs_dict
from agent.cli_table import print_table
from agent.explain import explain
from agent.lang import number, play_name, text

if TYPE_CHECKING:
    from agent.answers import Evaluation, Suggestions
    from agent.openings import Openings
    from agent.ranking import Probs
    from agent.rollout import RolledPlays, RolloutConfig
    from engine.rules import Rules

_EXPLAINED = 3  # plays that get sentences


def suggestions(
    answer: Suggestions, position: str, *, lang: str = "en", before: Evaluation | None = None, has_reasons: bool = False
) -> None:
    """Prints plays, best first, and where asked for the reasons of the first ones.

    Args:
        answer: what `agent.suggest.suggest` gave.
        position: the position as it was understood.
        lang: `en` or `ru`.
        before: the position before the roll, which reasons compare with.
        has_reasons: whether the best plays are explained.
    """
    _heading(answer.rules, answer.net_name, str(answer.level), position, lang, roll=answer.dice)
    words = [text(key, lang) for key in ("rank", "play", "equity", "equity_loss")]
    rows = [
        [
            str(rank),
            play_name(s.play_text, lang),
            number(s.equity, lang, 4),
            number(s.equity_loss, lang, 4, is_signed=False),
            *_chances(s.probs, s.rules, lang),
            s.level,
        ]
        for rank, s in enumerate(answer, 1)
    ]
    print_table([*words, *_chance_names(answer.rules, lang), text("level", lang)], rows, left=2)
    if len(answer) < answer.n_legal:
        print(text("shown_of", lang, shown=len(answer), n=answer.n_legal))
    if has_reasons:
        for suggestion in answer[:_EXPLAINED]:
            sentences = explain(suggestion, lang, before=before, best=answer[0])
            print(f"\n{play_name(suggestion.play_text, lang)}\n  " + "\n  ".join(sentences))


def evaluation(answer: Evaluation, position: str, *, lang: str = "en") -> None:
    """Prints what a position is worth before the roll and the best play of each roll.

    Args:
        answer: what `agent.suggest.evaluate` gave.
        position: the position as it was understood.
        lang: `en` or `ru`.
    """
    _heading(answer.rules, answer.net_name, str(answer.level), position, lang)
    columns = [text("equity", lang), *_chance_names(answer.rules, lang)]
    print_table(columns, [[number(answer.equity, lang, 4), *_chances(answer.probs, answer.rules, lang)]], left=0)
    rows = [
        [
            _dice(roll.best.dice),
            play_name(roll.best.play_text, lang),
            number(roll.best.equity, lang, 4),
            number(roll.luck, lang, 4),
        ]
        for roll in answer.rolls
    ]
    if rows:
        print_table([text(key, lang) for key in ("roll", "best_play", "equity", "luck")], rows, left=2)


def rollout(answer: RolledPlays, position: str, *, lang: str = "en") -> None:
    """Prints the candidates of a rollout, best first, each figure with its standard error.

    Args:
        answer: what `agent.rollout.rollout_plays` gave.
        position: the position as it was understood.
        lang: `en` or `ru`.
    """
    result = answer.result
    settings = _settings(result.config, result.trials, lang)
    _heading(result.rules, result.net_name, settings, position, lang, roll=answer.dice)
    rows = [
        [
            str(rank),
            play_name(answer.play_texts[c.index], lang),
            _with_se(c.equity, c.se, lang),
            _with_se(0.0 - c.loss, c.loss_se, lang) if rank > 1 else "",
            *_chances(c.probs.astype(np.float32), result.rules, lang),
        ]
        for rank, c in enumerate(result.candidates, 1)
    ]
    words = [text(key, lang) for key in ("rank", "play", "equity", "equity_loss")]
    print_table([*words, *_chance_names(result.rules, lang)], rows, left=2)
    if result.stopped != "trials":
        print(text(f"stopped_{result.stopped}", lang, n=result.trials, asked=result.config.trials))


def openings(table: Openings, *, lang: str = "en") -> None:
    """Prints first turns and, where they were rolled out, the replies to them, with 95 % intervals.

    Args:
        table: what `agent.openings.roll_out_openings` gave.
        lang: `en` or `ru`.
    """
    settings = _settings(table.config, table.config.trials, lang)
    _heading(table.rules, table.net_name, settings, "start", lang)
    has_replies = any(line.reply_dice for line in table.lines)
    rows = []
    for line in table.lines:
        reply = [_dice(line.reply_dice), play_name(line.reply_text, lang)] if line.reply_dice else ["", ""]
        figures = [
            number(line.equity, lang, 3),
            f"{number(line.low, lang, 3)} .. {number(line.high, lang, 3)}" if isfinite(line.se) else "?",
            str(line.trials),
        ]
        rows.append([_dice(line.dice), play_name(line.play_text, lang), *(reply if has_replies else ()), *figures])
    keys = ("roll", "play", *(("reply_roll", "reply") if has_replies else ()), "equity", "interval", "trials")
    print_table([text(key, lang) for key in keys], rows, left=4 if has_replies else 2)


def why(rules: Rules, position: str, roll: tuple[int, int], sentence: str, *, lang: str = "en") -> None:
    """Prints whether a play is legal and, if not, why.

    Args:
        rules: the exact variant.
        position: the position as it was understood.
        roll: the dice.
        sentence: what `agent.explain.why` gave.
        lang: `en` or `ru`.
    """
    print(text("heading_why", lang, rules=str(rules), position=position, roll=_dice(roll)))
    print(sentence)


def _heading(
    rules: Rules, net: str, level: str, position: str, lang: str, *, roll: tuple[int, int] | None = None
) -> None:
    print(text("heading", lang, rules=str(rules), net=net, level=level))
    key = "heading_position" if roll is None else "heading_roll"
    print(text(key, lang, position=position, roll=_dice(roll) if roll else ""))


def _settings(config: RolloutConfig, trials: int, lang: str) -> str:
    """The level of a rollout with all that its figures depend on besides."""
    parts = [str(config.level), text("trials_seed", lang, n=trials, seed=config.seed)]
    if config.truncate is not None:
        parts.append(text("truncated", lang, n=config.truncate))
    if not config.variance_reduction:
        parts.append(text("plain", lang))
    return ", ".join(parts)


def _dice(roll: tuple[int, int]) -> str:
    return f"{roll[0]}:{roll[1]}"


def _chance_names(rules: Rules, lang: str) -> list[str]:
    names = []
    for side in ("win", "lose"):
        for level in range(rules.game.levels):
            if side == "win" or level:
                name = rules.outcomes[level].removeprefix("win_")
                names.append(text(f"{side}_column" if not level else f"{side}_{name}_column", lang))
    return names


def _chances(probs: Probs, rules: Rules, lang: str) -> list[str]:
    """Cumulative chances in per cent for the columns of `_chance_names`."""
    shares = probs_dict(probs, rules)["cumulative"]
    return [number(100 * p, lang, 1, is_signed=False) for name, p in shares.items() if name != "lose_or_worse"]


def _with_se(value: float, se: float, lang: str) -> str:
    shown = number(se, lang, 4, is_signed=False) if isfinite(se) else "?"  # one trial has no standard error
    return f"{number(value, lang, 4)} ±{shown}"
