"""`nardy arena --report`, `ratings`, `ladder` and `ubgi` in one process; the library behind them has its own tests."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest

from agent.arena import Fixture
from agent.cli import main
from fake_judge import FakeJudge


@pytest.fixture
def nardy(capsys):
    """Runs a command and gives its exit code, stdout and stderr."""

    def run(*words: str):
        code = main(words)
        out, err = capsys.readouterr()
        return code, out, err

    return run


def test_arena_keeps_results_that_ratings_reads_and_writes_a_report(nardy, tmp_path):
    results, report = tmp_path / "r.jsonl", tmp_path / "r.html"
    words = ("arena", "heuristic", "pips", "random", "-r", "long", "--games", "8", "--results", str(results))
    code, out, _ = nardy(*words, "--report", str(report))
    assert code == 0 and "ratings" in out and "heuristic against pips" in out
    assert report.read_text().endswith("</html>\n")
    code, out, _ = nardy("ratings", str(results), "--anchor", "random", "--json")
    data = json.loads(out)
    assert code == 0 and data["anchor"] == "random" and len(data["matches"]) == 3
    code, out, err = nardy("ratings", str(results), "--rules", "short")
    assert code == 2 and out == "" and err.count("\n") == 1 and "has no match of short" in err


def test_the_ladder_plays_its_fixtures(nardy, monkeypatch):
    asked = []

    def fixtures(rules, config):
        asked.append((str(rules), config.plies, config.pairs))
        return [Fixture(a="heuristic", b="random", pairs=2), Fixture(a="pips", b="random", pairs=2)]

    monkeypatch.setattr("agent.ladder.ladder_fixtures", fixtures)
    code, out, _ = nardy("ladder", "--rules", "long_classic", "--plies", "0,1", "--share", "0.1")
    assert code == 0 and asked == [("long_classic", (0, 1), (200, 50, 5, 1))]
    assert "random = 0" in out
    code, _, err = nardy("ladder", "--rules", "long_classic", "--plies", "x")
    assert code == 2 and "plies of a ladder are numbers" in err


def test_ubgi_answers_on_stdout_and_says_nothing_else_there(nardy, monkeypatch):
    monkeypatch.setattr("agent.evaluator.load_evaluator", lambda rules, net: FakeJudge(rules))
    lines = "ubgi\nXGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10\nnonsense\nquit\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    code, out, _ = nardy("ubgi")
    answers = out.splitlines()
    assert code == 0 and answers[3] == "readyok" and answers[5] == "sorry" and len(answers) == 6
    assert all("/" in pair for pair in answers[4].split())
    code, _, err = nardy("ubgi", "--rules", "long")
    assert code == 2 and "UBGI knows short nardy only" in err


def test_a_report_that_cannot_be_written_hides_no_result(nardy, tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device", "r.html")

    monkeypatch.setattr("agent.report.write_whole", full)
    words = ("arena", "pips", "random", "-r", "long", "--games", "2", "--report", str(tmp_path / "r.html"))
    code, out, err = nardy(*words)
    assert code == 2 and "pips against random" in out and err == "nardy: r.html: No space left on device\n"
    code, out, _ = nardy(*words, "--json")
    assert code == 2 and json.loads(out)["games"] == 2


def test_bytes_that_are_no_text_end_no_conversation():
    lines = b"ubgi\n\xff\xfe\n" + b"x" * 50_000 + b"\nubgi\n"
    script = "import sys; from agent.cli import main; sys.exit(main(['ubgi']))"
    strict = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}
    done = subprocess.run([sys.executable, "-c", script], input=lines, capture_output=True, env=strict, timeout=300)
    answers = done.stdout.decode().split("\n")
    assert done.returncode == 0 and answers[3:6] == ["readyok", "sorry", "sorry"] and answers[9:] == ["readyok", ""]
