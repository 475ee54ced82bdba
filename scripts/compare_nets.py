"""What feature groups and net shapes are worth: nets fitted to one set of positions, tried on another.

The positions come from games of the shipped net; their targets are its values after one roll of look-ahead, three
plays of each decision. Every net starts from nothing and sees the same samples in the same order; `--shapes` compares
sizes with their cost, `--groups` leaves one group of dense columns out at a time. Reported for plays never trained on:
the equity lost per decision against the targets' best of its three plays, in millipoints, with the standard error of
the difference to the first row over decisions, and the root mean square error of the equity.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).parents[1]))

from agent.evaluator import Evaluator, expert_index, load_evaluator
from agent.features import FEATURE_SETS, dense_features
from agent.net import Net
from agent.play import game_seeds, play_games
from engine import Rules, get_rules
from engine.board import Boards
from training.config import LearnConfig
from training.decisions import decision_samples
from training.learner import Learner
from training.selfplay import Samples
from training.value_net import Shape, ValueNet, net_from_flat

PRESETS = {"short": "short_backgammon", "long": "long_classic"}
EXPERTS = ("contact", "race")
COST_ROUNDS = 10
TURNS_A_GAME = 40  # fewer than either game has, so that there are positions enough
# Group -> its columns, without `my_` and `their_`.
GROUPS = {
    "short": {
        "race": ("pips", "outside_pips", "timing", "spread", "lead", "lead_spread"),
        "home and stacks": ("home_points", "deep", "stacked", "spares"),
        "anchors": ("anchors", "front_anchor"),
        "primes": ("prime", "prime_ahead"),
        "blots": ("blots_home", "blots_back", "blots_outside"),
        "hits": ("hit", "hit_two", "hit_pips"),
        "escape": ("rear_travel", "rear_escape", "back_held", "blockade_mean", "blockade_least"),
        "mobility": ("moves", "dead_dice"),
        "contact": ("rear", "in_contact", "back", "overlap"),
    },
    "long": {
        "race": ("pips", "outside_pips", "lead", "lead_spread"),
        "head, home and stacks": ("head", "home", "stacked", "doubled", "tallest", "points"),
        "escape": ("rear", "obstacles", "held", "most_held", "rear_travel", "rear_escape", "overlap"),
        "mobility": tuple(f"moves_{die}" for die in range(1, 7)),
        "blocks": ("run_ahead", "six_window", "trapped"),
    },
}


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One net to fit."""

    name: str
    hidden: tuple[int, ...]
    left_out: tuple[int, ...] = ()  # dense columns it does not see


@dataclass(frozen=True, kw_only=True)
class Fit:
    """How well a net does on plays it never saw."""

    losses: npt.NDArray[np.float64]  # [D], equity lost in each decision
    rms: float
    net: Net


