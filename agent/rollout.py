"""Rollouts: games played out from a position to measure its equity, always with a standard error.

All trials of a chunk advance together, one turn at a time. A trial owns its dice (`SeedSequence(seed,
spawn_key=(trial,))`) and every candidate meets the same ones, so differences are paired and no number depends on the
count of workers. First rolls are stratified over the 36. Luck (`agent.luck`) of every roll, the first included, is
taken off each outcome's frequency; its expectation is zero, so the mean stays and the noise goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from agent.chances import probs_dict, rounded
from agent.levels import Level, as_level
from agent.ranking import Judge
from agent.suggest import as_judge, suggest
from agent.trials import Trials, play_trials
from engine.board import Boards, as_boards
from engine.dice import as_dice
from engine.errors import ConfigError, PositionError
from engine.notation import parse_play, play_text
from engine.outcome import equity_of
from engine.rules import Rules, get_rules

Floats = npt.NDArray[np.float64]

STRATA = 36
MAX_TRIALS = 10_000_000  # first rolls of all trials are drawn at once
_CHUNK_GAMES = 1296  # games in lockstep; a chunk that is interrupted counts for nothing


@dataclass(frozen=True, kw_only=True)
class RolloutConfig:
    """How candidates are rolled out."""

    trials: int = field(default=1296, metadata={"help": "Games a candidate; multiples of 36 cover first rolls evenly."})
    truncate: int | None = field(
        default=None, metadata={"help": "Turns after the candidate before the net judges; none: play to the end."}
    )
    level: Level = field(default=Level(), metadata={"help": "Depth at which the trials are played."})
    variance_reduction: bool = field(default=True, metadata={"help": "Take the luck of the rolls off the results."})
    seed: int = field(default=1, metadata={"help": "Seed of all dice."})
    stop_at_joint_se: float | None = field(
        default=None,
        metadata={"help": "Stop once every other candidate is behind by this many standard errors of the difference."},
    )
    stop_at_se: float | None = field(default=None, metadata={"help": "Stop once every standard error is this small."})
    min_trials: int = field(default=324, metadata={"help": "Trials before any stop rule applies."})

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", as_level(self.level))
        for name, least in (("trials", 1), ("min_trials", 1), ("truncate", 1), ("seed", 0)):
            value = getattr(self, name)
            if value is None and name == "truncate":
                continue
            if not isinstance(value, (int, np.integer)):
                raise ConfigError(f"{name} must be a whole number, got {value!r}")
            if value < least:
                raise ConfigError(f"{name} must be {least} or more, got {value}")
        if self.trials > MAX_TRIALS:
            raise ConfigError(f"trials must be at most {MAX_TRIALS:,}, got {self.trials}")
        for name in ("stop_at_joint_se", "stop_at_se"):
            limit = getattr(self, name)
            if limit is not None and not limit > 0.0:
                raise ConfigError(f"{name} must be above 0, got {limit}")


@dataclass(frozen=True, kw_only=True, eq=False)
class Rolled:
    """What a rollout measured of one candidate, seen by the player who made the play.

    Attributes:
        index: row of the candidate among those given.
        afterstate: int8 [2, 26].
        equity, se: mean points and its standard error.
        loss, loss_se: points behind the best candidate, and the standard error of that paired difference.
        probs, probs_se: float64 [K] over `rules.outcomes`; luck-adjusted, so a rare class can fall below 0 by noise.
    """

    index: int
    afterstate: Boards
    equity: float
    se: float
    loss: float
    loss_se: float
    probs: Floats
    probs_se: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class RolloutResult:
    """Candidates best first; `trials` games each, fewer than asked for when stopped (`stopped` says by what)."""

    candidates: tuple[Rolled, ...]
    trials: int
    stopped: str
    rules: Rules
    net_name: str
    config: RolloutConfig

    def to_dict(self, plays: Sequence[str] = ()) -> dict[str, Any]:
        """The result as JSON values (`agent.schema.ROLLOUT`); `plays` are the candidates' texts in the order given."""
        return {
            "rules": str(self.rules),
            "net": self.net_name,
            "level": str(self.config.level),
            "trials": self.trials,
            "truncate": self.config.truncate,
            "variance_reduction": self.config.variance_reduction,
            "seed": self.config.seed,
            "stopped": self.stopped,
            "candidates": [_candidate_dict(c, self.rules, plays[c.index] if plays else None) for c in self.candidates],
        }


Watcher = Callable[[RolloutResult], object]


