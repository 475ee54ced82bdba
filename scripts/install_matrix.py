"""Install the wheel in fresh environments and unusual surroundings and compare what `nardy` answers there.

Each row of the table is one environment (Python, packages, folder) or one surrounding (locale, home, user, streams).
In each, `nardy info` must work and `nardy suggest` must give, in both games, the answer of this repository. The last
line is `failures: K`; exit code 1 if K > 0. `--keep FOLDER` reuses environments between runs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = (
    ("suggest", "--rules", "long_classic", "--dice", "64", "--json"),
    ("suggest", "--rules", "short", "--dice", "31", "--plies", "1", "--top", "3", "--json"),
)
TOLERANCE = 1e-4  # points; other versions of numba may add in another order
ODD_NAME = "с пробелом и кириллицей"
NOBODY = 65534
DROPPED = ("NUMBA_CACHE_DIR", "PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE", "XDG_CACHE_HOME", "VIRTUAL_ENV")
EPOCH = {"SOURCE_DATE_EPOCH": "1700000000"}  # the same sources make the same wheel
LONGEST_S = 1200

Environment = dict[str, str]


class FailureError(Exception):
    """What went wrong in one row."""


class LackingError(Exception):
    """What this machine lacks for a row."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """One environment to install."""

    name: str
    python: str
    is_oldest: bool = False
    extras: str = ""
    folder: str = ""


@dataclass(kw_only=True)
class Place:
    """An environment that is there, and how commands run in it."""

    folder: Path
    environment: Environment
    user: int | None = None
    arguments: dict[str, Any] = field(default_factory=dict)

    def run(self, *words: str, program: str = "nardy") -> subprocess.CompletedProcess[str]:
        """Run a command; its output is checked by the caller, a traceback is always a failure."""
        done = subprocess.run(
            [str(self.folder / "bin" / program), *words],
            cwd=self.folder.parent,
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=LONGEST_S,
            user=self.user,
            group=self.user,
            extra_groups=None if self.user is None else [],
        )
        if "Traceback" in done.stderr:
            raise FailureError(f"traceback of {words}: {done.stderr.strip().splitlines()[-1][:160]}")
        return done

    def output(self, *words: str) -> str:
        """Standard output of a command that must succeed."""
        done = self.run(*words)
        if done.returncode != 0:
            raise FailureError(f"{words[0]} ended with {done.returncode}: {done.stderr.strip()[-160:]}")
        return done.stdout


SETUPS = (
    Setup(name="3.11 newest", python="3.11"),
    Setup(name="3.11 oldest", python="3.11", is_oldest=True),
    Setup(name="3.12 newest", python="3.12"),
    Setup(name="3.13 newest", python="3.13"),
    Setup(name="3.11 [serve], spaces and Cyrillic", python="3.11", extras="[serve]", folder=ODD_NAME),
)


def clean_environment(folder: Path, **changes: str) -> Environment:
    """The environment of this process without what would leak into an installation, and with a home of its own."""
    kept = {name: value for name, value in os.environ.items() if name not in DROPPED}
    home = folder / "home"
    home.mkdir(exist_ok=True)
    return kept | {"HOME": str(home), "COLUMNS": "120"} | changes


def interpreter(version: str) -> str:
    """A Python of this version: of the system, on PATH, or of pyenv. Raises LackingError."""
    pyenv = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
    for candidate in (f"/usr/bin/python{version}", shutil.which(f"python{version}"), *map(str, pyenv)):
        command = [str(candidate), "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        except OSError:
            continue
        if candidate and done.stdout.strip() == version:
            return str(candidate)
    raise LackingError(f"no Python {version}")


def build_wheel(folder: Path) -> Path:
    """The wheel of the tracked and new files, built outside the working tree."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file() and name.startswith(("engine/", "agent/", "training/", "pyproject", "READ", "LIC")):
            target = folder / "source" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / name).read_bytes())
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder)]
    subprocess.run([*pip, str(folder / "source")], check=True, capture_output=True, env=os.environ | EPOCH)
    return max(folder.glob("nardy-*.whl"), key=lambda path: path.stat().st_mtime)


