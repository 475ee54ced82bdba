"""What stands beside the board: hints, move list, graph, the position editor, kept games."""

from __future__ import annotations

import httpx

from web_table import needs_browser, playwright

pytestmark = needs_browser


def test_hints_show_chances_arrows_and_words_and_can_be_played(table) -> None:
    table.open(rules="short")
    table.act("roll", dice="31")
    table.page.reload()
    table.lit("source")
    table.page.keyboard.press("h")
    first = table.page.locator(".hint.best .hint-row").first
    first.wait_for()
    assert table.page.locator(".hint").count() == 6
    assert table.page.locator(".hint .chances svg rect").count() > 20
    first.click()
    table.page.locator(".arrow.best").first.wait_for()
    assert table.page.locator(".words li").count() >= 2
    table.page.click("text=Play this")
    table.page.locator("#centre [data-act='commit']").wait_for()
    assert table.view()["is_correct"]


def test_the_move_list_is_stepped_through(table) -> None:
    table.open()
    for dice in ("65", "43"):
        table.act("roll", dice=dice)
        table.act("move", start=24, end=24 - int(dice[0]) - int(dice[1]))
        table.act("commit")
    table.page.reload()
    table.page.click("#tab-moves")
    table.page.locator("#turn-list li").nth(1).wait_for()
    assert table.page.locator("#turn-list .play").all_inner_texts() == ["24/13", "24/17"]
    table.page.keyboard.press("[")
    table.page.keyboard.press("[")
    table.page.locator("#status", has_text="Turn 1").wait_for()
    assert table.page.locator(".arrow").count() == 1
    table.page.keyboard.press("Escape")
    table.page.locator("#status", has_text="to roll").wait_for()


def test_a_position_is_edited_pasted_analysed_and_played_from(table) -> None:
    table.open(rules="short")
    page = table.page
    page.keyboard.press("e")
    page.locator("#editor-answer", has_text="valid position").wait_for()
    table.click(6)  # all 15 are on the board, so nothing is added
    page.keyboard.down("Shift")
    table.click(6)
    page.keyboard.up("Shift")
    page.locator("#editor-answer", has_text="pips 161").wait_for()
    page.fill("#editor-id", "nonsense")
    page.keyboard.press("Enter")
    page.locator("#editor-answer.fault").wait_for()
    page.fill("#editor-id", "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10")
    page.keyboard.press("Enter")
    page.locator("#editor-answer", has_text="pips 167").wait_for()
    assert page.input_value("#editor-dice") == "31"
    page.click("#editor-analyse")
    page.locator("#editor-result .best").wait_for()
    assert page.locator("#editor-result li").count() == 5
    page.click("#editor-play")
    page.click("#begin")
    page.locator("body:not(.editing)").wait_for()
    page.locator("#status:not(:empty)").wait_for()
    assert table.view()["board"][0][24] == 2 and table.view()["rules"] == "short"


def test_an_xgid_pasted_where_long_rules_are_chosen_brings_short_ones(table) -> None:
    table.open(rules="long_classic")
    page = table.page
    page.click("#lang")
    page.keyboard.press("e")
    page.locator("#editor-answer", has_text="Позиция верна").wait_for()
    page.fill("#editor-id", "nonsense")
    page.keyboard.press("Enter")
    page.locator("#editor-answer.fault", has_text="Это не позиция").wait_for()
    page.fill("#editor-id", "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10")
    page.keyboard.press("Enter")
    page.locator("#editor-answer:not(.fault)", has_text="правила теперь такие: Короткие нарды").wait_for()
    assert page.input_value("[name='editor-preset']") == "short" and page.input_value("#editor-dice") == "31"
    page.click("#editor-analyse")
    page.locator("#editor-result .best").wait_for()


def test_a_game_is_saved_loaded_and_deleted(table, tmp_path) -> None:
    first = table.open(players=["you:Anna", "you:Boris"])
    table.act("roll", dice="65")
    table.page.reload()
    table.page.click("#tab-moves")
    with table.page.expect_download() as saving:
        table.page.click("text=Save the record")
    saving.value.save_as(tmp_path / "saved.jsonl")
    table.page.click("#open-games")
    with table.page.expect_file_chooser() as choosing:
        table.page.click("#load-record")
    choosing.value.set_files(tmp_path / "saved.jsonl")
    table.page.locator("dialog[open]").wait_for(state="detached")
    view = table.view()
    assert view["id"] != first and view["dice"] == [6, 5] and view["players"][1]["name"] == "Boris"
    table.page.click("#open-games")
    rows = table.page.locator(".game-list li")
    rows.first.wait_for()
    count = rows.count()
    rows.first.locator("button").last.click()
    playwright.expect(rows).to_have_count(count - 1)
    assert httpx.get(f"{table.server.url}/api/v1/games/{view['id']}").status_code == 400


def test_a_turn_looked_back_at_is_numbered_and_counted_as_it_was(table) -> None:
    table.open()
    for dice in ("65", "43"):
        table.act("roll", dice=dice)
        table.act("move", start=24, end=24 - int(dice[0]) - int(dice[1]))
        table.act("commit")
    page = table.page
    page.reload()
    page.click("#tab-moves")
    page.locator("#turn-list li").nth(1).click()
    page.locator("#status", has_text="Turn 2: Black 4-3, 24/17").wait_for()
    assert page.locator(".number").nth(11).text_content() == "24"  # white's 12 is black's head
    assert "353 pips" in page.inner_text("#player-top") and "349 pips" in page.inner_text("#player-bottom")


def test_hints_do_not_cover_the_board_while_a_checker_is_held_or_another_panel_is_read(table) -> None:
    table.open(rules="short")
    table.act("roll", dice="31")
    table.page.reload()
    table.lit("source")
    table.page.keyboard.press("h")
    table.page.locator(".hint.best .hint-row").first.click()
    arrows = table.page.locator(".arrow")
    arrows.first.wait_for()
    table.page.click("#tab-moves")
    playwright.expect(arrows).to_have_count(0)
    table.page.click("#tab-hints")
    playwright.expect(arrows).not_to_have_count(0)
    table.click(8)
    playwright.expect(arrows).to_have_count(0)