def labelled(judge: Evaluator, decisions: int, seed: int) -> Samples:
    """Plays of decisions from the judge's own games, with their 1-ply values."""
    seeds = game_seeds(seed, 0, max(10, 2 * decisions // TURNS_A_GAME))
    records = play_games(judge.net, judge.rules, seeds, random_rate=0.04)
    rng = np.random.default_rng(seed)
    parts, plays = [], records.afterstates[rng.permutation(len(records.afterstates))[: 2 * decisions]]
    for some in tqdm(np.array_split(plays, max(1, decisions // 2000)), desc="labels", unit="part"):
        parts.append(decision_samples(judge, some, decisions=len(some) // 2, siblings=3, rng=rng, threads=2))
    firsts = np.cumsum([0, *(len(part[0]) for part in parts)])
    boards = np.concatenate([part[0] for part in parts])
    return Samples(
        boards=boards,
        features=dense_features(boards, f"{judge.rules.game.name}_v1"),
        experts=expert_index(boards, judge.net, judge.rules),
        targets=np.concatenate([part[2] for part in parts]),
        groups=np.concatenate([first + part[1] for first, part in zip(firsts, parts, strict=False)]),
        games=0,
        turns=0,
    )


def fit(trial: Trial, rules: Rules, train: Samples, test: Samples, passes: int) -> Fit:
    """Fit one net to the training samples, and try it on the others."""
    game = rules.game.name
    shape = Shape(
        features=f"{game}_v1",
        feature_count=train.features.shape[1],
        experts=EXPERTS,
        hidden=trial.hidden,
        outcomes=len(rules.outcomes),
    )
    learner = Learner(ValueNet(shape), rules.points)
    learner.value_net.initialize(np.random.default_rng(1))
    config = LearnConfig(rate=2e-3, final_rate=1e-5, average_decay=0.999, difference_weight=32.0)
    seen = _without(train, trial.left_out)
    for number in range(passes):
        learner.learn(seen, config, np.random.default_rng(number), (number / passes, (number + 1) / passes))
    learner.value_net.load_flat(learner.average)
    tried = _without(test, trial.left_out)
    probs = learner.value_net.outcome_probs(tried.boards, tried.features, tried.experts)
    given, wanted = probs @ rules.points, test.targets @ rules.points
    return Fit(
        losses=_losses(given, wanted, test.groups),
        rms=float(np.sqrt(np.mean((given - wanted) ** 2))),
        net=net_from_flat(learner.average, shape, rules, trial.name),
    )


def _without(samples: Samples, columns: tuple[int, ...]) -> Samples:
    features = samples.features.copy()
    features[:, list(columns)] = 0.0
    return Samples(**(vars(samples) | {"features": features}))


def _losses(given: npt.NDArray, wanted: npt.NDArray, groups: npt.NDArray) -> npt.NDArray[np.float64]:
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    order = np.lexsort((-given, groups))  # each decision's rows stay together, what the net likes best first
    return (np.maximum.reduceat(wanted, starts) - wanted[order[starts]]).astype(np.float64)


def us_a_board(fits: dict[str, Fit], rules: Rules, boards: Boards) -> dict[str, float]:
    """CPU microseconds to judge a board with each net: the best of several rounds that take turns."""
    judges = {name: Evaluator(fit.net, rules) for name, fit in fits.items()}
    best = dict.fromkeys(fits, float("inf"))
    for _ in range(COST_ROUNDS):
        for name, judge in judges.items():
            began = time.process_time()
            judge.outcome_probs(boards, threads=1)
            best[name] = min(best[name], (time.process_time() - began) / len(boards) * 1e6)
    return best


def group_trials(game: str, hidden: tuple[int, ...]) -> list[Trial]:
    """All columns, each group left out, and none of the columns."""
    names = FEATURE_SETS[f"{game}_v1"]
    trials = [Trial(name="all columns", hidden=hidden)]
    for group, stems in GROUPS[game].items():
        wanted = set(stems) | {f"{whose}_{stem}" for whose in ("my", "their") for stem in stems}
        columns = tuple(i for i, name in enumerate(names) if name in wanted)
        trials.append(Trial(name=f"without {group} ({len(columns)})", hidden=hidden, left_out=columns))
    return [*trials, Trial(name="counts alone", hidden=hidden, left_out=tuple(range(len(names))))]


def table(fits: dict[str, Fit], costs: dict[str, float]) -> str:
    """Rows of the fits as aligned text, differences to the first."""
    first = next(iter(fits.values()))
    lines = [f"{'':<36}{'loss mpt':>9}{'difference':>18}{'rms':>9}{'us a board':>12}"]
    for name, result in fits.items():
        difference = 1000 * (result.losses - first.losses)
        se = difference.std(ddof=1) / np.sqrt(len(difference))
        lines.append(
            f"{name:<36}{1000 * result.losses.mean():>9.2f}{difference.mean():>+10.2f} +- {se:4.2f}"
            f"{result.rms:>9.4f}{costs[name]:>12.2f}"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", choices=sorted(PRESETS), default="short")
    parser.add_argument("--shapes", help="sizes of hidden layers to compare, such as 128-32,512-32,512-64-32")
    parser.add_argument("--groups", action="store_true", help="leave out one group of columns at a time")
    parser.add_argument("--hidden", default="256-32", help="size of the nets of --groups")
    parser.add_argument("--decisions", type=int, default=40_000, help="decisions to train on; a fourth as many to try")
    parser.add_argument("--passes", type=int, default=8, help="passes over the training samples")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if args.decisions < 1000 or args.passes < 1 or not (args.groups or args.shapes):
        parser.error("--decisions must be at least 1000, --passes at least 1, and --groups or --shapes given")
    rules = get_rules(PRESETS[args.game])
    judge = load_evaluator(rules)
    train, test = labelled(judge, args.decisions, args.seed), labelled(judge, args.decisions // 4, args.seed + 1)
    print(f"{rules}, {judge.net_name}: {len(train.boards)} plays to fit, {len(test.boards)} to try, seed {args.seed}")
    trials = group_trials(args.game, _sizes(args.hidden)) if args.groups else []
    trials += [Trial(name=text, hidden=_sizes(text)) for text in (args.shapes or "").split(",") if text]
    fits = {}
    for trial in tqdm(trials, desc="nets", unit="net"):
        fits[trial.name] = fit(trial, rules, train, test, args.passes)
    print(table(fits, us_a_board(fits, rules, test.boards[:5000])))
    return 0


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("-"))


if __name__ == "__main__":
    sys.exit(main())
