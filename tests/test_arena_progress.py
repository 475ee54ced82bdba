"""The bar of a tournament weighs games by their cost, and does not take games found in a file for speed."""

from __future__ import annotations

import pytest

from agent import arena_progress
from agent.arena_progress import ProgressBar


@pytest.fixture(autouse=True)
def _no_ci(monkeypatch):
    monkeypatch.delenv("CI", raising=False)


def test_the_bar_counts_work_and_not_games(monkeypatch, capsys):
    monkeypatch.setattr(arena_progress, "FOUND_S", 0.0)
    with ProgressBar([100.0, 300.0], is_shown=True) as bar:
        bar.begin("quick : quick", 1.0)
        bar.advance(100)
        assert (bar._bar.n, bar._bar.total, bar._bar.initial) == (100.0, 400.0, 0)
        bar.begin("slow : " + "x" * 100, 30.0)
        bar.advance(5)
        assert bar._bar.n == 250.0
    shown = capsys.readouterr().err
    assert "match 2 of 2, slow : xxx" in shown and "x" * 60 not in shown


def test_games_found_in_a_results_file_say_nothing_of_the_speed(monkeypatch):
    monkeypatch.setattr(arena_progress, "FOUND_S", 60.0)
    with ProgressBar([10.0], is_shown=True) as bar:
        bar.begin("a : b", 1.0)
        bar.advance(6)
        assert (bar._bar.n, bar._bar.initial) == (6.0, 6.0)


def test_no_bar_fills_the_log_of_a_ci_machine(monkeypatch, capsys):
    monkeypatch.setenv("CI", "true")
    with ProgressBar([10.0], is_shown=True) as bar:
        bar.begin("a : b", 1.0)
        bar.advance(10)
    assert capsys.readouterr().err == ""


def test_nothing_is_printed_where_no_bar_is_wanted(capsys):
    with ProgressBar([10.0], is_shown=False) as bar:
        bar.begin("a : b", 1.0)
        bar.advance(10)
    assert capsys.readouterr().err == ""
