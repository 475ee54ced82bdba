"""What every test module shares: `--long`, random numbers of a test's own, and hypothesis without a clock."""

from __future__ import annotations

import signal
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("suite", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("suite")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a background job ignores it, and so would all its children
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="raise the counts of random tests to those of the issues")
    parser.addoption("--rng-seed", type=int, default=0, help="seed mixed into each test's own random numbers")


@pytest.fixture(scope="session")
def is_long(request: pytest.FixtureRequest) -> bool:
    """Whether the run was asked for the full counts of random tests."""
    return bool(request.config.getoption("--long"))


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that depend on the test's name and --rng-seed alone, not on the order of tests."""
    seed = request.config.getoption("--rng-seed")
    return np.random.default_rng([seed, zlib.crc32(request.node.nodeid.encode())])


@pytest.fixture(scope="session")
def nets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The file of a small net for each game."""
    from agent.net import save_net
    from small_net import small_net

    folder = tmp_path_factory.mktemp("nets with spaces")
    paths = {game: str(folder / f"{game}.safetensors") for game in ("short", "long")}
    for game, path in paths.items():
        save_net(small_net(game), path)
    return paths


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """`nardy serve` as a process of its own (see `web_server`)."""
    from web_server import ServerProcess

    found = ServerProcess(tmp_path_factory.mktemp("web"))
    yield found
    found.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser for the modules that drive the web board (see `web_table`)."""
    from web_table import CHROMIUM, FLAGS, playwright

    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture
def table(browser: Any, server: Any) -> Iterator[Any]:
    """A page with the board, on which nothing must go wrong."""
    from web_table import Table, new_context

    context = new_context(browser)
    found = Table(context.new_page(), server)
    yield found
    context.close()
    assert found.faults == []
