"""Analysis of whole games: what each play lost, how lucky each roll was, and what is left of the result without luck.

Every play is judged at one level, the play made as deep as the best one, and loses what the best play is worth more.
Marks by equity lost, in points: `doubtful` from 0.02, `error` from 0.04, `blunder` from 0.08. A play that breaks a rule
is marked `illegal`, keeps its reason, and counts in no rate.

    error rate (mpt)   1000 x mean loss over the plays that had a choice
    PR                 500 x the same mean
    luck of a roll     0-ply equity of its best play less the mean over the 21 rolls, or over the 15 that a toss played
                       as the first roll can be (`agent.luck`): 0 on average
    luck-adjusted      points of the game without the cube, less one's own luck, plus the opponent's

A game that ended neither on the board nor by resignation (a dropped cube, a file cut short) counts as the 0-ply equity
of its last position.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agent.levels import PLY_NAMES, Level
from agent.luck import luck as luck_of
from agent.match_result import Mean, mean_of
from agent.played import PlayedGame, PlayedMatch, PlayedTurn
from agent.ranking import Judge, rank_plays
from engine.board import Boards
from engine.errors import ConfigError
from engine.notation import play_text, steps_text
from engine.outcome import equity_of, is_finished
from engine.rules import SLOTS, Rules
from engine.steps import BoardGoal, dice_given, find_lines, head_limit

MARKS = ("doubtful", "error", "blunder")
ILLEGAL = "illegal"
PR_FACTOR = 500.0
MPT = 1000.0
TURNS_A_BATCH = 256  # so that all plays of a batch stay within some tens of MB
BY_HAND = "(placed by hand)"

Progress = Callable[[int], object]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class AnalysisConfig:
    """How games are judged."""

    level: Level = field(default=Level(plies=1), metadata={"help": "Depth at which plays are judged."})
    marks: tuple[float, float, float] = field(
        default=(0.02, 0.04, 0.08), metadata={"help": "Equity lost from which a play is doubtful, an error, a blunder."}
    )

    def __post_init__(self) -> None:
        if not 0.0 < self.marks[0] <= self.marks[1] <= self.marks[2] < math.inf:
            raise ConfigError(f"marks must be three losses in rising order, such as 0.02,0.04,0.08, got {self.marks}")


@dataclass(kw_only=True, eq=False)
class TurnAnalysis:
    """One turn with its figures, all seen by the player who made it.

    Attributes:
        turn: what was rolled and played.
        number: index of the turn in its game, from 1.
        rules: the exact variant.
        n_legal: number of legal plays.
        luck: points, of the roll.
        equity: points expected after the play; None for a roll that was not played.
        best: int8 [2, 26], the best play; None likewise.
        best_equity: points expected after it.
        loss: points lost against it; None for an illegal play.
        level: the depth that both were judged at.
        mark: one of `MARKS`, `ILLEGAL`, or empty.
    """

    turn: PlayedTurn
    number: int
    rules: Rules
    n_legal: int
    luck: float
    equity: float | None = None
    best: Boards | None = None
    best_equity: float | None = None
    loss: float | None = None
    level: str = ""
    mark: str = ""

    @property
    def is_decision(self) -> bool:
        """Whether the play counts in the error rate: it is legal and was not the only one."""
        return self.loss is not None and self.n_legal > 1

    @cached_property
    def play_text(self) -> str:
        """The play as text; for an illegal one as its file wrote it, or the steps that come nearest."""
        turn = self.turn
        if turn.afterstate is None:
            return turn.text if turn.reason is not None else ""
        if turn.reason is None:
            return play_text(turn.board, turn.dice, turn.afterstate, self.rules)
        return turn.text or _faulty_text(turn, turn.afterstate, self.rules)

    @cached_property
    def best_text(self) -> str:
        """The best play as text; empty for a roll that was not played."""
        return "" if self.best is None else play_text(self.turn.board, self.turn.dice, self.best, self.rules)


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What one player's plays come to.

    Attributes:
        plays: turns played, the forced ones included.
        unforced: legal plays that were not the only one.
        lost: points lost by them.
        error_rate: mean points lost by one, with its standard error over plays; not a number without any.
        luck: points, of all rolls.
        counts: plays by mark.
    """

    plays: int
    unforced: int
    lost: float
    error_rate: Mean
    luck: float
    counts: dict[str, int]

    @property
    def error_rate_mpt(self) -> float:
        """Millipoints lost a play that had a choice."""
        return MPT * self.error_rate.value

    @property
    def pr(self) -> float:
        """500 times the mean loss."""
        return PR_FACTOR * self.error_rate.value


@dataclass(frozen=True, kw_only=True, eq=False)
class GameAnalysis:
    """One game: its turns, each player's figures, and its points for player 0 without the cube.

    Attributes:
        value: points, or the equity of the last position; None for a game without a turn or result.
        is_estimated: whether it is the latter.
        adjusted: `value` without luck.
    """

    game: PlayedGame
    turns: tuple[TurnAnalysis, ...]
    figures: tuple[Figures, Figures]
    value: float | None
    is_estimated: bool
    adjusted: float | None