def rollout(
    afterstates: Boards,
    rules: Rules,
    judge: Judge,
    config: RolloutConfig,
    *,
    mover_is_first: bool | None = None,
    watch: Watcher | None = None,
    show_progress: bool = False,
    threads: int | None = None,
) -> RolloutResult:
    """Rolls out afterstates of one position against each other.

    Args:
        afterstates: int8 [C, 2, 26], row 0 the player who just moved.
        rules: what ends and scores the games. Options that change outcome classes or the end of a game hold exactly.
        judge: picks the plays; bound to `rules`, or to them without those options (`agent.rollout.judged_rules`).
        config: trials, truncation, depth, stop rule and seed.
        mover_is_first: whether that player began the game; needed for `last_turn=second_player` only.
        watch: called with the result so far after each chunk; a return of False stops.
        show_progress: whether a bar with the time left goes to stderr.
        threads: most CPU threads to use; None: all cores. No figure depends on it.
    Returns:
        The result; Ctrl-C gives the chunks finished so far.
    Raises:
        ConfigError: truncation under rules that the net cannot judge, or `mover_is_first` missing.
        PositionError: no candidate.
    """
    _check(afterstates, rules, judge, config, mover_is_first)
    trials = Trials(config=config, rules=rules, judge=judge, mover_is_first=bool(mover_is_first), threads=threads)
    done, stopped = _played(trials, afterstates, watch, show_progress)
    return _result(done, afterstates, stopped, trials)


def _played(
    trials: Trials, afterstates: Boards, watch: Watcher | None, show_progress: bool
) -> tuple[list[Floats], str]:
    """Results float64 [C, n, K] of each chunk, and what ended the rollout."""
    config, done, stopped = trials.config, [], "trials"
    with _progress_bar(config.trials, show_progress) as advance:
        try:
            for chunk in _chunks(config.trials, len(afterstates)):
                done.append(play_trials(trials, afterstates, chunk))
                advance(len(chunk))
                result = _result(done, afterstates, stopped, trials)
                if watch is not None and watch(result) is False:
                    stopped = "watcher"
                elif result.trials < config.trials and _is_decided(result, config):
                    stopped = "rule"
                if stopped != "trials":
                    break
        except KeyboardInterrupt:
            if not done:
                raise
            stopped = "interrupt"
    return done, stopped


