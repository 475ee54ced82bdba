"""Board pictures: valid XML, every checker in its place, arrows for plays."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from agent.suggest import suggest
from agent.svg import DEFAULT_COLOURS, Arrow, Colours, board_svg, play_arrows, suggestions_svg
from engine.errors import ConfigError
from engine.rules import get_rules
from engine.steps import Step
from fake_judge import FakeJudge
from random_positions import placed

SVG = "{http://www.w3.org/2000/svg}"


def discs(svg: str, colour: str) -> list[tuple[float, float]]:
    root = ElementTree.fromstring(svg)
    return [
        (float(c.get("cx")), float(c.get("cy")))
        for c in root.iter(f"{SVG}circle")
        if c.get("fill") == colour and float(c.get("r")) > 10
    ]


def numbers(svg: str) -> dict[str, tuple[float, float]]:
    root = ElementTree.fromstring(svg)
    return {
        t.text: (float(t.get("x")), float(t.get("y"))) for t in root.iter(f"{SVG}text") if t.get("font-size") == "13"
    }


@pytest.mark.parametrize("preset", ["short", "long_classic"])
def test_every_checker_on_the_board_is_drawn_once(preset: str) -> None:
    rules = get_rules(preset)
    boards, dice = placed(rules, 25, np.random.default_rng(1))
    for board, roll in zip(boards, dice, strict=True):
        svg = board_svg(board, rules, dice=roll)
        for row, colour in enumerate((DEFAULT_COLOURS.mover, DEFAULT_COLOURS.opponent)):
            on_board = 15 - int(board[row, 0])
            in_tray = int(board[row, 0] > 0)
            places = discs(svg, colour)
            assert len(places) == len(set(places)) == on_board + in_tray
        centres = [c for colour in (DEFAULT_COLOURS.mover, DEFAULT_COLOURS.opponent) for c in discs(svg, colour)]
        assert all(0 < x < 700 and 0 < y < 560 for x, y in centres)


def test_long_nardy_goes_counter_clockwise_with_heads_in_opposite_corners() -> None:
    rules = get_rules("long_classic")
    svg = board_svg(rules.start_board(), rules)
    (mine_x, mine_y), (his_x, his_y) = (discs(svg, c)[0] for c in (DEFAULT_COLOURS.mover, DEFAULT_COLOURS.opponent))
    places = numbers(svg)
    assert mine_x == places["24"][0] == max(x for x, _ in places.values()) and mine_y < 260
    assert his_x == places["12"][0] == min(x for x, _ in places.values()) and his_y > 260
    # Along my way, 24 down to 1: leftwards on top, then rightwards below.
    assert all(places[str(p + 1)][0] > places[str(p)][0] for p in range(13, 24))
    assert all(places[str(p + 1)][0] < places[str(p)][0] for p in range(1, 12))


def test_short_nardy_has_the_sides_face_each_other() -> None:
    rules = get_rules("short")
    board = np.zeros((2, 26), dtype=np.int8)
    board[0, 6], board[1, 6], board[:, 0] = 1, 1, 14
    svg = board_svg(board, rules)
    places = numbers(svg)
    assert places["6"][0] in {x for x, y in discs(svg, DEFAULT_COLOURS.mover) if y > 260}
    assert places["19"][0] in {x for x, y in discs(svg, DEFAULT_COLOURS.opponent) if y < 260}


@pytest.mark.parametrize("preset", ["short", "long_classic"])
def test_suggestions_draw_their_best_plays(preset: str) -> None:
    rules = get_rules(preset)
    roll = (6, 5) if rules.can_hit else (3, 3)
    answer = suggest(rules.start_board(), roll, rules, FakeJudge(rules))
    svg = answer._repr_svg_()
    assert svg == suggestions_svg(answer)
    root = ElementTree.fromstring(svg)
    arrows = [p for p in root.iter(f"{SVG}path") if p.get("marker-end")]
    shown = answer[:3]
    assert len(arrows) == sum(len(set(play_arrows(s.steps))) for s in shown)
    assert {a.get("stroke") for a in arrows} == set(DEFAULT_COLOURS.arrows[: len(shown)])
    for s in shown:
        assert s.play_text in svg


def test_a_checker_that_goes_on_has_one_arrow_and_one_that_hits_on_the_way_two() -> None:
    on = [Step(24, 18, 6, False), Step(18, 13, 5, False)]
    assert play_arrows(on, 2) == [Arrow(start=24, end=13, rank=2)]
    hit = [Step(24, 18, 6, True), Step(18, 13, 5, False)]
    assert play_arrows(hit) == [Arrow(start=24, end=18), Arrow(start=18, end=13)]
    two = [Step(8, 5, 3, False), Step(6, 5, 1, False)]
    assert [(a.start, a.end) for a in play_arrows(two)] == [(8, 5), (6, 5)]


def test_checkers_that_go_the_same_way_share_an_arrow_with_their_number() -> None:
    rules = get_rules("long_classic")
    steps = [Step(24, 21, 3, False), Step(21, 18, 3, False), Step(24, 21, 3, False), Step(21, 18, 3, False)]
    arrows = play_arrows(steps)
    assert arrows == 2 * [Arrow(start=24, end=18)]
    svg = board_svg(rules.start_board(), rules, arrows=arrows)
    assert svg.count("marker-end") == 1 and svg.count(">×2<") == 1


def test_counts_are_written_over_the_arrows() -> None:
    rules = get_rules("short")
    svg = board_svg(rules.start_board(), rules, arrows=[Arrow(start=24, end=13)])
    assert svg.index("marker-end") < svg.index(">5<", svg.index("<circle"))
    assert [c for c in ("2", "3", "5") if svg.rindex(f">{c}<") < svg.index("marker-end")] == []


def test_captions_and_title_follow_the_language() -> None:
    rules = get_rules("short")
    svg = suggestions_svg(suggest(rules.start_board(), (6, 5), rules, FakeJudge(rules)), lang="ru")
    assert "пипсы 167 на ходу, 167 у соперника, зары 6-5" in svg
    captions = [t.text for t in ElementTree.fromstring(svg).iter(f"{SVG}text") if t.get("font-size") == "16"]
    assert sum("," in caption and "." not in caption[2:] for caption in captions) == 3


def test_the_best_play_is_drawn_on_top() -> None:
    rules = get_rules("short")
    arrows = [Arrow(start=24, end=18, rank=rank) for rank in (0, 1, 2)]
    drawn = re.findall(r"url\(#head(\d)\)", board_svg(rules.start_board(), rules, arrows=arrows))
    assert all(int(a) > int(b) for a, b in pairwise(drawn)) and drawn[-1] == "0"


def test_text_is_escaped_and_colours_can_be_chosen() -> None:
    rules = get_rules("long_classic")
    svg = board_svg(rules.start_board(), rules, captions=["<b>&"], colours=Colours(mover="#ff0000"), size=300)
    assert ElementTree.fromstring(svg).get("width") == "300"
    assert len(discs(svg, "#ff0000")) == 15 and "&lt;b&gt;&amp;" in svg


@pytest.mark.parametrize("size", [0, 99, 20_000])
def test_a_size_out_of_range_is_refused(size: int) -> None:
    rules = get_rules("short")
    with pytest.raises(ConfigError, match=f"100 to 10000 pixels, got {size}"):
        board_svg(rules.start_board(), rules, size=size)
