"""Analysis of whole games: losses, luck, marks and rates, and how they are shown."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent import analysis as module
from agent.analysis import ILLEGAL, MARKS, AnalysisConfig, MatchAnalysis, analyze
from agent.analysis_report import analysis_html, curve_svg, show, write_html
from agent.analysis_schema import ANALYSIS, analysis_dict
from agent.analysis_tables import games_table
from agent.analysis_words import WORDS
from agent.cli import main
from agent.evaluator import Evaluator
from agent.levels import Level, PlyFilter
from agent.luck import luck
from agent.matfile import match_text, parse_match, write_match
from agent.played import PlayedGame, PlayedMatch, PlayedTurn, match_of_records
from agent.ranking import rank_plays
from agent.search import plies_probs
from engine.board import Boards
from engine.dice import ROLL_WEIGHTS, ROLLS
from engine.errors import ConfigError
from engine.records import Header, Record
from engine.rules import get_rules
from engine.session import Session
from fake_judge import FakeJudge
from played_games import DATA, DOUBLED, RESIGNED_GAMMON, played_match
from schema_check import assert_fits
from small_net import small_net

NET_ALONE = AnalysisConfig(level=Level(plies=0))
ILLEGAL_GAME = DOUBLED.replace("52: 13/8 24/22", "52: 13/8 13/9")


def judged(match: PlayedMatch, config: AnalysisConfig = NET_ALONE) -> MatchAnalysis:
    return analyze(match, FakeJudge(match.rules), config)


def match_of(text: str) -> PlayedMatch:
    return parse_match(text.encode())


def ended(board: Boards, dice: tuple[int, int]) -> PlayedMatch:
    """A record that begins on a board with this roll and is played to its end by the first legal turns."""
    rules = get_rules("short_backgammon")
    session = Session(rules, first=0, board=board)
    for roll in (dice, (6, 6)):
        if session.result is None:
            session.roll(roll)
            session.play(session.legal_turns()[0])
    header = Header(rules=str(rules), first=0, board=board.tolist())
    return match_of_records([Record(header=header, events=tuple(session.log))])


@pytest.mark.parametrize("rules", ["short", "long_classic"])
def test_luck_over_the_21_rolls_of_a_position_sums_to_zero(rules: str) -> None:
    match = played_match(rules)
    board = match.games[0].turns[9].board
    games = tuple(
        PlayedGame(
            number=place,
            score=(0.0, 0.0),
            turns=(PlayedTurn(player=0, board=board, dice=(int(roll[0]), int(roll[1])), afterstate=None),),
        )
        for place, roll in enumerate(ROLLS)
    )
    analysis = judged(replace(match, games=games))
    luck = np.array([game.turns[0].luck for game in analysis.games])
    assert ROLL_WEIGHTS @ luck == pytest.approx(0.0, abs=1e-6)
    assert np.abs(luck).max() > 0.01


def test_luck_of_the_last_roll_of_a_bear_off_is_exact() -> None:
    """Case E12 (gnubg 2008-12-09, 2011-07-29): with 6-1 the last checker goes off, after 2-1 the opponent's does."""
    board = np.zeros((2, 26), dtype=np.int8)
    board[0, [0, 6]], board[1, [0, 1]] = (14, 1), (14, 1)
    judge = Evaluator(small_net("short_backgammon"), get_rules("short_backgammon"))
    won = analyze(ended(board, (6, 1)), judge, NET_ALONE).games[0]
    lost = analyze(ended(board, (2, 1)), judge, NET_ALONE).games[0]
    assert won.turns[0].luck == pytest.approx(0.5, abs=1e-6)
    assert lost.turns[0].luck == pytest.approx(-1.5, abs=1e-6)
    assert (won.value, lost.value) == (1.0, -1.0)
    # Perfect play and exact luck: what is left of either result is what the position was worth.
    assert [won.adjusted, lost.adjusted] == pytest.approx([0.5, 0.5], abs=1e-6)


def test_rates_are_means_over_legal_plays_that_had_a_choice() -> None:
    match = played_match("short_backgammon", ("heuristic", "random"))
    analysis = judged(match)
    for player in (0, 1):
        turns = [turn for _, turn in analysis.turns if turn.turn.player == player]
        losses = [turn.loss for turn in turns if turn.n_legal > 1]
        figures = analysis.figures[player]
        assert figures.plays == len(turns) and figures.unforced == len(losses) < len(turns)
        assert figures.error_rate_mpt == pytest.approx(1000 * np.mean(losses))
        assert figures.pr == pytest.approx(500 * np.mean(losses))
        assert figures.error_rate.se == pytest.approx(np.std(losses, ddof=1) / math.sqrt(len(losses)))
    assert analysis.figures[1].pr > analysis.figures[0].pr > 0


