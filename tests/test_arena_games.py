"""Games of the arena as match files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agent import arena_games
from agent.arena import play_match
from agent.arena_games import check_export, played_games, write_games
from agent.cli import main
from agent.lockstep import FORFEIT_LOST
from agent.match_result import MatchResult
from agent.matfile import read_match
from engine.errors import ConfigError
from engine.rules import get_rules
from played_games import assert_same_games


@pytest.fixture(scope="module", params=["short_backgammon", "long_classic"])
def result(request: pytest.FixtureRequest) -> MatchResult:
    return play_match("pips", "random", request.param, pairs=2, seed=3, keep_plays=True)


def test_the_games_are_those_that_were_counted(result: MatchResult) -> None:
    match = played_games(result)
    points = [game.points * (1 if game.winner == 0 else -1) for game in match.games]
    np.testing.assert_array_equal(points, result.points.reshape(-1))
    assert [len(game.turns) for game in match.games] == result.turns.reshape(-1).tolist()
    assert [game.turns[0].player for game in match.games] == [0, 1, 0, 1]
    assert match.games[0].turns[0].dice == match.games[1].turns[0].dice


def test_files_of_the_games_are_read_back_equal(
    result: MatchResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arena_games, "GAMES_A_FILE", 3)
    files = write_games([result], tmp_path / "games")
    assert [path.name for path in files] == ["01-pips-random-00001.mat", "01-pips-random-00004.mat"]
    whole = played_games(result)
    assert_same_games(read_match(files[0]), replace(whole, games=whole.games[:3]))
    assert_same_games(read_match(files[1]), replace(whole, games=whole.games[3:]))


def test_a_forfeited_game_counts_as_a_gammon_resigned(result: MatchResult, tmp_path: Path) -> None:
    assert result.plays is not None
    outcomes = result.outcomes.copy()
    outcomes[0, 1] = FORFEIT_LOST
    cut = replace(result, outcomes=outcomes, plays=(result.plays[0], result.plays[1][:9], *result.plays[2:]))
    game = read_match(write_games([cut], tmp_path)[0]).games[1]
    assert game.result is not None and (game.winner, game.points, game.result.how) == (1, 2.0, "resigned")
    assert len(game.turns) == 9


def test_plays_that_were_not_kept_and_too_many_games_are_refused() -> None:
    result = play_match("pips", "random", "long_classic", pairs=1, seed=3)
    with pytest.raises(ConfigError, match="not kept"):
        played_games(result)
    with pytest.raises(ConfigError, match="at most 20000 games"):
        check_export(20_002, result.rules)
    with pytest.raises(ConfigError, match="cannot hold games with last_turn=second_player"):
        check_export(2, get_rules("long(last_turn=second_player)"))


def test_the_command_writes_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "games"
    code = main(["arena", "pips", "random", "-r", "long", "--games", "2", "--export-mat", str(folder)])
    assert code == 0 and "1 match file written" in capsys.readouterr().err
    assert len(read_match(folder / "01-pips-random-00001.mat").games) == 2
    results = ["--results", str(tmp_path / "r.jsonl"), "--export-mat", str(folder)]
    assert main(["arena", "pips", "random", "-r", "long", "--games", "2", *results]) == 2
    assert "a results file keeps no plays" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_found_before_the_first_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr("agent.arena.play_match", lambda *a, **k: pytest.fail("played"))
    code = main(["arena", "pips", "random", "-r", "long", "--games", "2", "--export-mat", str(tmp_path / "file")])
    printed = capsys.readouterr()
    assert code == 2 and printed.out == "" and printed.err.count("\n") == 1 and "File exists" in printed.err
