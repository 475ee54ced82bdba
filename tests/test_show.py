"""Answers on the terminal, in both languages."""

from __future__ import annotations

import re

import pytest

from agent import show
from agent.explain import why as why_text
from agent.openings import roll_out_openings
from agent.rollout import RolloutConfig, rollout_plays
from agent.suggest import before_roll, evaluate, suggest
from engine.rules import get_rules
from fake_judge import FakeJudge

RULES = get_rules("long_classic")
QUICK = RolloutConfig(trials=4, truncate=1)


@pytest.mark.parametrize(("lang", "word"), [("en", "before the roll"), ("ru", "до броска")])
def test_suggestions_are_printed_with_their_reasons(capsys: pytest.CaptureFixture[str], lang: str, word: str) -> None:
    judge = FakeJudge(RULES)
    answer = suggest(RULES.start_board(), "33", RULES, judge)
    show.suggestions(answer, "start", lang=lang, before=before_roll(answer, judge), has_reasons=True)
    out = capsys.readouterr().out
    assert "long_classic" in out and "fake" in out and "0-ply" in out and word in out
    assert all(out.count(s.play_text) >= 2 for s in answer)  # in the table and above its reasons
    assert f"{answer[0].equity:+.4f}".replace(".", "," if lang == "ru" else ".") in out


def test_only_the_plays_shown_are_counted_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    short = get_rules("short")
    show.suggestions(suggest(short.start_board(), "31", short, FakeJudge(short), top=2), "start")
    assert "2 of 16 legal plays" in capsys.readouterr().out


@pytest.mark.parametrize("lang", ["en", "ru"])
def test_an_evaluation_lists_the_21_rolls(capsys: pytest.CaptureFixture[str], lang: str) -> None:
    show.evaluation(evaluate(RULES.start_board(), RULES, FakeJudge(RULES)), "start", lang=lang)
    out = capsys.readouterr().out
    assert all(f" {a}:{b} " in out for a in range(1, 7) for b in range(1, a + 1))


@pytest.mark.parametrize(
    ("lang", "words"), [("en", "4 trials, seed 1, cut after 1 turn"), ("ru", "4 партии, зерно 1, обрыв после 1 хода")]
)
def test_a_rollout_shows_its_errors_and_size(capsys: pytest.CaptureFixture[str], lang: str, words: str) -> None:
    answer = rollout_plays(RULES.start_board(), "33", RULES, FakeJudge(RULES), QUICK)
    show.rollout(answer, "start", lang=lang)
    out = capsys.readouterr().out
    assert words in out and out.count("±") == 3  # two equities and one difference
    assert all(play in out for play in answer.play_texts)


def test_one_trial_is_shown_without_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    config = RolloutConfig(trials=1, truncate=1, variance_reduction=False)
    show.rollout(rollout_plays(RULES.start_board(), "33", RULES, FakeJudge(RULES), config), "start")
    show.openings(roll_out_openings(FakeJudge(RULES), config, plays=1))
    out = capsys.readouterr().out
    assert "nan" not in out and "±?" in out and "1 trial, seed 1, cut after 1 turn, luck left in" in out


def test_no_line_of_a_table_ends_in_blanks_where_it_is_not_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    show.evaluation(evaluate(RULES.start_board(), RULES, FakeJudge(RULES)), "start")
    assert [line for line in capsys.readouterr().out.splitlines() if line != line.rstrip()] == []


def test_every_word_of_a_russian_answer_is_russian(capsys: pytest.CaptureFixture[str]) -> None:
    """What is left in Latin letters are the names of rules and nets, the position as it was given, and levels."""
    judge = FakeJudge(RULES)
    answer = suggest(RULES.start_board(), "33", RULES, judge)
    show.suggestions(answer, "start", lang="ru", before=before_roll(answer, judge), has_reasons=True)
    show.evaluation(evaluate(RULES.start_board(), RULES, judge), "start", lang="ru")
    show.rollout(rollout_plays(RULES.start_board(), "33", RULES, judge, QUICK), "start", lang="ru")
    show.openings(roll_out_openings(judge, RolloutConfig(trials=1, truncate=1), plays=1), lang="ru")
    for moves, shown in ([[(24, 14)], "24/14"], [[], ""], [RULES.start_board(), None]):
        sentence = why_text(RULES.start_board(), (6, 4), moves, RULES, "ru", shown=shown)
        show.why(RULES, "start", (6, 4), sentence, lang="ru")
    latin = set(re.findall("[A-Za-z_]+", capsys.readouterr().out))
    assert latin == {"long_classic", "fake", "start", "ply"}


@pytest.mark.parametrize("has_replies", [False, True])
def test_an_opening_table_has_reply_columns_only_with_replies(
    capsys: pytest.CaptureFixture[str], has_replies: bool
) -> None:
    table = roll_out_openings(FakeJudge(RULES), RolloutConfig(trials=2, truncate=1), plays=1, has_replies=has_replies)
    show.openings(table)
    out = capsys.readouterr().out
    assert ("reply" in out) == has_replies and "24/14" in out and " .. " in out
