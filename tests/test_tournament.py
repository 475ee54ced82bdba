"""Tournaments: everyone meets once, results files are resumed and shared, wrong players are found at once."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from agent import arena
from agent.arena import play_match, round_robin, run_tournament
from agent.results_file import ResultsFile, read_matches
from damage import flipped_bits
from engine.errors import ConfigError, PlayerError, RecordError
from played_games import same_results

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of ten pairs, so that short matches have several."""
    monkeypatch.setattr(arena, "_chunk_pairs", lambda player: 10)


def test_a_round_robin_meets_everyone_once_and_rates_them():
    fixtures = round_robin(["heuristic", "pips", "random"], pairs=30)
    assert [(f.a, f.b) for f in fixtures] == [("heuristic", "pips"), ("heuristic", "random"), ("pips", "random")]
    result = run_tournament(fixtures, "long_classic", seed=1, anchor="random")
    assert [r.player for r in result.ratings.players] == ["heuristic", "pips", "random"]
    assert result.ratings.players[2].elo == 0.0 and result.ratings.players[2].se == 0.0


def test_an_interrupted_tournament_resumes_to_the_same_results(tmp_path, monkeypatch, small_chunks):
    path = tmp_path / "results.jsonl"
    fixtures = round_robin(["heuristic", "pips", "random"], pairs=20)
    whole = run_tournament(fixtures, "short", seed=3)
    played = []
    original = arena.play_chunk

    def failing(*arguments, **options):
        if len(played) == 4:
            raise KeyboardInterrupt
        played.append(arguments[3])
        return original(*arguments, **options)

    monkeypatch.setattr(arena, "play_chunk", failing)
    with pytest.raises(KeyboardInterrupt):
        run_tournament(fixtures, "short", seed=3, results=path, workers=1)
    assert len(path.read_text().splitlines()) == 4
    monkeypatch.setattr(arena, "play_chunk", lambda *a, **o: played.append(a[3]) or original(*a, **o))
    resumed = run_tournament(fixtures, "short", seed=3, results=path, workers=1)
    assert len(played) == 6  # two chunks a match, each played once
    assert all(same_results(a, b) for a, b in zip(whole.matches, resumed.matches, strict=True))
    stored = read_matches(path)
    assert all(same_results(a, b) for a, b in zip(whole.matches, stored, strict=True))


def test_a_torn_last_line_is_dropped_and_overwritten(tmp_path):
    path = tmp_path / "results.jsonl"
    file = ResultsFile(path)
    play_match("pips", "random", "short", pairs=10, seed=1, results=file)
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"format": "nardy-arena-1", "ma')
    assert len(read_matches(path)) == 1
    reopened = ResultsFile(path)
    play_match("pips", "random", "short", pairs=10, seed=2, results=reopened)
    assert path.read_bytes().startswith(whole) and len(read_matches(path)) == 2


ADD_LINES = """
import sys
from agent.arena import play_match
from agent.results_file import ResultsFile
play_match("pips", "random", "short", pairs=60, seed=int(sys.argv[2]), results=ResultsFile(sys.argv[1]))
"""


