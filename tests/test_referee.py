"""The referee: error rates equal a plain computation, files are checked, calibration sums up what it should."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from agent.outside import CallablePlayer
from agent.referee import CLASSES, CUMULATIVE, calibration, error_rate, load_referee
from engine.errors import ConfigError, PlayerError, RecordError
from engine.rules import RULES
from fake_judge import FakeJudge

SMALL = Path(__file__).parent / "data" / "referee_small.npz"
BACKGAMMON = RULES["short_backgammon"]


@pytest.fixture(scope="module")
def decisions():
    return load_referee(SMALL)


@pytest.fixture
def arrays():
    with np.load(SMALL, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def choosing(pick):
    """A player that picks by reference equity, as `pick` of each decision's values says."""
    decisions = load_referee(SMALL)

    def choose(boards, dice, rules, rng):
        chosen = []
        for board, roll in zip(boards, dice, strict=True):
            i = np.flatnonzero((decisions.boards == board).all(axis=(1, 2)) & (decisions.dice == roll).all(axis=1))[0]
            span = slice(decisions.offsets[i], decisions.offsets[i + 1])
            chosen.append(decisions.afterstates[span][pick(decisions.equity[span])])
        return np.array(chosen)

    return CallablePlayer(name="oracle", rules=BACKGAMMON, function=choose)


def test_the_reference_itself_loses_nothing_and_its_opposite_the_most(decisions):
    best = error_rate(choosing(np.argmax), decisions)
    assert all(c.error_rate_mpt == 0.0 and c.best_share == 1.0 for c in best.classes)
    worst = error_rate(choosing(np.argmin), decisions)
    assert worst["all"].error_rate_mpt > error_rate("random", decisions)["all"].error_rate_mpt > 150


def test_error_rate_of_an_evaluator_equals_a_plain_computation(decisions):
    judge = FakeJudge(BACKGAMMON)
    losses = []
    for i in range(len(decisions.boards)):
        span = slice(decisions.offsets[i], decisions.offsets[i + 1])
        chosen = judge.choose(decisions.boards[i : i + 1], decisions.dice[i : i + 1])[0]
        equity = {
            board.tobytes(): e for board, e in zip(decisions.afterstates[span], decisions.equity[span], strict=True)
        }
        losses.append(max(equity.values()) - equity[chosen.tobytes()])
    losses = 1000 * np.array(losses)
    result = error_rate(judge, decisions)
    assert result.player == "fake@0ply" and str(result.rules) == "short_backgammon"
    assert result["all"].error_rate_mpt == pytest.approx(losses.mean(), abs=1e-6)
    assert result["all"].se_mpt == pytest.approx(losses.std(ddof=1) / np.sqrt(len(losses)))
    for code, name in enumerate(CLASSES):
        inside = losses[decisions.phase == code]
        assert result[name].error_rate_mpt == pytest.approx(inside.mean(), abs=1e-6)
        assert result[name].decisions == len(inside)


def test_all_is_the_mean_of_the_classes_by_their_size(decisions):
    result = error_rate("pips", decisions)
    total = sum(c.decisions * c.error_rate_mpt for c in result.classes[:-1])
    assert result.classes[-1].name == "all" and result["all"].decisions == len(decisions.boards)
    assert total / result["all"].decisions == pytest.approx(result["all"].error_rate_mpt)


def test_the_short_heuristic_is_far_better_than_pips_and_random(decisions):
    """Its strength is fixed by hand-set weights: 31.6 +- 1.8 mpt on the whole set, where pubeval has 35."""
    assert error_rate("heuristic", decisions)["all"].error_rate_mpt < 60
    assert error_rate("pips", decisions)["all"].error_rate_mpt > 100


def test_afterstates_are_turned_to_the_player_who_moved(decisions):
    board, first = decisions.boards[0], decisions.afterstates[0]
    assert (first[0] != board[0]).any()  # he moved
    moved = np.abs(first[1].astype(int) - board[1]).sum()
    assert moved <= 4  # the opponent changed by hits only


def test_results_have_text_and_json_forms(decisions):
    result = error_rate("pips", decisions)
    assert "referee_small.npz" in result.table() and "short_backgammon" in result.table()
    data = result.to_dict()
    assert data["classes"]["all"]["decisions"] == 250 and data["player"] == "pips"


def test_calibration_of_the_reference_against_itself_is_zero(decisions, monkeypatch):
    judge = FakeJudge(BACKGAMMON)
    reference = decisions.cal_probs

    def exact(afterstates, *, threads=None):
        win, gammon, triple, lose_gammon, lose_triple = reference.T
        on_roll = [win - gammon, gammon - triple, triple, 0 * win]
        lose = 1 - win
        other = [lose - lose_gammon, lose_gammon - lose_triple, lose_triple, 0 * win]
        return np.stack([*other, *on_roll], axis=1)  # seen by the player who is not on roll

    monkeypatch.setattr(judge, "outcome_probs", exact)
    result = calibration(judge, decisions)
    for part in result.classes:
        assert part.equity_rms < 1e-6 and max(part.mae + part.rms) < 1e-6
    assert sum(b.positions for b in result.bins) == result.classes[-1].positions == len(reference)
    assert all(b.predicted == pytest.approx(b.reference) for b in result.bins)


