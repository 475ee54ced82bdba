"""The metrics of a run as JSON lines, and their plot."""

from __future__ import annotations

import json
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

from engine.errors import ConfigError
from training.checkpoint import write_atomically

METRICS_FILE = "metrics.jsonl"
CURVE_FILE = "curve.png"

Metric = dict[str, Any]


def append_metrics(folder: Path, metrics: Iterable[Metric]) -> None:
    """Add lines to the metrics of a run folder."""
    with open(folder / METRICS_FILE, "a", encoding="utf-8") as file:
        file.writelines(json.dumps(metric) + "\n" for metric in metrics)


def read_metrics(folder: Path) -> list[Metric]:
    """All whole lines of the metrics of a run folder, in order; a line cut off by a kill is left out.

    Raises:
        ConfigError: a whole line is damaged.
    """
    path = folder / METRICS_FILE
    if not path.is_file():
        return []
    lines = path.read_bytes().split(b"\n")
    return [_metric(line, path, number) for number, line in enumerate(lines[:-1], start=1) if line]


def _metric(line: bytes, path: Path, number: int) -> Metric:
    try:
        metric = json.loads(line)
    except (ValueError, RecursionError):
        metric = None
    if not isinstance(metric, dict) or not isinstance(metric.get("round"), int):
        raise ConfigError(f"line {number} of {path} is no metric, which is a JSON object with its round")
    return metric


def drop_metrics_after(folder: Path, rounds: int) -> None:
    """Forget the lines of rounds past a checkpoint, which a resumed run writes again."""
    kept = [metric for metric in read_metrics(folder) if metric["round"] <= rounds]
    text = "".join(json.dumps(metric) + "\n" for metric in kept)
    write_atomically(folder / METRICS_FILE, text.encode())


def plot_curve(folder: Path) -> Path | None:
    """Draw loss, error rate and points per game against games played.

    Returns:
        The picture's path, or None when matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    metrics = read_metrics(folder)
    figure = Figure(figsize=(7, 9), layout="constrained")
    loss, error, points = figure.subplots(3, 1, sharex=True)
    _draw(loss, [(m["games"], m["loss"], None) for m in metrics if m["kind"] == "round"], "cross-entropy, nats")
    for name in sorted({m["class"] for m in metrics if m["kind"] == "referee"}):
        marks = [(m["games"], m["error_rate_mpt"], m["se"]) for m in metrics if m.get("class") == name]
        _draw(error, marks, "error rate, mpt", name)
    error.set_yscale("log")
    for name in sorted({m["opponent"] for m in metrics if m["kind"] == "match"}):
        marks = [(m["games"], m["ppg"], m["se"]) for m in metrics if m.get("opponent") == name]
        _draw(points, marks, "points per game", f"against {name}")
    points.set_xlabel("self-play games")
    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=110)
    write_atomically(folder / CURVE_FILE, picture.getvalue())
    return folder / CURVE_FILE


def _draw(axes: Any, marks: list[tuple[float, float, float | None]], label: str, name: str | None = None) -> None:
    axes.set_ylabel(label)
    axes.grid(True, alpha=0.3)
    if not marks:
        return
    games, values, errors = zip(*marks, strict=True)
    if errors[0] is None:
        axes.plot(games, values, linewidth=0.8)
        return
    axes.errorbar(games, values, yerr=errors, marker=".", linewidth=0.8, label=name)
    axes.legend(fontsize="small")
