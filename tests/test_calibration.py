"""Calibration on a net's own games."""

import numpy as np
import pytest

from agent.calibration import GapBin, _bins, _drawn_positions, self_calibration
from agent.evaluator import load_evaluator
from agent.play import GameRecords
from engine.errors import ConfigError
from engine.rules import RULES


def test_outcomes_are_turned_to_the_mover_of_the_position_drawn():
    """Two games of two turns, so that the first turn is drawn: its mover is not the last one, who won singly."""
    values = np.full((4, 6), 1 / 6, dtype=np.float32)
    values[0], values[2] = [0.5, 0.1, 0.0, 0.3, 0.1, 0.0], [0.2, 0.2, 0.2, 0.2, 0.1, 0.1]
    records = GameRecords(
        afterstates=np.zeros((4, 2, 26), dtype=np.int8),
        values=values,
        is_greedy=np.ones(4, dtype=bool),
        offsets=np.array([0, 2, 4]),
        outcomes=np.array([0, 2]),
    )
    predicted, happened = _drawn_positions(records, np.random.default_rng(1))
    assert predicted == pytest.approx(values[[0, 2]])
    assert happened.tolist() == [[0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 1]]


def test_games_cut_short_are_left_out():
    records = GameRecords(
        afterstates=np.zeros((4, 2, 26), dtype=np.int8),
        values=np.full((4, 6), 1 / 6, dtype=np.float32),
        is_greedy=np.ones(4, dtype=bool),
        offsets=np.array([0, 2, 4]),
        outcomes=np.array([-1, 0]),
    )
    assert len(_drawn_positions(records, np.random.default_rng(1))[0]) == 1


def test_bins_hold_what_was_predicted_and_what_happened():
    rng = np.random.default_rng(2)
    chance = rng.random(50_000)
    happened = (rng.random(50_000) < chance).astype(np.float64)
    fair = _bins(chance, happened)
    assert len(fair) == 20
    assert all(b.is_allowed for b in fair)
    assert [b.predicted for b in fair] == sorted(b.predicted for b in fair)
    biased = _bins(np.clip(chance + 0.08, 0, 1), happened)
    assert not any(b.is_allowed for b in biased[:15])
    assert len(_bins(chance[:100], happened[:100])) == 1


def test_a_gap_counts_from_two_standard_errors_beyond_a_hundredth():
    assert GapBin(positions=9, predicted=0.529, happened=0.5, se=0.01).is_allowed
    assert not GapBin(positions=9, predicted=0.531, happened=0.5, se=0.01).is_allowed


@pytest.mark.parametrize(("preset", "events"), [("long_classic", 3), ("short_backgammon", 4)])
def test_a_shipped_net_is_near_its_own_games_whatever_the_threads(preset, events):
    judge = load_evaluator(RULES[preset])
    one = self_calibration(judge.net, RULES[preset], games=300, seed=3, threads=1)
    assert one == self_calibration(judge.net, RULES[preset], games=300, seed=3, threads=2)
    assert len(one.events) == events
    assert one.games == 300
    assert one.worst_gap < 0.15
    assert "largest gap" in one.table()
    assert one.to_dict()["worst_gap"] == one.worst_gap


def test_no_games_are_refused():
    judge = load_evaluator(RULES["long_classic"])
    with pytest.raises(ConfigError, match="games must be 1 or more, got 0"):
        self_calibration(judge.net, RULES["long_classic"], games=0)
