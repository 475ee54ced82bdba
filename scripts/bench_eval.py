"""Static evaluations a second of one core as self-play uses them: plays generated, judged, the best taken.

Positions are met in the net's own games. `counts_v1` is judged by the net given, wider nets and feature sets by random
weights with a third of the units active, as trained nets have. `--peers` times gnubg-nn at 0-ply on the same short
positions in the same run. The work is asserted first: a part of the choices against the public functions. Times are
CPU and wall seconds, the best of several rounds that take turns; compiling comes before, apart.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from agent.evaluator import Evaluator
from agent.features import COUNT_ROWS, dense_features, feature_count
from agent.net import Net, load_net, shipped_net
from agent.play import game_seeds, play_games
from engine import get_rules, legal_afterstates
from engine.board import opponent_view
from engine.outcome import is_finished
from engine.rules import Rules

PRESETS = {"short": "short_backgammon", "long": "long_classic"}
SHAPES = ((256, 32), (512, 32), (512, 64, 32))
WANTED_PER_S, WANTED_RATIO, WANTED_FEATURES_US = 600_000, 2.0, 0.6
Work = tuple[Callable[[], object], int]  # what to time, and how many boards it judges


def random_net(rules: Rules, features: str, hidden: tuple[int, ...]) -> Net:
    """Random weights whose bias leaves about a third of the first units active."""
    rng = np.random.default_rng(1)
    sizes = (*hidden, len(rules.outcomes))
    layers = [(rng.normal(0, (2 / a) ** 0.5, (1, a, b)), np.zeros((1, b))) for a, b in pairwise(sizes)]
    return Net(
        name=f"{features} {'-'.join(map(str, hidden))}",
        game=rules.game.name,
        rules=str(rules),
        features=features,
        experts=("all",),
        rows=rng.normal(0, 0.2, (1, COUNT_ROWS, hidden[0])).astype(np.float32),
        feature_weights=rng.normal(0, 0.2, (1, feature_count(features), hidden[0])).astype(np.float32),
        bias=np.full((1, hidden[0]), -0.35, dtype=np.float32),
        layers=tuple((weight.astype(np.float32), bias.astype(np.float32)) for weight, bias in layers),
    )


def positions(net: Net, rules: Rules, games: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Boards of the net's own games with rolls, and their afterstates."""
    records = play_games(net, rules, game_seeds(1, 0, games), threads=1)
    boards = np.ascontiguousarray(opponent_view(records.afterstates[~is_finished(records.afterstates)]))
    dice = np.random.default_rng(1).integers(1, 7, size=(len(boards), 2), dtype=np.int8)
    return boards, dice, legal_afterstates(boards, dice, rules)[0]


def choice_work(net: Net, rules: Rules, boards: np.ndarray, dice: np.ndarray, plays: int) -> Work:
    evaluator = Evaluator(net, rules)
    chosen = evaluator.choose(boards, dice, threads=1)
    for i in range(0, len(boards), 97):
        legal = legal_afterstates(boards[i], dice[i], rules)
        equity = evaluator.equity(legal)
        same = (legal == chosen[i]).all(axis=(1, 2))
        assert same.sum() == 1, "an illegal play was chosen"
        assert equity[same][0] > equity.max() - 1e-4, "not the best play was chosen"
    return lambda: evaluator.choose(boards, dice, threads=1), plays


def gnubg_time(boards: np.ndarray, dice: np.ndarray, plays: int) -> tuple[float, float]:
    """CPU and wall microseconds a play of gnubg-nn's choice at 0-ply, boards already in its form.

    One pass only: it keeps what it has judged, and a second would only look that up.
    """
    import gnubg_nn

    rows = [[board[1, 1:].tolist(), board[0, 1:].tolist()] for board in boards]
    calls = [(row, *roll) for row, roll in zip(rows, dice.tolist(), strict=True)]
    counted = sum(max(len(gnubg_nn.moves(*call)), 1) for call in calls)
    assert counted == plays, "gnubg-nn has other plays"
    gnubg_nn.best_move(*calls[0], n=0)
    cpu, wall = time.process_time(), time.perf_counter()
    for call in calls[1:]:
        gnubg_nn.best_move(*call, n=0)
    return (time.process_time() - cpu) / plays * 1e6, (time.perf_counter() - wall) / plays * 1e6


def best_times(works: dict[str, Work], rounds: int) -> dict[str, tuple[float, float]]:
    """CPU and wall microseconds a board, the best of the rounds."""
    best = dict.fromkeys(works, (np.inf, np.inf))
    for _ in range(rounds):
        for name, (work, boards) in works.items():
            cpu, wall = time.process_time(), time.perf_counter()
            work()
            spent = (time.process_time() - cpu, time.perf_counter() - wall)
            best[name] = tuple(min(a, b / boards * 1e6) for a, b in zip(best[name], spent, strict=True))
    return best


def report(game: str, rules: Rules, times: dict[str, tuple[float, float]], peer: tuple[float, float] | None) -> None:
    features = times.pop(f"{game}_v1 columns alone")
    print(f"{rules}, features {features[0]:.2f} us a board (wall {features[1]:.2f}), wanted {WANTED_FEATURES_US}")
    for name, (cpu, wall) in times.items():
        line = f"  {name}: {1e6 / cpu:,.0f} evaluations/s of CPU time, {1e6 / wall:,.0f} of wall time"
        print(line + (f", {peer[0] / cpu:.1f} x gnubg-nn 0-ply" if peer else ""))
    print(f"  wanted with {game}_v1: {WANTED_PER_S:,}" + (f" and {WANTED_RATIO} x gnubg-nn" if peer else ""))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=30, help="games that positions are taken from")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--net-short", help="net of short nardy instead of the shipped one")
    parser.add_argument("--net-long", help="net of long nardy instead of the shipped one")
    parser.add_argument("--peers", action="store_true", help="time gnubg-nn 0-ply on the same short positions")
    args = parser.parse_args()
    if args.games < 1 or args.rounds < 1:
        parser.error("--games and --rounds must be at least 1")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for game, preset in PRESETS.items():
        rules = get_rules(preset)
        net = load_net(getattr(args, f"net_{game}") or shipped_net(rules))
        start = time.perf_counter()
        boards, dice, afterstates = positions(net, rules, args.games)
        nets = [net, *(random_net(rules, f"{game}_v1", hidden) for hidden in SHAPES)]
        works = {f"{n.name} ({n.features})": choice_work(n, rules, boards, dice, len(afterstates)) for n in nets}
        works[f"{game}_v1 columns alone"] = (
            lambda afters=afterstates, name=f"{game}_v1": dense_features(afters, name, threads=1),
            len(afterstates),
        )
        peer = gnubg_time(boards, dice, len(afterstates)) if args.peers and rules.can_hit else None
        took = time.perf_counter() - start
        print(f"{len(boards)} decisions, {len(afterstates)} plays; {took:.1f} s to compile and check")
        report(game, rules, best_times(works, args.rounds), peer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