def test_a_loss_is_measured_against_the_best_play_of_the_ranking() -> None:
    match = played_match("short_backgammon")
    judge = FakeJudge(match.rules)
    _, turn = next((game, turn) for game, turn in judged(match).turns if (turn.loss or 0.0) > 0.05)
    dice = np.array([turn.turn.dice], dtype=np.int8)
    ranking = rank_plays(judge, turn.turn.board[None], dice, Level(plies=0))
    made = np.flatnonzero((ranking.afterstates == turn.turn.afterstate).all(axis=(1, 2)))[0]
    assert turn.loss == pytest.approx(ranking.loss[made], abs=1e-6)
    assert turn.n_legal == len(ranking.equity) and turn.play_text != turn.best_text


def test_the_play_made_is_judged_as_deep_as_the_best_one() -> None:
    match = played_match("short_backgammon", ("random", "pips"))
    match = replace(match, games=(replace(match.games[0], turns=match.games[0].turns[:12]),))
    judge = FakeJudge(match.rules)
    narrow = Level(plies=1, filters=(PlyFilter(keep=1, within=0.0),))
    analysis = analyze(match, judge, AnalysisConfig(level=narrow))
    for _, turn in analysis.turns:
        assert turn.level == "1-ply" and turn.loss is not None and turn.loss >= 0.0
        made = plies_probs(judge, turn.turn.afterstate[None], 1) @ match.rules.points
        assert turn.equity == pytest.approx(float(made[0]), abs=1e-6)
        assert turn.best_equity == pytest.approx(turn.equity + turn.loss, abs=1e-6)


def test_the_figures_do_not_depend_on_the_size_of_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    match = played_match("long_classic")
    whole = analysis_dict(judged(match))
    counted: list[int] = []
    monkeypatch.setattr(module, "TURNS_A_BATCH", 7)
    parts = analyze(match, FakeJudge(match.rules), NET_ALONE, progress=counted.append)
    assert sum(counted) == match.turns and max(counted) == 7
    assert analysis_dict(parts) == whole


@pytest.mark.parametrize("limits", [(0.02, 0.04, 0.08), (0.1, 0.2, 0.3)])
def test_marks_follow_the_loss(limits: tuple[float, float, float]) -> None:
    turns = [turn for _, turn in judged(played_match("short_backgammon"), replace(NET_ALONE, marks=limits)).turns]
    for turn in turns:
        over = [name for name, limit in zip(MARKS, limits, strict=True) if (turn.loss or 0.0) >= limit]
        assert turn.mark == (over[-1] if over else "")
    assert {turn.mark for turn in turns} >= {"", "doubtful"}


def test_an_illegal_play_is_marked_with_its_reason_and_counts_in_no_rate() -> None:
    analysis = judged(match_of(ILLEGAL_GAME))
    ((game, turn),) = analysis.illegal
    assert (game.game.number, turn.number, turn.mark) == (1, 2, ILLEGAL)
    assert turn.loss is None and not turn.is_decision and turn.best_text != ""
    assert turn.turn.reason is not None and turn.play_text == "13/8 13/9"
    assert analysis.figures[1].counts[ILLEGAL] == 1
    legal = judged(match_of(DOUBLED))
    assert analysis.figures[1].unforced == legal.figures[1].unforced - 1


def test_a_board_placed_by_hand_is_shown_without_a_file() -> None:
    session = Session("long_classic", enforce="claims", first=0)
    session.roll((6, 6))
    session.step(24, 6)
    session.commit()
    session.accept()
    header = Header(rules="long_classic", enforce="claims", first=0)
    match = match_of_records([Record(header=header, events=tuple(session.log))])
    ((_, turn),) = judged(match).illegal
    assert turn.play_text == "24/18" and turn.best_text == "24/18(2)"


def test_a_forced_play_loses_nothing_and_is_not_counted() -> None:
    analysis = judged(played_match("long_classic"))
    forced = [turn for _, turn in analysis.turns if turn.n_legal == 1]
    assert forced and all(turn.loss == 0.0 and not turn.is_decision and turn.mark == "" for turn in forced)


def test_a_game_won_by_the_cube_is_worth_the_equity_of_its_last_position() -> None:
    match = match_of(DOUBLED)
    judge = FakeJudge(match.rules)
    game = judged(match).games[0]
    last = match.games[0].turns[-1]
    equity = float(judge.equity(last.afterstate[None])[0]) * (1 - 2 * last.player)
    assert game.is_estimated and game.value == pytest.approx(equity)
    assert game.adjusted == pytest.approx(equity - game.figures[0].luck + game.figures[1].luck)


