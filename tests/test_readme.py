"""The README's examples run as written.

A block behind `<!-- run -->` is run: each `$ ` line of a console block by bash, a python block by this Python.
`<!-- run: same -->` also compares the output, `<!-- run: NAME.py -->` saves a python block for the blocks after it.
`python tests/test_readme.py` writes the real outputs into the README.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
_BLOCK = re.compile(r"<!-- run(?:: (?P<mark>\S+))? -->\n```(?P<kind>console|python)\n(?P<text>.*?)```\n", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Block:
    """A marked block: what it runs and the output that the README shows for it."""

    kind: str
    mark: str
    text: str

    @property
    def command(self) -> str:
        return "\n".join(line[2:] for line in self.text.splitlines() if line.startswith("$ "))

    @property
    def output(self) -> str:
        return "".join(line for line in self.text.splitlines(keepends=True) if not line.startswith("$ "))


def blocks() -> list[Block]:
    found = _BLOCK.finditer(README.read_text(encoding="utf-8"))
    return [Block(kind=m["kind"], mark=m["mark"] or "", text=m["text"]) for m in found]


def run_block(block: Block, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a block in the repository; modules that earlier blocks saved in `folder` can be imported."""
    environment = os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    command = block.command.replace("PYTHONPATH=. ", "")  # the saved modules lie in `folder`, not in the repository
    arguments = ["bash", "-ec", command] if block.kind == "console" else [sys.executable, "-c", block.text]
    return subprocess.run(arguments, cwd=ROOT, env=environment, capture_output=True, encoding="utf-8", timeout=300)


def is_venv_ready() -> bool:
    check = 'source scripts/venv.sh; has_extras test ""'
    return subprocess.run(["bash", "-c", check], cwd=ROOT, check=False).returncode == 0


def saved_modules(folder: Path) -> None:
    for block in blocks():
        if block.mark.endswith(".py"):
            (folder / block.mark).write_text(block.text, encoding="utf-8")


@pytest.mark.parametrize("block", blocks(), ids=lambda block: block.mark or block.command.partition("\n")[0][:60])
def test_a_marked_block_runs(block: Block, tmp_path: Path) -> None:
    if block.kind == "console" and not is_venv_ready():
        pytest.skip("the scripts would set up .venv; scripts/test has done that")
    saved_modules(tmp_path)
    done = run_block(block, tmp_path)
    assert done.returncode == 0, done.stderr
    if block.mark == "same":
        assert done.stdout.rstrip() == block.output.rstrip()
    elif block.kind == "console":
        assert skeleton(done.stdout) == skeleton(block.output), "python tests/test_readme.py writes new outputs"


def skeleton(text: str) -> list[str]:
    """The words of an output: figures differ in the last digit between machines, and speeds altogether."""
    return re.findall(r"[a-z_]{3,}", text)


def test_commands_and_files_that_the_readme_names_exist() -> None:
    text = README.read_text(encoding="utf-8")
    listed = subprocess.run([sys.executable, "-m", "agent.cli"], cwd=ROOT, capture_output=True, text=True, check=True)
    commands = set(re.findall(r"^  ([a-z]+)  ", listed.stdout, re.MULTILINE))
    named = set(re.findall(r"(?:scripts/nardy|`nardy) ([a-z]+)", text))
    assert named and named <= commands
    paths = re.findall(r"`((?:engine|agent|training|scripts|tests)/[\w./-]*)`", text)
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_readme_names_no_host() -> None:
    assert re.findall(r"https?://(?!127\.0\.0\.1)\S+", README.read_text(encoding="utf-8")) == []


def write_outputs(folder: Path) -> None:
    saved_modules(folder)

    def renewed(match: re.Match[str]) -> str:
        block = Block(kind=match["kind"], mark=match["mark"] or "", text=match["text"])
        if block.kind != "console":
            return match[0]
        done = run_block(block, folder)
        if done.returncode:
            print(f"left as it was: {block.command}\n{done.stderr}", file=sys.stderr)
            return match[0]
        output = "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n")
        commands = "".join(f"$ {line}\n" for line in block.command.splitlines())
        return match[0].replace(match["text"], f"{commands}{output}\n")

    README.write_text(_BLOCK.sub(renewed, README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        write_outputs(Path(place))
