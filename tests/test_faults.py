"""Kills, full disks, folders that are read-only and files that are damaged: nothing is lost and nothing is wrong."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent import bearoff
from agent.bearoff import load_tables
from agent.cli import main
from agent.net import load_net, save_net
from damage import flipped_bits
from engine.errors import ConfigError, NetError
from engine.records import read_record
from played_games import RESIGNED_GAMMON
from small_net import small_net

ROOT = Path(__file__).resolve().parent.parent
SMALL_SET = Path(__file__).parent / "data" / "referee_small.npz"
PAGE = 4096
ARENA = ("arena", "pips", "random", "--rules", "short", "--games", "832", "--workers", "1", "--json")


@pytest.mark.parametrize("kinds", ["record,tables", "arena,analysis"])
def test_killed_jobs_start_again_and_lose_nothing(kinds: str, is_long: bool) -> None:
    count = 200 if is_long else 4
    words = [sys.executable, str(ROOT / "scripts" / "fault_trial.py"), "--kills", str(count), "--kinds", kinds]
    done = subprocess.run(words, capture_output=True, text=True, timeout=7200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(f"\nkills {count}, lost 0, corrupt 0\n")


# A small disk


class Disk:
    """A file system of its own of a few kilobytes, in memory."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._filler = folder, folder / "filler"

    def fill(self, left: int) -> None:
        """Leave so many bytes, in whole pages."""
        self._filler.unlink(missing_ok=True)
        self._filler.write_bytes(bytes(shutil.disk_usage(self.folder).free - left))

    def free(self) -> None:
        """Make room again."""
        self._filler.unlink()

    def protect(self) -> None:
        """Let nothing be written any more, not even by root."""
        subprocess.run(["mount", "-o", "remount,ro", str(self.folder)], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    if mount is None or subprocess.run([mount, "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]).returncode:
        pytest.skip("no file system can be mounted here; tests of each writer fake a full disk")
    yield Disk(folder)
    subprocess.run(["umount", "--lazy", str(folder)], check=True)  # tensors may still be mapped from it


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """A command that must end with exit code 2 and one line; gives the line."""

    def run(*words: object) -> str:
        capsys.readouterr()
        assert main([str(word) for word in words]) == 2
        lines = [line for line in capsys.readouterr().err.splitlines() if "compiling" not in line]
        assert len(lines) == 1 and lines[0].startswith("nardy: "), lines
        return lines[0]

    return run


def without_times(text: str) -> Any:
    found = json.loads(text)
    return {key: value for key, value in found.items() if key not in ("elapsed_s", "games_per_s")}


def test_an_arena_on_a_full_disk_keeps_what_is_whole_and_goes_on(
    disk: Disk, refused: Callable[..., str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    stored = tmp_path / "results.jsonl"
    assert main([*ARENA, "--results", str(stored)]) == 0
    whole = without_times(capsys.readouterr().out)
    first, second = stored.read_bytes().splitlines()
    results = disk.folder / "results.jsonl"
    disk.fill(-(-(len(first) + 100) // PAGE) * PAGE)
    assert len(second) > PAGE + 100, "the second chunk would fit"
    assert refused(*ARENA, "--results", results).endswith("results.jsonl: No space left on device")
    kept = results.read_bytes()
    assert kept.endswith(b"\n") and kept.count(b"\n") == 1
    disk.free()
    assert main([*ARENA, "--results", str(results)]) == 0
    assert without_times(capsys.readouterr().out) == whole
    assert results.read_bytes().startswith(kept) and results.read_bytes().count(b"\n") == 2


def test_a_game_on_a_full_disk_goes_on_from_its_last_whole_event(disk: Disk, refused: Callable[..., str]) -> None:
    record = disk.folder / "game.jsonl"
    disk.fill(4096)
    line = refused("play", "heuristic", "pips", "--rules", "short", "--seed", 11, "--record", record)
    assert line.endswith("game.jsonl cannot be written: No space left on device")
    events = read_record(record).events
    assert len(events) > 5 and not read_record(record).torn_bytes
    disk.free()
    assert main(["play", "--resume", str(record)]) == 0
    assert read_record(record).events[: len(events)] == events
    assert main(["dice", "verify", str(record)]) == 0


@pytest.mark.parametrize("fault", ["full", "read-only"])
def test_a_disk_that_refuses_keeps_pages_nets_and_checkpoints_as_they_were(
    fault: str, disk: Disk, refused: Callable[..., str], tmp_path: Path
) -> None:
    game, page, net = tmp_path / "game.mat", disk.folder / "page.html", disk.folder / "net.safetensors"
    game.write_text(RESIGNED_GAMMON)
    page.write_text("old")
    save_net(small_net("short"), net)
    before = net.read_bytes()
    if fault == "full":
        disk.fill(0)
    else:
        disk.protect()
    said = "No space left on device" if fault == "full" else "Read-only file system"
    assert refused("analyze", game, "--plies", 0, "--html", page).endswith(f"page.html: {said}")
    assert said in refused("play", "pips", "pips", "--record", disk.folder / "new.jsonl")
    assert said in refused(*ARENA, "--results", disk.folder / "results.jsonl")
    with pytest.raises(NetError, match=said):
        save_net(small_net("short", seed=2), net)
    assert net.read_bytes() == before and page.read_text() == "old"
    assert {path.name for path in disk.folder.iterdir()} - {"filler"} <= {
        "page.html",
        "net.safetensors",
        "results.jsonl",
    }


@pytest.mark.parametrize("fault", ["full", "read-only"])
def test_tables_that_cannot_be_stored_are_kept_in_memory(
    fault: str, disk: Disk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    built = load_tables()
    monkeypatch.setattr(bearoff, "build_tables", lambda: built)
    monkeypatch.setattr(bearoff, "_loaded", None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(disk.folder))
    if fault == "full":
        disk.fill(8192)
    else:
        disk.protect()
    assert load_tables().arrays is built.arrays
    assert len(caplog.messages) == 1 and "kept in memory" in caplog.messages[0]
    assert not list(disk.folder.rglob("*bearoff*"))


def test_training_on_a_full_disk_keeps_its_last_checkpoint_and_goes_on(disk: Disk, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from training.checkpoint import load_checkpoint
    from training.config import CheckConfig, NetConfig, PlayConfig, StageConfig, TrainConfig
    from training.loop import RunOptions, run_training

    config = TrainConfig(
        rules="short",
        net=NetConfig(hidden=(8, 4)),
        stages=(StageConfig(games=30, play=PlayConfig(games_per_round=10, random_rate=1.0)),),
        check=CheckConfig(match_pairs=0, checkpoint_s=0.0),
    )
    options = RunOptions(threads=2, is_quiet=True)
    run_training(config, tmp_path / "whole", options)
    run_training(config, disk.folder / "run", RunOptions(threads=2, is_quiet=True, stop_after=1))
    disk.fill(100_000)
    with pytest.raises((ConfigError, OSError), match="No space left on device"):
        run_training(config, disk.folder / "run", options, is_resumed=True)
    assert load_checkpoint(disk.folder / "run").rounds >= 1
    disk.free()
    run_training(config, disk.folder / "run", options, is_resumed=True)
    whole, resumed = load_checkpoint(tmp_path / "whole"), load_checkpoint(disk.folder / "run")
    assert all(torch.equal(whole.tensors[name], resumed.tensors[name]) for name in whole.tensors)


# Damaged files


def a_net(folder: Path) -> tuple[Path, list[str]]:
    path = folder / "net.safetensors"
    save_net(small_net("short"), path)
    return path, ["suggest", "--rules", "short", "--dice", "31", "--net", str(path)]


def a_match_file(folder: Path) -> tuple[Path, list[str]]:
    path = folder / "game.mat"
    path.write_text(RESIGNED_GAMMON)
    return path, ["analyze", str(path), "--plies", "0"]


def a_record(folder: Path) -> tuple[Path, list[str]]:
    path = folder / "game.jsonl"
    assert main(["play", "heuristic", "pips", "--rules", "short", "--seed", "11", "--record", str(path)]) == 0
    return path, ["dice", "verify", str(path)]


def some_results(folder: Path) -> tuple[Path, list[str]]:
    path = folder / "results.jsonl"
    assert main(["arena", "pips", "random", "--rules", "short", "--games", "20", "--results", str(path)]) == 0
    return path, ["ratings", str(path)]


def a_referee_set(folder: Path) -> tuple[Path, list[str]]:
    path = folder / "set.npz"
    shutil.copy(SMALL_SET, path)
    return path, ["referee", str(path), "--player", "pips"]


def damages(whole: bytes, rng: np.random.Generator) -> Iterator[bytes]:
    """The file empty, zeroed, cut short and with flipped bits."""
    yield b""
    yield bytes(len(whole))
    for length in rng.integers(1, len(whole), size=5):
        yield whole[:length]
    yield from flipped_bits(whole, rng, 10)


@pytest.mark.parametrize("make", [a_net, a_match_file, a_record, some_results, a_referee_set])
def test_a_damaged_file_is_read_or_refused_in_one_line(
    make: Callable[[Path], tuple[Path, list[str]]],
    tmp_path: Path,
    rng: np.random.Generator,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path, command = make(tmp_path)
    capsys.readouterr()
    assert main(command) == 0
    right = capsys.readouterr().out
    refusals = 0
    for content in damages(path.read_bytes(), rng):
        path.write_bytes(content)
        code = main(command)
        shown = capsys.readouterr()
        assert code in (0, 2), shown.err
        if code == 2:
            refusals += 1
            lines = shown.err.splitlines()
            assert lines[-1].startswith("nardy: ") and not any(line.startswith("Traceback") for line in lines)
        elif make is a_record:  # one that is cut short is a shorter game
            assert "all hold" in shown.out
        elif make is not a_match_file:  # which is plain text without a checksum
            assert shown.out == right, "a damaged file changed the answer"
    assert refusals >= 2


def test_a_shipped_net_loads() -> None:
    for path in (ROOT / "agent" / "nets").rglob("*.safetensors"):
        assert load_net(path).digest
