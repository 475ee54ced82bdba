"""Writing a file so that it is there whole or not at all."""

from __future__ import annotations

import os
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
    finally:
        temporary.unlink(missing_ok=True)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