def floors() -> list[str]:
    """Every direct dependency at its oldest allowed version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [requirement.replace(">=", "==") for requirement in project["dependencies"]]


def install(setup: Setup, wheel: Path, root: Path) -> Place:
    """The environment of a setup, made anew unless it is there."""
    folder = root / (setup.folder or re.sub(r"\W+", "-", setup.name)) / "venv"
    done, asked = folder / "installed", [*(floors() if setup.is_oldest else []), (ROOT / "pyproject.toml").read_text()]
    wanted, built = digest(repr(asked).encode()), digest(wheel.read_bytes())
    had = done.read_text().split() if done.exists() else []
    if had == [wanted, built]:
        return Place(folder=folder, environment=clean_environment(folder.parent))
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "--quiet"]
    if had[:1] == [wanted]:  # only the code has changed
        command = [*pip, "--no-deps", "--force-reinstall", str(wheel)]
    else:
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([interpreter(setup.python), "-m", "venv", "--without-pip", str(folder)], check=True)
        command = [*pip, f"{wheel}{setup.extras}", *(floors() if setup.is_oldest else [])]
    told = subprocess.run(command, capture_output=True, text=True)
    if told.returncode != 0:
        raise FailureError(f"pip: {told.stderr.strip()[-300:]}")
    done.write_text(f"{wanted}\n{built}\n")
    return Place(folder=folder, environment=clean_environment(folder.parent))


def digest(data: bytes) -> str:
    """What tells one content from another."""
    return hashlib.sha256(data).hexdigest()[:16]


def reference_answers() -> list[Any]:
    """What this repository answers."""
    command = [sys.executable, "-m", "agent.cli"]
    return [json.loads(subprocess.check_output([*command, *words], cwd=ROOT)) for words in QUESTIONS]


def check_answers(place: Place, wanted: list[Any]) -> str:
    """`nardy info` and both suggestions; gives the versions in use.

    Raises:
        FailureError: another answer than wanted, or none.
    """
    versions = json.loads(place.output("info", "--json"))["versions"]
    place.output("info")
    for words, expected in zip(QUESTIONS, wanted, strict=True):
        given = json.loads(place.output(*words))
        if [p["play"] for p in given["suggestions"]] != [p["play"] for p in expected["suggestions"]]:
            raise FailureError(f"other plays: {[p['play'] for p in given['suggestions']]}")
        for mine, theirs in zip(given["suggestions"], expected["suggestions"], strict=True):
            if abs(mine["equity"] - theirs["equity"]) > TOLERANCE:
                raise FailureError(f"equity {mine['equity']} of {mine['play']}, wanted {theirs['equity']}")
        if place.output(*words[:-1]).count("\n") < 5:
            raise FailureError("no table of plays")
    return "  ".join(f"{name} {versions[name]}" for name in ("python", "numpy", "numba"))


def check_setup(setup: Setup, place: Place, wanted: list[Any]) -> str:
    """The answers, and what the extras promise: no torch, and a server exactly with `[serve]`."""
    said = check_answers(place, wanted)
    if "torch" in json.loads(place.output("info", "--json"))["versions"]:
        raise FailureError("torch is installed")
    for program, words, extra in (
        ("nardy-train", ("run", "--rules", "short", "--out", "run"), "train"),
        ("nardy", ("serve",), "serve"),
    ):
        if extra in setup.extras:
            continue
        done = place.run(*words, program=program)
        if done.returncode != 2 or f"nardy[{extra}]" not in done.stderr:
            raise FailureError(f"{program} without [{extra}] says {done.returncode}: {done.stderr[-120:]!r}")
    return f"{said}  served {served(place)}" if "serve" in setup.extras else said


def served(place: Place) -> str:
    """The version that a started server tells."""
    command = [str(place.folder / "bin" / "nardy"), "serve", "--port", "0"]
    process = subprocess.Popen(command, env=place.environment, stderr=subprocess.PIPE, text=True, cwd=place.folder)
    try:
        assert process.stderr is not None
        address = re.search(r"http://\S+/", process.stderr.readline())
        if address is None:
            raise FailureError("the server names no address")
        with urllib.request.urlopen(f"{address[0]}health", timeout=60) as answer:
            return str(json.load(answer)["version"])
    finally:
        process.terminate()
        process.wait(30)


Check = Callable[[Place, list[Any], Path], str]


def in_plain_c(place: Place, wanted: list[Any], root: Path) -> str:
    """A locale of ASCII only, without Python's own way around it."""
    place.environment |= {"LC_ALL": "C", "LANG": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    place.output("suggest", "--rules", "short", "--dice", "31", "--reasons", "--lang", "ru")
    return check_answers(place, wanted)


def in_comma_locale(place: Place, wanted: list[Any], root: Path) -> str:
    """A locale whose decimal sign is the comma, made here where the machine has none."""
    folder = root / "locales"
    folder.mkdir(exist_ok=True)
    try:
        made = ["localedef", "-i", "de_DE", "-f", "UTF-8", str(folder / "de_DE.UTF-8")]
        subprocess.run(made, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise LackingError(f"no locale can be made: {error}") from error
    place.environment |= {"LOCPATH": str(folder), "LC_ALL": "de_DE.UTF-8"}
    probe = "import locale; locale.setlocale(locale.LC_ALL, ''); assert locale.localeconv()['decimal_point'] == ','"
    if place.run("-c", probe, program="python").returncode != 0:
        raise LackingError("the locale is not taken")
    return check_answers(place, wanted)


def without_home(place: Place, wanted: list[Any], root: Path) -> str:
    """No HOME at all."""
    del place.environment["HOME"]
    return check_answers(place, wanted)


def dumb_terminal(place: Place, wanted: list[Any], root: Path) -> str:
    """TERM=dumb, even where colours are asked for."""
    place.environment |= {"TERM": "dumb", "FORCE_COLOR": "1"}
    if "\x1b" in place.output("suggest", "--rules", "short", "--dice", "31"):
        raise FailureError("escape codes on a dumb terminal")
    return check_answers(place, wanted)


def closed_early(place: Place, wanted: list[Any], root: Path) -> str:
    """A reader that leaves after a line, or at once: no traceback, and the exit code of a broken pipe or none."""
    found = []
    for words in (("info",), ("suggest", "--rules", "short", "--dice", "66", "--top", "200"), ("board", "-r", "short")):
        for lines in (1, 0):
            command = [str(place.folder / "bin" / "nardy"), *words]
            process = subprocess.Popen(
                command, env=place.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            assert process.stdout is not None and process.stderr is not None
            for _ in range(lines):
                process.stdout.readline()
            process.stdout.close()
            told = process.stderr.read()
            found.append(process.wait(LONGEST_S))
            if "Traceback" in told or "Exception ignored" in told or found[-1] not in (0, 141):
                raise FailureError(f"{words[0]} ended with {found[-1]}: {told.strip()[-160:]}")
    return f"exit codes {found}"


def read_only(place: Place, wanted: list[Any], root: Path) -> str:
    """Packages that the user may read only: kernels go to his cache, which is said once."""
    _as_other_user(place, root, "home-of-nobody", is_writable=True)
    first = place.run(*QUESTIONS[0])
    cache = Path(place.environment["HOME"]) / ".cache" / "nardy"
    if first.returncode != 0 or str(cache) not in first.stderr or not list(cache.glob("kernels-*")):
        raise FailureError(f"no hint or no kernels in {cache}: {first.stderr.strip()[-200:]}")
    if place.run(*QUESTIONS[0]).stderr.strip():
        raise FailureError("the hint is said again")
    return check_answers(place, wanted)


def no_home_to_write(place: Place, wanted: list[Any], root: Path) -> str:
    """Packages and home that cannot be written: kernels go among the temporary files, which is said once."""
    _as_other_user(place, root, "home-of-root", is_writable=False)
    temporary = root / "temporary"
    temporary.mkdir(exist_ok=True)
    temporary.chmod(0o1777)
    place.environment |= {"TMPDIR": str(temporary)}
    told = place.run(*QUESTIONS[0]).stderr
    if str(temporary) not in told:
        raise FailureError(f"no hint that kernels are kept in {temporary}: {told[-200:]!r}")
    return check_answers(place, wanted)


def _as_other_user(place: Place, root: Path, home: str, *, is_writable: bool) -> None:
    """Have commands run without a right to write the packages."""
    folder = root / home
    folder.mkdir(exist_ok=True)
    if os.getuid() == 0:
        place.user = NOBODY
        os.chown(folder, NOBODY if is_writable else 0, 0)
        reads = place.run("-c", "pass", program="python")
        if reads.returncode != 0:
            raise LackingError(f"another user cannot start this Python: {reads.stderr[-100:]}")
    else:
        for path in (place.folder, *place.folder.rglob("*")):
            if path.is_dir():
                path.chmod(0o555)
    if not is_writable:
        folder.chmod(0o555)
    place.environment |= {"HOME": str(folder)}


SURROUNDINGS: Mapping[str, Check] = {
    "LANG=C": in_plain_c,
    "decimal comma": in_comma_locale,
    "no HOME": without_home,
    "TERM=dumb": dumb_terminal,
    "output closed early": closed_early,
    "read-only packages, another user": read_only,
    "read-only packages and home": no_home_to_write,
}


def rows(root: Path, wheel: Path, wanted: list[Any], only: str) -> Iterator[tuple[str, Callable[[], str]]]:
    """The rows of the table, each with what is to be done for it."""
    for setup in SETUPS:
        yield setup.name, lambda setup=setup: check_setup(setup, install(setup, wheel, root), wanted)
    for name, check in SURROUNDINGS.items():
        yield name, lambda check=check: check(install(SETUPS[0], wheel, root), wanted, root)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, help="folder of the environments, kept for the next run")
    parser.add_argument("--only", default="", help="rows whose name contains this")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nardy-install-") as temporary:
        root = (args.keep or Path(temporary)).resolve()
        root.mkdir(parents=True, exist_ok=True)
        root.chmod(0o755)  # other users must reach it
        wheel, wanted = build_wheel(root), reference_answers()
        failures = 0
        for name, check in rows(root, wheel, wanted, args.only):
            if args.only not in name:
                continue
            start = time.monotonic()
            try:
                result, said = "ok", check()
            except LackingError as error:
                result, said = "not run", str(error)
            except (FailureError, OSError, subprocess.SubprocessError, ValueError) as error:
                result, said, failures = "FAILED", str(error), failures + 1
            print(f"{name:<34} {result:<8} {time.monotonic() - start:5.0f} s  {said}", flush=True)
    print(f"failures: {failures}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
