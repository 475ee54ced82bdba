"""Training settings: frozen dataclasses, one per part of a run, nested in one `TrainConfig`; presets are budgets.

An experiment is a preset here, not a new flag. A config goes to JSON and back unchanged; the checkpoint stores it.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import Any, get_args, get_origin, get_type_hints

from engine.errors import ConfigError
from engine.rules import Rules, get_rules

RANDOM_STAGE = "random"


def _require(is_allowed: bool, name: str, allowed: str, given: object) -> None:
    if not is_allowed:
        raise ConfigError(f"{name} must be {allowed}, got {given!r}")


@dataclass(frozen=True, kw_only=True)
class NetConfig:
    """Inputs and size of the net."""

    features: str = field(default="counts_v1", metadata={"help": "Name of the feature set (agent/features.py)."})
    experts: tuple[str, ...] = field(
        default=("all",), metadata={"help": "Experts by phase: all, or contact and race, and so on."}
    )
    hidden: tuple[int, ...] = field(default=(256, 32), metadata={"help": "Units of each hidden layer."})

    def __post_init__(self) -> None:
        _require(
            bool(self.hidden) and all(1 <= units <= 4096 for units in self.hidden),
            "hidden",
            "one or more sizes from 1 to 4096",
            self.hidden,
        )
        _require(bool(self.experts), "experts", "one name or more", self.experts)


@dataclass(frozen=True, kw_only=True)
class PlayConfig:
    """How the games of a round are played."""

    games_per_round: int = field(default=2000, metadata={"help": "Self-play games between two updates."})
    random_rate: float = field(default=0.0, metadata={"help": "Share of turns played at random, from 0 to 1."})
    use_average: bool = field(default=False, metadata={"help": "Play with the averaged weights, not the latest."})

    def __post_init__(self) -> None:
        _require(1 <= self.games_per_round <= 1_000_000, "games_per_round", "1 to 1000000", self.games_per_round)
        _require(0.0 <= self.random_rate <= 1.0, "random_rate", "a number from 0 to 1", self.random_rate)


@dataclass(frozen=True, kw_only=True)
class TargetConfig:
    """What the net is fitted to."""

    kind: str = field(
        default="td",
        metadata={
            "help": "td = lambda-returns; outcome = how the game ended, whoever played it (for random play); "
            "look_ahead = values after one roll of look-ahead; adjusted = lambda-returns less the luck of the rolls."
        },
    )
    lam: float = field(default=0.7, metadata={"help": "Trace decay of TD(lambda), from 0 (one step) to 1 (outcome)."})

    decisions: int = field(default=8000, metadata={"help": "Decisions a round that look_ahead draws from its games."})
    siblings: int = field(default=3, metadata={"help": "Plays of each decision that look_ahead values."})
    replay: int = field(
        default=1,
        metadata={"help": "Rounds in which each sample is learnt from: more where samples cost more than updates."},
    )

    def __post_init__(self) -> None:
        kinds = ("td", "outcome", "look_ahead", "adjusted")
        _require(self.kind in kinds, "kind of targets", " or ".join(kinds), self.kind)
        _require(1 <= self.decisions <= 1_000_000, "decisions", "1 to 1000000", self.decisions)
        _require(1 <= self.siblings <= 100, "siblings", "1 to 100", self.siblings)
        _require(1 <= self.replay <= 100, "replay", "1 to 100", self.replay)
        _require(0.0 <= self.lam <= 1.0, "lam", "a number from 0 to 1", self.lam)


@dataclass(frozen=True, kw_only=True)
class LearnConfig:
    """The optimizer."""

    rate: float = field(default=4e-3, metadata={"help": "Adam's step size at the start of the stage."})
    final_rate: float = field(default=1e-5, metadata={"help": "Step size at its end; cosine in between."})
    batch: int = field(default=512, metadata={"help": "Positions of each rank in one update."})
    average_decay: float = field(default=0.999, metadata={"help": "Decay of the averaged weights per update; 0 = off."})

    difference_weight: float = field(
        default=0.0,
        metadata={"help": "Weight of the squared error of equity differences between plays of one decision."},
    )

    def __post_init__(self) -> None:
        _require(0.0 <= self.difference_weight <= 1000.0, "difference_weight", "from 0 to 1000", self.difference_weight)
        _require(0.0 < self.rate <= 1.0, "rate", "above 0 and at most 1", self.rate)
        _require(0.0 <= self.final_rate <= self.rate, "final_rate", f"from 0 to rate ({self.rate})", self.final_rate)
        _require(1 <= self.batch <= 1_000_000, "batch", "1 to 1000000", self.batch)
        _require(0.0 <= self.average_decay < 1.0, "average_decay", "from 0 to below 1", self.average_decay)


@dataclass(frozen=True, kw_only=True)
class StageConfig:
    """A part of a run with its own games, targets and step sizes."""

    name: str = field(default="td", metadata={"help": "Name in the metrics."})
    games: int = field(default=400_000, metadata={"help": "Self-play games of the stage."})
    play: PlayConfig = field(default_factory=PlayConfig)
    targets: TargetConfig = field(default_factory=TargetConfig)
    learn: LearnConfig = field(default_factory=LearnConfig)

    def __post_init__(self) -> None:
        _require(1 <= self.games <= 10**12, "games", "1 to 10**12", self.games)


@dataclass(frozen=True, kw_only=True)
class CheckConfig:
    """What is measured and saved while training."""

    every_games: int = field(default=100_000, metadata={"help": "Games between two strength checks."})
    match_pairs: int = field(default=500, metadata={"help": "Pairs of games against each fixed opponent; 0 = none."})
    opponents: tuple[str, ...] = field(default=("heuristic",), metadata={"help": "Fixed opponents of the checks."})
    checkpoint_s: float = field(default=120.0, metadata={"help": "Seconds between two checkpoints."})

    def __post_init__(self) -> None:
        _require(self.every_games >= 1, "every_games", "1 or more", self.every_games)
        _require(self.match_pairs >= 0, "match_pairs", "0 or more", self.match_pairs)
        _require(self.checkpoint_s >= 0, "checkpoint_s", "0 or more seconds", self.checkpoint_s)


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """Everything that decides what a run computes, except the number of threads."""

    rules: str = field(metadata={"help": "Rules text, such as short or long_classic."})
    preset: str = field(default="custom", metadata={"help": "Preset that this config started from."})
    seed: int = field(default=1, metadata={"help": "Seed of weights, dice and order."})
    net: NetConfig = field(default_factory=NetConfig)
    stages: tuple[StageConfig, ...] = field(default_factory=lambda: (StageConfig(),))
    check: CheckConfig = field(default_factory=CheckConfig)

    def __post_init__(self) -> None:
        get_rules(self.rules)
        _require(0 <= self.seed < 2**63, "seed", "0 to 2**63 - 1", self.seed)
        _require(bool(self.stages), "stages", "one stage or more", self.stages)

    @property
    def games(self) -> int:
        """Self-play games of all stages."""
        return sum(stage.games for stage in self.stages)

    def from_net(self) -> TrainConfig:
        """The same run for weights that are trained already: without the stage of random play."""
        return replace(self, stages=tuple(stage for stage in self.stages if stage.name != RANDOM_STAGE))

    def with_games(self, games: int) -> TrainConfig:
        """The same run with another budget, shared by the stages as before; random play keeps its games."""
        shared = [stage.games for stage in self.stages if stage.name != RANDOM_STAGE]
        left = games - (self.games - sum(shared))
        allowed = f"{self.games - sum(shared) + len(shared)} or more"
        _require(left >= len(shared), "games", allowed, games)
        bounds = [round(left * part / sum(shared)) for part in accumulate(shared, initial=0)]
        shares = iter([max(1, high - low) for low, high in pairwise(bounds)])
        stages = (s if s.name == RANDOM_STAGE else replace(s, games=next(shares)) for s in self.stages)
        return replace(self, stages=tuple(stages))


def config_json(config: TrainConfig) -> str:
    """A config as one JSON text."""
    return json.dumps(dataclasses.asdict(config), sort_keys=True)


def config_from_json(text: str) -> TrainConfig:
    """The config that `config_json` wrote.

    Raises:
        ConfigError: not such a text: a missing or unknown field, or a value outside its range.
    """
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"a config must be JSON: {str(error)[:120]}") from None
    built: TrainConfig = _build(TrainConfig, values, "config")
    return built


def _build(kind: Any, value: Any, path: str) -> Any:
    if dataclasses.is_dataclass(kind):
        if not isinstance(value, dict):
            raise ConfigError(f"{path} must be an object, got {value!r}")
        hints = get_type_hints(kind)
        known = [f.name for f in fields(kind)]
        for name in value:
            if name not in known:
                raise ConfigError(f"unknown field {path}.{name}; allowed: {', '.join(known)}")
        parts = {name: _build(hints[name], part, f"{path}.{name}") for name, part in value.items()}
        try:
            return kind(**parts)  # type: ignore[operator]
        except TypeError as error:
            raise ConfigError(f"{path}: {error}") from None
    if get_origin(kind) is tuple:
        if not isinstance(value, (list, tuple)):
            raise ConfigError(f"{path} must be a list, got {value!r}")
        return tuple(_build(get_args(kind)[0], part, f"{path}[{i}]") for i, part in enumerate(value))
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is float and is_number:
        try:
            return float(value)
        except OverflowError:
            raise ConfigError(f"{path} is too large a number") from None
    if not isinstance(value, kind) or (kind is int and not is_number):
        raise ConfigError(f"{path} must be of type {kind.__name__}, got {value!r}")
    return value


def _random_stage(games: int, **learn: Any) -> StageConfig:
    """Random play before the first greedy game: between untrained nets a game may take thousands of turns."""
    return StageConfig(
        name=RANDOM_STAGE,
        games=games,
        play=PlayConfig(games_per_round=games // 2, random_rate=1.0),
        targets=TargetConfig(kind="outcome"),
        learn=LearnConfig(final_rate=2e-3, **learn),
    )


def _smoke(rules: Rules) -> TrainConfig:
    return TrainConfig(
        rules=str(rules),
        net=NetConfig(hidden=(16, 8)),
        stages=(
            _random_stage(200, batch=1024),
            StageConfig(games=400, play=PlayConfig(games_per_round=100), learn=LearnConfig(batch=1024)),
        ),
        check=CheckConfig(every_games=200, match_pairs=20, checkpoint_s=0.0),
    )


def _laptop(rules: Rules) -> TrainConfig:
    games = 400_000 if rules.can_hit else 200_000
    return TrainConfig(
        rules=str(rules),
        stages=(_random_stage(2000), StageConfig(games=games)),
        check=CheckConfig(every_games=games // 8),
    )


def _strong_net(rules: Rules) -> NetConfig:
    features, hidden = ("short_v1", (512, 64)) if rules.can_hit else ("long_v1", (512, 32))
    return NetConfig(features=features, experts=("contact", "race"), hidden=hidden)


def _strong(rules: Rules) -> TrainConfig:
    """TD(lambda) from nothing, then small steps played by the averaged weights."""
    games = 4_000_000 if rules.can_hit else 2_000_000
    play = PlayConfig(random_rate=0.02)  # off the path of best play too, where users' positions lie
    td = StageConfig(games=games, play=play, learn=LearnConfig(rate=2e-3, final_rate=2e-4))
    fine = StageConfig(
        name="fine",
        games=games // 5,
        play=replace(play, use_average=True),
        learn=LearnConfig(rate=3e-4, final_rate=1e-5, average_decay=0.9995),
    )
    return TrainConfig(rules=str(rules), net=_strong_net(rules), stages=(_random_stage(2000), td, fine))


def _look_ahead(rules: Rules) -> TrainConfig:
    """What follows TD(lambda), from a trained net: values after one roll of look-ahead, each learnt from 8 times."""
    stage = StageConfig(
        name="look_ahead",
        games=60_000,
        play=PlayConfig(games_per_round=800, random_rate=0.08, use_average=True),
        targets=TargetConfig(kind="look_ahead", decisions=32_000, siblings=3, replay=8),
        learn=LearnConfig(rate=3e-4, final_rate=1e-5, average_decay=0.9995, difference_weight=32.0),
    )
    return TrainConfig(
        rules=str(rules), net=_strong_net(rules), stages=(stage,), check=CheckConfig(every_games=4000, match_pairs=1000)
    )


def _adjusted(rules: Rules) -> TrainConfig:
    """What follows TD(lambda) or look_ahead: whole games, their luck taken off, each learnt from 8 times."""
    stage = StageConfig(
        name="adjusted",
        games=40_000 if rules.can_hit else 20_000,
        play=PlayConfig(games_per_round=400 if rules.can_hit else 200, random_rate=0.04, use_average=True),
        targets=TargetConfig(kind="adjusted", lam=0.9, replay=8),
        learn=LearnConfig(rate=5e-4, final_rate=1e-5, average_decay=0.9995),
    )
    return TrainConfig(
        rules=str(rules), net=_strong_net(rules), stages=(stage,), check=CheckConfig(every_games=4000, match_pairs=1000)
    )


PRESETS: MappingProxyType[str, Callable[[Rules], TrainConfig]] = MappingProxyType(
    {"smoke": _smoke, "laptop": _laptop, "strong": _strong, "look_ahead": _look_ahead, "adjusted": _adjusted}
)


def preset_config(preset: str, rules: Rules, *, seed: int = 1, games: int | None = None) -> TrainConfig:
    """The config of a preset.

    Args:
        preset: a name in `PRESETS`.
        rules: the game to train.
        seed: of weights, dice and order.
        games: budget instead of the preset's own.
    Raises:
        ConfigError: unknown preset, or a seed or budget out of range.
    """
    if preset not in PRESETS:
        raise ConfigError(f"unknown preset {preset!r}; allowed: {', '.join(PRESETS)}")
    config = replace(PRESETS[preset](rules), preset=preset, seed=seed)
    return config if games is None else config.with_games(games)
