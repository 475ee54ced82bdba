"""What `nardy analyze` says, in English and Russian; templates as in `agent.lang`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from agent.lang import _Filler, as_lang

_EN = {
    "title": "{first} - {second}",
    "heading": "rules {rules}  net {net}  level {level}, luck at 0-ply",
    "money": "session without end",
    "length": "match to {length} {length:point|points}",
    "marks": "marks by equity lost: doubtful from {doubtful}, error from {error}, blunder from {blunder}",
    "players": "Players",
    "player": "player",
    "plays": "plays",
    "unforced": "with a choice",
    "error_rate": "error rate, mpt",
    "pr": "PR",
    "doubtful": "doubtful",
    "error": "error",
    "blunder": "blunder",
    "illegal": "illegal",
    "luck": "luck",
    "rates": "Error rate: mean loss of a play that had a choice, in thousandths of a point; PR: 500 times that mean.",
    "games": "Games",
    "game": "game",
    "score": "score before",
    "result": "result",
    "turns": "turns",
    "points": "points of {name}",
    "adjusted": "less luck",
    "borne_off": "{name} wins by {level}",
    "resigned": "{other} resigns, {name} wins by {level}",
    "dropped": "{name} wins by the cube",
    "no_end": "no end",
    "draw": "drawn",
    "estimated": "~ equity of the last position, for the game has no end without the cube",
    "per_game": "Points per game of {name} without the cube: {ppg}; less luck: {adjusted}",
    "worst": "Worst plays",
    "none_worst": "No play lost anything.",
    "turn": "turn",
    "dice": "dice",
    "played": "played",
    "best": "best play",
    "loss": "loss",
    "mark": "mark",
    "equity": "equity",
    "why": "why",
    "illegal_plays": "Plays against the rules",
    "notes": "Notes",
    "not_played": "(not played)",
    "curve": "Equity of {name} after each turn, points without the cube; dots: errors, crosses: illegal.",
    "all_plays": "Every play",
    "caption_played": "played {play}  {equity:+}",
    "caption_best": "best {play}  {equity:+}",
    "mat_written": "match file written to {path}",
    "html_written": "report written to {path}",
}
_RU = {
    "title": "{first} - {second}",
    "heading": "правила {rules}  сеть {net}  уровень {level}, везение на 0-ply",
    "money": "без предела очков",
    "length": "матч до {length} {length:очка|очков|очков}",
    "marks": "отметки по потере: неточность от {doubtful}, ошибка от {error}, грубая ошибка от {blunder}",
    "players": "Игроки",
    "player": "игрок",
    "plays": "ходов",
    "unforced": "с выбором",
    "error_rate": "потеря, mpt",
    "pr": "PR",
    "doubtful": "неточность",
    "error": "ошибка",
    "blunder": "грубая",
    "illegal": "не по правилам",
    "luck": "везение",
    "rates": "Потеря: средняя за ход, где был выбор, в тысячных очка; PR: 500 таких средних.",
    "games": "Партии",
    "game": "партия",
    "score": "счёт до неё",
    "result": "итог",
    "turns": "ходов",
    "points": "очки: {name}",
    "adjusted": "без везения",
    "borne_off": "{name}: победа, {level}",
    "resigned": "{other} сдаётся; {name}: победа, {level}",
    "dropped": "{name}: победа по кубу",
    "no_end": "без конца",
    "draw": "ничья",
    "estimated": "~ эквити последней позиции: без куба партия не окончена",
    "per_game": "Очки за партию, {name}, без куба: {ppg}; без везения: {adjusted}",
    "worst": "Худшие ходы",
    "none_worst": "Ни один ход ничего не потерял.",
    "turn": "ход",
    "dice": "зары",
    "played": "сыграно",
    "best": "лучший ход",
    "loss": "потеря",
    "mark": "отметка",
    "equity": "эквити",
    "why": "почему",
    "illegal_plays": "Ходы не по правилам",
    "notes": "Замечания",
    "not_played": "(не сыграно)",
    "curve": "Эквити после каждого хода, {name}, очки без куба; точки: ошибки, крестики: ходы не по правилам.",
    "all_plays": "Все ходы",
    "caption_played": "сыграно {play}  {equity:+}",
    "caption_best": "лучший {play}  {equity:+}",
    "mat_written": "запись матча: {path}",
    "html_written": "отчёт: {path}",
}
WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType({"en": MappingProxyType(_EN), "ru": MappingProxyType(_RU)})


def say(key: str, lang: str, **data: Any) -> str:
    """The sentence or word `key` in a language, with its data filled in.

    Raises:
        ConfigError: an unknown language.
    """
    return _Filler(as_lang(lang)).format(WORDS[lang][key], **data)
