"""Training again what was published: the laptop recipe, and whether its curve agrees with the one in the package."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from agent.net import NETS_FOLDER
from engine.errors import ConfigError
from engine.rules import Rules
from training.curves import Metric

CURVES_FOLDER = NETS_FOLDER / "curves"
ALLOWED_SE = 3.0


@dataclass(frozen=True, kw_only=True)
class CurvePoint:
    """One measurement that both curves have: the same measure after the same number of games."""

    games: int
    measure: str
    published: float
    given: float
    joint_se: float

    @property
    def deviation(self) -> float:
        """How far the two are apart, in joint standard errors."""
        difference = abs(self.given - self.published)
        return difference / self.joint_se if self.joint_se else (0.0 if difference == 0 else math.inf)

    def __str__(self) -> str:
        return (
            f"{self.games:>9} games, {self.measure}: {self.given:+.3f}, published {self.published:+.3f}, "
            f"{self.deviation:.1f} joint SE"
        )


def published_curve(rules: Rules) -> list[Metric]:
    """The metrics of the published laptop run of a game.

    Raises:
        ConfigError: none is published for these rules.
    """
    path = CURVES_FOLDER / f"{rules.preset}.jsonl"
    if not path.is_file() or str(rules) != rules.preset:
        known = ", ".join(sorted(p.stem for p in CURVES_FOLDER.glob("*.jsonl"))) or "none yet"
        raise ConfigError(f"no published curve for {rules}; there are: {known}")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def compare_curves(published: Sequence[Metric], given: Sequence[Metric]) -> list[CurvePoint]:
    """The points that two curves share, in order of games.

    Args:
        published, given: metrics as training writes them; matches and referee classes are compared.
    """
    ours = {_key(metric): metric for metric in given if _key(metric)}
    points = []
    for metric in published:
        key = _key(metric)
        if key and key in ours:
            before, now = (_value(m) for m in (metric, ours[key]))
            joint = math.hypot(metric["se"], ours[key]["se"])
            points.append(
                CurvePoint(games=metric["games"], measure=key[1], published=before, given=now, joint_se=joint)
            )
    return sorted(points, key=lambda point: point.games)


def _key(metric: Metric) -> tuple[int, str] | None:
    if metric["kind"] == "match":
        return metric["games"], f"ppg against {metric['opponent']}"
    if metric["kind"] == "referee":
        return metric["games"], f"mpt {metric['class']}"
    return None


def _value(metric: Metric) -> float:
    return float(metric["ppg"] if metric["kind"] == "match" else metric["error_rate_mpt"])
