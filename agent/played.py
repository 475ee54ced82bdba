"""Whole games as they were played: turns, results and scores, from game records, match files or the arena."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.board import Boards, opponent_view
from engine.dice import Roll
from engine.errors import RecordError
from engine.events import GameResult
from engine.outcome import UNFINISHED, outcome_class
from engine.reason import Reason
from engine.records import Record
from engine.rules import OUTCOME_LEVELS, Rules, get_rules
from engine.turn import Turn

CUBE_ACTIONS = ("double", "take", "drop", "beaver")


@dataclass(frozen=True, kw_only=True, eq=False)
class PlayedTurn:
    """One roll and what was done with it.

    Attributes:
        player: 0 or 1.
        board: int8 [2, 26] before the turn, that player in row 0.
        dice: the roll.
        afterstate: int8 [2, 26], rows not exchanged; None for a roll that was not played, the game ending on it.
        reason: the rule that the turn breaks, or None for a legal one.
        text: the turn as a file wrote it, empty where it came from boards.
        line: the line of the file, 0 where there is none.
    """

    player: int
    board: Boards
    dice: Roll
    afterstate: Boards | None
    reason: Reason | None = None
    text: str = ""
    line: int = 0


@dataclass(frozen=True, kw_only=True)
class CubeAction:
    """One action with the doubling cube, kept but never judged.

    Attributes:
        player: 0 or 1, who acts.
        action: one of `CUBE_ACTIONS`.
        value: what the cube shows after a double that is taken.
        before_turn: index of the turn that follows.
    """

    player: int
    action: str
    value: int
    before_turn: int


@dataclass(frozen=True, kw_only=True)
class PlayedGame:
    """One game.

    Attributes:
        number: its number in the match, from 1.
        score: points of player 0 and 1 before it.
        turns: in the order played.
        cube: actions with the cube.
        result: how it ended; None for a game cut short or ended by a double that was dropped.
        winner, points: who was credited with how many points, the cube included; None and 0 for nobody.
        notes: what was odd about it, one sentence each.
    """

    number: int
    score: tuple[float, float]
    turns: tuple[PlayedTurn, ...]
    cube: tuple[CubeAction, ...] = ()
    result: GameResult | None = None
    winner: int | None = None
    points: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def score_after(self) -> tuple[float, float]:
        """Points of player 0 and 1 when it is over."""
        won = [*self.score]
        if self.winner is not None:
            won[self.winner] += self.points
        return won[0], won[1]


@dataclass(frozen=True, kw_only=True)
class PlayedMatch:
    """Games of one pair of players.

    Attributes:
        rules: the exact variant.
        players: their names.
        length: points that win the match; None: no limit (a money session).
        games: in the order played.
        headers: what else a file said about the match, such as `Event`.
        notes: what was read and is ignored, one sentence each.
        source: `record`, `mat` or `arena`.
    """

    rules: Rules
    players: tuple[str, str]
    length: int | None
    games: tuple[PlayedGame, ...]
    headers: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    source: str = "record"

    @property
    def turns(self) -> int:
        """Number of turns of all games."""
        return sum(len(game.turns) for game in self.games)


def finished_result(turn: PlayedTurn, rules: Rules) -> GameResult | None:
    """The result of a game that ends with a turn because all checkers are off, or None."""
    if turn.afterstate is None:
        return None
    outcome = int(outcome_class(turn.afterstate, rules))
    if outcome == UNFINISHED:
        return None
    winner = turn.player if outcome < rules.game.levels else 1 - turn.player
    level = outcome % rules.game.levels
    return GameResult(winner=winner, level=OUTCOME_LEVELS[level], points=rules.level_points[level], how="borne_off")


def match_of_records(records: Sequence[Record]) -> PlayedMatch:
    """The games of one or more records of the same players and rules.

    Raises:
        RecordError: no record, records of different rules or players, or an event that a game refuses.
    """
    if not records:
        raise RecordError("an analysis needs at least one game record")
    first = records[0].header
    rules = get_rules(first.rules)
    games: list[PlayedGame] = []
    for record in records:
        header = record.header
        if get_rules(header.rules) != rules or header.players != first.players:
            raise RecordError(
                f"records of one match have the same rules and players, got {header.rules}, "
                f"{' - '.join(header.players)} beside {first.rules}, {' - '.join(first.players)}"
            )
        said = header.match or {}
        score = said.get("score")
        start = (float(score[0]), float(score[1])) if score else games[-1].score_after if games else (0.0, 0.0)
        number = int(said.get("game_number") or len(games) + 1)
        games.append(game_of_record(record, rules, number=number, score=start))
    length = (first.match or {}).get("length")
    return PlayedMatch(rules=rules, players=first.players, length=length, games=tuple(games))


def game_of_record(
    record: Record, rules: Rules, *, number: int = 1, score: tuple[float, float] = (0.0, 0.0)
) -> PlayedGame:
    """The turns and the result of one record.

    Raises:
        RecordError: an event that the game refuses.
    """
    turns: list[PlayedTurn] = []
    turn: Turn | None = None
    resigned: tuple[Turn | None, int] = (None, 0)  # the roll on which a player resigned: the session forgets it
    done, mover = 0, 0
    session = record.header.new_session()
    for event, session in record.sessions():
        if session.turns > done and turn is not None:
            turns.append(_made(turn, mover))
            done = session.turns
        turn, mover = session.turn, session.mover
        if event is not None and event["event"] == "resign":
            resigned = (turn, mover)
    result = session.result
    thrown, thrower = resigned if result is not None and result.how == "resigned" else (turn, mover)
    if thrown is not None:
        turns.append(PlayedTurn(player=thrower, board=thrown.start, dice=thrown.dice, afterstate=None))
    return _game(number, score, turns, result)


def _game(
    number: int, score: tuple[float, float], turns: Sequence[PlayedTurn], result: GameResult | None
) -> PlayedGame:
    """A game without a cube: what it counted is its result."""
    winner, points = (None, 0.0) if result is None else (result.winner, result.points)
    return PlayedGame(number=number, score=score, turns=tuple(turns), result=result, winner=winner, points=points)


def _made(turn: Turn, player: int) -> PlayedTurn:
    reason = None if turn.is_correct() else turn.why_wrong()
    return PlayedTurn(player=player, board=turn.start, dice=turn.dice, afterstate=turn.board, reason=reason)


def game_of_plays(
    plays: Sequence[tuple[Roll, Boards]],
    rules: Rules,
    *,
    first: int,
    number: int = 1,
    score: tuple[float, float] = (0.0, 0.0),
    result: GameResult | None = None,
) -> PlayedGame:
    """A game from its rolls and afterstates, as the arena keeps them.

    Args:
        plays: dice and int8 [2, 26] afterstates, each seen by the player who moved.
        rules: the exact variant.
        first: the player who made the first turn.
        number, score: of the game in its match.
        result: how it ended, where the last board does not say.
    """
    board, turns = rules.start_board(), []
    for place, (dice, afterstate) in enumerate(plays):
        after = np.asarray(afterstate, dtype=np.int8)
        turns.append(PlayedTurn(player=(first + place) % 2, board=board, dice=dice, afterstate=after))
        board = opponent_view(after)
    ended = finished_result(turns[-1], rules) if turns else None
    return _game(number, score, turns, ended or result)