def test_the_luck_beside_an_estimated_game_is_that_which_led_to_its_position() -> None:
    match = match_of(DOUBLED.replace("52: 13/8 24/22", "52: 24/18 7/2"))
    game = judged(match).games[0]
    assert game.is_estimated and game.turns[-1].turn.afterstate is None and game.turns[-1].luck != 0.0
    value, luck_shown, less = (float(cell.lstrip("~")) for cell in games_table(judged(match), "en").rows[0][-3:])
    assert value - luck_shown == pytest.approx(less, abs=0.0011)


def test_a_resigned_game_counts_its_points_and_the_luck_of_its_last_roll() -> None:
    text = RESIGNED_GAMMON.replace("6/5                    42: 8/4 6/4\n  3) Resigns", "6/5                    42:")
    match = match_of(text)
    game = judged(match).games[1]
    assert match.games[1].turns[-1].afterstate is None and game.turns[-1].equity is None
    assert game.turns[-1].luck != 0.0 and game.value == -1.0 and not game.is_estimated


def test_less_luck_has_the_same_mean_and_less_noise() -> None:
    match = played_match("short_backgammon", ("heuristic", "heuristic"))
    games = tuple(game for seed in range(6) for game in played_match(str(match.rules), ("heuristic",) * 2, seed).games)
    analysis = judged(replace(match, games=games))
    assert analysis.adjusted_ppg.se < analysis.ppg.se
    assert abs(analysis.adjusted_ppg.value) < 4 * analysis.adjusted_ppg.se + 0.1


def test_a_long_game_written_and_read_back_has_the_same_analysis() -> None:
    match = played_match("long_classic")
    again = parse_match(match_text(match).encode())
    mine, theirs = (analysis_dict(judged(m)) for m in (match, again))
    for game in (*mine["games"], *theirs["games"]):
        for turn in game["turns"]:
            del turn["line"]
    assert mine["games"] == theirs["games"] and mine["figures"] == theirs["figures"]


@pytest.mark.parametrize("text", [RESIGNED_GAMMON, ILLEGAL_GAME], ids=["resigned", "illegal"])
def test_the_json_is_what_the_schema_describes(text: str) -> None:
    answer = analysis_dict(judged(match_of(text)))
    assert_fits(answer, ANALYSIS)
    assert answer["players"] == ["Anna", "Boris"] and answer["level"] == "0-ply"


