"""Files are written whole or not at all."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from damage import full_disk
from engine.whole_file import append_whole, write_whole


def test_the_old_content_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_keeps_the_old_content(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")
    with full_disk(), pytest.raises(OSError, match="No space"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "no" / "file", b"")


def test_a_pipe_is_written_to_and_a_device_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, b"whole")
    assert os.read(reader, 100) == b"whole"
    os.close(reader)
    assert pipe.is_fifo()


def test_a_link_stays_a_link_to_the_new_content(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


@pytest.fixture
def small_files() -> Iterator[int]:
    """No file may grow past so many bytes, as on a disk that is full."""
    most = 100
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    yield most
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_bytes_are_added_at_the_end(tmp_path: Path) -> None:
    for line in (b"one\n", b"two\n"):
        append_whole(tmp_path / "lines", line)
    assert (tmp_path / "lines").read_bytes() == b"one\ntwo\n"


def test_a_disk_that_fills_up_keeps_no_part_of_what_was_added(tmp_path: Path, small_files: int) -> None:
    path = tmp_path / "lines"
    append_whole(path, b"x" * (small_files - 10))
    with pytest.raises(OSError, match="too large") as caught:
        append_whole(path, b"y" * 50)
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"x" * (small_files - 10)


def test_a_disk_that_fills_up_keeps_the_old_file_and_is_named(tmp_path: Path, small_files: int) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")
    with pytest.raises(OSError, match="too large") as caught:
        write_whole(path, b"n" * (small_files + 1))
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("folder", [".", "/"])
def test_a_folder_is_an_error_of_the_system(folder: str) -> None:
    with pytest.raises(IsADirectoryError):
        write_whole(folder, b"")
