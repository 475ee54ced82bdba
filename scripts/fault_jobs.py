"""The long jobs that `fault_trial.py` kills: how each is started again, what must hold after a kill and at the end.

Every job keeps a high-water mark beside its folder, so that work that was on the disk once is never lost again.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import json
import os
import shutil
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MODULES = (
    *("torch", "numba", "training.cli", "training.loop", "agent.cli", "agent.arena", "agent.ladder", "agent.analysis"),
    *("agent.analysis_report", "agent.bearoff", "agent.evaluator", "agent.matfile", "agent.terminal_match"),
)
TIMED = ("elapsed_s", "games_per_s", "seconds", "time")  # keys that differ from run to run


@dataclass(frozen=True)
class Job:
    """A kind of work in a folder.

    Attributes:
        work: begins it, or goes on with what the folder holds; gives an exit code.
        is_sound: raises where the files of a killed run cannot be read, or hold less than before.
        is_same: raises where the end of the second folder is not that of the first, undisturbed one.
    """

    name: str
    weight: int
    work: Callable[[Path], object]
    is_sound: Callable[[Path], object]
    is_same: Callable[[Path, Path], object]


def import_all() -> None:
    """Import what the jobs use, which starts no thread and loads no kernel."""
    for name in MODULES:
        importlib.import_module(name)


def nardy(*words: object) -> int:
    """Run a command in this process."""
    from agent.cli import main

    return int(main([str(word) for word in words]))


def to_file(path: Path, *words: object) -> int:
    """Run a command and keep its output, if it ends well."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        code = nardy(*words)
    if code == 0:
        path.write_text(text.getvalue())
    return code


def grown(place: Path, amount: int) -> None:
    """Compare with the most there has been. Raises AssertionError if it is less."""
    mark = place.with_suffix(".mark")
    before = int(mark.read_text()) if mark.exists() else 0
    assert amount >= before, f"{before} were on the disk, {amount} are"
    mark.write_text(str(amount))


def timeless(value: Any) -> Any:
    """A JSON value without times."""
    if isinstance(value, dict):
        return {key: timeless(part) for key, part in value.items() if key not in TIMED}
    return [timeless(part) for part in value] if isinstance(value, list) else value


def equal(one: object, other: object) -> None:
    """Raises AssertionError where two values differ."""
    assert one == other, f"{str(one)[:120]} is not {str(other)[:120]}"


def train(place: Path) -> int:
    """Nothing is promised before the first checkpoint: such a run is begun anew."""
    from training.checkpoint import CHECKPOINT_FILE
    from training.cli import main

    folder, words = place / "run", ["--rules", "long_classic", "--threads", "1"]
    if (folder / CHECKPOINT_FILE).exists():
        return int(main(["run", *words, "--out", str(folder), "--resume"]))
    shutil.rmtree(folder, ignore_errors=True)
    return int(main(["run", *words, "--out", str(folder), "--preset", "smoke", "--seed", "5"]))


def training_is_sound(place: Path) -> None:
    """The checkpoint loads and never goes back; so does the net."""
    from agent.net import load_net
    from training.checkpoint import CHECKPOINT_FILE, load_checkpoint

    folder = place / "run"
    if (folder / CHECKPOINT_FILE).exists():
        grown(place, load_checkpoint(folder).rounds)
    if (folder / "net.safetensors").exists():
        load_net(folder / "net.safetensors")


def training_is_same(whole: Path, place: Path) -> None:
    """Net, optimizer and metrics are equal bit for bit."""
    import torch

    from agent.net import load_net
    from training.checkpoint import load_checkpoint
    from training.curves import read_metrics

    one, other = (load_checkpoint(folder / "run") for folder in (whole, place))
    assert all(torch.equal(one.tensors[name], other.tensors[name]) for name in one.tensors), "other weights"
    equal(*(load_net(folder / "run" / "net.safetensors").digest for folder in (whole, place)))
    equal(*(timeless(read_metrics(folder / "run")) for folder in (whole, place)))


def arena(place: Path) -> int:
    """A round robin of three."""
    words = ("arena", "heuristic", "pips", "random", "--rules", "long_classic", "--games", 512, "--seed", 3)
    return to_file(place / "answer.json", *words, "--workers", 2, "--results", place / "results.jsonl", "--json")


def ladder(place: Path) -> int:
    """The ladder at 0-ply, with few games."""
    words = ("ladder", "--rules", "short", "--plies", "0", "--share", "0.01", "--seed", 3, "--workers", 2)
    return to_file(place / "answer.json", *words, "--results", place / "results.jsonl", "--json")


def results_are_sound(place: Path) -> None:
    """All whole lines of the results file can be read, and none is gone."""
    from agent.results_file import ResultsFile

    grown(place, len(ResultsFile(place / "results.jsonl").entries))