def test_the_page_needs_nothing_from_outside_and_shows_boards_and_curves(tmp_path: Path) -> None:
    match = replace(match_of(ILLEGAL_GAME), players=("<b>Anna</b>", "Boris"))
    analysis = judged(match)
    write_html(analysis, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert not re.findall(r'(?:src|href)="|url\((?!#)|@import|<script', page)
    assert "<b>Anna" not in page and "&lt;b&gt;Anna&lt;/b&gt;" in page
    assert page.count("<polyline") == 2 and "<polygon" in page
    assert "cannot be made with the dice 5-2" in page
    assert page.count("<svg") == page.count("</svg>") == 2 + len(analysis.worst(40, at_least=0.04))


def test_a_curve_marks_illegal_plays_and_bears_a_game_of_one_turn() -> None:
    games = judged(match_of(ILLEGAL_GAME)).games
    assert "#8030d0" in curve_svg(games[0])
    assert curve_svg(games[1]).startswith("<svg")


def test_the_figures_beside_a_curve_can_be_read_on_a_phone_and_are_not_cut_off() -> None:
    svg = curve_svg(judged(match_of(ILLEGAL_GAME)).games[0])
    width = float(re.findall(r'viewBox="0 0 (\S+)', svg)[0])
    labels = re.findall(r'<text x="(\S+)" y="\S+" font-size="(\S+)" text-anchor="end" fill="#444">(.*?)</text>', svg)
    assert len(labels) == 3 and labels[1][2] == "0"
    for right, size, shown in labels:
        assert float(size) * 360 / width > 10  # px on a narrow page
        assert float(right) > 0.6 * float(size) * len(shown)


@pytest.mark.parametrize("lang", ["en", "ru"])
def test_the_text_names_players_plays_reasons_and_notes(lang: str, capsys: pytest.CaptureFixture[str]) -> None:
    show(judged(match_of(ILLEGAL_GAME)), lang=lang, all_plays=True)
    printed = capsys.readouterr().out
    for word in ("Anna", "Boris", "13/8 13/9", WORDS[lang]["illegal_plays"], WORDS[lang]["notes"][:0]):
        assert word in printed
    assert "4 actions with the cube are kept and ignored" in printed
    assert analysis_html(judged(match_of(RESIGNED_GAMMON)), lang=lang).startswith("<!DOCTYPE html>")


def test_a_list_of_no_worst_plays_does_not_say_that_none_lost_anything(capsys: pytest.CaptureFixture[str]) -> None:
    analysis = judged(match_of(DOUBLED))
    assert analysis.worst(1)
    show(analysis, worst=0)
    assert WORDS["en"]["none_worst"] not in capsys.readouterr().out


def test_both_languages_have_the_same_sentences() -> None:
    assert set(WORDS["en"]) == set(WORDS["ru"])
    for key, sentence in WORDS["en"].items():
        names = set(re.findall(r"\{(\w+)", sentence))
        assert set(re.findall(r"\{(\w+)", WORDS["ru"][key])) == names, key


@pytest.mark.parametrize("marks", [(0.0, 0.1, 0.2), (0.1, 0.05, 0.2), (0.1, 0.2, math.nan)])
def test_marks_out_of_order_are_refused(marks: tuple[float, float, float]) -> None:
    with pytest.raises(ConfigError, match="rising order"):
        AnalysisConfig(marks=marks)


def test_an_evaluator_of_other_rules_is_refused() -> None:
    with pytest.raises(ConfigError, match="bound to short"):
        analyze(match_of(DOUBLED), FakeJudge(get_rules("short")))


def test_a_match_without_turns_has_empty_figures() -> None:
    match = match_of(" 3 point match\n Game 1\n Anna : 0      Boris : 0\n")
    answer = analysis_dict(judged(match))
    assert_fits(answer, ANALYSIS)
    assert answer["figures"][0]["pr"] is None and answer["ppg"]["value"] is None


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def call(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


def test_the_command_prints_json_only_and_writes_page_and_match_file(
    run: Any, nets: dict[str, str], tmp_path: Path
) -> None:
    html, mat = tmp_path / "page.html", tmp_path / "copy.mat"
    options = ("--net", nets["short"], "--plies", 0, "--json", "--html", html, "--mat", mat)
    code, out, _ = run("analyze", DATA / "gammonview.mat", *options)
    assert code == 0
    answer = json.loads(out)
    assert_fits(answer, ANALYSIS)
    assert len(answer["games"]) == 3 and html.is_file()
    assert parse_match(mat.read_bytes()).games[-1].score_after == (6.0, 0.0)


def test_the_command_judges_a_long_game_at_1_ply_by_default(run: Any, nets: dict[str, str], tmp_path: Path) -> None:
    match = played_match("long_classic")
    short = replace(match, games=(replace(match.games[0], turns=match.games[0].turns[:8], result=None, winner=None),))
    write_match(short, tmp_path / "long.mat")
    code, out, _ = run("analyze", tmp_path / "long.mat", "--net", nets["long"])
    assert code == 0 and "1-ply" in out and "long_classic" in out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["none.mat"], "cannot be read"),
        ([str(DATA / "cases.jsonl")], "is no game record"),
        ([str(DATA / "gammonview.mat"), "--marks", "1,2"], "three losses"),
        ([str(DATA / "gammonview.mat"), "--plies", "9"], "0 to 3"),
        ([str(DATA / "gammonview.mat"), "--rules", "chess"], "unknown rules"),
        ([str(DATA / "gammonview.mat"), "--lang", "de"], "en or ru"),
    ],
)
def test_bad_input_ends_with_2_and_one_line(run: Any, options: list[str], said: str) -> None:
    code, out, err = run("analyze", *options)
    assert code == 2 and out == "" and said in err and err.count("\n") == 1


def test_the_first_roll_of_each_game_is_judged_as_a_toss() -> None:
    match = match_of(DOUBLED)
    once, twice = (replace(match, games=match.games[:1] * count) for count in (1, 2))
    first, *rest = judged(once).turns
    board, dice = first[1].turn.board[None], np.array([first[1].turn.dice])
    judge = FakeJudge(match.rules)
    assert first[1].luck == pytest.approx(luck(judge, board, dice, is_first=np.ones(1, dtype=np.bool_))[0], abs=1e-6)
    assert first[1].luck > luck(judge, board, dice)[0] + 0.001
    assert [turn.luck for _, turn in judged(twice).turns] == [turn.luck for _, turn in [first, *rest]] * 2


def test_a_page_that_cannot_be_written_is_found_first_and_a_late_fault_hides_nothing(
    run: Any, nets: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("analyze", DATA / "gammonview.mat", "--net", nets["short"], "--plies", 0)
    code, out, err = run(*words, "--html", tmp_path / "none" / "page.html")
    assert (code, out) == (2, "") and "the folder of the report" in err

    def full(*arguments: object, **named: object) -> None:
        raise OSError(28, "No space left on device", "page.html")

    monkeypatch.setattr("agent.analysis_report.write_whole", full)
    code, out, err = run(*words, "--html", tmp_path / "page.html")
    assert code == 2 and "PR" in out and err == "nardy: page.html: No space left on device\n"
    code, out, _ = run(*words, "--json", "--html", tmp_path / "page.html")
    assert code == 2 and len(json.loads(out)["games"]) == 3
