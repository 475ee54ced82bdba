"""Suggestions, evaluations and their levels."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from agent.levels import DEFAULT_FILTERS, Level, PlyFilter, as_level
from agent.net import save_net
from agent.ranking import choose_plays, rank_plays
from agent.schema import EVALUATION, SUGGESTIONS
from agent.suggest import before_roll, evaluate, suggest, suggest_many
from engine.board import opponent_view
from engine.dice import ROLL_WEIGHTS, ROLLS
from engine.errors import ConfigError, DiceError, NetError, PositionError, RulesError
from engine.movegen import legal_afterstates
from engine.notation import parse_play
from engine.outcome import is_finished, opponent_probs
from engine.rules import RULES, get_rules
from fake_judge import FakeJudge
from random_positions import random_play
from schema_check import assert_fits
from small_net import small_net


@pytest.fixture(params=["short", "long_classic"])
def judge(request: pytest.FixtureRequest) -> FakeJudge:
    return FakeJudge(get_rules(request.param))


def slow_plies(judge, afterstates, plies):
    """DESIGN.md section 2 word for word: mean over the opponent's 21 rolls of his reply's value a ply lower."""
    if plies == 0:
        return judge.outcome_probs(afterstates)
    result = np.zeros((len(afterstates), len(judge.rules.outcomes)), dtype=np.float32)
    for row, afterstate in enumerate(afterstates):
        if is_finished(afterstate):
            result[row] = judge.outcome_probs(afterstate[None])[0]
            continue
        boards = np.repeat(opponent_view(afterstate)[None], len(ROLLS), axis=0)
        replies = judge.choose(boards, ROLLS)
        result[row] = opponent_probs((ROLL_WEIGHTS @ slow_plies(judge, replies, plies - 1)).astype(np.float32))
    return result


def start_of(judge: FakeJudge):
    return judge.rules.start_board(), (3, 1) if judge.rules.can_hit else (6, 4)


def test_suggestions_are_all_legal_plays_best_first(judge: FakeJudge) -> None:
    boards, dice = random_play(judge.rules, 30, np.random.default_rng(2))
    for board, roll in zip(boards, dice, strict=True):
        answer = suggest(board, roll, judge.rules, judge, top=None)
        legal = {a.tobytes() for a in legal_afterstates(board, roll, judge.rules)}
        assert {s.afterstate.tobytes() for s in answer} == legal
        assert len(answer) == answer.n_legal == len(legal)
        equities = [s.equity for s in answer]
        assert equities == sorted(equities, reverse=True)
        assert answer[0].equity_loss == 0.0
        np.testing.assert_allclose([equities[0] - e for e in equities], [s.equity_loss for s in answer], atol=1e-6)
        assert {s.level for s in answer} == {"0-ply"}


def test_a_play_text_reads_back_as_its_afterstate(judge: FakeJudge) -> None:
    boards, dice = random_play(judge.rules, 15, np.random.default_rng(3))
    for board, roll in zip(boards, dice, strict=True):
        for s in suggest(board, roll, judge.rules, judge, top=4):
            np.testing.assert_array_equal(parse_play(s.play_text, board, s.dice, judge.rules), s.afterstate)


def test_a_batch_equals_its_positions_one_by_one(judge: FakeJudge) -> None:
    boards, dice = random_play(judge.rules, 40, np.random.default_rng(4))
    together = suggest_many(boards, dice, judge.rules, judge, top=3)
    for board, roll, answer in zip(boards, dice, together, strict=True):
        alone = suggest(board, roll, judge.rules, judge, top=3)
        assert [s.play_text for s in alone] == [s.play_text for s in answer]
        np.testing.assert_allclose([s.equity for s in alone], [s.equity for s in answer], atol=1e-6)
    assert suggest_many(np.zeros((0, 2, 26), dtype=np.int8), [], judge.rules, judge) == []


def test_no_legal_play_gives_the_pass_alone() -> None:
    rules = get_rules("short")
    board = np.zeros((2, 26), dtype=np.int8)
    board[0, [25, 8]], board[1, [1, 2, 3, 4, 5, 6]] = (1, 2), 2
    board[:, 0] = 15 - board.sum(axis=1)
    answer = suggest(board, (6, 1), rules, FakeJudge(rules))
    assert [(s.play_text, s.steps, s.is_pass) for s in answer] == [("pass", (), True)]
    np.testing.assert_array_equal(answer[0].afterstate, board)
    assert answer.to_dict()["suggestions"][0]["steps"] == []


def test_an_immediate_win_is_worth_exactly_what_it_scores() -> None:
    rules = get_rules("short")
    board = np.zeros((2, 26), dtype=np.int8)
    board[0, [0, 1]], board[1, 20] = (14, 1), 15
    best = suggest(board, (2, 1), rules, FakeJudge(rules))[0]
    assert best.equity == 3.0 and best.probs[rules.outcomes.index("win_home")] == 1.0


def test_the_scoring_chosen_at_call_time_ranks_the_plays(judge: FakeJudge) -> None:
    board, roll = start_of(judge)
    answer = suggest(
        board, roll, judge.rules, FakeJudge(get_rules(f"{judge.rules}(scoring=win_only)")), scoring="win_only"
    )
    assert "scoring=win_only" in answer.to_dict()["rules"]
    wins = answer[0].probs[: judge.rules.game.levels].sum()
    assert answer[0].equity == pytest.approx(2 * wins - 1, abs=1e-6)


def test_deeper_plays_are_the_mean_over_the_replies_and_stand_first(judge: FakeJudge) -> None:
    board, roll = random_play(judge.rules, 60, np.random.default_rng(6))
    filters = (PlyFilter(keep=3, within=99.0), PlyFilter(keep=2, within=99.0), DEFAULT_FILTERS[2])
    answer = suggest(board[41], roll[41], judge.rules, judge, level=Level(plies=2, filters=filters), top=None)
    assert answer.n_legal > 4
    assert [s.level for s in answer[:4]] == ["2-ply", "2-ply", "1-ply", "0-ply"]
    for s, plies in zip(answer[:4], (2, 2, 1, 0), strict=True):
        np.testing.assert_allclose(s.probs, slow_plies(judge, s.afterstate[None], plies)[0], atol=1e-6)


def test_a_loss_compares_plays_at_one_and_the_same_ply(judge: FakeJudge) -> None:
    board, roll = random_play(judge.rules, 60, np.random.default_rng(6))
    answer = suggest(board[41], roll[41], judge.rules, judge, plies=1, filters="3:99", top=None)
    at_0 = judge.equity(np.stack([s.afterstate for s in answer]))
    for s, equity in zip(answer[3:], at_0[3:], strict=True):
        assert s.equity_loss == pytest.approx(at_0[0] - equity, abs=1e-6)
        assert s.equity_loss >= 0.0
    assert [s.equity_loss for s in answer[:3]] == pytest.approx([answer[0].equity - s.equity for s in answer[:3]])


def test_a_filter_lets_through_only_plays_near_the_best(judge: FakeJudge) -> None:
    board, roll = random_play(judge.rules, 60, np.random.default_rng(6))
    wide = suggest(board[41], roll[41], judge.rules, judge, plies=0, top=None)
    within = wide[2].equity_loss + 1e-5
    answer = suggest(board[41], roll[41], judge.rules, judge, plies=1, filters=f"99:{within}", top=None)
    near = [s for s in wide if s.equity_loss <= within]
    assert [s.level for s in answer].count("1-ply") == len(near) >= 3
    assert answer.to_dict()["filters"] == [f"99:{within:g}"]


def test_chosen_plays_are_the_first_suggestions(judge: FakeJudge) -> None:
    boards, dice = random_play(judge.rules, 12, np.random.default_rng(8))
    level = as_level(1, "4:0.5")
    chosen = choose_plays(judge, boards, dice, level)
    for board, roll, play in zip(boards, dice, chosen, strict=True):
        best = suggest(board, roll, judge.rules, judge, level=level, top=1)[0]
        np.testing.assert_array_equal(best.afterstate, play)
    np.testing.assert_array_equal(choose_plays(judge, boards, dice, as_level(0)), judge.choose(boards, dice))


def test_an_evaluation_is_the_mean_over_the_21_rolls(judge: FakeJudge) -> None:
    board, _ = start_of(judge)
    answer = evaluate(board, judge.rules, judge)
    assert [r.best.dice for r in answer.rolls] == [tuple(r) for r in ROLLS.tolist()]
    assert sum(r.weight for r in answer.rolls) == pytest.approx(1.0)
    assert sum(r.weight * r.luck for r in answer.rolls) == pytest.approx(0.0, abs=1e-6)
    assert answer.equity == pytest.approx(sum(r.weight * r.best.equity for r in answer.rolls), abs=1e-5)
    np.testing.assert_allclose(answer.probs.sum(), 1.0, atol=1e-5)
    for r in answer.rolls:
        assert r.best.play_text == suggest(board, r.best.dice, judge.rules, judge)[0].play_text


def test_the_position_before_the_roll_is_judged_at_the_level_of_the_suggestions(judge: FakeJudge) -> None:
    boards, dice = random_play(judge.rules, 60, np.random.default_rng(6))
    answer = suggest(boards[41], dice[41], judge.rules, judge, plies=1)
    before = before_roll(answer, judge)
    assert str(before.level) == "1-ply" and {r.best.level for r in before.rolls} == {"1-ply"}
    expected = -slow_plies(judge, opponent_view(boards[41])[None], 2)[0] @ judge.rules.points
    assert before.equity == pytest.approx(expected, abs=1e-5)


def test_a_finished_game_is_evaluated_as_it_ended_but_has_no_plays() -> None:
    rules = get_rules("long_classic")
    board = np.zeros((2, 26), dtype=np.int8)
    board[0, 0], board[1, 7] = 15, 15
    answer = evaluate(board, rules, FakeJudge(rules))
    assert answer.equity == 2.0 and answer.rolls == ()
    with pytest.raises(PositionError, match=r"the game is over .win gammon.*neither side has finished"):
        suggest(board, (6, 4), rules, FakeJudge(rules))


@pytest.mark.parametrize("preset", RULES)
def test_answers_fit_their_schema(preset: str) -> None:
    judge = FakeJudge(RULES[preset])
    board, roll = start_of(judge)
    assert_fits(suggest(board, roll, judge.rules, judge).to_dict(), SUGGESTIONS)
    assert_fits(evaluate(board, judge.rules, judge).to_dict(), EVALUATION)


def test_exclusive_and_cumulative_chances_agree(judge: FakeJudge) -> None:
    board, roll = start_of(judge)
    answer = suggest(board, roll, judge.rules, judge).to_dict()["suggestions"][0]
    probs, cumulative = answer["probs"], answer["cumulative"]
    assert tuple(probs) == judge.rules.outcomes
    assert sum(probs.values()) == pytest.approx(1.0, abs=1e-5)
    assert cumulative["win_or_better"] + cumulative["lose_or_worse"] == pytest.approx(1.0, abs=1e-5)
    mars = cumulative["win_gammon_or_better"]
    assert mars == pytest.approx(cumulative["win_or_better"] - probs["win_single"], abs=1e-5)
    last = judge.rules.outcomes[-1]
    assert cumulative[f"{last}_or_worse"] == pytest.approx(probs[last], abs=1e-6)


@pytest.mark.parametrize(
    ("text", "plies"),
    [
        *[("fast", 0), ("good", 1), ("strong", 2), ("deep", 3), (2, 2), ("2ply", 2), ("1-ply", 1)],
        *[("gnubg:2ply", 2), ("xg:2ply", 1), ("xg:4ply", 3), ("gnubg:0-ply", 0)],
    ],
)
def test_a_level_has_several_names(text: str | int, plies: int) -> None:
    assert as_level(text).plies == plies


@pytest.mark.parametrize("text", ["xg:0ply", "gnubg:4ply", "4", "-1", "better", "", "2plyx"])
def test_an_unknown_level_names_those_there_are(text: str) -> None:
    with pytest.raises(ConfigError, match="fast, good, strong, deep"):
        as_level(text)


@pytest.mark.parametrize("text", ["", "8", "0:0.1", "3:-1", "a:b", "1:1,1:1,1:1,1:1", "3:nan"])
def test_a_filter_is_keep_and_within(text: str) -> None:
    if text == "8":
        assert as_level(1, text).filters[0] == PlyFilter(keep=8, within=DEFAULT_FILTERS[0].within)
        return
    with pytest.raises(ConfigError, match=r"filter|KEEP:WITHIN"):
        as_level(1, text)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"dice": (7, 1)}, DiceError, "1 to 6"),
        ({"dice": "x"}, DiceError, "'x'"),
        ({"top": 0}, ConfigError, "top must be 1"),
        ({"top": 1.5}, ConfigError, "top must be 1 .* got 1.5"),
        ({"plies": 1, "filters": "8:1e308"}, ConfigError, "0 to 1e.06 points"),
        ({"plies": 1, "filters": 5}, ConfigError, "filters must be text such as .* got 5"),
        ({"level": "9" * 5000}, ConfigError, r"fast, good, .* got '9{60}'$"),
        ({"net": 5}, NetError, "got int"),
        ({"plies": 4}, ConfigError, "0 to 3"),
        ({"plies": 1, "level": "good"}, ConfigError, "plies or level"),
        ({"scoring": "9/9"}, RulesError, "scoring"),
        ({"board": np.zeros((2, 26), dtype=np.int8)}, PositionError, "15 checkers"),
        ({"board": np.zeros((3, 26), dtype=np.int8)}, PositionError, r"\[2, 26\]"),
        ({"board": [[0.5]]}, PositionError, r"\[2, 26\]"),
        ({"board": [[1], [1, 2]]}, PositionError, "unequal length"),
        ({"board": np.zeros((0, 2, 26), dtype=np.int8)}, PositionError, "one board"),
        ({"rules": "short"}, NetError, "long_classic.*short"),
        ({"rules": "chess"}, RulesError, "chess"),
    ],
)
def test_bad_input_says_what_is_allowed(options: dict, error: type[Exception], match: str) -> None:
    rules = get_rules("long_classic")
    given = {"board": rules.start_board(), "dice": (6, 4), "rules": rules, "net": FakeJudge(rules)} | options
    with pytest.raises(error, match=match):
        suggest(**given)


def test_each_board_of_a_batch_needs_a_roll(judge: FakeJudge) -> None:
    with pytest.raises(PositionError, match="1 boards and 2 rolls"):
        suggest_many(judge.rules.start_board()[None], ["31", "64"], judge.rules, judge)
    with pytest.raises(DiceError, match="one a board, got 31"):
        suggest_many(judge.rules.start_board()[None], 31, judge.rules, judge)


def test_a_ranking_keeps_each_board_to_itself(judge: FakeJudge) -> None:
    boards, dice = random_play(judge.rules, 25, np.random.default_rng(9))
    ranking = rank_plays(judge, boards, dice, Level())
    for row, (board, roll) in enumerate(zip(boards, dice, strict=True)):
        mine = ranking.afterstates[ranking.offsets[row] : ranking.offsets[row + 1]]
        assert {a.tobytes() for a in mine} == {a.tobytes() for a in legal_afterstates(board, roll, judge.rules)}


def test_answers_do_not_depend_on_what_was_asked_before(tmp_path: Path) -> None:
    """Case E06 (bgsage 834d67a, dd4edd1): values of one setting returned for another; single thread and four."""
    path = tmp_path / "net.safetensors"
    save_net(small_net("short"), path)
    boards, dice = random_play(get_rules("short"), 2, np.random.default_rng(1))
    for threads in (1, 4):
        first = suggest(boards[0], dice[0], "short", path, threads=threads).to_dict()
        other = suggest(boards[0], dice[0], "short", path, scoring="win_only", threads=threads).to_dict()
        suggest(boards[1], dice[1], "short", path, threads=threads)
        assert suggest(boards[0], dice[0], "short", path, threads=threads).to_dict() == first
        assert other["suggestions"][0]["equity"] != first["suggestions"][0]["equity"]


def test_a_net_file_written_anew_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    board, roll = get_rules("short").start_board(), (3, 1)
    equities = []
    for seed in (1, 2):
        save_net(small_net("short", seed=seed), path)
        os.utime(path, ns=(seed, seed))
        equities.append(suggest(board, roll, "short", path)[0].equity)
    assert equities[0] != equities[1]
    assert suggest(board, roll, "short", small_net("short", seed=2))[0].equity == equities[1]


def test_a_net_written_twice_within_one_time_stamp_is_read_anew(tmp_path):
    path = tmp_path / "net.safetensors"
    found = []
    now = None
    for seed in (1, 2):
        save_net(small_net("short", seed=seed), path)
        now = now or os.stat(path).st_mtime_ns
        os.utime(path, ns=(now, now))
        found.append(suggest(get_rules("short").start_board(), (3, 1), rules="short", net=path)[0].equity)
    assert found[0] != found[1]
