"""A results file is read field by field: what no arena wrote is refused with the line it stands on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.lockstep import play_chunk
from agent.players import make_player
from agent.results_file import CHECKSUM, Entry, MatchKey, ResultsFile, read_matches
from engine.errors import RecordError

KEY = MatchKey(a="pips", b="random", rules="short", seed=5, luck=None, nets=("", ""))


@pytest.fixture
def written(tmp_path: Path) -> dict[str, Any]:
    """A line as the arena writes it, without its checksum, as older versions did."""
    players = [make_player(text, "short") for text in ("pips", "random")]
    ResultsFile(tmp_path / "one").add(Entry(key=KEY, chunk=play_chunk(*players, 5, 0, 1), elapsed_s=0.5, info={}))
    line: dict[str, Any] = json.loads((tmp_path / "one").read_text())
    del line[CHECKSUM]
    return line


def test_an_old_line_without_a_checksum_is_read(written: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "two").write_text(json.dumps(written) + "\n")
    (match,) = read_matches(tmp_path / "two")
    assert (match.a, match.b, len(match.points)) == ("pips", "random", 1)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("first", -1), ("first", 1.5), ("first", True), ("first", 2**70),
        ("points", [[1e999, 1]]), ("points", [[10**400, 1]]), ("points", []), ("points", [[1, -1], [1, -1]]),
        ("outcomes", [[300, 1]]), ("outcomes", [[8, 1]]), ("outcomes", [[-4, 1]]), ("outcomes", [[2**70, 1]]),
        ("turns", [[2**40, 1]]), ("turns", [[-1, 1]]),
        ("luck", [[[1e999, 0], [0, 0]]]), ("luck", []),
        ("elapsed_s", -1), ("elapsed_s", 10**400), ("elapsed_s", float("nan")),
        ("faults", [{}]),
        ("faults", [{"pair": "x", "game": 0, "turn": 0, "player": "p", "kind": "crash", "detail": ""}]),
        ("info", 5),
    ],
)  # fmt: skip
def test_a_value_no_arena_wrote_is_refused_with_its_line(
    field: str, value: Any, written: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "two").write_text(f"{json.dumps(written)}\n{json.dumps(written | {field: value})}\n")
    with pytest.raises(RecordError, match="line 2 is no arena result"):
        read_matches(tmp_path / "two")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("a", 1),
        ("b", None),
        ("rules", "chess"),
        ("rules", 5),
        ("seed", -1),
        ("seed", "x"),
        ("nets", ["x"]),
        ("luck", 5),
    ],
)
def test_a_match_no_arena_wrote_is_refused_with_its_line(
    field: str, value: Any, written: dict[str, Any], tmp_path: Path
) -> None:
    written["match"][field] = value
    (tmp_path / "two").write_text(json.dumps(written) + "\n")
    with pytest.raises(RecordError, match="line 1 is no arena result"):
        read_matches(tmp_path / "two")
