"""Opening tables as pictures: first turns with their intervals, and the replies to them as a grid."""

from __future__ import annotations

import importlib
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from agent.lang import number, text
from agent.openings import Z95, OpeningLine, Openings
from engine.dice import ROLLS
from engine.errors import ConfigError
from engine.whole_file import write_whole

ENDINGS = (".png", ".svg")


def plot_openings(table: Openings, path: str | Path, *, lang: str = "en") -> None:
    """Draws a table, as PNG or SVG by the name's ending.

    First turns stand with their 95 % intervals; beside them, where the table has replies, the best reply to each roll.

    Args:
        table: what `roll_out_openings` gave.
        path: the picture's file.
        lang: `en` or `ru`.
    Raises:
        ConfigError: another ending, or a folder that is not there.
        ModuleNotFoundError: matplotlib, of the extra `report`, is not installed.
    """
    target = Path(path)
    check_plot(target)
    from matplotlib.figure import Figure  # the extra `report`; a Figure of its own needs no display

    firsts = [line for line in table.lines if line.reply_dice is None]
    replies = [line for line in table.lines if line.reply_dice is not None]
    figure = Figure(figsize=(22 if replies else 8, 1.2 + 0.28 * max(len(firsts), 4)), layout="constrained")
    panels = figure.subplots(1, 2 if replies else 1, squeeze=False, width_ratios=[8, 14] if replies else None)[0]
    _draw_firsts(panels[0], firsts[::-1], lang)
    if replies:
        _draw_replies(panels[1], replies, lang)
    trials = text("trials_seed", lang, n=table.config.trials, seed=table.config.seed)
    figure.suptitle(text("heading", lang, rules=str(table.rules), net=table.net_name, level=str(table.config.level)))
    panels[0].set_title(trials)
    drawn = BytesIO()
    figure.savefig(drawn, format=target.suffix[1:], dpi=120)
    write_whole(target, drawn.getvalue())


def check_plot(path: Path) -> None:
    """Refuse a plot that cannot be drawn or written, before hours of rollouts are spent on it.

    Raises:
        ConfigError: neither .png nor .svg, or a folder that is not there.
        ModuleNotFoundError: matplotlib, of the extra `report`, is not installed.
    """
    if path.suffix not in ENDINGS:
        raise ConfigError(f"a plot is written as {' or '.join(ENDINGS)}, got {path.name!r}")
    if not path.parent.is_dir():
        raise ConfigError(f"a plot is written into a folder that exists, got {str(path.parent)!r}")
    importlib.import_module("matplotlib")


def _draw_firsts(axes: Any, lines: list[OpeningLine], lang: str) -> None:
    rows = np.arange(len(lines))
    half = np.nan_to_num([Z95 * line.se for line in lines])  # a single trial has no interval
    axes.errorbar([line.equity for line in lines], rows, xerr=half, fmt="o", color="#0a5fb4", capsize=3)
    axes.set_yticks(rows, ["{}:{}  {}".format(*line.dice, line.play_text) for line in lines])
    axes.axvline(0.0, color="#888888", linewidth=0.8)
    axes.set_xlabel(text("plot_equity", lang))
    axes.grid(axis="x", alpha=0.3)


def _draw_replies(axes: Any, lines: list[OpeningLine], lang: str) -> None:
    """A row for each first turn, a column for each roll of the reply. Lines come best first: the first one counts."""
    turns = list(dict.fromkeys((line.dice, line.play_text) for line in lines))
    rolls = [(a, b) for a, b in ROLLS.tolist()]
    grid = np.full((len(turns), len(rolls)), np.nan)
    for line in reversed(lines):
        grid[turns.index((line.dice, line.play_text)), rolls.index(line.reply_dice or (0, 0))] = line.equity
    limit = np.nanmax(np.abs(grid)) or 1.0
    axes.imshow(grid, cmap="RdBu", vmin=-limit, vmax=limit, aspect="auto")
    for row, column in np.argwhere(np.isfinite(grid)):
        value = grid[row, column]
        color = "white" if abs(value) > 0.6 * limit else "black"
        axes.text(column, row, number(value, lang, 2), ha="center", va="center", fontsize=7, color=color)
    axes.set_xticks(range(len(rolls)), [f"{a}:{b}" for a, b in rolls])
    axes.set_yticks(range(len(turns)), ["{}:{}  {}".format(*dice, play) for dice, play in turns])
    axes.set_ylabel(text("plot_first", lang))
    half = number(float(np.nan_to_num([Z95 * line.se for line in lines]).max()), lang, 3, is_signed=False)
    axes.set_xlabel(text("plot_replies", lang, half=half))
