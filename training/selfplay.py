"""Self-play: rounds of whole games, and the samples they give the learner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agent.evaluator import expert_index
from agent.features import dense_features
from agent.net import Net
from agent.play import GameRecords, game_seeds, play_games
from engine.board import BEAROFF, Boards, phase
from engine.rules import Rules
from training.config import StageConfig
from training.targets import Probs, lambda_returns


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Positions with what the net should say about them."""

    boards: Boards  # int8 [N, 2, 26], afterstates
    features: npt.NDArray[np.float32]  # [N, F]
    experts: npt.NDArray[np.int64]  # [N]
    targets: Probs  # [N, K], seen by the player who just moved
    games: int
    turns: int


def play_round(
    net: Net, rules: Rules, stage: StageConfig, *, seed: int, first_game: int, games: int, threads: int
) -> Samples:
    """Play the games of a round and turn them into samples.

    Args:
        net: the weights that play and whose values the targets build on.
        rules: the game.
        stage: how to play and which targets to build.
        seed: of the run; the dice of a game depend on it and on the game's number alone.
        first_game: number of the first game of the round within the run.
        games: how many.
        threads: for the kernels.
    """
    seeds = game_seeds(seed, first_game, games)
    records = play_games(net, rules, seeds, threads=threads, random_rate=stage.play.random_rate)
    return samples_of(records, net, rules, stage)


def samples_of(records: GameRecords, net: Net, rules: Rules, stage: StageConfig) -> Samples:
    """Samples of recorded games: every afterstate but bear-offs and finished ones, which no expert judges."""
    if stage.targets.kind == "outcome":
        is_greedy, lam = np.ones_like(records.is_greedy), 1.0
    else:
        is_greedy, lam = records.is_greedy, stage.targets.lam
    targets = lambda_returns(records.values, is_greedy, records.offsets, records.outcomes, lam)
    kept = phase(records.afterstates, rules) < BEAROFF
    boards = np.ascontiguousarray(records.afterstates[kept])
    return Samples(
        boards=boards,
        features=dense_features(boards, net.features),
        experts=expert_index(boards, net, rules),
        targets=targets[kept],
        games=len(records.outcomes),
        turns=len(records.is_greedy),
    )
