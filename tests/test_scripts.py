"""The scripts set up .venv once, again when its sources change, and never twice at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent
USE = 'source "$1/scripts/venv.sh"; use_venv "$2" "$3"'
# Stands for .venv/bin/python: notes each pip install, slowly enough for another process to come between.
FAKE_PYTHON = (
    '#!/usr/bin/env bash\nif [[ $* == *install* ]]; then sleep 0.5; echo "$*" >>"$(dirname "$0")/../calls"; fi\n'
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with the scripts and a .venv whose Python only notes what it is asked to install."""
    folder = tmp_path / "with spaces и кириллица"
    for name in ("scripts/venv.sh", "scripts/constraints.txt", "pyproject.toml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes((ROOT / name).read_bytes())
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(FAKE_PYTHON)
    python.chmod(0o755)
    return folder


def use_venv(root: Path, name: str, extras: str, **changes: str) -> subprocess.Popen[str]:
    environment = os.environ | {"NARDY_EXTRAS": "", "PYTHON": sys.executable} | changes
    return subprocess.Popen(["bash", "-euc", USE, "-", root, name, extras], cwd="/", env=environment, text=True)


def installs(root: Path) -> list[str]:
    calls = root / ".venv" / "calls"
    return [line.rpartition("[")[2].rstrip("]") for line in calls.read_text().splitlines()] if calls.exists() else []


def shell_output(line: str, folder: Path) -> str:
    return subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def test_a_second_start_installs_nothing(root: Path) -> None:
    for _ in range(2):
        assert use_venv(root, "nardy", "report,serve").wait() == 0
    assert installs(root) == ["report,serve"]


def test_two_starts_at_once_install_once(root: Path) -> None:
    both = [use_venv(root, "nardy", "report,serve") for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert installs(root) == ["report,serve"]


@pytest.mark.parametrize("name", ["scripts/constraints.txt", "pyproject.toml"])
def test_changed_requirements_are_installed(root: Path, name: str) -> None:
    assert use_venv(root, "nardy", "serve").wait() == 0
    with (root / name).open("a") as file:
        file.write("# changed\n")
    assert use_venv(root, "nardy", "serve").wait() == 0
    assert installs(root) == ["serve", "serve"]


def test_what_the_tests_installed_serves_the_commands_too(root: Path) -> None:
    assert use_venv(root, "test", "train,serve,peers,dev").wait() == 0
    assert use_venv(root, "nardy", "report,serve").wait() == 0
    assert installs(root) == ["train,serve,peers,dev"]


def test_more_extras_are_added_on_request(root: Path) -> None:
    assert use_venv(root, "nardy", "serve").wait() == 0
    assert use_venv(root, "nardy", "serve", NARDY_EXTRAS="peers").wait() == 0
    assert installs(root) == ["serve", "serve,peers"]


def test_an_install_that_fails_is_tried_again(root: Path) -> None:
    python = root / ".venv" / "bin" / "python"
    python.write_text(FAKE_PYTHON + "[[ $* != *install* ]]\n")
    assert use_venv(root, "nardy", "serve").wait() != 0
    python.write_text(FAKE_PYTHON)
    assert use_venv(root, "nardy", "serve").wait() == 0
    assert installs(root) == ["serve", "serve"]


@pytest.mark.parametrize("name", ["nardy", "nardy-train"])
def test_a_command_learns_how_it_was_called(root: Path, name: str) -> None:
    (root / "scripts" / name).write_bytes((ROOT / "scripts" / name).read_bytes())
    command = root / ".venv" / "bin" / name
    command.write_text('#!/usr/bin/env bash\necho "$NARDY_COMMAND $1"\n')
    command.chmod(0o755)
    for folder, script in ((root, f"scripts/{name}"), (root.parent, f"'{root.name}'/scripts/{name}")):
        again = shell_output(f"bash {script} play", folder).removesuffix(" play")
        assert again.startswith("bash ") and shell_output(f"{again} replay", folder) == f"{again} replay"


@pytest.mark.parametrize("name", ["suggest.py", "benchmark.py", "train.py"])
def test_the_twins_of_the_commands_run_from_anywhere(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts" / name), "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "--rules" in done.stdout


def test_the_pinned_versions_satisfy_the_ranges_of_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"], *(r for extra in project["optional-dependencies"].values() for r in extra)]
    lines = (ROOT / "scripts" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {r.name.lower(): r for r in map(Requirement, (line for line in lines if not line.startswith("#")))}
    for requirement in map(Requirement, asked):
        if requirement.name != "nardy":
            (version,) = pinned[requirement.name.lower()].specifier
            assert requirement.specifier.contains(version.version, prereleases=True), requirement
