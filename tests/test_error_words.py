"""Refusals in a person's language: whole sentences where there are some, else the kind before the English detail."""

from __future__ import annotations

import re

import pytest

from agent.cli import main
from agent.error_words import error_text
from engine import errors
from engine.errors import DiceError, IllegalPlayError, NardyError, RulesError, SessionError
from engine.legality import why_illegal
from engine.rules import get_rules

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, NardyError)]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in (NardyError, SessionError)])
def test_every_kind_of_error_is_worded_in_russian_and_stays_one_line(kind: type[NardyError]) -> None:
    said = error_text(kind("given\n this."), "ru")
    assert re.search("[а-я]", said) and "\n" not in said and not said.endswith(".")
    assert error_text(kind("given\n this."), "en") in ("given this", "given\n this")


def test_the_english_detail_stays_where_only_the_kind_is_translated() -> None:
    assert error_text(RulesError("unknown rules 'x'"), "ru") == "правила не подходят: unknown rules 'x'"


def test_a_reason_and_a_code_have_sentences_of_their_own() -> None:
    rules = get_rules("short")
    reason = why_illegal(rules.start_board(), (3, 1), [(8, 2)], rules)
    said = error_text(IllegalPlayError("english", reason), "ru")
    assert "english" not in said and re.search("[а-я]", said)
    assert error_text(SessionError("english", "no_offer"), "ru") == "никто не предлагает сдаться"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--rules short --dice 70 --lang ru", "nardy: зары пишутся двумя числами от 1 до 6"),
        ("--rules chess --dice 31 --lang=ru", "nardy: правила не подходят: unknown rules 'chess'"),
        ("--rules chess --dice 31 --lang en", "nardy: unknown rules 'chess'"),
        ("--rules short --dice 31 --lang fr", "nardy: lang must be en or ru, got 'fr'"),
    ],
)
def test_a_command_refuses_in_the_language_it_is_asked_for(
    options: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["suggest", *options.split()]) == 2
    line = capsys.readouterr().err
    assert line.startswith(said) and line.count("\n") == 1


def test_dice_are_worded_for_people_and_kept_for_programs() -> None:
    error = DiceError("dice must be two numbers from 1 to 6, got '70'")
    assert error_text(error, "en") == str(error)
    assert error_text(error, "ru") == "зары пишутся двумя числами от 1 до 6, например 64"
