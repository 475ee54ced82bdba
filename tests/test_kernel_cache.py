"""Compiled kernels never outlive the sources they came from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.kernel_cache import VARIABLE, is_private, sources_digest, use_kernel_cache

ENGINE = Path(__file__).resolve().parent.parent
INNER = "from numba import njit\n\n\n@njit(cache=True)\ndef inner(x):\n    return x + {}\n"
OUTER = (
    "from engine._inner_kernels import inner\nfrom numba import njit\n\n\n@njit(cache=True)\ndef outer(x):\n"
    "    return 10 * inner(x)\n"
)
CALL = "from engine._outer_kernels import outer; print(outer(1))"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree with a kernel that calls a kernel of another file."""
    folder = tmp_path / "engine"
    folder.mkdir()
    (folder / "kernel_cache.py").write_bytes((ENGINE / "engine" / "kernel_cache.py").read_bytes())
    (folder / "_inner_kernels.py").write_text(INNER.format(1))
    (folder / "_outer_kernels.py").write_text(OUTER)
    (folder / "__init__.py").write_text("from engine.kernel_cache import use_kernel_cache\n\nuse_kernel_cache()\n")
    return tmp_path


def run(root: Path, **changes: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in (VARIABLE, "PYTHONPATH")}
    changes["PYTHONDONTWRITEBYTECODE"] = "1"  # bytecode tells sources apart by size and second, too coarse here
    done = subprocess.run(
        [sys.executable, "-c", CALL], cwd=root, env=environment | changes, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_kernel_that_calls_a_changed_one_is_compiled_anew(root: Path) -> None:
    assert run(root) == "20"
    assert list((root / "engine" / "__pycache__").glob("kernels-*/**/*.nbi"))
    (root / "engine" / "_inner_kernels.py").write_text(INNER.format(2))
    assert run(root) == "30"
    assert len(list((root / "engine" / "__pycache__").glob("kernels-*"))) == 1


def test_without_it_numba_would_run_the_old_code(root: Path) -> None:
    (root / "engine" / "__init__.py").write_text("")
    assert run(root) == "20"
    (root / "engine" / "_inner_kernels.py").write_text(INNER.format(2))
    assert run(root) == "20", "numba has learned to follow callees: engine/kernel_cache.py can go"


@pytest.mark.parametrize(("suffix", "length"), [("nbi", 0), ("nbc", 100)])
def test_a_kernel_file_that_was_cut_short_is_made_again(root: Path, suffix: str, length: int) -> None:
    assert run(root) == "20"
    for path in (root / "engine" / "__pycache__").glob(f"kernels-*/**/*.{suffix}"):
        whole = path.read_bytes()
        path.write_bytes(whole[:length])
        assert whole.endswith(b"."), "numba writes something else than pickles: see _drop_torn"
    assert run(root) == "20"


def test_processes_that_fill_the_cache_at_once_all_end_right(root: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in (VARIABLE, "PYTHONPATH")}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", CALL], cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(3)
    ]
    ends = [process.communicate(timeout=240) for process in running]
    assert [(process.returncode, out) for process, (out, _) in zip(running, ends, strict=True)] == 3 * [(0, b"20\n")]
    assert run(root) == "20"
    files = list((root / "engine" / "__pycache__").glob("kernels-*/*/*"))
    assert {path.suffix for path in files} == {".nbi", ".nbc"} and len(files) == 4, files