@dataclass(frozen=True, kw_only=True, eq=False)
class MatchAnalysis:
    """All games of a match, judged by one net at one level.

    Attributes:
        figures: each player's plays of all games.
        ppg: points per game of player 0 without the cube, over games.
        adjusted_ppg: the same without luck.
    """

    match: PlayedMatch
    net_name: str
    config: AnalysisConfig
    games: tuple[GameAnalysis, ...]
    figures: tuple[Figures, Figures]
    ppg: Mean
    adjusted_ppg: Mean

    @property
    def turns(self) -> Iterator[tuple[GameAnalysis, TurnAnalysis]]:
        """Every turn with its game, in order."""
        return ((game, turn) for game in self.games for turn in game.turns)

    def worst(self, count: int, *, at_least: float = 0.0) -> list[tuple[GameAnalysis, TurnAnalysis]]:
        """The plays that lost most, the worst first.

        Args:
            count: at most so many.
            at_least: points they must have lost; a play that lost nothing is never among them.
        """
        lossy = [(g, t) for g, t in self.turns if t.loss is not None and t.loss > 0.0 and t.loss >= at_least]
        return sorted(lossy, key=lambda pair: -(pair[1].loss or 0.0))[:count]

    @property
    def illegal(self) -> list[tuple[GameAnalysis, TurnAnalysis]]:
        """The plays that break a rule."""
        return [(game, turn) for game, turn in self.turns if turn.mark == ILLEGAL]


def analyze(
    match: PlayedMatch,
    judge: Judge,
    config: AnalysisConfig | None = None,
    *,
    progress: Progress | None = None,
    threads: int | None = None,
) -> MatchAnalysis:
    """Judge every play and every roll of a match, in batches on all cores.

    Args:
        match: the games.
        judge: an evaluator bound to the rules of the match.
        config: depth and marks; None: 1-ply.
        progress: called with the number of turns judged after each batch.
        threads: most CPU threads to use; None: all cores. The result does not depend on it.
    Raises:
        ConfigError: the evaluator is bound to other rules.
    """
    settings = config or AnalysisConfig()
    if judge.rules != match.rules:
        raise ConfigError(f"the evaluator is bound to {judge.rules}, the match is of {match.rules}")
    turns = [turn for game in match.games for turn in game.turns]
    is_first = _are_first(match)
    judged: list[TurnAnalysis] = []
    for start in range(0, len(turns), TURNS_A_BATCH):
        some = turns[start : start + TURNS_A_BATCH]
        judged += _judged(some, is_first[start : start + TURNS_A_BATCH], judge, settings, threads)
        (progress or (lambda count: None))(len(some))
    games, place = [], 0
    for game in match.games:
        games.append(_game(game, judged[place : place + len(game.turns)], judge))
        place += len(game.turns)
    values = np.array([(g.value, g.adjusted) for g in games if g.value is not None], dtype=np.float64).reshape(-1, 2)
    return MatchAnalysis(
        match=match,
        net_name=judge.net_name,
        config=settings,
        games=tuple(games),
        figures=_both_figures(judged),
        ppg=mean_of(values[:, 0]),
        adjusted_ppg=mean_of(values[:, 1]),
    )


def _are_first(match: PlayedMatch) -> npt.NDArray[np.bool_]:
    """Which turns are the first of a game that began at the start; from another position nobody tosses."""
    start = match.rules.start_board()
    first = [place == 0 and np.array_equal(t.board, start) for g in match.games for place, t in enumerate(g.turns)]
    return np.array(first, dtype=np.bool_)


class _Batch(NamedTuple):
    """Turns whose opponent has not finished, as arrays: only those can be judged."""

    rows: Ints
    boards: Boards
    dice: npt.NDArray[np.int8]


def _batch(turns: Sequence[PlayedTurn]) -> _Batch:
    boards = np.array([turn.board for turn in turns], dtype=np.int8).reshape(-1, 2, SLOTS)
    dice = np.array([turn.dice for turn in turns], dtype=np.int8).reshape(-1, 2)
    rows = np.flatnonzero(~is_finished(boards))
    return _Batch(rows, boards[rows], dice[rows])


def _judged(
    turns: Sequence[PlayedTurn],
    is_first: npt.NDArray[np.bool_],
    judge: Judge,
    config: AnalysisConfig,
    threads: int | None,
) -> list[TurnAnalysis]:
    """The turns of one batch with their figures; an extra last turn (`last_turn`) gets none."""
    found = [
        TurnAnalysis(turn=turn, number=0, rules=judge.rules, n_legal=1, luck=0.0, mark=ILLEGAL if turn.reason else "")
        for turn in turns
    ]
    batch = _batch(turns)
    if not batch.rows.size:
        return found
    ranking = rank_plays(judge, batch.boards, batch.dice, config.level, threads=threads)
    lucks = luck_of(judge, batch.boards, batch.dice, is_first=is_first[batch.rows], threads=threads)
    counts = np.diff(ranking.offsets)
    best = ranking.offsets[:-1]
    made = [turns[row].afterstate for row in batch.rows]
    equities = _equities_made(made, ranking.afterstates, ranking.offsets, ranking.equity, ranking.plies, judge, config)
    for place, row in enumerate(batch.rows):
        entry, first = found[row], best[place]
        entry.n_legal, entry.luck = int(counts[place]), float(lucks[place])
        if made[place] is None:
            continue
        entry.equity = float(equities[place])
        entry.best, entry.best_equity = ranking.afterstates[first], float(ranking.equity[first])
        entry.level = PLY_NAMES[int(ranking.plies[first])]
        if entry.turn.reason is None:
            _set_loss(entry, config)
    return found


