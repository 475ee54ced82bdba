"""What every test module shares: `--long`, and hypothesis without a clock."""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("suite", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="raise the counts of random tests to those of the issues")


@pytest.fixture(scope="session")
def is_long(request: pytest.FixtureRequest) -> bool:
    """Whether the run was asked for the full counts of random tests."""
    return bool(request.config.getoption("--long"))
