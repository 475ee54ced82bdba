"""Writing files, and lines at their end, so that what is written is there whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from threading import get_ident


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file under a temporary name beside it, sync it, and rename it over the old one.

    Args:
        path: the file; its folder must exist.
        data: all of its bytes.
    Raises:
        OSError: the file cannot be written; what was there before stays.
    """
    target = Path(path)
    if target.exists() and not target.is_file():  # a device or pipe is written to, never replaced by a file
        with target.open("wb") as stream:
            stream.write(data)
        return
    target = target.resolve()  # of a link, the file it names
    temporary = target.with_name(f".{target.name}.{os.getpid()}-{get_ident()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as error:
        error.filename = str(target)  # a full disk names no file, others name the temporary one
        raise
    finally:
        with suppress(OSError):  # of a file system that is read-only
            temporary.unlink(missing_ok=True)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def append_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Add bytes at the end of a file, made if missing, and sync it.

    A kill may leave a first part of them there; a fault, such as a full disk, leaves the file as it was.

    Args:
        path: the file; its folder must exist.
        data: all of the bytes to add.
    Raises:
        OSError: the file cannot be written.
    """
    with open(path, "ab", buffering=0) as file:
        end = file.tell()
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[file.write(rest) :]  # a disk that fills up takes a part first
            os.fsync(file.fileno())
        except OSError as error:
            error.filename = os.fspath(path)
            with suppress(OSError):
                file.truncate(end)
            raise
