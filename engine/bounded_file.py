"""Reading a file that a stranger may have made, or named: never more than it may hold, and one kind of error."""

from __future__ import annotations

import errno
import os


def read_bounded(path: str | os.PathLike[str], most: int) -> bytes:
    """The bytes of a file, at most one more than it may hold, so that a longer one is seen by its length.

    The size that the file states is not asked for: a device has none, and another process may add to it.

    Args:
        path: the file; a name that no file can have counts as one that does not exist.
        most: how many bytes it may hold.
    Raises:
        OSError: the file cannot be read; `strerror` says why.
    """
    try:
        with open(path, "rb") as file:
            return file.read(most + 1)
    except ValueError as error:  # a null character, or one that the file system's encoding lacks
        raise OSError(errno.EINVAL, f"no file can have this name ({error})") from error
