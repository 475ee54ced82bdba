"""A chunk of paired games played in lockstep: one call a player a turn for all games at once.

The extra turn that `last_turn=second_player` gives is played for the second player, for the fewest points lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from agent.last_turn import extra_turn
from agent.outside import Fault, answers_of
from agent.pair_dice import Keys, pair_keys, turn_dice
from agent.players import Dice, Player
from agent.ranking import Judge
from engine.board import Boards, opponent_view
from engine.outcome import UNFINISHED, equity_of, outcome_class
from engine.rules import CHECKERS, OFF, Rules

DRAW = -1  # outcome codes beside the classes of `rules.outcomes`
FORFEIT_WON = -2  # the other player failed
FORFEIT_LOST = -3
FORFEIT_LEVEL = 1  # a forfeited game counts as lost by a gammon (mars)
UNPLAYED = -9
MAX_TURNS = 5000  # a game that is not over by then is a draw; ordinary ones take 50 to 300 turns

TurnDice = Callable[[Keys, int, Rules], Dice]
GamePlays = list[tuple[tuple[int, int], Boards]]  # dice and afterstate of each turn, the players in turn


@dataclass(frozen=True)
class GameFault:
    """A forfeited game: which pair and game of it, on which turn, whose fault and why."""

    pair: int
    game: int
    turn: int
    player: str
    kind: str
    detail: str


@dataclass(kw_only=True)
class Chunk:
    """Results of consecutive pairs; column 0 is the game in which player A moves first.

    Attributes:
        first: index of the first pair.
        points: float64 [P, 2], for player A.
        outcomes: int8 [P, 2], for player A: an index into `rules.outcomes`, `DRAW` or a `FORFEIT_...` code.
        turns: int32 [P, 2].
        luck: float64 [P, 2, 2], A's luck less B's, in points and in chance of winning; None when not measured.
        faults: forfeited games.
        plays: for each game (pair-major) the dice and afterstates of its turns, when they were kept.
    """

    first: int
    points: npt.NDArray[np.float64]
    outcomes: npt.NDArray[np.int8]
    turns: npt.NDArray[np.int32]
    luck: npt.NDArray[np.float64] | None = None
    faults: list[GameFault] = field(default_factory=list)
    plays: list[GamePlays] | None = None


def play_chunk(
    a: Player,
    b: Player,
    seed: int,
    first: int,
    count: int,
    *,
    judge: Judge | None = None,
    keep_plays: bool = False,
    dice: TurnDice = turn_dice,
) -> Chunk:
    """The pairs `first` to `first + count - 1` of a match.

    Args:
        a, b: two players of the same rules.
        seed: the match seed; with `first` and `count` it fixes every die and every random choice.
        first, count: which pairs, from 0, and how many.
        judge: evaluator that measures the luck of each roll, or None.
        keep_plays: also keep every roll and afterstate.
        dice: where rolls come from; another function serves tests.
    """
    games = _Games(a.rules, pair_keys(seed, first, count), keep_plays)
    streams = [np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(seat, first))) for seat in (1, 2)]
    luck = np.zeros((2 * count, 2))
    for turn in range(MAX_TURNS):
        if not games.active.size:
            break
        rolls = dice(games.keys, turn, a.rules)
        for seat, player in enumerate((a, b)):
            rows = games.active[(games.active + turn) % 2 == seat]  # games in which it is on roll
            if not rows.size:
                continue
            boards, thrown = games.boards[rows], rolls[rows // 2]
            if judge is not None:
                luck[rows] += _luck_of(judge, boards, thrown) * (1 - 2 * seat)
            chosen, faults = answers_of(player, boards, thrown, streams[seat])
            games.play(rows, thrown, chosen, faults, seat, turn, player.name, first)
            if turn % 2 == 0 and a.rules.last_turn == "second_player":
                games.play_extra_turns(rows, dice(games.keys, turn + 1, a.rules), 1 - seat, turn + 1)
        games.active = games.active[games.outcomes[games.active] == UNPLAYED]
    return games.chunk(first, luck if judge is not None else None)


def _luck_of(judge: Judge, boards: Boards, dice: Dice) -> npt.NDArray[np.float64]:
    """Luck of each roll for its thrower, in points and in chance of winning: [N, 2]."""
    from agent.luck import probs_luck
    from agent.search import best_replies

    shift = probs_luck(best_replies(judge, boards)[1], dice)  # [N, K]
    return np.stack([equity_of(shift, judge.rules), shift[:, : judge.rules.game.levels].sum(axis=1)], axis=1)


class _Games:
    """The state of all games of a chunk; game g belongs to pair g // 2, and in even games A moves first."""

    def __init__(self, rules: Rules, keys: Keys, keep_plays: bool) -> None:
        count = 2 * len(keys)
        self.rules = rules
        self.keys = keys
        self.boards = np.tile(rules.start_board(), (count, 1, 1))
        self.active = np.arange(count)
        self.outcomes = np.full(count, UNPLAYED, dtype=np.int8)
        self.turns = np.zeros(count, dtype=np.int32)
        self.faults: list[GameFault] = []
        self.plays: list[GamePlays] | None = [[] for _ in range(count)] if keep_plays else None

    def play(
        self,
        rows: npt.NDArray[np.int64],
        dice: Dice,
        chosen: Boards,
        faults: dict[int, Fault],
        seat: int,
        turn: int,
        name: str,
        first: int,
    ) -> None:
        """Make the chosen plays of one player (seat 0 is A) and note games that ended."""
        self._note(rows, chosen, seat, turn)
        for row, fault in faults.items():
            game = int(rows[row])
            self.outcomes[game] = FORFEIT_WON if seat else FORFEIT_LOST
            self.faults.append(GameFault(first + game // 2, game % 2, turn, name, fault.kind, fault.detail))
        self._keep(rows, dice, chosen, faults)

    def play_extra_turns(self, rows: npt.NDArray[np.int64], rolls: Dice, seat: int, turn: int) -> None:
        """The turn that the second player still has in those games whose first player has just finished."""
        ended = rows[self.outcomes[rows] >= 0]
        if not ended.size:
            return
        dice = rolls[ended // 2]
        chosen = extra_turn(self.boards[ended], dice, self.rules)
        self._note(ended, chosen, seat, turn)
        self.outcomes[ended[chosen[:, 0, OFF] == CHECKERS]] = DRAW  # both have finished
        self._keep(ended, dice, chosen, {})

    def _note(self, rows: npt.NDArray[np.int64], chosen: Boards, seat: int, turn: int) -> None:
        self.turns[rows] = turn + 1
        outcome = outcome_class(chosen, self.rules)
        levels = self.rules.game.levels
        for_a = (outcome + levels * seat) % (2 * levels)  # wins and losses change places for B
        self.outcomes[rows] = np.where(outcome == UNFINISHED, UNPLAYED, for_a)
        self.boards[rows] = opponent_view(chosen)

    def _keep(self, rows: npt.NDArray[np.int64], dice: Dice, chosen: Boards, faults: dict[int, Fault]) -> None:
        if self.plays is not None:
            for row, game in enumerate(rows):
                if row not in faults:
                    self.plays[game].append(((int(dice[row, 0]), int(dice[row, 1])), chosen[row].copy()))

    def chunk(self, first: int, luck: npt.NDArray[np.float64] | None) -> Chunk:
        """The finished games as pairs."""
        outcomes = np.where(self.outcomes == UNPLAYED, DRAW, self.outcomes).astype(np.int8)
        pairs = (len(self.keys), 2)
        return Chunk(
            first=first,
            points=points_of(outcomes, self.rules).reshape(pairs),
            outcomes=outcomes.reshape(pairs),
            turns=self.turns.reshape(pairs),
            luck=None if luck is None else luck.reshape(*pairs, 2),
            faults=self.faults,
            plays=self.plays,
        )


def points_of(outcomes: npt.NDArray[np.int8], rules: Rules) -> npt.NDArray[np.float64]:
    """Points for player A of each outcome code.

    Args:
        outcomes: int8 of any shape, rows of `rules.outcomes` as seen by A, or `DRAW`, `FORFEIT_WON`, `FORFEIT_LOST`.
        rules: what an outcome counts.
    Returns:
        float64 of the same shape.
    """
    stake = rules.level_points[FORFEIT_LEVEL]
    by_code = {DRAW: 0.0, FORFEIT_WON: stake, FORFEIT_LOST: -stake}
    points = rules.points.astype(np.float64)[np.maximum(outcomes, 0)]
    for code, value in by_code.items():
        points = np.where(outcomes == code, value, points)
    return points
