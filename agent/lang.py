"""All words that people read, in English and Russian: one table, so that no sentence lacks a language.

A template names its data in braces; `{n:checker|checkers}` picks the plural form that goes with the number `n`,
`{p:%}` writes a probability, `{e:+}` points with a sign, `{points:list}` numbers joined by commas and "and".
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from engine.errors import ConfigError
from engine.reason import Reason

LANGS = ("en", "ru")

_EN = {
    "pips_ahead": "Pips {mine} to {theirs}: {n} ahead in the race.",
    "pips_behind": "Pips {mine} to {theirs}: {n} behind in the race.",
    "pips_level": "Pips {mine} to {theirs}: the race is level.",
    "pass": "Nothing can be played: the turn passes.",
    "hits": "Hits {n:a checker|{n} checkers} on {n:point|points} {points:list}.",
    "makes": "Makes {n:point|points} {points:list}.",
    "breaks": "Gives up {n:point|points} {points:list}.",
    "bears_off": "Bears off {n:a checker|{n} checkers}.",
    "head": "Takes {taken} from the head, {n} {n:checker stays|checkers stay} there.",
    "head_stays": "{n} {n:checker stays|checkers stay} on the head.",
    "no_blot": "Leaves no blot.",
    "safe_blots": "Leaves {n:a blot|blots} on {points:list}; no roll hits.",
    "blot": "Leaves a blot on {points:list}: {n} of the 36 rolls {n:hits|hit} it.",
    "blots": "Leaves blots on {points:list}: {n} of the 36 rolls {n:hits|hit} ({each}).",
    "block": "A block of {length} points ({rear} to {front}) holds {n} opposing {n:checker|checkers}.",
    "block_grew": "A block of {length} points ({rear} to {front}), {before} before, holds {n} opposing "
    "{n:checker|checkers}.",
    "stuck": "With {n} of the 36 rolls the opponent has no play.",
    "chances": "{classes}; equity {equity:+}.",
    "chances_before": "{classes}; equity {equity:+}, {before:+} before the roll.",
    "chances_other": "{classes}; equity {equity:+}; before the roll, judged at {level}: {classes_before}, equity "
    "{before:+}.",
    "chance": "{name} {p:%}",
    "chance_before": "{name} {p:%} (before the roll {before:%})",
    "loss": "{loss:+} against the best play, {best}.",
    "loss_level": "Judged at {level} only, where it is {loss:+} against the best play, {best}.",
    "win": "Wins",
    "lose_gammon": "loses mars or worse",
    "win_gammon": "mars or better",
    "win_home": "koks",
    "win_home_or_bar": "koks or better",
    "legal": "{play} is legal.",
    "illegal": "{play} is not legal: {why}.",
    "single": "oyn",
    "gammon": "mars",
    "home": "koks",
    "bar": "koks with a checker on the bar",
    "pass_word": "pass",
    "board_word": "this board",
    "off_word": "off",
    "bar_word": "bar",
    "play": "play",
    "equity": "equity",
    "equity_loss": "loss",
    "level": "level",
    "roll": "roll",
    "luck": "luck",
    "trials": "trials",
    "trials_seed": "{n} {n:trial|trials}, seed {seed}",
    "rank": "#",
    "best_play": "best play",
    "interval": "95 % interval",
    "reply": "reply",
    "reply_roll": "its roll",
    "heading": "rules {rules}  net {net}  level {level}",
    "heading_position": "position {position}",
    "heading_roll": "position {position}  roll {roll}",
    "heading_why": "rules {rules}  position {position}  roll {roll}",
    "picture": "pips {mine} on roll, {theirs} opponent",
    "truncated": "cut after {n} {n:turn|turns}",
    "plain": "luck left in",
    "shown_of": "{shown} of {n} legal {n:play|plays}",
    "plot_equity": "equity of the player who moved, points (95 % interval)",
    "plot_replies": "best reply to each roll: equity of the replying player, points; 95 % intervals up to ±{half}",
    "plot_first": "first turn",
    "stopped_rule": "Stopped by the stop rule after {n} of {asked} trials.",
    "stopped_interrupt": "Interrupted after {n} of {asked} trials.",
    "stopped_watcher": "Stopped after {n} of {asked} trials.",
    "win_column": "win %",
    "win_gammon_column": "mars+",
    "win_home_column": "koks+",
    "win_bar_column": "bar",
    "lose_gammon_column": "-mars+",
    "lose_home_column": "-koks+",
    "lose_bar_column": "-bar",
    "you": "on roll",
    "opponent": "opponent",
}
_RU = {
    "pips_ahead": "Пипсы {mine} против {theirs}: в гонке впереди на {n} {n:пипс|пипса|пипсов}.",
    "pips_behind": "Пипсы {mine} против {theirs}: в гонке позади на {n} {n:пипс|пипса|пипсов}.",
    "pips_level": "Пипсы {mine} против {theirs}: в гонке равенство.",
    "pass": "Ходить нечем: пропуск хода.",
    "hits": "Бьёт {n:шашку|{n} шашки|{n} шашек} на {n:пункте|пунктах|пунктах} {points:list}.",
    "makes": "Занимает {n:пункт|пункты|пункты} {points:list}.",
    "breaks": "Отдаёт {n:пункт|пункты|пункты} {points:list}.",
    "bears_off": "Выбрасывает {n:шашку|{n} шашки|{n} шашек}.",
    "head": "Снимает с головы {taken} {taken:шашку|шашки|шашек}, на голове {n:остаётся|остаются|остаётся} {n}.",
    "head_stays": "На голове {n} {n:шашка|шашки|шашек}.",
    "no_blot": "Блотов не оставляет.",
    "safe_blots": "Оставляет {n:блот|блоты|блоты} на {n:пункте|пунктах|пунктах} {points:list}; ни один бросок не бьёт.",
    "blot": "Оставляет блот на пункте {points:list}: его {n:бьёт|бьют|бьют} {n} {n:бросок|броска|бросков} из 36.",
    "blots": "Оставляет блоты на пунктах {points:list}: их {n:бьёт|бьют|бьют} {n} {n:бросок|броска|бросков} из 36 "
    "({each}).",
    "block": "Блок из {length} {length:пункта|пунктов|пунктов} ({rear} – {front}) держит {n} {n:шашку|шашки|шашек} "
    "соперника.",
    "block_grew": "Блок из {length} {length:пункта|пунктов|пунктов} ({rear} – {front}), прежде из {before}, держит {n} "
    "{n:шашку|шашки|шашек} соперника.",
    "stuck": "При {n} {n:броске|бросках|бросках} из 36 сопернику нечем ходить.",
    "chances": "{classes}; эквити {equity:+}.",
    "chances_before": "{classes}; эквити {equity:+}, до броска {before:+}.",
    "chances_other": "{classes}; эквити {equity:+}; до броска, на уровне {level}: {classes_before}, эквити {before:+}.",
    "chance": "{name} {p:%}",
    "chance_before": "{name} {p:%} (до броска {before:%})",
    "loss": "{loss:+} против лучшего хода {best}.",
    "loss_level": "Оценено лишь на уровне {level}: там {loss:+} против лучшего хода {best}.",
    "win": "Победа",
    "lose_gammon": "проигрыш марсом или дороже",
    "win_gammon": "марс или дороже",
    "win_home": "кокс",
    "win_home_or_bar": "кокс или дороже",
    "legal": "{play}: ход по правилам.",
    "illegal": "{play}: так ходить нельзя, {why}.",
    "single": "ойн",
    "gammon": "марс",
    "home": "кокс",
    "bar": "кокс с шашкой за бортом",
    "pass_word": "пропуск",
    "board_word": "эта расстановка",
    "off_word": "выброс",
    "bar_word": "бар",
    "play": "ход",
    "equity": "эквити",
    "equity_loss": "потеря",
    "level": "уровень",
    "roll": "зары",
    "luck": "везение",
    "trials": "партии",
    "trials_seed": "{n} {n:партия|партии|партий}, зерно {seed}",
    "rank": "№",
    "best_play": "лучший ход",
    "interval": "95 % интервал",
    "reply": "ответ",
    "reply_roll": "его зары",
    "heading": "правила {rules}  сеть {net}  уровень {level}",
    "heading_position": "позиция {position}",
    "heading_roll": "позиция {position}  зары {roll}",
    "heading_why": "правила {rules}  позиция {position}  зары {roll}",
    "picture": "пипсы {mine} на ходу, {theirs} у соперника",
    "truncated": "обрыв после {n} {n:хода|ходов|ходов}",
    "plain": "без вычета везения",
    "shown_of": "показано {shown} из {n} {n:хода|ходов|ходов} по правилам",
    "plot_equity": "эквити сделавшего ход, очки (95 % интервал)",
    "plot_replies": "лучший ответ на каждый бросок: эквити отвечающего, очки; 95 % интервалы до ±{half}",
    "plot_first": "первый ход",
    "stopped_rule": "Остановлено по правилу остановки: {n} из {asked} {asked:партии|партий|партий}.",
    "stopped_interrupt": "Прервано: {n} из {asked} {asked:партии|партий|партий}.",
    "stopped_watcher": "Остановлено: {n} из {asked} {asked:партии|партий|партий}.",
    "win_column": "победа %",
    "win_gammon_column": "марс+",
    "win_home_column": "кокс+",
    "win_bar_column": "борт",
    "lose_gammon_column": "-марс+",
    "lose_home_column": "-кокс+",
    "lose_bar_column": "-борт",
    "you": "на ходу",
    "opponent": "соперник",
}
WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType({"en": MappingProxyType(_EN), "ru": MappingProxyType(_RU)})

_REASONS_RU = MappingProxyType(
    {
        "game_over": "партия окончена, ходов больше нет",
        "not_well_formed": "такой расстановки шашек быть не может",
        "opponent_row_wrong": "шашки соперника стоят не так, как их оставляет этот ход",
        "no_checker": "на {start:at} вашей шашки нет",
        "bar_first": "сначала нужно выставить шашки с бара, поэтому {start:point}/{end:point} невозможно",
        "backwards": "шашки идут только к дому, а {start:point}/{end:point} ведёт назад",
        "point_held": "пункт {point} занят соперником",
        "not_all_home": "выбрасывать можно, когда все шашки дома, а одна стоит на {outside:at}",
        "overshoot": "заром {die} шашку с пункта {start} выбрасывают, лишь если дальше шашек нет, а одна стоит на "
        "{higher:at}",
        "head_used": "голова уже сыграна: больше шашек с неё за этот ход снимать нельзя",
        "six_point_block": "шесть пунктов подряд, с {rear} по {front}, перед всеми шашками соперника строить нельзя",
        "wrong_distance": "{given:step} не сделать зарами {dice:dice}",
        "die_not_available": "{given:step} вместе с остальным не сделать зарами {dice:dice}",
        "both_dice_required": "нужно сыграть оба зара, если это возможно, а здесь сыграно {played} из 2",
        "larger_die_required": "можно сыграть лишь один зар, и тогда больший: {larger}",
        "double_required": "дубль играется сколько можно раз: {possible} {possible:раз|раза|раз}, а здесь {played}",
        "pass_not_allowed": "ни одна шашка не сдвинута, а зары {dice:dice} сыграть можно",
    }
)


def as_lang(lang: str) -> str:
    """The language's code.

    Raises:
        ConfigError: a language that there are no words for.
    """
    if lang not in LANGS:
        raise ConfigError(f"lang must be {' or '.join(LANGS)}, got {str(lang)[:20]!r}")
    return lang


def text(key: str, lang: str, **data: Any) -> str:
    """The sentence or word `key` in a language, with its data filled in.

    Raises:
        ConfigError: an unknown language.
    """
    return _Filler(as_lang(lang)).format(WORDS[lang][key], **data)


def reason_text(reason: Reason, lang: str) -> str:
    """Why a step or play is refused, in one line without a full stop.

    Args:
        reason: what `engine.legality` found.
        lang: `en` or `ru`.
    Raises:
        ConfigError: an unknown language.
    """
    if as_lang(lang) == "en":
        return str(reason)
    return _Filler(lang).format(_REASONS_RU[reason.code], **reason.data)


def plural(count: int, forms: Sequence[str], lang: str) -> str:
    """The form of a word that goes with a number.

    Args:
        count: the number.
        forms: English: one, many. Russian: one (1, 21), few (2 to 4, 22), many (5 to 20, 111).
        lang: `en` or `ru`.
    """
    if lang == "en":
        return forms[0 if count == 1 else 1]
    tens, ones = count % 100, count % 10
    if ones == 1 and tens != 11:
        return forms[0]
    return forms[1] if 2 <= ones <= 4 and not 12 <= tens <= 14 else forms[2]


def number(value: float, lang: str, digits: int = 3, *, is_signed: bool = True) -> str:
    """A figure with the language's decimal mark, such as +0.123 or +0,123."""
    shown = f"{value:+.{digits}f}" if is_signed else f"{value:.{digits}f}"
    if float(shown) == 0.0:
        shown = shown.replace("-", "+")
    return shown.replace(".", ",") if lang == "ru" else shown


