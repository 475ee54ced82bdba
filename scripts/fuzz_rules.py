"""Compare the move generator with the slow twin (and gnubg-nn) on random boards; the last line is `differences: K`.

Half of the boards are met in random play, half are placed at random. Exit code 1 if K > 0.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from tqdm import tqdm

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "tests")]

from engine import get_rules, legal_afterstates
from engine.errors import RulesError
from random_positions import placed, random_play
from twin_comparison import difference_text, different, smallest

CHUNK = 4000


def chunk_differences(rules_text: str, seed: int, peers: bool, chunk: int, count: int) -> list[str]:
    """A line for every difference in one chunk of boards; the chunk has random numbers of its own."""
    rules = get_rules(rules_text)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(chunk,)))
    generate = partial(legal_afterstates, threads=1)
    played, thrown = random_play(rules, count // 2, rng, generate)
    put, rolls = placed(rules, count - count // 2, rng)
    boards, dice = np.concatenate([played, put]), np.concatenate([thrown, rolls])

    def is_wrong(board: np.ndarray, roll: np.ndarray) -> bool:
        return bool(different(board[None], roll[None], rules, generate=generate, peers=peers))

    wrong = different(boards, dice, rules, generate=generate, peers=peers)
    return [difference_text(smallest(boards[i], dice[i], is_wrong), dice[i], rules, generate) for i in wrong]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--positions", type=int, default=100_000, help="boards to compare")
    parser.add_argument("--preset", default="long_classic", help="rules text, such as long_classic(block_check=turn)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--peers", action="store_true", help="short nardy: compare with gnubg-nn too")
    args = parser.parse_args()
    try:
        rules = get_rules(args.preset)
    except RulesError as error:
        parser.error(str(error))
    if args.positions < 1 or args.workers < 1 or args.seed < 0:
        parser.error("--positions and --workers must be at least 1, --seed at least 0")
    if args.peers and not rules.can_hit:
        parser.error(f"--peers needs short nardy, got {rules}")

    sizes = [min(CHUNK, args.positions - start) for start in range(0, args.positions, CHUNK)]
    found = 0
    with ProcessPoolExecutor(args.workers, mp_context=get_context("spawn")) as pool:
        jobs = {
            pool.submit(chunk_differences, str(rules), args.seed, args.peers, chunk, size): size
            for chunk, size in enumerate(sizes)
        }
        with tqdm(total=args.positions, unit="board") as bar:
            for job in as_completed(jobs):
                for line in job.result():
                    found += 1
                    tqdm.write(line, file=sys.stdout)
                bar.update(jobs[job])
    print(f"{args.positions} boards, {rules}, seed {args.seed}")
    print(f"differences: {found}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
