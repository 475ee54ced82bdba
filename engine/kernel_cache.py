"""Where compiled kernels are kept between runs.

numba notices a change of the file that a cached kernel stands in, but not of the kernels and tables that it takes in
from other files, and would go on running the old code. So the folder is named for the sources of all of them.

numba keeps kernels as pickles and machine code: whoever can write the folder can have his code run. So a folder is
taken only if nobody else can write it, or exchange it for another.
"""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

VARIABLE = "NUMBA_CACHE_DIR"
LAYERS = ("engine", "agent", "training")
_PREFIX = "kernels-"

_log = logging.getLogger(__name__)


def is_nameable(root: Path) -> bool:
    """Whether numba can keep kernels of the code in a folder: it takes the folder's name as text, which a locale that
    is not UTF-8 may not have given whole.

    Args:
        root: the folder that holds the packages.
    """
    try:
        str(root).encode()
    except UnicodeEncodeError:
        return False
    return True


CAN_KEEP = is_nameable(Path(__file__).parent.parent)


def use_kernel_cache(root: Path = Path(__file__).parent.parent) -> None:
    """Have numba keep this process's kernels in the folder that belongs to their sources.

    Where NUMBA_CACHE_DIR is set, that folder is used, with a warning in the log if others can write it. Another place
    than the first is said in the log once, when the folder is made. To be called before the first kernel is imported.

    Args:
        root: the folder that holds the packages.
    """
    if not is_nameable(root):
        _log.warning("nardy: this locale cannot name the program's folder, so each start compiles; set PYTHONUTF8=1")
        return
    chosen = os.environ.get(VARIABLE)
    if chosen:
        if Path(chosen).is_dir() and not is_private(Path(chosen)):
            _log.warning("nardy: others can write %s (%s), and with it what this program runs", chosen, VARIABLE)
        return
    name = _PREFIX + sources_digest(root)
    for rank, place in enumerate(_places(root)):
        folder = place / name
        is_new = not folder.is_dir()
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            if not _is_safe(folder, is_beside_code=rank == 0):
                continue
        except OSError:
            continue
        if is_new:
            _drop_others(folder)
            if rank:
                _log.warning("nardy: compiled kernels are kept in %s; %s names another folder", folder, VARIABLE)
        _drop_torn(folder)
        _tell_numba(folder)
        return
    folder = Path(tempfile.mkdtemp(prefix=f"nardy-{os.getuid()}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    _log.warning("nardy: no folder is safe to keep compiled kernels in, so each start compiles; set %s", VARIABLE)
    _tell_numba(folder)


def is_private(folder: Path) -> bool:
    """Whether a folder belongs to this user, by a link of his own if by any, and nobody else but root can write it.

    Args:
        folder: an existing folder.
    Raises:
        OSError: it cannot be looked at.
    """
    is_own = folder.lstat().st_uid == folder.stat().st_uid == os.getuid()
    return is_own and not folder.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _is_safe(folder: Path, *, is_beside_code: bool) -> bool:
    place = folder.parent
    if not os.access(folder, os.W_OK) or not is_private(folder):
        return False  # compiled code of another user is not run
    # Beside the code it may belong to others, who could change the code as well.
    return not place.stat().st_mode & stat.S_IWOTH if is_beside_code else is_private(place)


def _tell_numba(folder: Path) -> None:
    os.environ[VARIABLE] = str(folder)
    if "numba" in sys.modules:  # it has read the variable already
        sys.modules["numba"].config.CACHE_DIR = str(folder)


def sources_digest(root: Path) -> str:
    """What tells one state of the kernels from another: a hash of all private modules of the packages.

    Args:
        root: the folder that holds the packages.
    """
    digest = hashlib.sha256()
    for layer in LAYERS:
        for path in sorted((root / layer).glob("_[!_]*.py")):
            content = path.read_bytes()
            digest.update(f"{layer}/{path.name} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()[:16]


def _places(root: Path) -> Iterator[Path]:
    """Beside the code; where that cannot be written, in the user's cache; at worst among temporary files."""
    yield root / "engine" / "__pycache__"
    try:
        cache = os.environ.get("XDG_CACHE_HOME", "")
        yield (Path(cache) if os.path.isabs(cache) else Path.home() / ".cache") / "nardy"
    except RuntimeError:  # no home
        pass
    yield Path(tempfile.gettempdir()) / f"nardy-{os.getuid()}"


def _drop_torn(folder: Path) -> None:
    """Remove cached files that a crash of the machine cut short: numba would fail on them, not compile again.

    They are pickles, and those end in a full stop.
    """
    for path in folder.rglob("*.nb[ic]"):
        with suppress(OSError), path.open("rb") as file:
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
            if file.read() != b".":
                path.unlink()


def _drop_others(folder: Path) -> None:
    """Remove the kernels of older sources, which nothing will load again."""
    for other in folder.parent.glob(f"{_PREFIX}*"):
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
