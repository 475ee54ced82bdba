"""Opening tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent.lang import number
from agent.openings import first_rolls, roll_out_openings
from agent.openings_plot import plot_openings
from agent.rollout import RolloutConfig
from agent.schema import OPENINGS
from engine.errors import ConfigError
from engine.movegen import legal_afterstates
from engine.notation import parse_play
from engine.rules import RULES, get_rules
from fake_judge import FakeJudge
from schema_check import assert_fits

QUICK = RolloutConfig(trials=2, truncate=1, variance_reduction=False)


@pytest.fixture(scope="module")
def table():
    return roll_out_openings(FakeJudge(get_rules("long_classic")), QUICK, has_replies=True)


def test_every_first_turn_of_long_nardy_is_in_the_table(table) -> None:
    rules = table.rules
    firsts = [line for line in table.lines if line.reply_dice is None]
    assert len(firsts) == 22  # RULES.md section 9: one turn for each roll but 3:3, which has two
    start = rules.start_board()
    for line in firsts:
        legal = {a.tobytes() for a in legal_afterstates(start, line.dice, rules)}
        assert parse_play(line.play_text, start, line.dice, rules).tobytes() in legal


def test_replies_are_legal_and_follow_the_best_first_turn(table) -> None:
    replies = [line for line in table.lines if line.reply_dice == (6, 2) and line.dice == (5, 5)]
    assert [line.reply_text for line in replies] == ["24/18 24/22"]  # RULES.md L5: two from the head
    assert {line.reply_dice for line in table.lines if line.dice == (6, 4)} >= {(1, 1), (6, 6), None}


def test_lines_carry_their_interval(table) -> None:
    for line in table.lines:
        assert line.low <= line.equity <= line.high and line.trials == 2
        assert line.high - line.low == pytest.approx(2 * 1.959964 * line.se)
    assert_fits(table.to_dict(), OPENINGS)


def test_plays_of_a_roll_stand_best_first() -> None:
    table = roll_out_openings(FakeJudge(get_rules("short")), QUICK, plays=3)
    by_roll: dict[tuple[int, int], list[float]] = {}
    for line in table.lines:
        by_roll.setdefault(line.dice, []).append(line.equity)
    assert all(len(e) == 3 and e == sorted(e, reverse=True) for e in by_roll.values()) and len(by_roll) == 21


@pytest.mark.parametrize("preset", RULES)
def test_dice_that_are_kept_from_the_toss_are_no_double(preset: str) -> None:
    rolls = first_rolls(RULES[preset])
    assert len(rolls) == (15 if RULES[preset].opening_roll == "kept" else 21)


def test_ctrl_c_returns_the_lines_so_far() -> None:
    def interrupt(done: int, planned: int) -> None:
        assert done <= planned
        if done == 5:
            raise KeyboardInterrupt

    table = roll_out_openings(FakeJudge(get_rules("long_classic")), QUICK, watch=interrupt)
    assert 0 < len(table.lines) < 22


def test_a_single_trial_has_no_interval() -> None:
    config = RolloutConfig(trials=1, truncate=1, variance_reduction=False)
    answer = roll_out_openings(FakeJudge(get_rules("long_fnr2026")), config, plays=1).to_dict()
    assert_fits(answer, OPENINGS)
    assert {line["se"] for line in answer["lines"]} == {None}


@pytest.mark.parametrize(("ending", "lang"), [("png", "en"), ("svg", "ru")])
def test_a_table_is_drawn_as_a_plot(table, tmp_path: Path, ending: str, lang: str) -> None:
    pytest.importorskip("matplotlib", reason="plots need the extra `report`")
    path = tmp_path / f"openings.{ending}"
    plot_openings(table, path, lang=lang)
    assert path.read_bytes()[:5] in (b"\x89PNG\r", b"<?xml")
    assert list(tmp_path.iterdir()) == [path]


def test_a_plot_of_first_turns_shows_each_and_one_with_replies_the_best_reply_to_each_roll(
    table, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    figure = pytest.importorskip("matplotlib.figure", reason="plots need the extra `report`")
    drawn = []

    class Watched(figure.Figure):
        def __init__(self, *args, **options) -> None:
            super().__init__(*args, **options)
            drawn.append(self)

    monkeypatch.setattr(figure, "Figure", Watched)
    plot_openings(table, tmp_path / "all.svg")
    plot_openings(replace(table, lines=tuple(x for x in table.lines if not x.reply_dice)), tmp_path / "firsts.svg")
    with_replies, without = drawn
    (firsts,) = without.axes
    assert len(firsts.get_yticks()) == 22
    _, grid = with_replies.axes
    assert (len(grid.get_yticks()), len(grid.get_xticks()), len(grid.texts)) == (21, 21, 21 * 21)
    best = next(line for line in table.lines if line.reply_dice == (1, 1))
    assert grid.texts[0].get_text() == number(best.equity, "en", 2)


def test_bad_settings_are_refused(table, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="plays must be 1"):
        roll_out_openings(FakeJudge(get_rules("short")), QUICK, plays=0)
    with pytest.raises(ConfigError, match=r"\.png or \.svg, got 'table.gif'"):
        plot_openings(table, tmp_path / "table.gif")
    with pytest.raises(ConfigError, match="folder that exists"):
        plot_openings(table, tmp_path / "none" / "table.svg")