def results_are_same(whole: Path, place: Path) -> None:
    """The same matches and ratings, and no chunk played twice."""
    equal(*(timeless(json.loads((folder / "answer.json").read_text())) for folder in (whole, place)))
    equal(*(len((folder / "results.jsonl").read_bytes().splitlines()) for folder in (whole, place)))


def analysis(place: Path) -> int:
    """A recorded game judged, with a page and a match file."""
    record = place.with_name("game.jsonl")
    if not record.exists():
        write_game(record)
    return to_file(place / "a.json", "analyze", record, "--plies", 0, "--html", place / "a.html",
                   "--mat", place / "a.mat", "--json")  # fmt: skip


def write_game(record: Path) -> None:
    """The record of a game between two bots."""
    with contextlib.redirect_stdout(io.StringIO()):
        code = nardy("play", "heuristic", "pips", "--rules", "short", "--seed", 11, "--record", record)
    assert code == 0, "the game could not be recorded"


def analysis_is_sound(place: Path) -> None:
    """Pages and match files are there whole or not at all."""
    from agent.matfile import read_match

    whole = place.with_name("whole")
    for name in ("a.html", "a.mat"):
        if (place / name).exists():
            equal((place / name).read_bytes(), (whole / name).read_bytes())
    if (place / "a.mat").exists():
        read_match(place / "a.mat")


def analysis_is_same(whole: Path, place: Path) -> None:
    """The same files."""
    for name in ("a.html", "a.mat", "a.json"):
        equal((whole / name).read_bytes(), (place / name).read_bytes())


def tables(place: Path) -> int:
    """Bear-off tables built in a cache of their own."""
    from agent.bearoff import load_tables

    os.environ["XDG_CACHE_HOME"] = str(place)
    digest = hashlib.sha256(b"".join(array.tobytes() for array in load_tables().arrays)).hexdigest()
    (place / "digest").write_text(digest)
    return 0


def tables_are_sound(place: Path) -> None:
    """The file is that of the undisturbed run, or there is none."""
    path = Path("nardy", "bearoff.safetensors")
    if (place / path).exists():
        equal((place / path).read_bytes(), (place.with_name("whole") / path).read_bytes())


def tables_are_same(whole: Path, place: Path) -> None:
    """The same tables, in memory and on the disk."""
    assert (place / "nardy" / "bearoff.safetensors").exists(), "no tables are stored"
    tables_are_sound(place)
    equal((whole / "digest").read_text(), (place / "digest").read_text())


def record(place: Path, dice: str = "seed") -> int:
    """A game of two bots, written down as it is played."""
    path = place / "game.jsonl"
    if path.exists():
        return nardy("play", "--resume", path)
    return nardy("play", "net", "heuristic", "--rules", "short", "--dice", dice, "--seed", 7, "--record", path)


def record_is_sound(place: Path) -> None:
    """What is written replays, and no event is gone."""
    from engine.dice_proof import verify_dice
    from engine.records import read_record

    path = place / "game.jsonl"
    if path.exists():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read = read_record(path)
        read.replay()
        if read.header.dice["kind"] == "seed":
            verify_dice(read)
        grown(place, len(read.events))


def settled(path: Path) -> list[Any]:
    """The events of a record, without a turn that a kill cut through: it was taken back and played again."""
    from engine.records import read_record

    events: list[Any] = []
    for event in timeless(list(read_record(path).events)):
        if event["event"] == "reset":
            while events[-1]["event"] == "step":
                events.pop()
        else:
            events.append(event)
    return events


def seeded_record_is_same(whole: Path, place: Path) -> None:
    """The same game, event by event."""
    equal(*(settled(folder / "game.jsonl") for folder in (whole, place)))
    fair_record_is_same(whole, place)


def fair_record_is_same(whole: Path, place: Path) -> None:
    """The game is over, its dice can be verified, and its secret lies in the record alone."""
    from engine.dice_proof import verify_dice
    from engine.events import State
    from engine.records import read_record

    read = read_record(place / "game.jsonl")
    assert read.replay().state is State.OVER, "the game is not over"
    assert verify_dice(read).rolls > 10, "no dice"
    assert {path.name for path in place.iterdir() if path.suffix != ".tmp"} == {"game.jsonl"}, "other files are left"


JOBS = (
    Job("training", 30, train, training_is_sound, training_is_same),
    Job("arena", 35, arena, results_are_sound, results_are_same),
    Job("ladder", 25, ladder, results_are_sound, results_are_same),
    Job("analysis", 30, analysis, analysis_is_sound, analysis_is_same),
    Job("tables", 30, tables, tables_are_sound, tables_are_same),
    Job("record", 30, record, record_is_sound, seeded_record_is_same),
    Job("verifiable", 20, lambda place: record(place, "verifiable"), record_is_sound, fair_record_is_same),
)