def test_several_tournaments_may_add_to_one_file_at_once(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_bytes(b'{"torn": ')
    code = "from agent import arena; arena._chunk_pairs = lambda player: 1\n" + ADD_LINES
    running = [subprocess.Popen([sys.executable, "-c", code, path, str(seed)], cwd=ROOT) for seed in (1, 2)]
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    assert sorted(match.pairs for match in read_matches(path)) == [60, 60]
    assert len(path.read_bytes().splitlines()) == 120 and b"torn" not in path.read_bytes()


def test_other_seeds_rules_and_longer_matches_are_played_afresh(tmp_path):
    path = tmp_path / "results.jsonl"
    for rules, seed, pairs in (("short", 1, 4), ("short", 2, 4), ("short_backgammon", 1, 4), ("short", 1, 6)):
        play_match("pips", "random", rules, pairs=pairs, seed=seed, results=ResultsFile(path))
    assert len(path.read_text().splitlines()) == 4
    matches = read_matches(path)
    assert [(str(m.rules), m.seed, m.pairs) for m in matches] == [
        ("short", 1, 6),
        ("short", 2, 4),
        ("short_backgammon", 1, 4),
    ]


def test_a_flipped_bit_in_a_stored_chunk_is_refused_or_changes_nothing(tmp_path, rng):
    path = tmp_path / "results.jsonl"
    whole = play_match("pips", "random", "short", pairs=10, seed=1, results=ResultsFile(path))
    content = path.read_bytes()
    for damaged in flipped_bits(content, rng, 300):
        path.write_bytes(damaged)
        try:
            matches = read_matches(path)
        except RecordError as error:
            assert "\n" not in str(error)
        else:  # the last newline: then the line is torn, and is played again
            assert not matches or same_results(matches[0], whole)


def test_chunks_stored_before_there_were_checksums_count(tmp_path):
    path = tmp_path / "results.jsonl"
    whole = play_match("pips", "random", "short", pairs=10, seed=1, results=ResultsFile(path))
    path.write_text(re.sub(r', "crc32": "[0-9a-f]{8}"', "", path.read_text()))
    assert "crc32" not in path.read_text() and same_results(read_matches(path)[0], whole)


def test_a_file_of_something_else_is_refused_with_its_line(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("hello\n")
    with pytest.raises(RecordError, match=r"notes.txt line 1 is no arena result .*; name another file"):
        ResultsFile(path)
    path.write_text("[" * 100_000 + "\n")
    with pytest.raises(RecordError, match=r"notes.txt line 1 is no arena result"):
        ResultsFile(path)
    with pytest.raises(RecordError, match="no results file at"):
        read_matches(tmp_path / "missing.jsonl")


@pytest.mark.parametrize(
    ("players", "options", "message"),
    [
        (["pips", "random", "nobody"], {}, "unknown player 'nobody'"),
        (["pips", "random", "heuristic"], {"anchor": "net"}, "the anchor 'net' is not among the players"),
    ],
)
def test_a_wrong_player_or_anchor_ends_a_tournament_before_its_first_game(players, options, message, monkeypatch):
    monkeypatch.setattr(arena, "play_chunk", lambda *a, **o: pytest.fail("a game was played"))
    with pytest.raises((PlayerError, ConfigError), match=message):
        run_tournament(round_robin(players, 1), "short", **options)


def test_an_anchor_may_be_named_as_the_player_was_given():
    result = run_tournament(round_robin([" pips", "random"], 2), "short", anchor=" pips")
    assert result.ratings.anchor == "pips"


def test_a_match_played_again_to_measure_its_luck_counts_once(tmp_path):
    path = tmp_path / "results.jsonl"
    for luck, pairs in ((None, 4), ("net", 4), (None, 4)):
        play_match("pips", "heuristic", "short", pairs=pairs, seed=1, luck=luck, results=ResultsFile(path))
    (match,) = read_matches(path)
    assert match.luck is not None and len(path.read_text().splitlines()) == 2
    play_match("pips", "heuristic", "short", pairs=6, seed=1, results=ResultsFile(path))
    (match,) = read_matches(path)
    assert match.luck is None and match.pairs == 6


def test_a_player_whose_code_has_changed_is_another_one(tmp_path):
    path, code = tmp_path / "results.jsonl", tmp_path / "own.py"
    end = "def choose(b, d, r, rng):\n    a, o = legal_afterstates(b, d, r)\n    return a[o[{}] - {}]\n"
    for row in (("1:", 1), (":-1", 0), ("1:", 1)):
        code.write_text("from engine import legal_afterstates\n" + end.format(*row))
        results = ResultsFile(path)
        play_match(f"py:{code}:choose", "random", "short", pairs=4, seed=1, results=results)
        run_tournament(round_robin(["pips", "random"], 4), "long_classic", results=path)
    matches = [match for match in read_matches(path) if match.a != "pips"]
    assert len(matches) == 2 and len({match.a for match in matches}) == 2
    assert all(re.fullmatch(r"py:.*:choose \([0-9a-f]{8}\)", match.a) for match in matches)
    assert [match.b for match in read_matches(path)] == ["random"] * 3
