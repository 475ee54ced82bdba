"""Dice statistics on the terminal: one column for each player and one for all rolls together."""

from __future__ import annotations

from collections.abc import Mapping

from agent.cli_table import print_table
from engine.dice import FACES, SeededDice
from engine.dice_stats import DiceStats, dice_stats

ALL = "all"


def seeded_stats(seed: int, rolls: int) -> dict[str, DiceStats]:
    """Statistics of the generator's rolls, thrown by two players in turn.

    Args:
        seed: of the dice.
        rolls: how many in all.
    Returns:
        Statistics by the names `player 1`, `player 2` and `all`.
    Raises:
        DiceError: a seed outside its range.
    """
    thrown = SeededDice(seed).rolls(rolls)
    parts = {"player 1": thrown[::2], "player 2": thrown[1::2], ALL: thrown}
    return {name: dice_stats(part) for name, part in parts.items() if len(part)}


def print_stats(source: str, stats: Mapping[str, DiceStats]) -> None:
    """Print statistics by player.

    Args:
        source: where the rolls come from.
        stats: by player.
    """
    columns = list(stats.values())
    rows = [["rolls", *(str(one.rolls) for one in columns)]]
    for face in range(FACES):
        rows.append([f"face {face + 1}", *(_against(one.face_counts[face], one.face_expected) for one in columns)])
    rows.append(["doubles", *(_against(one.doubles, one.doubles_expected) for one in columns)])
    rows.append(["doubles, standard errors off", *(f"{one.doubles_z:+.2f}" for one in columns)])
    rows.append(["mean pips (8.1667)", *(f"{one.mean_pips:.4f}" for one in columns)])
    rows.append(["faces: chi-square, p", *(f"{one.face_chi_square:.2f}, {one.face_p:.4f}" for one in columns)])
    rows.append(["36 pairs: chi-square, p", *(f"{one.pair_chi_square:.2f}, {one.pair_p:.4f}" for one in columns)])
    rows.append(["serial correlation", *(f"{one.serial_correlation:+.5f}" for one in columns)])
    print(f"dice of {source}")
    print_table(["", *stats], rows, left=1)


def _against(count: int, expected: float) -> str:
    return f"{count} ({count - expected:+.1f})"