def test_a_folder_that_the_locale_cannot_name_keeps_nothing_and_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "нарды"
    folder.mkdir()
    (folder / "engine").symlink_to(ENGINE / "engine")
    code = (
        "import logging; logging.basicConfig(format='%(message)s'); from engine import _bit_kernels as k; "
        "print(k.ENTRY['cache'])"
    )
    environment = {name: value for name, value in os.environ.items() if name not in (VARIABLE, "PYTHONPATH")}
    for locale, kept in (("C", "False"), ("C.UTF-8", "True")):
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=folder,
            env=environment | {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == kept
        assert ("cannot name the program's folder" in done.stderr) == (kept == "False")


def test_the_digest_covers_names_and_contents(root: Path) -> None:
    before = sources_digest(root)
    (root / "engine" / "_inner_kernels.py").rename(root / "engine" / "_other_kernels.py")
    renamed = sources_digest(root)
    (root / "engine" / "_other_kernels.py").write_text(INNER.format(3))
    assert len({before, renamed, sources_digest(root)}) == 3


@pytest.fixture
def no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setattr("sys.modules", {name: module for name, module in sys.modules.items() if name != "numba"})


@pytest.mark.usefixtures("no_variable")
def test_a_folder_that_cannot_be_written_falls_back_to_the_user_and_then_to_temporary_files(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "engine" / "__pycache__").write_text("a file where a folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(root / "cache"))
    use_kernel_cache(root)
    assert Path(os.environ[VARIABLE]).parent == root / "cache" / "nardy"

    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(root / "engine" / "__pycache__"))
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(root))
    use_kernel_cache(root)
    assert Path(os.environ[VARIABLE]).parent == root / f"nardy-{os.getuid()}"


def test_a_folder_of_the_users_own_is_left_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "/somewhere")
    use_kernel_cache(root)
    assert os.environ[VARIABLE] == "/somewhere"
    assert not (root / "engine" / "__pycache__").exists()


@pytest.mark.usefixtures("no_variable")
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_folder_that_others_can_write_is_not_used(
    root: Path, mode: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    planted = root / "engine" / "__pycache__" / f"kernels-{sources_digest(root)}"
    planted.mkdir(parents=True)
    planted.chmod(mode)
    monkeypatch.setenv("XDG_CACHE_HOME", str(root / "cache"))
    use_kernel_cache(root)
    used = Path(os.environ[VARIABLE])
    assert used.parent == root / "cache" / "nardy"
    assert is_private(used)
    assert caplog.messages == [f"nardy: compiled kernels are kept in {used}; {VARIABLE} names another folder"]


@pytest.mark.usefixtures("no_variable")
def test_the_other_place_is_said_only_when_it_is_made(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (root / "engine" / "__pycache__").write_text("a file where a folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(root / "cache"))
    for _ in range(2):
        monkeypatch.setenv(VARIABLE, "")
        use_kernel_cache(root)
    assert len(caplog.messages) == 1


@pytest.mark.usefixtures("no_variable")
def test_a_folder_of_another_user_is_not_used(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for place in (root / "engine" / "__pycache__", root / "cache" / "nardy", root / f"nardy-{os.getuid() + 1}"):
        (place / f"kernels-{sources_digest(root)}").mkdir(parents=True, mode=0o700)
    monkeypatch.setenv("XDG_CACHE_HOME", str(root / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(root))
    other = os.getuid() + 1
    monkeypatch.setattr("os.getuid", lambda: other)
    use_kernel_cache(root)
    used = Path(os.environ[VARIABLE])
    assert used.parent == root
    assert used.name.startswith(f"nardy-{other}-")
    assert list(used.iterdir()) == []
    assert "no folder is safe" in caplog.text


def test_a_chosen_folder_that_others_can_write_is_warned_of(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    root.chmod(0o777)
    monkeypatch.setenv(VARIABLE, str(root))
    use_kernel_cache(root)
    assert os.environ[VARIABLE] == str(root)
    assert "others can write" in caplog.text


def test_a_relative_cache_folder_of_the_environment_is_ignored(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "engine" / "__pycache__").write_text("a file where a folder should be")
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.setenv("HOME", str(root))
    monkeypatch.chdir(root)
    monkeypatch.setattr("sys.modules", {name: module for name, module in sys.modules.items() if name != "numba"})
    use_kernel_cache(root)
    assert Path(os.environ[VARIABLE]).parent == root / ".cache" / "nardy"
