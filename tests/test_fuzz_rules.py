"""The fuzzer finds a fault that is there, names the smallest position, and finds none in the engine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from engine import Rules, get_rules, legal_afterstates
from examples import board_text, row_from
from random_positions import placed
from twin_comparison import difference_text, different, smallest

Int8 = npt.NDArray[np.int8]

SCRIPT = Path(__file__).parents[1] / "scripts" / "fuzz_rules.py"


def run_fuzzer(*options: str) -> subprocess.CompletedProcess[str]:
    """The script in a process of its own."""
    return subprocess.run([sys.executable, str(SCRIPT), *options], capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("rules", ["short", "long_classic(block_check=turn)"])
def test_a_short_run_finds_no_difference(rules: str, is_long: bool) -> None:
    count = 200_000 if is_long else 4_500
    done = run_fuzzer("--positions", str(count), "--preset", rules, "--seed", "3")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{count} boards, {rules}, seed 3", "differences: 0"]


def test_gnubg_agrees_on_short_nardy(is_long: bool) -> None:
    pytest.importorskip("gnubg_nn")
    count = 200_000 if is_long else 4_000
    done = run_fuzzer("--positions", str(count), "--preset", "short", "--peers")
    assert done.returncode == 0 and done.stdout.endswith("differences: 0\n"), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--preset", "chess"), "unknown rules 'chess'"),
        (("--positions", "0"), "--positions and --workers must be at least 1"),
        (("--preset", "long", "--peers"), "--peers needs short nardy, got long_classic"),
    ],
)
def test_wrong_options_are_refused(options: tuple[str, ...], message: str) -> None:
    done = run_fuzzer(*options)
    assert done.returncode == 2 and message in done.stderr and not done.stdout


def without_the_block_rule(boards: Any, dice: Any, rules: Rules) -> Any:
    """A generator with a fault: it knows no six-point block."""
    return legal_afterstates(boards, dice, get_rules("long_classic(block_check=off)"))


def test_a_faulty_generator_is_caught_with_a_smallest_position(rng: np.random.Generator) -> None:
    rules = get_rules("long_classic")
    boards, dice = placed(rules, 2000, rng)
    wrong = different(boards, dice, rules, generate=without_the_block_rule)
    assert len(wrong) > 50

    def is_wrong(board: Int8, roll: Int8) -> bool:
        return bool(different(board[None], roll[None], rules, generate=without_the_block_rule))

    for index in wrong[:5]:
        board = smallest(boards[index], dice[index], is_wrong)
        assert is_wrong(board, dice[index])
        # Little more than the run is left: five of its points at least, and whoever steps on the sixth.
        assert 5 <= (board[0, 1:] > 0).sum() <= 7 and board[0, 1:].sum() <= 8, board_text(board.tolist())
        line = difference_text(board, dice[index], rules, without_the_block_rule)
        assert line.startswith(f"long_classic  {board_text(board.tolist())}  ") and "only twin 0" in line


def test_an_afterstate_given_twice_is_caught() -> None:
    def twice(boards: Any, dice: Any, rules: Rules) -> Any:
        afterstates, offsets = legal_afterstates(boards, dice, rules)
        return np.repeat(afterstates, 2, axis=0), offsets * 2

    board = np.array([[row_from("me{24:15}"), row_from("opp{24:15}")]], dtype=np.int8)
    with pytest.raises(AssertionError, match="occurs twice"):
        different(board, np.array([[6, 1]], dtype=np.int8), get_rules("long"), generate=twice)
