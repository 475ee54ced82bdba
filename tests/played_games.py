"""Games played by simple players, and match files written by hand, for tests of analysis and match files."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from agent.lockstep import play_chunk
from agent.match_result import MatchResult
from agent.played import PlayedGame, PlayedMatch, game_of_plays
from agent.players import make_player
from engine.rules import get_rules

DATA = Path(__file__).parent / "data"

# Two games to 3 points as eXtreme Gammon writes them: the first ends with a resigned gammon (case F11).
RESIGNED_GAMMON = """; [Site "XG"]
; [Player 1 "Anna"]
; [Player 2 "Boris"]
; [Variation "Backgammon"]

3 point match

 Game 1
 Anna : 0                             Boris : 0
  1) 31: 8/5 6/5                      52: 13/8 24/22
  2) 64: 24/14                        43: 13/10 13/9
  3) 55: 13/3 8/3 8/3                 Resigns
      Wins 2 points

 Game 2
 Anna : 2                             Boris : 0
  1)                                  61: 13/7 8/7
  2) 21: 13/11 6/5                    42: 8/4 6/4
  3) Resigns
                                      Wins 1 point
"""

# A game with the cube: doubled and taken, then doubled again and dropped.
DOUBLED = """ 7 point match

 Game 1
 Anna : 0                          Boris : 0
  1) 31: 8/5 6/5                    Doubles => 2
  2)  Takes                        52: 13/8 24/22
  3) 64: 24/14                     43: 13/10 13/9
  4)  Doubles => 4                  Drops
      Wins 2 points

 Game 2
 Anna : 2                          Boris : 0
  1)                               61: 13/7 8/7
"""


@cache
def played_match(rules: str, players: tuple[str, str] = ("pips", "random"), seed: int = 5) -> PlayedMatch:
    """Two games between two players on the same dice, each of them starting once."""
    variant = get_rules(rules)
    first, second = (make_player(text, variant) for text in players)
    chunk = play_chunk(first, second, seed, 0, 1, keep_plays=True)
    games: list[PlayedGame] = []
    for place, plays in enumerate(chunk.plays or []):
        score = games[-1].score_after if games else (0.0, 0.0)
        games.append(game_of_plays(plays, variant, first=place % 2, number=place + 1, score=score))
    return PlayedMatch(rules=variant, players=("Anna", "Boris"), length=None, games=tuple(games), source="arena")


def same_results(one: MatchResult, other: MatchResult) -> bool:
    """Whether two matches of the arena came to the same in every game."""
    return (
        (one.points == other.points).all()
        and (one.outcomes == other.outcomes).all()
        and (one.turns == other.turns).all()
        and one.faults == other.faults
    )


def assert_same_games(first: PlayedMatch, second: PlayedMatch) -> None:
    """Asserts that two matches hold the same games turn for turn."""
    assert (first.rules, first.players, first.length) == (second.rules, second.players, second.length)
    for mine, theirs in zip(first.games, second.games, strict=True):
        assert (mine.number, mine.score, mine.result) == (theirs.number, theirs.score, theirs.result)
        assert (mine.winner, mine.points, mine.cube) == (theirs.winner, theirs.points, theirs.cube)
        for turn, other in zip(mine.turns, theirs.turns, strict=True):
            assert (turn.player, turn.dice, turn.reason) == (other.player, other.dice, other.reason)
            np.testing.assert_array_equal(turn.board, other.board)
            assert (turn.afterstate is None) == (other.afterstate is None)
            if turn.afterstate is not None and other.afterstate is not None:
                np.testing.assert_array_equal(turn.afterstate, other.afterstate)
