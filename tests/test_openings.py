"""Opening tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.openings import first_rolls, plot_openings, roll_out_openings
from agent.rollout import RolloutConfig
from agent.schema import SCHEMAS
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
    assert_fits(table.to_dict(), SCHEMAS["openings"])


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


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_table_is_drawn_as_a_plot(table, tmp_path: Path, ending: str) -> None:
    pytest.importorskip("matplotlib", reason="plots need the extra `report`")
    path = tmp_path / f"openings.{ending}"
    plot_openings(table, path)
    assert path.read_bytes()[:5] in (b"\x89PNG\r", b"<?xml")


def test_bad_settings_are_refused(table, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="plays must be 1"):
        roll_out_openings(FakeJudge(get_rules("short")), QUICK, plays=0)
    with pytest.raises(ConfigError, match=r"\.png or \.svg, got 'table.gif'"):
        plot_openings(table, tmp_path / "table.gif")