def test_calibration_of_a_crude_judge_shows_bias_and_has_text_and_json(decisions):
    result = calibration(FakeJudge(BACKGAMMON), decisions)
    assert result.classes[-1].name == "all" and result.classes[-1].equity_rms > 0.05
    assert all(0.0 < mae <= rms for mae, rms in zip(result.classes[-1].mae, result.classes[-1].rms, strict=True))
    assert set(result.to_dict()["classes"]["all"]["bias"]) == set(CUMULATIVE)
    assert "bias" in result.table()


def write(tmp_path, arrays) -> Path:
    path = tmp_path / "set.npz"
    np.savez(path, **arrays)
    return path


def broken(name: str, change):
    def make(arrays):
        arrays[name] = change(arrays[name])
        return arrays

    return make


def without(name: str):
    def make(arrays):
        del arrays[name]
        return arrays

    return make


def changed(index, value):
    def make(array):
        array[index] = value
        return array

    return make


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (without("eq"), "has no array 'eq'; it needs boards, dice, phase, offsets, afters, eq"),
        (broken("boards", lambda a: a.astype(np.int64)), "'boards' in .* must be int8 .*, got int64"),
        (broken("afters", lambda a: a[:, :, :25]), r"'afters' in .* must be int8 \[\d+, 2, 26\], got int8"),
        (broken("phase", lambda a: a[:-1]), r"'phase' in .* must be int8 \[250\], got int8 \[249\]"),
        (broken("offsets", lambda a: a[::-1].copy()), "'offsets' in .* must rise from 0 to"),
        (broken("dice", changed((0, 0), 7)), "'dice' in .* must be numbers from 1 to 6"),
        (broken("eq", changed(3, np.nan)), "'eq' in .* must be finite equities within 3 points"),
        (broken("phase", changed(0, 9)), "'phase' in .* must be 0 to 3"),
        (broken("boards", changed((0, 0, 3), 15)), "'boards' in .*: each side has 15 checkers"),
        (broken("cal_probs", changed((0, 0), 1.5)), "'cal_probs' in .* must be probabilities"),
    ],
)
def test_a_file_with_a_wrong_array_is_refused(tmp_path, arrays, make, message):
    with pytest.raises(RecordError, match=message) as error:
        load_referee(write(tmp_path, make(arrays)))
    assert "\n" not in str(error.value)


def test_a_file_without_calibration_has_error_rates_only(tmp_path, arrays):
    del arrays["cal_probs"]
    path = write(tmp_path, arrays)
    assert error_rate("pips", path)["all"].decisions == 250
    with pytest.raises(RecordError, match="has no calibration arrays"):
        calibration(FakeJudge(BACKGAMMON), path)


def test_files_that_are_no_npz_or_hold_objects_are_refused(tmp_path, arrays):
    for content in (b"", b"hello", b"PK\x03\x04 torn"):
        path = tmp_path / "set.npz"
        path.write_bytes(content)
        with pytest.raises(RecordError, match="is no referee file"):
            load_referee(path)
    with pytest.raises(RecordError, match="is no referee file"):
        load_referee(tmp_path / "missing.npz")
    arrays["dice"] = np.array([object()] * 250)
    with pytest.raises(RecordError, match="is no referee file"):
        load_referee(write(tmp_path, arrays))


def test_a_file_with_torn_compression_or_odd_packing_is_refused(tmp_path, arrays):
    whole = write(tmp_path, arrays).read_bytes()
    path = tmp_path / "odd.npz"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("boards.npy", whole[:5000])
    for place in (60, 200):  # in the compressed bytes, which then mean nothing
        path.write_bytes(packed.getvalue()[:place] + bytes(60) + packed.getvalue()[place + 60 :])
        with pytest.raises(RecordError, match="is no referee file"):
            load_referee(path)


@pytest.mark.parametrize("shape", [(10**12, 2, 26), (-1, 2, 26), (2**40, 2**40), (1, 1)])
def test_an_array_that_states_another_size_than_it_has_is_refused_before_memory_is_taken(tmp_path, arrays, shape):
    del arrays["cal_boards"]
    path = write(tmp_path, arrays)
    lying = io.BytesIO()
    header = {"descr": "|i1", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(lying, header)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("cal_boards.npy", lying.getvalue() + bytes(100))
    with pytest.raises(RecordError, match="is no referee file"):
        load_referee(path)


def test_a_file_that_unpacks_to_too_much_is_refused_before_it_is_read(monkeypatch):
    monkeypatch.setattr("agent.referee_set.MAX_BYTES", 1000)
    with pytest.raises(RecordError, match=r"unpacks to \d+ bytes; a referee file may have 1000"):
        load_referee(SMALL)


def test_players_of_other_rules_and_illegal_plays_are_refused(decisions):
    with pytest.raises(ConfigError, match=r"hold for short_backgammon, fake@0ply is bound to short$"):
        error_rate(FakeJudge(RULES["short"]), decisions)
    cheat = CallablePlayer(name="cheat", rules=BACKGAMMON, function=lambda boards, dice, rules, rng: boards)
    with pytest.raises(PlayerError, match="cheat: illegal"):
        error_rate(cheat, decisions)
