"""The trials of a rollout: games of many candidates played in lockstep, each trial on its own dice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from agent.last_turn import extra_turn
from agent.luck import probs_luck, roll_index
from agent.ranking import Judge, choose_plays
from agent.search import best_replies
from engine.board import Boards, opponent_view
from engine.outcome import UNFINISHED, is_finished, outcome_class
from engine.rules import Rules

if TYPE_CHECKING:
    from agent.rollout import RolloutConfig

Floats = npt.NDArray[np.float64]
Dice = npt.NDArray[np.int8]

_FACES = 6
_BLOCK = 64  # turns of dice drawn at a time
_MAX_TURNS = 20_000  # no game of legal plays is near this long; a longer one is a fault, not a game


@dataclass(frozen=True, kw_only=True, eq=False)
class Trials:
    """What every chunk of trials shares."""

    config: RolloutConfig
    rules: Rules
    judge: Judge
    mover_is_first: bool
    threads: int | None


class TrialDice:
    """Dice of a chunk of trials, drawn as far as asked; a trial's dice depend on the seed and its number only."""

    def __init__(self, seed: int, trials: Sequence[int], count: int) -> None:
        """`count` is the number of trials of the whole rollout, over which first rolls are stratified."""
        streams = (np.random.SeedSequence(seed, spawn_key=(trial,)) for trial in trials)
        self._streams = [np.random.Generator(np.random.PCG64(stream)) for stream in streams]
        self._first = first_rolls(seed, count)[list(trials)]
        self._drawn: Dice = np.empty((len(self._streams), 0, 2), dtype=np.int8)

    def at(self, turn: int, rows: npt.NDArray[np.int64]) -> Dice:
        """int8 [n, 2]: the dice of some trials of the chunk at a turn, the first being turn 0."""
        while turn >= self._drawn.shape[1]:
            block = [stream.integers(1, _FACES + 1, size=(_BLOCK, 2), dtype=np.int8) for stream in self._streams]
            self._drawn = np.concatenate([self._drawn, np.stack(block)], axis=1)
        return self._first[rows] if turn == 0 else self._drawn[rows, turn]


def first_rolls(seed: int, count: int) -> Dice:
    """First rolls of all trials: each of the 36 equally often, a remainder taking a random subset of them.

    Args:
        seed: seed of the rollout.
        count: number of trials.
    Returns:
        int8 [count, 2].
    """
    strata = _FACES * _FACES
    full, rest = divmod(count, strata)
    rng = np.random.default_rng(np.random.SeedSequence(seed))
    drawn = [np.tile(np.arange(strata), full), rng.choice(strata, size=rest, replace=False)]
    first, second = np.divmod(np.concatenate(drawn), _FACES)
    return np.stack([first + 1, second + 1], axis=1).astype(np.int8)


def play_trials(trials: Trials, afterstates: Boards, chunk: Sequence[int]) -> Floats:
    """Plays some trials of every candidate to the end, or to the truncation.

    Args:
        trials: rules, evaluator and settings.
        afterstates: int8 [C, 2, 26], row 0 the player who just moved.
        chunk: numbers of the trials to play.
    Returns:
        float64 [C, n, K]: each trial's outcome for that player: 1 of its class (all 0 for a draw) or, truncated, the
        net's probabilities; less the luck of its rolls where the settings ask for that.
    """
    candidates, count, outcomes = len(afterstates), len(chunk), len(trials.rules.outcomes)
    dice = TrialDice(trials.config.seed, chunk, trials.config.trials)
    results = np.zeros((candidates * count, outcomes))
    games = np.arange(candidates * count)  # those still going on, candidate-major
    after = np.repeat(afterstates, count, axis=0)
    is_over = is_finished(after)
    results[is_over] = _final_probs(trials, after[is_over], -1, dice.at(0, games[is_over] % count))
    games, boards = games[~is_over], opponent_view(after[~is_over])  # [n, 2, 26], the side to roll in row 0
    if not games.size:
        return results.reshape(candidates, count, outcomes)
    for turn in range(_MAX_TURNS):
        after, luck = _play_turn(trials, boards, dice.at(turn, games % count))
        is_over = is_finished(after)
        is_cut = turn + 1 == trials.config.truncate
        ended = np.flatnonzero(is_over | is_cut)
        final = np.zeros_like(luck)
        final[ended] = _final_probs(trials, after[ended], turn, dice.at(turn + 1, games[ended] % count))
        gained = final - luck
        results[games] += gained if turn % 2 else np.roll(gained, outcomes // 2, axis=1)  # turn 0 is the opponent's
        if is_cut or is_over.all():
            return results.reshape(candidates, count, outcomes)
        games, boards = games[~is_over], opponent_view(after[~is_over])
    raise AssertionError(f"a trial did not end within {_MAX_TURNS} turns")


def _play_turn(trials: Trials, boards: Boards, rolls: Dice) -> tuple[Boards, Floats]:
    """Afterstates int8 [n, 2, 26] of one turn, and its luck float64 [n, K] for the player who made it."""
    judge, config = trials.judge, trials.config
    after, luck = None, np.zeros((len(boards), len(judge.rules.outcomes)))
    if config.variance_reduction:
        best, probs = best_replies(judge, boards, threads=trials.threads)
        luck = probs_luck(probs, rolls)
        after = best[np.arange(len(boards)), roll_index(rolls)]
    if after is None or config.level.plies > 0:
        after = choose_plays(judge, boards, rolls, config.level, threads=trials.threads)
    return after, luck


def _final_probs(trials: Trials, after: Boards, turn: int, next_rolls: Dice) -> Floats:
    """float64 [n, K]: how games end, seen by the player who just moved (odd turns: the candidate's, and turn -1)."""
    rules = trials.rules
    finisher_is_first = trials.mover_is_first == bool(turn % 2)
    if rules.last_turn == "second_player" and finisher_is_first:
        after = opponent_view(extra_turn(opponent_view(after), next_rolls, rules))
    outcome = outcome_class(after, rules)
    probs = np.zeros((len(after), len(rules.outcomes)))
    ended = np.flatnonzero(outcome != UNFINISHED)  # both finished: a draw, worth nothing, of no class
    probs[ended, outcome[ended]] = 1.0
    going = np.flatnonzero(~is_finished(after))
    if going.size:
        probs[going] = trials.judge.outcome_probs(after[going], threads=trials.threads)
    return probs
