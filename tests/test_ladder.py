"""The ladder's meetings: neighbours and anchors, games by depth, older nets first."""

from __future__ import annotations

from itertools import pairwise

import pytest

from agent.arena import run_tournament, stored_tournament
from agent.ladder import LadderConfig, ladder_config, ladder_fixtures, older_nets
from engine.errors import ConfigError, RecordError
from engine.rules import RULES

LONG = RULES["long_classic"]


def test_neighbours_and_both_anchors_meet_once_with_games_by_depth():
    fixtures = ladder_fixtures(LONG, nets=["net:old", "net"])
    met = {frozenset((f.a, f.b)): f for f in fixtures}
    assert len(met) == len(fixtures)
    order = [
        "random",
        "pips",
        "heuristic",
        "net:old@0ply",
        "net@0ply",
        "net:old@1ply",
        "net@1ply",
        "net:old@2ply",
        "net@2ply",
    ]
    for a, b in pairwise(order):
        assert frozenset((a, b)) in met
    for anchor in ("heuristic", "net@0ply"):
        for name in order:
            assert name == anchor or frozenset((name, anchor)) in met
    games = {names: (f.pairs, f.luck) for names, f in met.items()}
    assert games[frozenset(("random", "pips"))] == (2000, None)
    assert games[frozenset(("net@1ply", "heuristic"))] == (500, None)
    assert games[frozenset(("net@2ply", "net@0ply"))] == (50, "net")


def test_older_nets_are_those_of_the_game_in_order(tmp_path):
    folder = tmp_path / "ladder"
    folder.mkdir()
    for name in ("long-2", "long-1", "short-1"):
        (folder / f"{name}.safetensors").touch()
    assert older_nets(LONG, tmp_path) == ["long-1", "long-2"]


def test_config_from_text_scales_the_games():
    config = ladder_config("1,0", 0.1)
    assert config.plies == (0, 1) and config.pairs == (200, 50, 5, 1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ladder_config("one"), "plies of a ladder are numbers with commas between, such as 0,1,2, got 'one'"),
        (lambda: ladder_config("7"), "plies of a ladder lie between 0 and 3"),
        (lambda: ladder_config("0", 0.0), "the share of games must be above 0 and at most 100, got 0.0"),
        (lambda: LadderConfig(pairs=(0,), plies=(0,)), "each meeting of a ladder needs a pair of games or more"),
    ],
)
def test_bad_settings_say_what_is_allowed(call, message):
    with pytest.raises(ConfigError, match=message):
        call()


def test_stored_matches_are_rated_by_variant(tmp_path):
    path = tmp_path / "results.jsonl"
    fixtures = ladder_fixtures(LONG, ladder_config("0", 0.002), nets=[])
    assert sorted(sorted((f.a, f.b)) for f in fixtures) == [
        ["heuristic", "pips"],
        ["heuristic", "random"],
        ["pips", "random"],
    ]
    played = run_tournament(fixtures, LONG, seed=1, results=path, anchor="random")
    stored = stored_tournament(path, anchor="random")
    assert [r.elo for r in stored.ratings.players] == [r.elo for r in played.ratings.players]
    run_tournament(fixtures[:1], "short", seed=1, results=path)
    with pytest.raises(ConfigError, match="has matches of long_classic, short; name the rules to rate"):
        stored_tournament(path)
    assert len(stored_tournament(path, "short").matches) == 1
    with pytest.raises(ConfigError, match="has no match of long_fnr2026; it has long_classic, short"):
        stored_tournament(path, "long_fnr2026")
    with pytest.raises(RecordError, match="no results file"):
        stored_tournament(tmp_path / "none.jsonl")
