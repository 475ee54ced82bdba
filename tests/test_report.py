"""The HTML report names everything that is needed to repeat it, escapes what players are called, and draws plots."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from agent.arena import Fixture, Tournament, round_robin, run_tournament
from agent.match_result import MatchResult
from agent.outside import FORFEIT_RULE, CallablePlayer
from agent.rating import rate
from agent.report import tournament_html, write_report
from agent.report_plots import outcomes_svg, progress_svg, ratings_svg, turns_svg
from engine.rules import RULES

LONG = RULES["long_classic"]


@pytest.fixture(scope="module")
def tournament() -> Tournament:
    return run_tournament(round_robin(["heuristic", "pips", "random"], pairs=15), LONG, seed=4, anchor="random")


def test_a_report_names_rules_seed_players_versions_and_command(tournament):
    page = tournament_html(tournament, command="nardy arena heuristic pips random", with_plots=False)
    for text in ("long_classic", ">4<", "heuristic : pips", "numpy", "nardy arena heuristic pips random", "90 games"):
        assert text in page
    assert page.count("<h2>") >= 5


def test_every_match_stands_in_the_report_with_its_figures(tournament):
    page = tournament_html(tournament, with_plots=False).replace("\u00a0", " ")
    for match in tournament.matches:
        assert f"{match.ppg:+.4f} ± {match.se:.4f}" in page
        assert f"{100 * match.win_rate:.1f} %" in page
    for rating in tournament.ratings.players:
        assert f"{rating.elo:+.0f} ± {rating.se:.0f}" in page


def test_a_report_is_well_formed_and_holds_nothing_from_outside(tournament):
    page = tournament_html(tournament)
    body = page[page.index("<body>") : page.index("</html>")]
    assert len(re.findall("<svg", body)) == 4
    # xlink is the only namespace that plots use.
    ElementTree.fromstring(body.replace("xlink:href", "href"))
    links = re.findall(r'(?:src|href)="([^"]*)"', body)
    assert all(link.startswith("#") for link in links)
    assert "<script" not in page


def test_names_from_outside_cannot_put_markup_on_the_page():
    def fail(boards, dice, rules, rng):
        raise ValueError("<img src=x>")

    bad = CallablePlayer(name="<script>alert(1)</script>", rules=LONG, function=fail)
    tournament = run_tournament(round_robin([bad, "pips"], pairs=2), LONG, seed=1)
    page = tournament_html(tournament, command="<b>", with_plots=True)
    assert "<script" not in page and "<img" not in page and "<b>" not in page
    assert FORFEIT_RULE in page and "&lt;script&gt;" in page and "(crash)" in page


def test_plots_of_a_single_pair_and_of_luck_are_drawn():
    outcomes = np.array([[0, LONG.game.levels]], dtype=np.int8)
    match = MatchResult(
        a="a",
        b="b",
        rules=LONG,
        seed=1,
        points=np.array([[1.0, -1.0]]),
        outcomes=outcomes,
        turns=np.array([[70, 71]], dtype=np.int32),
        luck=np.zeros((1, 2, 2)),
    )
    for svg in (progress_svg([match]), outcomes_svg([match]), turns_svg([match]), ratings_svg(rate([match]))):
        assert svg.startswith("<svg") and "nan" not in svg.lower().replace("nano", "")
    page = tournament_html(Tournament(rules=LONG, seed=1, matches=(match,), ratings=rate([match])))
    assert "ppg less luck" in page


def test_every_row_has_a_cell_in_each_column_where_only_some_matches_measure_luck():
    plain = Fixture(a="pips", b="random", pairs=2)
    tournament = run_tournament([plain, Fixture(a="net", b="pips", pairs=2, luck="net")], LONG, seed=1)
    page = tournament_html(tournament, with_plots=False)
    tables = re.findall("<thead>(.*?)</thead><tbody>(.*?)</tbody>", page)
    assert len(tables) >= 5
    for head, body in tables:
        assert {row.count("<td") for row in body.split("</tr>")[:-1]} == {head.count("<th>")}


def test_plots_are_the_same_for_the_same_results(tournament):
    assert progress_svg(tournament.matches) == progress_svg(tournament.matches)


def test_a_report_is_written_whole(tournament, tmp_path):
    path = tmp_path / "report.html"
    write_report(tournament, path, command="nardy arena")
    assert path.read_text().endswith("</html>\n") and [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_matplotlib_is_not_imported_before_a_plot_is_asked_for():
    import subprocess

    code = "import sys, agent.report, agent.arena; sys.exit('matplotlib' in sys.modules or 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