def play_name(play: str, lang: str) -> str:
    """A play as sentences and tables write it: as it is, or the word for a pass."""
    return text("pass_word", lang) if play.strip().lower() in ("", "pass") else play


def point_name(point: int, lang: str) -> str:
    """A point as sentences write it: its number, or the words for the bar and for borne off."""
    return text({0: "off_word", 25: "bar_word"}[point], lang) if point in (0, 25) else str(point)


class _Filler(string.Formatter):
    """Fills a template; format specs are those named in the module's docstring."""

    def __init__(self, lang: str) -> None:
        self.lang = lang

    def format_field(self, value: Any, format_spec: str) -> str:
        if "|" in format_spec:
            return plural(int(value), format_spec.split("|"), self.lang)
        special = {
            "%": lambda: number(100 * value, self.lang, 1, is_signed=False) + " %",
            "+": lambda: number(value, self.lang),
            "list": lambda: _joined([str(v) for v in value], self.lang),
            "dice": lambda: "-".join(str(die) for die in value),
            "point": lambda: point_name(value, self.lang),
            "at": lambda: {25: "баре", 0: "выбросе"}.get(value, f"пункте {value}"),
            "step": lambda: _step_text(str(value)),
        }
        return special[format_spec]() if format_spec in special else str(format(value, format_spec))


def _joined(parts: Sequence[str], lang: str) -> str:
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {'и' if lang == 'ru' else 'and'} {parts[-1]}"


def _step_text(given: str) -> str:
    """The engine's English for a step or a change of the board in Russian; a play such as 24/18 stays as it is."""
    if given.startswith("a step by "):
        return f"шаг на {given.removeprefix('a step by ')}"
    if given.startswith("moving "):
        start, _, end = given.removeprefix("moving ").partition(" to ")
        given = f"перестановку с {start} на {end}"
    return given.replace("bar", "бар").replace("off", "выброс")