def _set_loss(entry: TurnAnalysis, config: AnalysisConfig) -> None:
    assert entry.equity is not None and entry.best_equity is not None
    entry.loss = max(entry.best_equity - entry.equity, 0.0)
    if entry.loss == 0.0:  # judged as deep as the others it may turn out better than the play the filters let through
        entry.best, entry.best_equity = entry.turn.afterstate, entry.equity
    over = [name for name, limit in zip(MARKS, config.marks, strict=True) if entry.loss >= limit]
    entry.mark = over[-1] if over and entry.n_legal > 1 else ""


def _equities_made(
    made: Sequence[Boards | None],
    plays: Boards,
    offsets: Ints,
    equity: Floats,
    plies: npt.NDArray[np.int8],
    judge: Judge,
    config: AnalysisConfig,
) -> Floats:
    """float32 [B]: equity of the plays made, at the level asked for; 0 where none was.

    A play that a filter stopped early, or that is not legal, is judged at that level here.
    """
    result = np.zeros(len(made), dtype=np.float32)
    missing = []
    for place, board in enumerate(made):
        if board is None:
            continue
        rows = slice(offsets[place], offsets[place + 1])
        same = np.flatnonzero((plays[rows] == board).all(axis=(1, 2)))
        row = offsets[place] + same[0] if same.size else -1
        if same.size and plies[row] == config.level.plies:
            result[place] = equity[row]
        else:
            missing.append(place)
    if missing:
        boards = np.array([made[place] for place in missing], dtype=np.int8)
        result[missing] = _deep_equity(judge, boards, config.level.plies)
    return result


def _deep_equity(judge: Judge, boards: Boards, plies: int) -> Floats:
    from agent.search import plies_probs  # needs the look-ahead kernels

    probs = plies_probs(judge, boards, plies) if plies else judge.outcome_probs(boards)
    return equity_of(probs, judge.rules)


def _game(game: PlayedGame, turns: list[TurnAnalysis], judge: Judge) -> GameAnalysis:
    for number, turn in enumerate(turns, start=1):
        turn.number = number
    value, is_estimated = _value(game, judge)
    counted = [turn for turn in turns if not is_estimated or turn.turn.afterstate is not None]
    gained = sum(turn.luck * (1 - 2 * turn.turn.player) for turn in counted)
    return GameAnalysis(
        game=game,
        turns=tuple(turns),
        figures=_both_figures(turns),
        value=value,
        is_estimated=is_estimated,
        adjusted=None if value is None else value - gained,
    )


def _value(game: PlayedGame, judge: Judge) -> tuple[float | None, bool]:
    """Points of player 0 without the cube, and whether they are the equity of the last position."""
    if game.result is not None:
        winner = game.result.winner
        return (0.0 if winner is None else game.result.points * (1 - 2 * winner)), False
    made = [turn for turn in game.turns if turn.afterstate is not None]
    if not made:
        return None, False
    equity = equity_of(judge.outcome_probs(np.array([made[-1].afterstate], dtype=np.int8)), judge.rules)
    return float(equity[0]) * (1 - 2 * made[-1].player), True


def _both_figures(turns: Sequence[TurnAnalysis]) -> tuple[Figures, Figures]:
    first, second = (_figures([turn for turn in turns if turn.turn.player == player]) for player in (0, 1))
    return first, second


def _figures(turns: Sequence[TurnAnalysis]) -> Figures:
    losses = np.array([turn.loss for turn in turns if turn.is_decision], dtype=np.float64)
    return Figures(
        plays=sum(turn.turn.afterstate is not None for turn in turns),
        unforced=len(losses),
        lost=float(losses.sum()),
        error_rate=mean_of(losses),
        luck=float(sum(turn.luck for turn in turns)),
        counts={mark: sum(turn.mark == mark for turn in turns) for mark in (*MARKS, ILLEGAL)},
    )


def _faulty_text(turn: PlayedTurn, afterstate: Boards, rules: Rules) -> str:
    """The steps that lead to a board against the rules; words where none do."""
    if np.array_equal(afterstate, turn.board):
        return "pass"
    limit, goal = head_limit(turn.board, turn.dice, rules), BoardGoal(afterstate)
    lines = find_lines(turn.board, dice_given(turn.dice), goal, rules, limit, allow_faults=True)
    line = next(lines, None)
    return BY_HAND if line is None else steps_text(line.steps)
