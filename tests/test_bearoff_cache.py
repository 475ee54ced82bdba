"""The cache file of the bear-off tables: each fault it can have, folders that refuse, threads and processes at once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load, save

from agent import bearoff
from agent.bearoff import BearoffTables, build_tables, load_tables

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def tables() -> BearoffTables:
    return build_tables(progress=False)


@pytest.fixture
def builds(tables: BearoffTables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A process that has loaded nothing, with its own cache folder; the list grows by one for each build."""
    made: list[int] = []

    def build() -> BearoffTables:
        made.append(1)
        return tables

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(bearoff, "_loaded", None)
    monkeypatch.setattr(bearoff, "build_tables", build)
    return made


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bearoff, "_loaded", None)


def same(one: BearoffTables, other: BearoffTables) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one.arrays, other.arrays, strict=True))


def test_tables_are_built_once_and_then_read(
    builds: list[int], tables: BearoffTables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_tables() is load_tables() and len(builds) == 1
    forget(monkeypatch)
    assert same(load_tables(), tables) and len(builds) == 1
    assert [path.name for path in (tmp_path / "nardy").iterdir()] == ["bearoff.safetensors"]


def test_nothing_is_built_where_that_is_not_wanted(builds: list[int], tmp_path: Path) -> None:
    assert load_tables(build=False).is_empty and not builds and not list(tmp_path.iterdir())
    assert not load_tables().is_empty  # the empty answer was not kept
    assert not load_tables(build=False).is_empty


def test_threads_share_one_build(builds: list[int]) -> None:
    with ThreadPoolExecutor(8) as pool:
        loaded = list(pool.map(lambda _: load_tables(), range(16)))
    assert len(builds) == 1 and all(one is loaded[0] for one in loaded)


def flip(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :]


def changed(content: bytes, **arrays: Any) -> bytes:
    return save({**load(content), **arrays})


FAULTS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda content: b"", "damaged"),
    "truncated": (lambda content: content[: len(content) // 2], "damaged"),
    "one byte short": (lambda content: content[:-1], "damaged"),
    "too long": (lambda content: content + bytes(5000), "damaged"),
    "bit in the tables": (lambda content: flip(content, len(content) // 2), "checksum"),
    "bit in the header length": (lambda content: flip(content, 0), "damaged"),
    "no header": (lambda content: bytes(len(content)), "damaged"),
    "older version": (lambda content: changed(content, version=np.array([0], dtype=np.int32)), "another version"),
    "other shape": (lambda content: changed(content, two_sided=np.zeros((924 * 924,), np.float32)), "two_sided"),
    "other type": (lambda content: changed(content, two_sided=np.zeros((924, 924), np.int32)), "two_sided"),
    "checksum of other tables": (lambda content: changed(content, sha256=np.zeros(32, np.uint8)), "checksum"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_file_is_built_again_with_one_line(
    fault: str,
    builds: list[int],
    tables: BearoffTables,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    load_tables()
    path = tmp_path / "nardy" / "bearoff.safetensors"
    good = path.read_bytes()
    damage, word = FAULTS[fault]
    path.write_bytes(damage(good))
    forget(monkeypatch)
    assert same(load_tables(), tables) and len(builds) == 2
    assert len(caplog.messages) == 1 and word in caplog.messages[0] and "\n" not in caplog.messages[0]
    assert path.read_bytes() == good


def test_a_file_that_may_not_be_read_is_built_again(
    builds: list[int], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    load_tables()
    forget(monkeypatch)
    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert not load_tables().is_empty and len(builds) == 2
    assert len(caplog.messages) == 1 and "cannot be read (Permission denied)" in caplog.messages[0]


def test_a_folder_in_place_of_the_file_leaves_the_tables_in_memory(
    builds: list[int], tables: BearoffTables, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "nardy" / "bearoff.safetensors").mkdir(parents=True)
    assert same(load_tables(), tables) and load_tables() is load_tables() and len(builds) == 1
    assert [word in text for word, text in zip(("no ordinary", "memory"), caplog.messages, strict=True)] == [True, True]
    assert [path.name for path in (tmp_path / "nardy").iterdir()] == ["bearoff.safetensors"]  # no temporary file


def test_a_folder_that_cannot_be_made_leaves_the_tables_in_memory(
    builds: list[int], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "nardy").write_text("a file where the folder should be")
    assert not load_tables().is_empty and len(builds) == 1
    assert "memory" in caplog.messages[-1]


@pytest.mark.parametrize("where", ["fsync", "replace"])
def test_a_folder_that_cannot_be_written_leaves_the_old_state(
    where: str, builds: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, where, refuse)
    assert not load_tables().is_empty and load_tables() is load_tables() and len(builds) == 1
    assert len(caplog.messages) == 1 and "Permission denied" in caplog.messages[0]
    assert list((tmp_path / "nardy").iterdir()) == []


def test_without_a_home_the_tables_stay_in_memory(
    builds: list[int], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    assert bearoff.cache_path() is None
    assert not load_tables().is_empty and len(builds) == 1 and not caplog.messages


@pytest.mark.skipif(sys.platform != "linux", reason="each system has its own cache folder")
def test_the_cache_folder_is_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    for given, folder in (("/caches", "/caches"), ("relative", "/home/me/.cache"), ("", "/home/me/.cache")):
        monkeypatch.setenv("XDG_CACHE_HOME", given)
        assert bearoff.cache_path() == Path(folder, "nardy", "bearoff.safetensors")


def test_two_processes_that_replace_a_damaged_file_at_once_both_end_right(
    tables: BearoffTables, tmp_path: Path
) -> None:
    (tmp_path / "nardy").mkdir()
    (tmp_path / "nardy" / "bearoff.safetensors").write_text("damaged")
    code = "import hashlib; from agent.bearoff import load_tables; t = load_tables().arrays; "
    code += "print(hashlib.sha256(b''.join(a.tobytes() for a in t)).hexdigest())"
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    results = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0, 0], results
    assert results[0][0] == results[1][0]
    assert any("is damaged" in errors for _, errors in results)
    assert [path.name for path in (tmp_path / "nardy").iterdir()] == ["bearoff.safetensors"]
    stored = load((tmp_path / "nardy" / "bearoff.safetensors").read_bytes())
    assert np.array_equal(stored["one_sided"], tables.arrays.one_sided)


def test_progress_is_drawn_on_stderr_only(capsys: pytest.CaptureFixture[str]) -> None:
    build_tables()
    shown = capsys.readouterr()
    assert shown.out == "" and "bear-off tables" in shown.err
