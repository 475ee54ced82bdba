"""The wheel adds exactly three packages, with the nets and the web page inside."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """The wheel as pip builds it from the tracked and the new files, built outside the working tree."""
    folder = tmp_path_factory.mktemp("wheel")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            target = folder / "source" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder)]
    subprocess.run([*command, str(folder / "source")], check=True, capture_output=True, text=True)
    (built,) = folder.glob("nardy-*.whl")
    return zipfile.ZipFile(built)


def test_the_wheel_adds_exactly_three_packages(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"engine", "agent", "training"}


@pytest.mark.parametrize("folder", ["agent/nets", "agent/web"])
def test_the_wheel_holds_every_data_file(wheel: zipfile.ZipFile, folder: str) -> None:
    wanted = {str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*") if path.is_file()}
    assert {name for name in wanted if "__pycache__" not in name} <= set(wheel.namelist())


def test_the_wheel_holds_every_module_and_no_compiled_kernel(wheel: zipfile.ZipFile) -> None:
    modules = {
        str(p.relative_to(ROOT)) for layer in ("engine", "agent", "training") for p in (ROOT / layer).glob("*.py")
    }
    assert modules <= set(wheel.namelist())
    assert not [name for name in wheel.namelist() if "__pycache__" in name or name.endswith((".nbi", ".nbc"))]


def test_the_wheel_names_both_commands_and_needs_no_torch(wheel: zipfile.ZipFile) -> None:
    (info,) = {name.split("/")[0] for name in wheel.namelist() if ".dist-info/" in name}
    assert b"nardy = agent.cli:main" in wheel.read(f"{info}/entry_points.txt")
    needed = [line for line in wheel.read(f"{info}/METADATA").decode().splitlines() if line.startswith("Requires-Dist")]
    assert [line for line in needed if "torch" in line and "extra ==" not in line] == []
    assert "License-Expression: MIT" in wheel.read(f"{info}/METADATA").decode()
