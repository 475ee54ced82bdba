"""Games of the arena as match files: player `a` of a match is in the left column of all its games."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from agent.lockstep import FORFEIT_LEVEL, FORFEIT_LOST, FORFEIT_WON
from agent.match_result import MatchResult
from agent.matfile import write_match
from agent.played import PlayedGame, PlayedMatch, game_of_plays
from engine.errors import ConfigError
from engine.events import GameResult
from engine.rules import OUTCOME_LEVELS, Rules

MAX_EXPORTED = 20_000  # games of one match whose plays are kept in memory
GAMES_A_FILE = 200


def check_export(games: int, rules: Rules) -> None:
    """Whether so many games of a match can be kept for a file. Raises ConfigError where they cannot."""
    if rules.last_turn != "none":
        raise ConfigError(f"a .mat file cannot hold games with last_turn={rules.last_turn}")
    if games > MAX_EXPORTED:
        raise ConfigError(f"at most {MAX_EXPORTED} games of a match are written as .mat, got {games}")


def played_games(result: MatchResult) -> PlayedMatch:
    """The games of a match that was played with `keep_plays`; a forfeited game counts as resigned.

    Raises:
        ConfigError: its plays were not kept.
    """
    if result.plays is None:
        raise ConfigError(f"the plays of {result.a} against {result.b} were not kept")
    games: list[PlayedGame] = []
    for place, plays in enumerate(result.plays):
        score = games[-1].score_after if games else (0.0, 0.0)
        forfeit = _forfeit(result, place)
        games.append(game_of_plays(plays, result.rules, first=place % 2, number=place + 1, score=score, result=forfeit))
    headers = {"Event": f"nardy arena, seed {result.seed}"}
    return PlayedMatch(
        rules=result.rules,
        players=(result.a, result.b),
        length=None,
        games=tuple(games),
        headers=headers,
        source="arena",
    )


def write_games(results: Sequence[MatchResult], folder: str | Path) -> list[Path]:
    """Write the games of matches as `.mat` files of up to `GAMES_A_FILE` games each.

    Args:
        results: matches that were played with `keep_plays`.
        folder: made where it does not exist.
    Returns:
        The files.
    Raises:
        ConfigError: plays that were not kept.
        OSError: a file cannot be written.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    written = []
    for number, result in enumerate(results, start=1):
        match = played_games(result)
        for start in range(0, len(match.games), GAMES_A_FILE):
            games = match.games[start : start + GAMES_A_FILE]
            part = PlayedMatch(
                rules=match.rules,
                players=match.players,
                length=None,
                games=games,
                headers=match.headers,
                source="arena",
            )
            path = Path(folder) / f"{number:02}-{_in_path(result.a)}-{_in_path(result.b)}-{start + 1:05}.mat"
            write_match(part, path)
            written.append(path)
    return written


def _forfeit(result: MatchResult, place: int) -> GameResult | None:
    outcome = int(result.outcomes[place // 2, place % 2])
    if outcome not in (FORFEIT_WON, FORFEIT_LOST):
        return None
    return GameResult(
        winner=0 if outcome == FORFEIT_WON else 1,
        level=OUTCOME_LEVELS[FORFEIT_LEVEL],
        points=result.rules.level_points[FORFEIT_LEVEL],
        how="resigned",
    )


def _in_path(name: str) -> str:
    """A player's name as a part of a file name: its last letters, without what paths give a meaning."""
    return re.sub(r"[^\w@.]+", "_", name, flags=re.ASCII)[-40:].strip("._") or "player"
