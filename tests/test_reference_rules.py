"""The slow twin itself: it must pass the examples and golden files before it may judge the kernel."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from engine import get_rules
from examples import DATA, Example, board_text, read_examples, row_from, row_text
from random_positions import placed
from reference_rules import Turn, counts_of, on_my_points, reference_afterstates, row_of

EXAMPLES = [example for example in read_examples() if example.dice is not None]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.id)
def test_the_twin_holds_a_worked_example(example: Example) -> None:
    example.assert_holds(reference_afterstates(example.board, example.dice, get_rules(example.rules)))


@pytest.mark.parametrize("preset", ["short", "long_classic", "long_fnr2026"])
def test_the_twin_reproduces_a_golden_file(preset: str) -> None:
    rules = get_rules(preset)
    with gzip.open(DATA / "golden" / f"{preset}.jsonl.gz", "rt") as lines:
        for case in map(json.loads, lines):
            assert reference_afterstates(case["board"], case["dice"], rules) == case["after"], case["tags"]


def test_rows_survive_the_twins_numbers(rng: np.random.Generator) -> None:
    for row in placed(get_rules("short"), 200, rng)[0].reshape(-1, 26).tolist():
        assert counts_of(row_of(row)) == row
        assert on_my_points(on_my_points(row_of(row), False), False) == row_of(row)
        assert row_from(row_text(row)) == row


@pytest.mark.parametrize("preset", ["short", "long"])
def test_the_twin_writes_the_opponent_on_my_points_as_section_1_1_says(preset: str, rng: np.random.Generator) -> None:
    is_long = preset == "long"
    for row in placed(get_rules(preset), 200, rng)[0].reshape(-1, 26).tolist():
        seen = counts_of(on_my_points(row_of(row), is_long))
        for point in range(1, 25):
            assert seen[point] == row[(point + 11) % 24 + 1 if is_long else 25 - point]


def block_walked(board: list[list[int]]) -> bool:
    """Section 5.3 word by word: walk the opponent's route from his 24 to his 1 and look at every maximal run."""
    mine, theirs = board
    marked = [point for point in range(24, 0, -1) if mine[(point + 11) % 24 + 1]]
    runs: list[list[int]] = []
    for point in marked:
        if runs and runs[-1][-1] == point + 1:
            runs[-1].append(point)
        else:
            runs.append([point])
    return any(len(run) >= 6 and not any(theirs[: run[0] + 1]) for run in runs)


def test_the_twin_finds_the_blocks_that_a_walk_along_the_route_finds(rng: np.random.Generator) -> None:
    rules = get_rules("long")
    found = 0
    for board in placed(rules, 5000, rng)[0].tolist():
        turn = Turn(board, rules)
        assert turn.has_forbidden_block(turn.start[0]) == block_walked(board), board_text(board)
        found += block_walked(board)
    assert found > 100
