"""The page itself: languages, reload and restart, a phone, screen readers, the description of the API."""

from __future__ import annotations

import httpx

from web_server import ServerProcess
from web_table import Table, needs_browser, new_context

pytestmark = needs_browser


def test_the_language_changes_without_reload_with_its_plurals(table) -> None:
    table.open()
    page = table.page
    page.evaluate("window.isSamePage = true")
    assert "360 pips" in page.inner_text("#player-bottom")
    page.click("#lang")
    page.locator("#open-new", has_text="Новая игра").wait_for()
    page.locator("#player-bottom", has_text="360 пипсов").wait_for()
    assert page.evaluate("document.documentElement.lang") == "ru" and page.evaluate("window.isSamePage")
    forms = page.evaluate(
        "import('/web/js/i18n.js').then(m => [1, 2, 5, 11, 12, 21, 22, 111].map(n => m.plural(n, ['а', 'б', 'в'])))"
    )
    assert "".join(forms) == "абввваб" + "в"
    tables = page.evaluate(
        "Promise.all(['en', 'ru'].map(l => import(`/web/js/${l}.js`))).then(t => t.map(m => Object.keys(m.default)))"
    )
    assert sorted(tables[0]) == sorted(tables[1])


def test_a_link_to_another_game_opens_it_in_the_same_tab(table) -> None:
    first = table.open(rules="long_classic")
    page = table.page
    page.evaluate("window.isSamePage = true")
    second = table.open(rules="short")
    page.locator("#rules-name", has_text="Short nardy").wait_for()
    assert page.evaluate("window.isSamePage") and first != second
    assert page.evaluate("location.hash") == "" and table.view()["id"] == second
    page.evaluate("location.hash = '#000000000000'")
    page.locator("#refusal:not([hidden])").wait_for()
    assert table.view()["id"] == second


def test_a_reload_while_the_bot_thinks_moves_it_once(table) -> None:
    """Case N26: the answer to the old page's request is late, the new page asks again."""
    page = table.page
    held = []
    page.route("**/bot?*", lambda route: held.append(route))
    table.open(players=["net", "you"], dice="seed", waits=False)
    for _ in range(100):
        if held:
            break
        page.wait_for_timeout(50)
    late = held[0].request
    page.unroute("**/bot?*")
    page.reload()
    page.locator("#centre [data-act='roll']").wait_for()
    assert table.view()["n_turns"] == 1
    answer = httpx.post(late.url, content=late.post_data, headers={"content-type": "application/json"})
    assert answer.status_code == 400 and answer.json()["code"] == "stale"
    assert table.view()["n_turns"] == 1


def test_a_reload_while_the_server_refuses_keeps_the_game(table) -> None:
    table.open()
    page, path = table.page, f"**/games/{table.id}?*"
    page.route(path, lambda route: route.fulfill(status=400, json={"message": "busy", "code": "busy"}))
    page.reload()
    page.locator("#refusal:not([hidden])", has_text="busy").wait_for()
    assert table.faults == ["busy"]
    table.faults.clear()
    page.unroute(path)
    page.reload()
    table.ready()
    assert table.view()["id"] == table.id
    httpx.delete(f"{table.server.url}/api/v1/games/{table.id}").raise_for_status()
    page.reload()
    table.ready()
    assert table.view()["id"] != table.id


def test_the_last_game_outlives_reload_and_server(browser, tmp_path) -> None:
    server = ServerProcess(tmp_path)
    context = new_context(browser)
    table = Table(context.new_page(), server)
    try:
        table.open()
        table.act("roll", dice="65")
        table.page.reload()
        table.lit("source")
        table.click(24)
        table.click(18)
        table.expect_board(0, 18, 1)
    finally:
        server.stop()
    server = ServerProcess(tmp_path, server.port)
    try:
        table.page.goto(f"{server.url}/")
        assert table.lit("source") == {"18"}
        assert table.view()["id"] == table.id
    finally:
        context.close()
        server.stop()
    assert table.faults == []


def test_a_narrow_phone_shows_all_and_is_played_by_touch(browser, server) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True, locale="ru-RU")
    table = Table(context.new_page(), server)
    table.open()
    table.act("roll", dice="65")
    table.page.reload()
    table.lit("source")
    assert table.page.evaluate("document.documentElement.scrollWidth") <= 360
    for place in (24, 18):
        box = table.place(place).bounding_box()
        table.page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    table.expect_board(0, 18, 1)
    for opener in ("#open-new", "#open-settings", "#open-help"):
        table.page.tap(opener)
        assert table.page.evaluate("document.querySelector('dialog').scrollWidth") <= 360
        table.page.keyboard.press("Escape")
    context.close()
    assert table.faults == []


def test_every_control_has_a_name_for_a_screen_reader(table) -> None:
    table.open(rules="short")
    nameless = table.page.evaluate(
        """() => [...document.querySelectorAll("button, select, input, [role=button], a")].filter(each =>
          !(each.getAttribute("aria-label") || each.textContent.trim() || each.title || each.labels?.length))
          .map(each => each.outerHTML)"""
    )
    assert nameless == []
    assert table.place(24).get_attribute("aria-label") == "point 24, 2 white checkers"
    assert table.page.get_attribute("#status", "aria-live") == "polite"


def test_the_page_of_the_api_sends_its_examples(table) -> None:
    page = table.page
    page.goto(f"{table.server.url}/docs")
    page.locator("summary", has_text="/api/v1/suggest").click()
    page.click("text=Send")
    page.locator("pre", has_text='"suggestions"').wait_for()


def test_a_server_that_still_compiles_says_so(table) -> None:
    table.open(dice="seed")
    page, held = table.page, []
    page.route("**/health", lambda route: route.fulfill(json={"is_warm": False}))
    page.route("**/roll?*", lambda route: held.append(route))
    page.keyboard.press("r")
    page.locator("#status", has_text="gets ready").wait_for()
    held[0].continue_()
    assert table.lit("source")
    assert "gets ready" not in page.inner_text("#status")


def test_a_game_goes_on_by_itself_when_the_server_answers_again(table) -> None:
    page = table.page
    page.route("**/bot?*", lambda route: route.abort())
    table.open(players=["net", "you"], dice="seed", waits=False)
    page.locator("#refusal:not([hidden])", has_text="does not answer").wait_for()
    assert table.view()["n_turns"] == 0
    page.unroute("**/bot?*")
    page.locator("#centre [data-act='roll']").wait_for()
    assert table.view()["n_turns"] == 1
    assert all("ERR_FAILED" in fault for fault in table.faults)
    table.faults.clear()
