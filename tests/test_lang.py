"""Words: every key and every reason code in both languages, with the right plural forms."""

from __future__ import annotations

import re
import string

import numpy as np
import pytest

from agent.lang import LANGS, WORDS, as_lang, number, plural, reason_text, text
from engine.errors import ConfigError
from engine.legality import CODES, why_illegal
from engine.reason import Reason
from engine.rules import get_rules
from random_positions import placed

# Data of every kind that reasons carry, so that each template finds what it names.
_DATA = {
    "fault": "a checker hit on 5 goes to the bar",
    "start": 13,
    "end": 8,
    "point": 8,
    "count": 2,
    "die": 5,
    "outside": 25,
    "higher": 6,
    "rear": 22,
    "front": 3,
    "given": "a step by 5",
    "dice": [6, 5],
    "played": 1,
    "larger": 6,
    "possible": 4,
}


def test_both_languages_have_the_same_keys() -> None:
    assert set(WORDS["en"]) == set(WORDS["ru"])
    assert set(LANGS) == set(WORDS)


@pytest.mark.parametrize("key", WORDS["en"])
def test_both_languages_name_the_same_data(key: str) -> None:
    def names(template: str) -> set[str]:
        fields = set()
        for _, name, spec, _ in string.Formatter().parse(template):
            if name:
                fields |= {name} | names(spec or "")
        return fields

    # A word's form may depend on a number that the other language does not need to repeat.
    assert names(WORDS["en"][key]) <= names(WORDS["ru"][key]) | {"n", "before"}
    assert names(WORDS["ru"][key]) <= names(WORDS["en"][key]) | {"n", "length", "taken"}


@pytest.mark.parametrize("code", CODES)
def test_every_reason_code_has_words_in_both_languages(code: str) -> None:
    reason = Reason(code, _DATA)
    english, russian = reason_text(reason, "en"), reason_text(reason, "ru")
    assert english and russian and english != russian
    assert "\n" not in russian and "{" not in russian
    assert re.search("[а-я]", russian) and not re.search("[a-z]", russian), russian


def test_a_changed_board_is_worded_in_russian_too() -> None:
    reason = Reason("wrong_distance", {"given": "moving bar, 13 to 8, off", "dice": [6, 5]})
    assert reason_text(reason, "ru") == "перестановку с бар, 13 на 8, выброс не сделать зарами 6-5"


def test_reasons_met_on_random_boards_can_be_worded() -> None:
    """The data that the engine really attaches fit the templates: any afterstate of another board is a wrong play."""
    codes = set()
    for preset in ("short", "long_classic"):
        rules = get_rules(preset)
        boards, dice = placed(rules, 60, np.random.default_rng(3))
        for board, roll in zip(boards, dice, strict=True):
            starts = [int(p) for p in np.flatnonzero(board[0, 1:]) + 1]
            for start in starts[:4]:
                for end in {max(start - int(roll[0]), 0), max(start - 1, 0), max(start - int(roll.sum()), 0)}:
                    reason = why_illegal(board, roll, [(start, end)], rules)
                    if reason is not None:
                        codes.add(reason.code)
                        assert reason_text(reason, "ru") and reason_text(reason, "en")
    assert len(codes) >= 8


@pytest.mark.parametrize(
    ("count", "word"),
    [
        *[(1, "шашка"), (2, "шашки"), (4, "шашки"), (5, "шашек"), (11, "шашек"), (12, "шашек"), (14, "шашек")],
        *[(21, "шашка"), (22, "шашки"), (25, "шашек"), (101, "шашка"), (111, "шашек"), (0, "шашек")],
    ],
)
def test_russian_plural_forms(count: int, word: str) -> None:
    assert plural(count, ("шашка", "шашки", "шашек"), "ru") == word


def test_sentences_use_the_form_that_goes_with_the_number() -> None:
    assert text("blot", "ru", points=[8], n=1) == "Оставляет блот на пункте 8: его бьёт 1 бросок из 36."
    assert text("blot", "ru", points=[8], n=11) == "Оставляет блот на пункте 8: его бьют 11 бросков из 36."
    assert text("blot", "ru", points=[8], n=22) == "Оставляет блот на пункте 8: его бьют 22 броска из 36."
    assert text("bears_off", "ru", n=1) == "Выбрасывает шашку."
    assert text("bears_off", "ru", n=3) == "Выбрасывает 3 шашки."
    assert text("bears_off", "en", n=1) == "Bears off a checker."
    assert text("makes", "en", n=2, points=[7, 5]) == "Makes points 7 and 5."
    assert text("hits", "ru", n=2, points=[9, 4]) == "Бьёт 2 шашки на пунктах 9 и 4."


def test_figures_follow_the_language() -> None:
    assert number(0.1234, "en") == "+0.123"
    assert number(-0.1234, "ru") == "-0,123"
    assert number(-0.0001, "en") == "+0.000"
    assert number(12.34, "ru", 1, is_signed=False) == "12,3"


def test_the_fields_words_are_used() -> None:
    words = {key: text(key, "ru") for key in ("single", "gammon", "home", "roll", "pass_word")}
    assert words == {"single": "ойн", "gammon": "марс", "home": "кокс", "roll": "зары", "pass_word": "пропуск"}
    assert "голов" in text("head_stays", "ru", n=3) and "блок" in text("block", "ru", **_block()).lower()


def test_an_unknown_language_names_those_there_are() -> None:
    with pytest.raises(ConfigError, match=r"en or ru, got 'de'"):
        as_lang("de")
    with pytest.raises(ConfigError, match="en or ru"):
        reason_text(Reason("game_over"), "")


def _block() -> dict[str, int]:
    return {"length": 5, "rear": 4, "front": 8, "n": 2}
