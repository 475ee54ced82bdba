"""Training settings."""

import json

import pytest

from engine.errors import ConfigError
from engine.rules import RULES, get_rules
from training.config import (
    PRESETS,
    LearnConfig,
    NetConfig,
    StageConfig,
    TargetConfig,
    TrainConfig,
    config_from_json,
    config_json,
    preset_config,
)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("rules", RULES)
def test_every_preset_comes_back_from_json(preset, rules):
    config = preset_config(preset, get_rules(rules), seed=5)
    assert config_from_json(config_json(config)) == config
    assert config.rules == rules
    assert config.seed == 5


def test_budget_is_shared_by_the_stages_and_kept_exactly():
    stages = (StageConfig(games=300), StageConfig(games=100), StageConfig(games=100))
    config = TrainConfig(rules="short", stages=stages).with_games(1001)
    assert config.games == 1001
    assert [stage.games for stage in config.stages] == [601, 200, 200]


def test_another_budget_leaves_the_random_games_alone():
    config = preset_config("laptop", get_rules("short"), games=10_000)
    assert [(stage.name, stage.games) for stage in config.stages] == [("random", 2000), ("td", 8000)]
    assert [stage.name for stage in config.from_net().stages] == ["td"]


def test_look_ahead_trains_the_net_of_strong_from_one_stage():
    rules = get_rules("short")
    strong, look_ahead = (preset_config(name, rules) for name in ("strong", "look_ahead"))
    assert [stage.name for stage in strong.stages] == ["random", "td", "fine"]
    assert [stage.name for stage in look_ahead.stages] == ["look_ahead"]
    assert look_ahead.net == strong.net


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TargetConfig(lam=1.5), "lam must be a number from 0 to 1, got 1.5"),
        (lambda: TargetConfig(replay=0), "replay must be 1 to 100, got 0"),
        (lambda: LearnConfig(rate=0.0), "rate must be above 0 and at most 1, got 0.0"),
        (lambda: LearnConfig(rate=1e-3, final_rate=1e-2), "final_rate must be from 0 to rate"),
        (lambda: LearnConfig(batch=0), "batch must be 1 to 1000000, got 0"),
        (lambda: NetConfig(hidden=()), "hidden must be one or more sizes"),
        (lambda: TrainConfig(rules="short", stages=()), "stages must be one stage or more"),
        (lambda: TrainConfig(rules="short", seed=-1), "seed must be 0 to 2"),
        (lambda: TrainConfig(rules="short").with_games(0), "games must be 1 or more, got 0"),
        (lambda: preset_config("laptop", get_rules("short"), games=9), "games must be 2001 or more, got 9"),
        (
            lambda: preset_config("huge", get_rules("short")),
            "unknown preset 'huge'; allowed: smoke, laptop, strong, look_ahead, adjusted",
        ),
        (lambda: config_from_json("{"), "a config must be JSON"),
        (lambda: config_from_json("[" * 100_000), "a config must be JSON"),
        (lambda: config_from_json('{"rules": 3}'), "config.rules must be of type str, got 3"),
        (lambda: config_from_json("{}"), "config: .*rules"),
        (lambda: config_from_json('{"rules": "short", "speed": 1}'), "unknown field config.speed; allowed: rules"),
        (lambda: config_from_json('{"rules": "short", "seed": true}'), "config.seed must be of type int"),
        (
            lambda: config_from_json('{"rules": "short", "check": {"checkpoint_s": 1' + 400 * "0" + "}}"),
            "config.check.checkpoint_s is too large a number",
        ),
        (lambda: config_from_json('{"rules": "short", "stages": 1}'), "config.stages must be a list, got 1"),
    ],
)
def test_says_what_was_given_and_what_is_allowed(make, message):
    with pytest.raises(ConfigError, match=message):
        make()


def test_every_field_that_holds_a_number_or_text_has_help():
    for kind in (NetConfig, LearnConfig, TargetConfig):
        assert all(field.metadata.get("help") for field in kind.__dataclass_fields__.values())


def test_json_holds_plain_values():
    assert json.loads(config_json(TrainConfig(rules="long_classic")))["net"]["hidden"] == [256, 32]
