"""Self-play: rounds of whole games, and the samples they give the learner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agent.evaluator import Evaluator, expert_index
from agent.features import dense_features
from agent.net import Net
from agent.play import GameRecords, game_seeds, play_games
from agent.search import plies_probs
from engine.board import BEAROFF, Boards, opponent_view, phase
from engine.rules import Rules
from training.config import StageConfig, TargetConfig
from training.decisions import decision_samples
from training.targets import Probs, adjusted_returns, lambda_returns

DECISIONS_STREAM = 1  # spawn key of the random numbers that pick decisions, behind that of the round's first game


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Positions with what the net should say about them."""

    boards: Boards  # int8 [N, 2, 26], afterstates
    features: npt.NDArray[np.float32]  # [N, F]
    experts: npt.NDArray[np.int64]  # [N]
    targets: Probs  # [N, K], seen by the player who just moved
    groups: npt.NDArray[np.int64] | None = None  # [N], rising: the decision each belongs to; None: no siblings
    games: int
    turns: int


def pooled(rounds: Sequence[Samples]) -> Samples:
    """The samples of several rounds as one; groups are renumbered so that no two rounds share one.

    Args:
        rounds: one or more, all with groups or all without.
    """
    if len(rounds) == 1:
        return rounds[0]
    groups, first = [], 0
    for samples in rounds:
        if samples.groups is not None:
            groups.append(samples.groups + first)
            first += int(samples.groups.max(initial=-1)) + 1
    return Samples(
        boards=np.concatenate([samples.boards for samples in rounds]),
        features=np.concatenate([samples.features for samples in rounds]),
        experts=np.concatenate([samples.experts for samples in rounds]),
        targets=np.concatenate([samples.targets for samples in rounds]),
        groups=np.concatenate(groups) if groups else None,
        games=sum(samples.games for samples in rounds),
        turns=sum(samples.turns for samples in rounds),
    )


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
    if stage.targets.kind == "look_ahead":
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(first_game, DECISIONS_STREAM)))
        # First turns are decisions too, one for each game: in long nardy nothing else resembles them.
        starts = np.repeat(opponent_view(rules.start_board())[None], games, axis=0)
        boards, groups, targets = decision_samples(
            Evaluator(net, rules),
            np.concatenate([starts, records.afterstates]),
            decisions=max(1, stage.targets.decisions * games // stage.play.games_per_round),
            siblings=stage.targets.siblings,
            rng=rng,
            threads=threads,
        )
        return _samples(boards, targets, records, net, rules, threads, groups)
    kept = phase(records.afterstates, rules) < BEAROFF  # what comes later no expert judges
    if stage.targets.kind == "adjusted":
        targets = adjusted_targets(records, stage.targets.lam, kept, Evaluator(net, rules), threads=threads)
    else:
        targets = game_targets(records, stage.targets, is_known=~kept & records.is_greedy)
    boards = np.ascontiguousarray(records.afterstates[kept])
    return _samples(boards, targets[kept], records, net, rules, threads)


def game_targets(records: GameRecords, config: TargetConfig, is_known: npt.NDArray[np.bool_]) -> Probs:
    """What the games themselves say about each afterstate played.

    Args:
        records: the games.
        config: which targets.
        is_known: bool [T], turns whose value the bear-off tables (or the end of the game) give.
    Returns:
        float32 [T, K], seen by the mover.
    """
    if config.kind == "outcome":
        every = np.ones_like(records.is_greedy)
        return lambda_returns(records.values, every, records.offsets, records.outcomes, 1.0)
    return lambda_returns(records.values, records.is_greedy, records.offsets, records.outcomes, config.lam, is_known)


def adjusted_targets(
    records: GameRecords, lam: float, kept: npt.NDArray[np.bool_], judge: Evaluator, *, threads: int
) -> Probs:
    """Lambda-returns less luck: float32 [T, K], seen by the mover.

    Args:
        records: games of the judge's net.
        lam: share of later corrections that is passed back.
        kept: bool [T], afterstates that need a look ahead; the value of the others is exact if it is that of what
            was played.
        judge: the net that played.
        threads: for the kernels.
    """
    means = records.values.copy()
    looked_at = kept | ~records.is_greedy
    means[looked_at] = plies_probs(judge, np.ascontiguousarray(records.afterstates[looked_at]), 1, threads=threads)
    return adjusted_returns(records.values, means, records.is_greedy, records.offsets, records.outcomes, lam)


def _samples(
    boards: Boards,
    targets: Probs,
    records: GameRecords,
    net: Net,
    rules: Rules,
    threads: int,
    groups: npt.NDArray[np.int64] | None = None,
) -> Samples:
    return Samples(
        boards=boards,
        features=dense_features(boards, net.features, threads=threads),
        experts=expert_index(boards, net, rules),
        targets=targets,
        groups=groups,
        games=len(records.outcomes),
        turns=len(records.is_greedy),
    )
