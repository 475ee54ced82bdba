"""Comparing a rerun with the published curve."""

import pytest

from engine.errors import ConfigError
from engine.rules import get_rules
from training.config import preset_config
from training.loop import plan_rounds
from training.reproduce import compare_curves, published_curve


def curve(ppg, error):
    return [
        {"kind": "round", "games": 100, "loss": 1.0},
        {"kind": "match", "games": 100, "opponent": "heuristic", "ppg": ppg, "se": 0.03},
        {"kind": "referee", "games": 100, "class": "all", "error_rate_mpt": error, "se": 0.4},
        {"kind": "match", "games": 200, "opponent": "heuristic", "ppg": 9.0, "se": 0.03},
    ]


def test_deviation_is_counted_in_joint_standard_errors():
    points = compare_curves(curve(0.5, 8.0), curve(0.62, 9.0)[:3])
    assert [(p.games, p.measure) for p in points] == [(100, "ppg against heuristic"), (100, "mpt all")]
    assert points[0].joint_se == pytest.approx(0.03 * 2**0.5)
    assert points[0].deviation == pytest.approx(0.12 / (0.03 * 2**0.5))
    assert points[1].deviation == pytest.approx(1.0 / (0.4 * 2**0.5))
    assert "published +0.500" in str(points[0])


def test_equal_curves_agree_and_exact_measures_that_differ_do_not():
    assert all(point.deviation == 0 for point in compare_curves(curve(0.5, 8.0), curve(0.5, 8.0)))
    exact = [{"kind": "match", "games": 1, "opponent": "net", "ppg": ppg, "se": 0.0} for ppg in (0.0, 0.1)]
    assert compare_curves(exact[:1], exact[1:])[0].deviation == float("inf")


def test_rules_without_a_published_curve_are_named():
    with pytest.raises(ConfigError, match=r"no published curve for short\(scoring=1/1/1/5\); there are"):
        published_curve(get_rules("short(scoring=1/1/1/5)"))


@pytest.mark.parametrize(
    ("preset", "measures"), [("short_backgammon", {"match", "referee"}), ("long_classic", {"match"})]
)
def test_the_published_curves_have_a_point_for_every_check_of_the_laptop_preset(preset, measures):
    config = preset_config("laptop", get_rules(preset))
    published = published_curve(get_rules(preset))
    every = config.check.every_games
    due = [r for r in plan_rounds(config) if (r.first_game + r.games) // every > r.first_game // every]
    checks = {metric["games"] for metric in published if metric["kind"] != "round"}
    assert checks == {r.first_game + r.games for r in due} | {config.games}
    assert {metric["kind"] for metric in published} == {"round"} | measures
    assert all(point.deviation == 0 for point in compare_curves(published, published))
