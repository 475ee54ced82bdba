"""The input fuzzer finds faults that are there, makes their inputs small, and finds none in what reads input."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest

from engine.errors import PositionError
from input_faults import HAS_PEAK, kind_of_fault, place_of, smaller
from input_parsers import SHARES, Parser, parsers_with
from mutation import ANY_JSON, ANY_LINES, ANY_TENSORS, ANY_TEXT, mutated, of_json, of_tensors

SCRIPT = Path(__file__).parents[1] / "scripts" / "fuzz_inputs.py"


def parser_of(read: Callable[[bytes], object]) -> Parser:
    return Parser(name="test", read=read, seeds=[b"seed"], mutations=ANY_TEXT)


def test_a_short_run_over_all_parsers_finds_no_fault(is_long: bool) -> None:
    count = 1_000_000 if is_long else 4_000
    command = [sys.executable, str(SCRIPT), "--inputs", str(count), "--seed", "5", "--workers", "2" if is_long else "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[-1] == "faults: 0"
    counted = {m[1]: int(m[2]) for line in lines[1:] if (m := re.match(r"(.+?)\s+(\d+)\s+\d+\s+\d+$", line))}
    assert counted.keys() == SHARES.keys()
    assert sum(counted.values()) == int(lines[-2].split()[0]) >= count - len(SHARES)


def test_unknown_parsers_are_refused() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), "--only", "chess"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "--only takes position, dice" in done.stderr


def test_every_seed_of_the_text_parsers_is_taken_by_some_parser(tmp_path: Path) -> None:
    for name in ("rules", "level", "record", "mat", "net", "results"):
        parser = parsers_with(name, tmp_path)[name]
        assert None in {kind_of_fault(parser, seed, is_measured=False) for seed in parser.seeds}, name


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("http", b"GET /nothing?\xbe\n\n"),
        ("http", b"\xbe \x88?\xbe"),
        ("player", b"net:" + b"9" * 5000),
        ("player", b"net:a\0b"),
        ("player", b"gnubg:" + b"a" * 300 + b":80"),
        ("results", b"[" * 3000 + b"\n"),
    ],
)
def test_what_was_a_fault_once_is_refused(name: str, data: bytes, tmp_path: Path) -> None:
    assert kind_of_fault(parsers_with(name, tmp_path)[name], data, is_measured=False) == ""


def read_with_faults(data: bytes) -> None:
    text = data.decode(errors="replace")
    if "7" in text:
        raise IndexError(f"position {len(text)}")
    raise PositionError("no 7 in it")


def test_a_foreign_exception_is_a_fault_with_its_smallest_input() -> None:
    parser = parser_of(read_with_faults)
    kind = kind_of_fault(parser, b"a long text with a 7 in it, and more")
    assert kind is not None and kind.startswith("IndexError at test_fuzz_inputs.py:")
    assert smaller(parser, b"a long text with a 7 in it, and more", kind) == b"7"
    assert kind_of_fault(parser, b"fine") == ""


def test_an_error_without_a_word_is_a_fault() -> None:
    def silent(data: bytes) -> None:
        raise PositionError("")

    assert "an error of 0 characters" in (kind_of_fault(parser_of(silent), b"x") or "")


def test_too_much_time_and_a_hang_are_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("input_faults.LONGEST_S", 0.02)

    def work(data: bytes) -> None:
        until = time.process_time() + 0.03
        while time.process_time() < until:
            pass

    assert kind_of_fault(parser_of(work), b"x") == "more than 0.02 s of CPU time"

    monkeypatch.setattr("input_faults.HUNG_S", 0.3)

    def hang(data: bytes) -> None:
        while True:
            pass

    assert place_of(kind_of_fault(parser_of(hang), b"x") or "").startswith("HungError at")


@pytest.mark.skipif(not HAS_PEAK, reason="this system does not tell the peak of memory")
def test_too_much_memory_is_a_fault() -> None:
    np.ones(400_000_000, dtype=np.int8)  # an earlier peak, which must not hide the next
    kind = kind_of_fault(parser_of(lambda data: np.ones(160_000_000, dtype=np.int8)), b"x")
    assert kind == "more than 100 MB of memory"


@pytest.mark.parametrize("mutations", [ANY_TEXT, ANY_JSON, ANY_LINES, ANY_TENSORS])
def test_one_seed_gives_the_same_mutations_and_most_of_them_change_something(mutations: tuple) -> None:
    data = b'{"rules": "short", "board": [[1, 2], [3]], "name": "x"}\n{"event": "roll", "dice": [6, 4]}\n'
    first, second = ([mutated(data, [data], rng, mutations) for _ in range(300)] for rng in (Random(3), Random(3)))
    assert first == second
    assert len(set(first)) > 200


def test_mutated_json_may_hold_integers_beyond_the_range_of_floats() -> None:
    rng = Random(5)
    assert all(of_json(b'{"a": 1%s}' % (b"0" * 400), (), rng) for _ in range(300))


def test_mutated_json_is_mostly_json_again() -> None:
    rng, data = Random(4), json.dumps({"a": [1, 2, {"b": "text"}], "c": None}).encode()
    read = 0
    for _ in range(300):
        try:
            json.loads(of_json(data, (), rng))
            read += 1
        except (ValueError, RecursionError):
            pass
    assert read > 250


def test_a_mutated_safetensors_header_mostly_keeps_its_right_length(tmp_path: Path) -> None:
    rng, data = Random(5), parsers_with("net", tmp_path)["net"].seeds[0]
    fits = 0
    for _ in range(200):
        changed = of_tensors(data, (), rng)
        fits += b"__metadata__" in changed[8 : 8 + int.from_bytes(changed[:8], "little")][:40]
    assert fits > 100
