"""A page of the web board in a real browser, Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from urllib.parse import urlsplit

import httpx
import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no browser: Debian's package chromium is not installed")

FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
]
WAIT_MS = 30_000


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


def new_context(browser, **settings):
    chosen = {"lang": "en", "speed": 0} | settings
    context = browser.new_context(viewport={"width": 1280, "height": 860}, locale="en-US")
    text = ", ".join(f"{key}: {value!r}" for key, value in chosen.items())
    text = text.replace("True", "true").replace("False", "false")
    context.add_init_script(
        f"if (!localStorage.getItem('nardy-settings')) "
        f"localStorage.setItem('nardy-settings', JSON.stringify({{{text}}}))"
    )
    return context


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
