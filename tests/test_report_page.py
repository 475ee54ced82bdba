"""The HTML report in a browser: its tables fit the page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agent.arena import Tournament, round_robin, run_tournament
from agent.rating import rate
from agent.report import tournament_html
from engine.rules import RULES
from web_table import needs_browser

LONG = RULES["long_classic"]


@pytest.fixture(scope="module")
def tournament() -> Tournament:
    return run_tournament(round_robin(["heuristic", "pips", "random"], pairs=3), LONG, seed=4)


@needs_browser
@pytest.mark.parametrize("width", [1100, 400])
def test_wide_tables_wrap_or_scroll_in_boxes_of_their_own(browser, tournament, width):
    long_names = {"heuristic": "net:/home/somebody/runs/a_long_name/net.safetensors@2ply", "pips": "cmd:" + 60 * "x"}
    matches = tuple(
        replace(m, a=long_names.get(m.a, m.a), b=long_names.get(m.b, m.b), luck=np.ones((m.pairs, 2, 2)))
        for m in tournament.matches
    )
    shown = Tournament(rules=LONG, seed=1, matches=matches, ratings=rate(matches))
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.set_content(tournament_html(shown, with_plots=False))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    hidden = page.evaluate("[...document.querySelectorAll('.wide')].map(box => box.scrollWidth - box.clientWidth)")
    page.close()
    assert max(hidden) == 0 if width == 1100 else max(hidden) > 0
