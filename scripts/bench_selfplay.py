"""Self-play games a second of both games with one and two threads.

The work is asserted first: every game ends, its first turns are legal plays, and two threads give the records of one.
Wall time counts here, the best of several rounds that take turns; CPU time stands beside it, since a busy machine
disturbs it less. Compiling comes before, apart.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from agent.net import Net, load_net, shipped_net
from agent.play import game_seeds, play_games
from engine import get_rules, legal_afterstates
from engine.dice import ROLLS
from engine.rules import Rules
from engine.threads import default_threads

PRESETS = {"short": "short_backgammon", "long": "long_classic"}
WANTED = {"short": 1000, "long": 600}  # games/s of the strong nets on two cores


def check(net: Net, rules: Rules, games: int) -> int:
    """Turns of the games; asserts that they are games."""
    seeds = game_seeds(1, 0, games)
    records = play_games(net, rules, seeds, threads=1)
    again = play_games(net, rules, seeds, threads=2)
    assert np.array_equal(records.afterstates, again.afterstates), "two threads play other games"
    assert (records.outcomes >= 0).all(), "a game was cut short"
    start = np.repeat(rules.start_board()[None], len(ROLLS), axis=0)
    openings = {play.tobytes() for play in legal_afterstates(start, ROLLS, rules)[0]}
    assert all(board.tobytes() in openings for board in records.afterstates[records.offsets[:-1]]), "illegal opening"
    return len(records.afterstates)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--net-short", help="net of short nardy instead of the shipped one")
    parser.add_argument("--net-long", help="net of long nardy instead of the shipped one")
    args = parser.parse_args()
    if args.games < 1 or args.rounds < 1:
        parser.error("--games and --rounds must be at least 1")
    for game, preset in PRESETS.items():
        rules = get_rules(preset)
        net = load_net(getattr(args, f"net_{game}") or shipped_net(rules))
        start = time.perf_counter()
        turns = check(net, rules, args.games)
        print(f"{rules}, {net.name} ({net.features} {'-'.join(map(str, net.arrays.widths[:-1]))}): ", end="")
        print(f"{turns / args.games:.0f} turns a game; {time.perf_counter() - start:.1f} s to compile and check")
        best = {1: (np.inf, np.inf), 2: (np.inf, np.inf)}
        for round_number in range(args.rounds):
            seeds = game_seeds(2, round_number * args.games, args.games)
            for threads in best:
                wall, cpu = time.perf_counter(), time.process_time()
                play_games(net, rules, seeds, threads=threads)
                spent = (time.perf_counter() - wall, time.process_time() - cpu)
                best[threads] = tuple(min(pair) for pair in zip(best[threads], spent, strict=True))
        for threads, (wall, cpu) in best.items():
            print(f"  {threads} threads: {args.games / wall:,.0f} games/s; {args.games / cpu:,.0f} a CPU second")
        print(f"  wanted on two cores: {WANTED[game]:,} games/s; this process may use {default_threads()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