@dataclass(frozen=True, kw_only=True, eq=False)
class RolledPlays:
    """A rollout of plays of one roll, with their texts in the order in which `result` counts candidates."""

    board: Boards
    dice: tuple[int, int]
    play_texts: tuple[str, ...]
    result: RolloutResult

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON values (`agent.schema.ROLLOUT`)."""
        return {"board": self.board.tolist(), "dice": list(self.dice), **self.result.to_dict(self.play_texts)}


def rollout_plays(
    board: Any,
    dice: Any,
    rules: str | Rules,
    net: Any = None,
    config: RolloutConfig | None = None,
    *,
    top: int = 3,
    plays: Sequence[str] = (),
    **options: Any,
) -> RolledPlays:
    """Rolls out plays of one roll: those named, or the best ones at 0-ply.

    Args:
        board: [2, 26] whole numbers, row 0 the player on roll.
        dice: the roll.
        rules: the exact variant.
        net: a net file, None for the shipped net, or an evaluator already loaded.
        config: trials, truncation, depth, stop rule and seed.
        top: how many plays, where none are named.
        plays: plays as text, such as `24/18 13/9`.
        options: `mover_is_first`, `watch`, `show_progress`, `threads` of `rollout`.
    Raises:
        NardyError: bad input, each kind with its own error.
    """
    exact = get_rules(rules)
    judge = as_judge(judged_rules(exact), net)
    if plays:
        roll = as_dice(dice)
        start = as_boards(board, exact)
        afterstates = np.stack([parse_play(play, start, roll, exact) for play in plays])
        texts = [play_text(start, roll, afterstate, exact) for afterstate in afterstates]
    else:
        best = suggest(board, dice, judge.rules, judge, top=top)
        start, roll = best.board, best.dice
        afterstates, texts = np.stack([s.afterstate for s in best]), [s.play_text for s in best]
    result = rollout(afterstates, exact, judge, config or RolloutConfig(), **options)
    return RolledPlays(board=start, dice=roll, play_texts=tuple(texts), result=result)


def rollout_position(board: Boards, rules: Rules, judge: Judge, config: RolloutConfig, **options: Any) -> RolloutResult:
    """Rolls out one position before the roll; the result is seen by the player about to roll.

    Args:
        board: int8 [2, 26], row 0 the player about to roll.
        rules, judge, config: as for `rollout`.
        options: `mover_is_first` (that player began the game), `watch`, `show_progress`, `threads`.
    Raises:
        ConfigError, PositionError: as for `rollout`.
    """
    if options.get("mover_is_first") is not None:
        options["mover_is_first"] = not options["mover_is_first"]
    result = rollout(board[None, ::-1], rules, judge, config, **options)
    seen = result.candidates[0]
    half = rules.game.levels
    turned = Rolled(
        index=0,
        afterstate=board,
        equity=-seen.equity,
        se=seen.se,
        loss=0.0,
        loss_se=0.0,
        probs=np.roll(seen.probs, half),
        probs_se=np.roll(seen.probs_se, half),
    )
    return RolloutResult(
        candidates=(turned,),
        trials=result.trials,
        stopped=result.stopped,
        rules=rules,
        net_name=result.net_name,
        config=config,
    )


def _check(afterstates: Boards, rules: Rules, judge: Judge, config: RolloutConfig, mover_is_first: bool | None) -> None:
    if judge.rules not in (rules, judged_rules(rules)):
        raise ConfigError(f"the evaluator is bound to {judge.rules}, the rollout is about {rules}")
    if judge.rules != rules and config.truncate is not None:
        raise ConfigError(f"a truncated rollout ends with the net, which cannot judge {rules}; give no truncation")
    if rules.last_turn != "none" and mover_is_first is None:
        raise ConfigError(f"under {rules} a rollout must be told whether the mover began the game (mover_is_first)")
    if len(afterstates) == 0:
        raise PositionError("a rollout needs at least one candidate, got none")


def judged_rules(rules: Rules) -> Rules:
    """The rules without the options that change outcome classes or the end of a game: what a net can be bound to."""
    return replace(rules, koks_zone="home", koks_needs_none_off=True, last_turn="none")


def _chunks(trials: int, candidates: int) -> Iterator[range]:
    size = max(1, _CHUNK_GAMES // (STRATA * candidates)) * STRATA
    for start in range(0, trials, size):
        yield range(start, min(start + size, trials))


def _result(done: Sequence[Floats], afterstates: Boards, stopped: str, trials: Trials) -> RolloutResult:
    probs = np.concatenate(done, axis=1)  # [C, n, K]
    points = equity_of(probs, trials.rules)  # [C, n]
    mean = points.mean(axis=1)
    order = np.argsort(-mean, kind="stable")
    behind = points[order[0]] - points  # [C, n], paired: every candidate met the same dice
    candidates = [
        Rolled(
            index=int(row),
            afterstate=afterstates[row],
            equity=float(mean[row]),
            se=float(_se(points[row])),
            loss=float(behind[row].mean()),
            loss_se=float(_se(behind[row])),
            probs=probs[row].mean(axis=0),
            probs_se=_se(probs[row]),
        )
        for row in order
    ]
    return RolloutResult(
        candidates=tuple(candidates),
        trials=points.shape[1],
        stopped=stopped,
        rules=trials.rules,
        net_name=trials.judge.net_name,
        config=trials.config,
    )


def _se(samples: Floats) -> Floats:
    """Standard error of the mean along the first axis; not a number for a single trial."""
    count = len(samples)
    if count < 2:
        return np.full(samples.shape[1:], np.nan)
    return np.asarray(samples.std(axis=0, ddof=1) / np.sqrt(count))


def _is_decided(result: RolloutResult, config: RolloutConfig) -> bool:
    if result.trials < config.min_trials:
        return False
    rivals = result.candidates[1:]
    if config.stop_at_se is not None and all(c.se <= config.stop_at_se for c in result.candidates):
        return True
    limit = config.stop_at_joint_se
    return limit is not None and len(rivals) > 0 and all(c.loss >= limit * c.loss_se for c in rivals)


def _candidate_dict(rolled: Rolled, rules: Rules, play: str | None) -> dict[str, Any]:
    figures = {name: rounded(getattr(rolled, name)) for name in ("equity", "se", "loss", "loss_se")}
    errors = {name: rounded(se) for name, se in zip(rules.outcomes, rolled.probs_se.tolist(), strict=True)}
    board = {"play": play, "afterstate": rolled.afterstate.tolist()}
    return board | figures | probs_dict(rolled.probs, rules) | {"probs_se": errors}


@contextmanager
def _progress_bar(trials: int, is_shown: bool) -> Iterator[Callable[[int], object]]:
    if not is_shown:
        yield lambda done: None
        return
    from tqdm import tqdm

    with tqdm(total=trials, unit="trial", desc="rollout") as bar:
        yield bar.update
