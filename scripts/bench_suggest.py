"""Times of suggestions and rollouts in both games: medians over contact positions of the net's own play, warm.

What each call did is asserted before it counts: legal plays, the level reached, the number of trials. `--quick` takes
few positions and trials. Peak memory is that of the whole run.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from agent.evaluator import Evaluator, load_evaluator
from agent.ranking import rank_plays
from agent.rollout import RolloutConfig, rollout
from agent.suggest import suggest, suggest_many
from engine.board import CONTACT, opponent_view, phase
from engine.movegen import afterstates_of

LIMITS_MS = (1.0, 10.0, 150.0, 4000.0)  # 0 to 3 plies, on two cores
TRUNCATE = 7
ROLLOUT_LIMITS_S = {"short": {TRUNCATE: 6.0, None: 45.0}, "long": {TRUNCATE: 6.0, None: 80.0}}  # 1,296 trials
MEMORY_LIMIT_MB = 1024
TURNS_MET = 100  # so that positions of every part of a game are among them


def contact_positions(judge: Evaluator, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Boards and rolls with contact and a choice, met in the net's games against itself."""
    boards = np.repeat(judge.rules.start_board()[None], 64, axis=0)
    met, rolls = [], []
    while sum(map(len, met)) < 4 * count or len(met) < TURNS_MET:
        dice = rng.integers(1, 7, size=(len(boards), 2), dtype=np.int8)
        plays = np.diff(afterstates_of(boards, dice, judge.rules)[1])
        wanted = (phase(boards, judge.rules) == CONTACT) & (plays > 1)
        met.append(boards[wanted])
        rolls.append(dice[wanted])
        boards = np.ascontiguousarray(opponent_view(judge.choose(boards, dice)))
        boards[(boards[:, :, 0] == 15).any(axis=1)] = judge.rules.start_board()
    picked = rng.permutation(sum(map(len, met)))[:count]
    return np.concatenate(met)[picked], np.concatenate(rolls)[picked]


def timed(work: Callable[[], object]) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def bench_levels(judge: Evaluator, boards: np.ndarray, dice: np.ndarray, deep: int) -> None:
    for plies, limit in enumerate(LIMITS_MS):
        count = len(boards) if plies < 3 else deep
        answer = suggest(boards[0], dice[0], judge.rules, judge, plies=plies)
        assert answer[0].level == f"{plies}-ply", answer[0].level
        each = [
            timed(lambda b=b, d=d, p=plies: suggest(b, d, judge.rules, judge, plies=p))
            for b, d in zip(boards[:count], dice[:count], strict=True)
        ]
        print(f"  {plies}-ply  median {1e3 * median(each):9.2f} ms of {count}  (limit {limit:g} ms)", flush=True)


def bench_batch(judge: Evaluator, boards: np.ndarray, dice: np.ndarray) -> None:
    wanted = rank_plays(judge, boards, dice, suggest(boards[0], dice[0], judge.rules, judge).level)
    assert (judge.choose(boards, dice) == wanted.afterstates[wanted.offsets[:-1]]).all(axis=(1, 2)).mean() > 0.99
    for name, work in (
        ("choose", lambda: judge.choose(boards, dice)),
        ("suggest_many", lambda: suggest_many(boards, dice, judge.rules, judge)),
    ):
        seconds = min(timed(work) for _ in range(5))
        print(
            f"  {len(boards)} positions, {name}: {len(boards) / seconds:,.0f} decisions/s  (limit 20,000)", flush=True
        )


def bench_rollouts(judge: Evaluator, trials: int) -> None:
    roll = (6, 4) if judge.rules.has_head_rule else (3, 1)
    candidate = suggest(judge.rules.start_board(), roll, judge.rules, judge)[0].afterstate[None]
    for name, truncate in ((f"truncated at {TRUNCATE} turns", TRUNCATE), ("full", None)):
        config = RolloutConfig(trials=trials, truncate=truncate)
        start = time.perf_counter()
        result = rollout(candidate, judge.rules, judge, config)
        seconds = time.perf_counter() - start
        assert result.trials == trials
        best = result.candidates[0]
        limit = ROLLOUT_LIMITS_S[judge.rules.game.name][truncate]
        print(
            f"  rollout {name}: {seconds:.1f} s  (limit {limit:g} s for 1,296 trials), {best.equity:+.4f} +- "
            f"{best.se:.4f}, {trials} trials",
            flush=True,
        )
    plain = rollout(candidate, judge.rules, judge, RolloutConfig(trials=trials, variance_reduction=False)).candidates[0]
    apart = abs(plain.equity - best.equity) / np.hypot(plain.se, best.se)
    print(
        f"  plain {plain.equity:+.4f} +- {plain.se:.4f}: the luck taken off cuts it {plain.se / best.se:.2f} times "
        f"(least 4), the means are {apart:.1f} joint standard errors apart"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", nargs="*", default=["short", "long_classic"])
    parser.add_argument("--net", help="a net file of one game, with its --rules")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--deep", type=int, help="positions judged at 3-ply, when fewer than at the other depths")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args()
    positions, trials = (20, 144) if args.quick else (200, 1296)
    deep = args.deep or (2 if args.quick else positions)
    for rules in args.rules:
        judge = load_evaluator(rules, args.net)
        boards, dice = contact_positions(judge, max(positions, 1000), np.random.default_rng(args.seed))
        print(f"{judge.rules}, net {judge.net_name}")
        bench_levels(judge, boards[:positions], dice[:positions], deep)
        bench_batch(judge, boards[:1000], dice[:1000])
        bench_rollouts(judge, trials)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MB  (limit {MEMORY_LIMIT_MB})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
