"""Where compiled kernels are kept between runs.

numba notices a change of the file that a cached kernel stands in, but not of the kernels and tables that it takes in
from other files, and would go on running the old code. So the folder is named for the sources of all of them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

VARIABLE = "NUMBA_CACHE_DIR"
LAYERS = ("engine", "agent", "training")
_PREFIX = "kernels-"


def use_kernel_cache(root: Path = Path(__file__).parent.parent) -> None:
    """Have numba keep this process's kernels in the folder that belongs to their sources.

    Nothing is done where NUMBA_CACHE_DIR is set. To be called before the first kernel is imported.

    Args:
        root: the folder that holds the packages.
    """
    if os.environ.get(VARIABLE):
        return
    name = _PREFIX + sources_digest(root)
    for place in _places(root):
        folder = place / name
        is_new = not folder.is_dir()
        try:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError:
            continue
        if not os.access(folder, os.W_OK) or folder.stat().st_uid != os.getuid():
            continue  # compiled code of another user is not run
        if is_new:
            _drop_others(folder)
        os.environ[VARIABLE] = str(folder)
        if "numba" in sys.modules:  # it has read the variable already
            sys.modules["numba"].config.CACHE_DIR = str(folder)
        return


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
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        yield Path(cache) / "nardy"
    except RuntimeError:  # no home
        pass
    yield Path(tempfile.gettempdir()) / f"nardy-{os.getuid()}"


def _drop_others(folder: Path) -> None:
    """Remove the kernels of older sources, which nothing will load again."""
    for other in folder.parent.glob(f"{_PREFIX}*"):
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
