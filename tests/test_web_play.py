"""Games played on the web board, by mouse, touch and keyboard."""

from __future__ import annotations

import pytest

from web_table import HASTY_PLAYER, WAIT_MS, Table, needs_browser, new_context, playwright, walk_to

pytestmark = needs_browser


@pytest.mark.parametrize("rules", ["short", "long_classic"])
def test_a_whole_game_is_played_against_the_net(browser, server, rules) -> None:
    context = new_context(browser, autoPass=True)
    table = Table(context.new_page(), server)
    table.open(rules=rules, players=["you", "net"], dice="seed", seed=4)
    said = table.page.evaluate(HASTY_PLAYER)
    view = table.view()
    assert view["state"] == "over" and ("win" in said)
    table.page.click("#tab-graph")
    playwright.expect(table.page.locator(".graph .dot")).to_have_count(view["n_turns"], timeout=WAIT_MS)
    context.close()
    assert table.faults == []


def test_steps_are_taken_back_until_the_dice_are_passed(table) -> None:
    table.open()
    table.act("roll", dice="65")
    table.page.reload()
    assert table.lit("source") == {"24"}
    table.click(24)
    assert table.lit("target") == {"18", "19", "13"}
    table.click(13)
    table.expect_board(0, 13, 1)
    table.button("undo").click()
    table.expect_board(0, 18, 1)
    table.button("reset").click()
    table.expect_board(0, 24, 15)
    table.click(24)
    table.click(13)
    table.expect_board(0, 13, 1)
    table.page.locator("#centre [data-act='commit']").click()
    table.page.locator(".dice-picker").wait_for()
    assert table.view()["mover"] == 1


def test_a_refused_move_says_why_in_both_languages(table) -> None:
    table.open()
    table.act("roll", dice="65")
    table.page.reload()
    table.lit("source")
    table.click(24)
    table.click(20)
    refusal = table.page.locator("#refusal:not([hidden])")
    assert "cannot be made" in refusal.inner_text()
    table.page.click("#lang")
    table.page.locator("html[lang='ru']").wait_for()
    table.ready()
    table.click(24)
    table.click(20)
    table.page.locator("#refusal", has_text="не сделать").wait_for()
    assert table.view()["steps"] == []


def test_a_checker_is_dragged(table) -> None:
    table.open()
    table.act("roll", dice="65")
    table.page.reload()
    table.lit("source")
    start, end = table.place(24).bounding_box(), table.place(18).bounding_box()
    table.page.mouse.move(start["x"] + 20, start["y"] + 40)
    table.page.mouse.down()
    table.page.mouse.move(end["x"] + 25, end["y"] + 60, steps=6)
    table.page.mouse.up()
    table.expect_board(0, 18, 1)


def test_two_dice_that_fit_are_chosen_between_and_two_clicks_play_once(table) -> None:
    """Case B17."""
    mine, theirs = [13] + [0] * 25, [0, 15] + [0] * 24
    mine[4], mine[3] = 1, 1
    table.open(rules="short", position=[mine, theirs])
    table.act("roll", dice="65")
    table.page.reload()
    table.lit("source")
    table.click(4)
    table.page.locator("#chooser:not([hidden]) .die-button").first.wait_for()
    assert table.page.locator("#chooser .die-button").all_inner_texts() == ["6", "5"]
    table.page.keyboard.press("5")
    table.expect_board(0, 0, 14)
    assert table.view()["steps"][0]["die"] == 5
    box = table.place(3).bounding_box()
    table.page.mouse.dblclick(box["x"] + 20, box["y"] + box["height"] - 30)
    table.expect_board(0, 0, 15)
    assert len(table.view()["steps"]) == 2


def test_the_only_choice_is_played_by_one_click(table) -> None:
    table.open()
    table.act("roll", dice="66")
    table.page.reload()
    table.lit("source")
    table.click(24)
    table.expect_board(0, 18, 1)


def test_nothing_to_play_passes_by_itself_and_says_why(table) -> None:
    """Case N09."""
    mine, theirs = [0] * 26, [9] + [0] * 25
    mine[24], theirs[6], theirs[7], theirs[8] = 15, 2, 2, 2
    table.open(position=[mine, theirs])
    table.act("roll", dice="64")
    table.page.reload()
    table.page.locator("#status", has_text="is held by the opponent").wait_for()
    table.page.locator(".dice-picker").wait_for()
    assert table.view()["mover"] == 1


def test_a_wrong_turn_is_left_contested_and_played_again(table) -> None:
    table.open(enforce="claims")
    table.act("roll", dice="66")
    table.page.reload()
    table.lit("source")
    table.click(24)
    table.expect_board(0, 18, 1)
    table.ready()
    table.page.locator("#actions [data-act='commit']").click()
    table.page.locator("#status", has_text="no correct turn").wait_for()
    table.button("demand").click()
    table.expect_board(0, 24, 15)
    assert table.view()["state"] == "moving" and table.view()["is_strict"]


def test_checkers_are_put_freely_and_the_opponent_accepts(table) -> None:
    table.open(enforce="claims")
    table.act("roll", dice="21")
    table.page.reload()
    table.lit("source")
    table.button("free_hand").click()
    table.click(24)
    table.click(20)
    table.expect_board(0, 20, 1)
    table.ready()
    table.page.locator("#actions [data-act='commit']").click()
    table.button("accept").click()
    table.page.locator(".dice-picker").wait_for()
    assert table.view()["last_turn"]["is_correct"] is False


def test_dice_are_set_by_hand_or_thrown(table) -> None:
    table.open()
    table.page.keyboard.press("3")
    table.page.keyboard.press("1")
    table.lit("source")
    assert sorted(table.view()["dice"]) == [1, 3]


def test_a_turn_is_played_by_keyboard_alone(table) -> None:
    table.open(players=["you", "net"], dice="seed", seed=8)
    page = table.page
    page.keyboard.press("r")
    sources = table.lit("source")
    page.keyboard.press("m")
    for _ in range(8):
        if table.page.locator("#centre [data-act='commit']").count():
            break
        sources = table.lit("source")
        if not sources:
            page.wait_for_timeout(100)
            continue
        walk_to(page, sorted(sources)[0])
        page.keyboard.press("Enter")
        table.ready()
        targets = table.lit("target")
        if targets:
            walk_to(page, sorted(targets)[0])
            page.keyboard.press("Enter")
            table.ready()
    page.keyboard.press("d")
    for _ in range(200):
        if table.view()["n_turns"] >= 1:
            break
        page.wait_for_timeout(50)
    assert table.view()["n_turns"] >= 1


def test_two_programs_are_watched_paused_and_go_on(browser, server) -> None:
    context = new_context(browser, speed=1)
    table = Table(context.new_page(), server)
    table.open(players=["net", "pips"], dice="seed", waits=False)
    table.button("pause").click()
    table.ready()
    table.page.wait_for_timeout(300)
    seen = table.view()["n_turns"]
    table.page.wait_for_timeout(300)
    assert table.view()["n_turns"] == seen
    table.button("pause").click()
    for _ in range(200):
        if table.view()["n_turns"] > seen:
            break
        table.page.wait_for_timeout(50)
    assert table.view()["n_turns"] > seen
    context.close()
    assert table.faults == []
