"""The README's examples run as written, and what the documents name exists: files, commands, options, presets.

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

import click
import pytest
import typer

from agent.cli_app import app as nardy_app
from training.cli import app as train_app
from training.config import PRESETS

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
DOCUMENTS = [README, *(ROOT / name for name in ("CHANGELOG.md", "training/README.md", "agent/nets/README.md"))]
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


def missing_files(text: str, folder: Path) -> list[str]:
    """The files that a document in `folder` names and that do not exist: in the repository, or linked to."""
    named = re.findall(r"(?<![\w./-])((?:engine|agent|training|scripts|tests)/(?:[\w./-]*\w)?)", text)
    linked = re.findall(r"\]\((?!https?:)([^)#\s]+)\)", text)
    found = [path for path in named if not (ROOT / path).exists()]
    return found + [path for path in linked if not (folder / path).exists()]


def commands() -> dict[str, dict[str, set[str]]]:
    """The options of each command of each program."""
    return {
        program: {name: options_of(command) for name, command in typer.main.get_group(app).commands.items()}
        for program, app in (("nardy", nardy_app), ("nardy-train", train_app))
    }


def options_of(command: click.Command) -> set[str]:
    """What may be typed behind a command, its own commands' options included."""
    found = {"--help", *(name for parameter in command.params for name in [*parameter.opts, *parameter.secondary_opts])}
    return found.union(*map(options_of, getattr(command, "commands", {}).values()))


def unknown_words(text: str) -> list[str]:
    """The commands, options and presets that a document names and that there are not."""
    found, known = [], commands()
    joined = re.sub(r"\\\n\s*", "", text)
    for line in joined.splitlines():
        calls = re.findall(r"(?:scripts/|`|^|\$ |-m )(nardy-train|nardy|training\.cli) ([a-z]+)([^`|#\n]*)", line)
        for program, name, rest in calls:
            options = known[program.replace("training.cli", "nardy-train")].get(name)
            if options is None:
                found.append(f"{program} {name}")
                continue
            words = re.findall(r"(?<=\s)--?[a-z][\w-]*", rest)
            found += [f"{program} {name} {word}" for word in words if word not in options]
    return found + [name for name in re.findall(r"--preset (\w+)", joined) if name not in PRESETS]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_document_names_exists(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert missing_files(text, document.parent) == []
    assert unknown_words(text) == []


def test_a_stale_name_in_a_document_is_seen() -> None:
    text = "See `agent/gone.py`, [the log](nets/gone.md) and ![it](agent/web/screenshot.png).\n"
    assert missing_files(text, ROOT) == ["agent/gone.py", "nets/gone.md"]
    text = "bash scripts/nardy why --dice 64 --depth 2\n`nardy judge`\nnardy-train run --preset \\\n  huge --out x\n"
    assert unknown_words(text) == ["nardy why --depth", "nardy judge", "huge"]


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
