"""The public names that DESIGN.md section 6 promises, used as it shows them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from agent import load_evaluator, play_match, suggest
from engine import RULES, get_rules, legal_afterstates

ROOT = Path(__file__).resolve().parent.parent


def test_rules_come_by_name_alias_and_option() -> None:
    assert set(RULES) == {"short", "short_backgammon", "long_classic", "long_common", "long_fnr2026"}
    assert get_rules("long") == RULES["long_classic"]
    assert str(get_rules("long_classic(block_check=turn)")) == "long_classic(block_check=turn)"


@pytest.mark.parametrize("preset", RULES)
def test_one_board_gives_rows_and_a_batch_gives_rows_with_offsets(preset: str) -> None:
    rules = get_rules(preset)
    board = rules.start_board()
    one = legal_afterstates(board, (6, 4), rules)
    rows, offsets = legal_afterstates(np.stack([board, board]), np.array([[6, 4], [3, 3]], dtype=np.int8), rules)
    assert isinstance(one, np.ndarray)
    assert one.dtype == np.int8 and one.shape[1:] == (2, 26)
    assert offsets.tolist() == [0, len(one), len(rows)]
    assert np.array_equal(rows[: len(one)], one)


@pytest.mark.parametrize("preset", RULES)
def test_an_evaluator_gives_probabilities_equity_and_legal_choices(preset: str, nets: dict[str, str]) -> None:
    rules = get_rules(preset)
    evaluator = load_evaluator(rules=preset, net=nets[rules.game.name])
    board = rules.start_board()
    afterstates = legal_afterstates(board, (6, 4), rules)
    probs = evaluator.outcome_probs(afterstates)
    assert (probs.dtype, probs.shape) == (np.float32, (len(afterstates), len(rules.outcomes)))
    assert probs.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    assert evaluator.equity(afterstates) == pytest.approx(probs @ rules.points, abs=1e-5)
    chosen = evaluator.choose(board[None], np.array([[6, 4]], dtype=np.int8))
    assert np.array_equal(chosen[0], afterstates[probs.dot(rules.points).argmax()])
    assert (evaluator.rules, evaluator.net_name) == (rules, rules.game.name)


@pytest.mark.parametrize(("preset", "dice"), [("long_classic", (6, 4)), ("short_backgammon", (3, 1))])
def test_suggestions_come_best_first_with_the_promised_fields(
    preset: str, dice: tuple[int, int], nets: dict[str, str]
) -> None:
    rules = get_rules(preset)
    found = suggest(rules.start_board(), dice=dice, rules=preset, net=nets[rules.game.name], plies=1, top=5)
    legal = legal_afterstates(rules.start_board(), dice, rules)
    assert len(found) == min(5, len(legal))
    assert [play.equity for play in found] == sorted((play.equity for play in found), reverse=True)
    best = found[0]
    assert (best.level, best.equity_loss) == ("1-ply", 0.0)
    assert any(np.array_equal(best.afterstate, row) for row in legal)
    assert best.play_text and best.probs.sum() == pytest.approx(1.0, abs=1e-5)


def test_a_match_reports_points_errors_and_pairs(nets: dict[str, str]) -> None:
    result = play_match(f"net:{nets['short']}", "random", rules="short", pairs=20, seed=1)
    assert (result.games, result.pairs, len(result.pair_points)) == (40, 20, 20)
    assert result.se > 0 and 0 <= result.win_rate <= 1
    assert result.ppg == pytest.approx(result.pair_points.mean())


def test_the_public_names_load_in_any_order() -> None:
    code = "import agent.suggest; from agent import suggest; from agent.suggest import suggest_many; suggest.__call__"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
