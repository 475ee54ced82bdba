"""A suggestion in words: sentences made from facts that can be counted, in English or Russian."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent.facts import PlayFacts, play_facts
from agent.lang import as_lang, play_name, reason_text, text
from engine.legality import why_illegal
from engine.rules import Rules

if TYPE_CHECKING:
    from agent.answers import Evaluation, Suggestion
    from agent.ranking import Probs

_NEVER = 0.0005  # a class this rare is written 0.0 %, and left out


def explain(
    suggestion: Suggestion, lang: str = "en", *, before: Evaluation | None = None, best: Suggestion | None = None
) -> list[str]:
    """What a play does and is worth, a sentence each.

    Args:
        suggestion: the play.
        lang: `en` or `ru`.
        before: the position before the roll, to set its chances beside those after the play.
        best: the best play of the same list, to say how far this one is behind.
    Raises:
        ConfigError: a language that there are no words for.
    """
    facts = play_facts(suggestion.board, suggestion.afterstate, suggestion.rules)
    sentences = fact_sentences(facts, as_lang(lang))
    sentences.append(_chances(suggestion, lang, before))
    if best is not None and best is not suggestion:
        key = "loss" if suggestion.level == best.level else "loss_level"
        data = {"loss": -suggestion.equity_loss, "best": best.play_text, "level": suggestion.level}
        sentences.append(text(key, lang, **data))
    return sentences


def fact_sentences(facts: PlayFacts, lang: str) -> list[str]:
    """The facts of a play, a sentence each, the play's own doing first.

    Raises:
        ConfigError: a language that there are no words for.
    """
    found: list[tuple[str, dict[str, Any]]] = []
    if facts.is_pass:
        found.append(("pass", {}))
    for key, points in (("hits", facts.hits), ("makes", facts.made), ("breaks", facts.broken)):
        if points and (facts.is_contact or key == "hits"):
            found.append((key, {"n": len(points), "points": points}))
    if facts.borne_off:
        found.append(("bears_off", {"n": facts.borne_off}))
    if facts.head or facts.head_taken:
        key = "head" if facts.head_taken else "head_stays"
        found.append((key, {"n": facts.head, "taken": facts.head_taken}))
    found += _block(facts) + _blots(facts)
    if facts.stuck_rolls:
        found.append(("stuck", {"n": facts.stuck_rolls}))
    lead = facts.pips_opponent - facts.pips
    race = "pips_level" if lead == 0 else "pips_ahead" if lead > 0 else "pips_behind"
    found.append((race, {"mine": facts.pips, "theirs": facts.pips_opponent, "n": abs(lead)}))
    return [text(key, lang, **data) for key, data in found]


def why(board: Any, dice: Any, wanted: Any, rules: Rules, lang: str = "en", *, shown: str | None = None) -> str:
    """Whether a play is legal and, if not, why, in one sentence.

    Args:
        board: int8 [2, 26], row 0 the player on roll.
        dice: the roll.
        wanted: an afterstate [2, 26], or moves as pairs (start, end).
        rules: the exact variant.
        lang: `en` or `ru`.
        shown: the play as the user wrote it; None where he gave an afterstate.
    Raises:
        PositionError, DiceError: bad input.
        ConfigError: a language that there are no words for.
    """
    reason = why_illegal(board, dice, wanted, rules)
    play = text("board_word", lang) if shown is None else play_name(shown, lang)
    if reason is None:
        return text("legal", lang, play=play)
    return text("illegal", lang, play=play, why=reason_text(reason, lang))


def _block(facts: PlayFacts) -> list[tuple[str, dict[str, Any]]]:
    block, before = facts.block, facts.block_before
    if block is None or not facts.is_contact:
        return []
    data = {"length": block.length, "rear": block.rear, "front": block.front, "n": block.held}
    if before is not None and before.length < block.length:
        return [("block_grew", data | {"before": before.length})]
    return [("block", data)]


def _blots(facts: PlayFacts) -> list[tuple[str, dict[str, Any]]]:
    if not facts.blots:
        return [("no_blot", {})] if facts.can_be_hit else []
    points = [point for point, _ in facts.blots]
    if not facts.hit_rolls:
        return [("safe_blots", {"n": len(points), "points": points})]
    each = ", ".join(f"{point}: {rolls}" for point, rolls in facts.blots)
    key = "blot" if len(points) == 1 else "blots"
    return [(key, {"points": points, "n": facts.hit_rolls, "each": each})]


def _chances(suggestion: Suggestion, lang: str, before: Evaluation | None) -> str:
    """Chances and equity after the play, beside those before the roll; the level is named where it is another one."""
    after, equity = suggestion.probs, suggestion.equity
    if before is None:
        return text("chances", lang, classes=_listed(after, suggestion.rules, lang), equity=equity)
    if str(before.level) == suggestion.level:
        classes = _listed(after, suggestion.rules, lang, before.probs)
        return text("chances_before", lang, classes=classes, equity=equity, before=before.equity)
    return text(
        "chances_other",
        lang,
        classes=_listed(after, suggestion.rules, lang),
        equity=equity,
        level=str(before.level),
        classes_before=_lower(_listed(before.probs, suggestion.rules, lang)),
        before=before.equity,
    )


def _listed(probs: Probs, rules: Rules, lang: str, before: Probs | None = None) -> str:
    classes = []
    for key, rows in _named_classes(rules):
        p = _share(probs, rows)
        p_before = p if before is None else _share(before, rows)
        if key == "win" or max(p, p_before) >= _NEVER:
            kind = "chance" if before is None else "chance_before"
            classes.append(text(kind, lang, name=text(key, lang), p=p, before=p_before))
    return ", ".join(classes)


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _named_classes(rules: Rules) -> list[tuple[str, slice]]:
    levels = rules.game.levels
    koks = "win_home_or_bar" if levels > 3 else "win_home"
    return [
        ("win", slice(0, levels)),
        ("win_gammon", slice(1, levels)),
        (koks, slice(2, levels)),
        ("lose_gammon", slice(levels + 1, 2 * levels)),
    ]


def _share(probs: Probs, rows: slice) -> float:
    return float(probs[rows].sum())
