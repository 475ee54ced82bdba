"""Games a second of the arena: a net against itself at 0-ply, and the linear players, in both games.

Every match is checked before its time counts: all games were finished and a net's pairs against itself are exactly
zero. `--net` names a net of your own for the game of its rules.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from agent.arena import play_match
from engine.rules import get_rules
from engine.threads import default_threads

FLOOR = 500  # games/s of a net against itself at 0-ply, on two cores


def bench(a: str, b: str, rules: str, pairs: int, workers: int | None) -> float:
    """Games a second of a match, after one that warms caches up."""
    play_match(a, b, rules, pairs=2, seed=1)
    start = time.perf_counter()
    match = play_match(a, b, rules, pairs=pairs, seed=1, workers=workers)
    seconds = time.perf_counter() - start
    assert match.pairs == pairs and sum(match.outcome_counts.values()) == 2 * pairs
    assert not match.faults and "draw" not in match.outcome_counts
    if a == b:
        assert (match.pair_points == 0.0).all(), "a player against itself must give zero in every pair"
    rate = match.games / seconds
    print(f"  {a} : {b}  {rate:8.0f} games/s, {match.turns_per_game:.1f} turns a game, {workers or 'all'} worker(s)")
    return rate


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", nargs="*", default=["short_backgammon", "long_classic"])
    parser.add_argument(
        "--net", help="player text of the net, such as net:PATH; default: the shipped one", default="net"
    )
    parser.add_argument("--pairs", type=int, default=1000)
    arguments = parser.parse_args()
    print(f"{default_threads()} cores; floor {FLOOR} games/s for a net against itself on two")
    is_quick = True
    for rules in arguments.rules:
        print(get_rules(rules))
        bench(arguments.net, arguments.net, rules, arguments.pairs, 1)
        is_quick &= bench(arguments.net, arguments.net, rules, arguments.pairs, None) >= FLOOR
        bench("heuristic", "heuristic", rules, min(arguments.pairs, 300), None)
    return 0 if is_quick else 1


if __name__ == "__main__":
    sys.exit(main())
