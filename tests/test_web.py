"""The web board in a real browser: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from web_server import ServerProcess

playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no browser: Debian's package chromium is not installed")

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
]
WAIT_MS = 30_000


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[ServerProcess]:
    found = ServerProcess(tmp_path_factory.mktemp("web"))
    yield found
    found.stop()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


class Table:
    """A page that shows a game, what went wrong on it, and the server's own view of that game."""

    def __init__(self, page, server) -> None:
        self.page, self.server = page, server
        self.faults: list[str] = []
        page.set_default_timeout(WAIT_MS)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", self.heard)
        page.on("request", self.asked)

    def heard(self, message) -> None:
        is_refusal = "status of 400" in message.text  # the browser's own note on a refused move
        if message.type == "error" and not is_refusal:
            self.faults.append(message.text)

    def asked(self, request) -> None:
        if urlsplit(request.url).hostname not in ("127.0.0.1", None):
            self.faults.append(f"a request to {request.url}")

    def open(self, *, waits: bool = True, **game) -> str:
        ask = {"rules": "long_classic", "players": ["you", "you"], "first": 0, "dice": "typed"} | game
        answer = httpx.post(f"{self.server.url}/api/v1/games", json=ask)
        assert answer.status_code == 200, answer.text
        self.id = answer.json()["id"]
        self.page.goto(f"{self.server.url}/#{self.id}")
        if waits:
            self.ready()
        return self.id

    def view(self):
        found = self.page.evaluate("localStorage.getItem('nardy-game')")
        return httpx.get(f"{self.server.url}/api/v1/games/{found}").json()

    def act(self, action, **fields) -> None:
        httpx.post(f"{self.server.url}/api/v1/games/{self.id}/{action}", json=fields).raise_for_status()

    def place(self, place):
        return self.page.locator(f".area[data-place='{place}']")

    def click(self, place) -> None:
        box = self.place(place).bounding_box()
        self.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def button(self, action):
        return self.page.locator(f"[data-act='{action}']")

    def ready(self) -> None:
        self.page.locator("#status:not(:empty)").wait_for()
        self.page.locator("#board-frame:not(.busy)").wait_for()

    def lit(self, kind) -> set[str]:
        self.ready()
        return set(self.page.eval_on_selector_all(f".area.{kind}", "all => all.map(each => each.dataset.place)"))

    def expect_board(self, row, index, count) -> None:
        for _ in range(200):
            if self.view()["board"][row][index] == count:
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"row {row}, index {index}: not {count} but {self.view()['board'][row][index]}")


def new_context(browser, width=1280, height=860, **settings):
    chosen = {"lang": "en", "speed": 0} | settings
    context = browser.new_context(viewport={"width": width, "height": height}, locale="en-US")
    text = ", ".join(f"{key}: {value!r}" for key, value in chosen.items())
    text = text.replace("True", "true").replace("False", "false")
    context.add_init_script(
        f"if (!localStorage.getItem('nardy-settings')) "
        f"localStorage.setItem('nardy-settings', JSON.stringify({{{text}}}))"
    )
    return context


@pytest.fixture
def table(browser, server) -> Iterator[Table]:
    context = new_context(browser)
    found = Table(context.new_page(), server)
    yield found
    context.close()
    assert found.faults == []


# A click on what is lit up, as a hasty player does it, until the game is over.
HASTY_PLAYER = """() => new Promise((done, failed) => {
  const click = (area) => {
    const box = area.getBoundingClientRect();
    const at = {bubbles: true, pointerId: 1, pointerType: "mouse", isPrimary: true,
      clientX: box.x + box.width / 2, clientY: box.y + box.height / 2};
    area.dispatchEvent(new PointerEvent("pointerdown", at));
    area.dispatchEvent(new PointerEvent("pointerup", at));
  };
  const end = Date.now() + 150000;
  const timer = setInterval(() => {
    const isOver = document.querySelector(".result");
    if (isOver || Date.now() > end) {
      clearInterval(timer);
      if (isOver) done(document.querySelector("#status").textContent);
      else failed(new Error("the game did not end"));
      return;
    }
    if (document.querySelector("#board-frame.busy")) return;
    const main = document.querySelector("#centre button.main, #chooser:not([hidden]) .die-button");
    const lit = (kind) => [...document.querySelectorAll(".area." + kind)];
    if (main && !main.closest("[hidden]")) main.click();
    else if (lit("target").length) click(lit("target")[0]);
    else if (lit("source").length) click(lit("source")[0]);
  }, 15);
})"""


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


def walk_to(page, place) -> None:
    """Arrow keys to a point: across, then along."""
    for _ in range(40):
        here = int(page.evaluate("document.activeElement.dataset.place ?? -1"))
        assert here > 0, "the board has no focus"
        there = int(place)
        if here == there:
            return
        if (here >= 13) != (there >= 13):
            page.keyboard.press("ArrowUp")
            continue
        is_right = (there > here) == (here >= 13)
        page.keyboard.press("ArrowRight" if is_right else "ArrowLeft")


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


def test_the_page_of_the_api_sends_its_examples(table) -> None:
    page = table.page
    page.goto(f"{table.server.url}/docs")
    page.locator("summary", has_text="/api/v1/suggest").click()
    page.click("text=Send")
    page.locator("pre", has_text='"suggestions"').wait_for()
