"""Positions as text and back: GNUBG position ID, XGID, rows, and what tells them apart."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import RULES
from engine.board import Boards, opponent_view
from engine.errors import PositionError
from engine.movegen import legal_afterstates
from engine.notation import play_text
from engine.position_ids import (
    board_from_gnubg_id,
    format_xgid,
    gnubg_id,
    parse_position,
    parse_xgid,
    xgid_of,
)
from examples import DATA
from random_positions import placed, random_play

CASES = [json.loads(line) for line in (DATA / "cases.jsonl").read_text().splitlines()]
BY_ID = {case["id"]: case for case in CASES}
SHORT = RULES["short"]
LONG = RULES["long_classic"]
F01 = "XGID=-aa---EBB---dDa--c-e----B-:0:0:1:16:0:0:3:0:8"
E15 = "XGID=--CBCBC------B--b--cabbcb-:1:1:1:21:0:0:0:0:8"
START_XGID = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"


def case_board(name: str) -> Boards:
    return np.array([BY_ID[name]["me"], BY_ID[name]["opp"]], dtype=np.int8)


# GNUBG position ID


@pytest.mark.parametrize("case", [case for case in CASES if "position_id" in case], ids=lambda case: case["id"])
def test_known_ids_are_written_and_read(case: dict[str, Any]) -> None:
    board = np.array([case["me"], case["opp"]], dtype=np.int8)
    assert gnubg_id(board) == case["position_id"]
    assert np.array_equal(board_from_gnubg_id(case["position_id"], SHORT), board)


def test_the_side_not_on_roll_is_written_first() -> None:
    moved = case_board("F05b")
    assert gnubg_id(opponent_view(moved)) == BY_ID["F05c"]["position_id"]


def test_an_id_of_a_race_counts_missing_checkers_as_borne_off() -> None:
    board = board_from_gnubg_id("YEYF4TnO7w4AAA", SHORT)  # E04
    assert np.array_equal(board, case_board("E04"))


@pytest.mark.parametrize("preset", ["short", "long_classic"])
def test_every_board_survives_its_id(preset: str, is_long: bool) -> None:
    rules = RULES[preset]
    rng = np.random.default_rng(1)
    n = 2000 if is_long else 300
    for board in np.concatenate([random_play(rules, n, rng)[0], placed(rules, n, rng)[0]]):
        assert np.array_equal(board_from_gnubg_id(gnubg_id(board), rules), board)


def test_ids_agree_with_gnubg() -> None:
    gnubg_nn = pytest.importorskip("gnubg_nn")
    for board in random_play(SHORT, 50, np.random.default_rng(3))[0]:
        assert gnubg_nn.position_id(board[::-1, 1:].tolist()) == gnubg_id(board)


@pytest.mark.parametrize(
    "text, says",
    [
        ("", "14 characters"),
        ("4HPwATDgc/ABM", "14 characters"),
        ("4HPwATDgc/ABMAA", "14 characters"),
        ("4HPwATDgc/AB==", "14 characters"),
        ("4HPwATDgc_ABMA", "14 characters"),
        ("//////////////", "do not describe 2 x 25 points"),
        ("4HPwATDgc/ABMB", "the nearest one is 4HPwATDgc/ABMA"),
        ("//8AAAAAAAAAAA", "not on roll 16 checkers, at most 15"),
        ("4HPwATDgc/ABMH", "the nearest one is 4HPwATDgc/ABMA"),
        ("AAAAAAAAAAAAAA", "both sides have borne off"),
    ],
)
def test_a_bad_id_is_refused_in_one_line(text: str, says: str) -> None:
    with pytest.raises(PositionError, match=says):
        board_from_gnubg_id(text, SHORT)


def test_an_id_of_the_other_game_is_refused_where_its_board_is_not_well_formed() -> None:
    on_bar = np.zeros((2, 26), dtype=np.int8)
    on_bar[:, 25], on_bar[:, 6] = 1, 14
    with pytest.raises(PositionError, match="no bar"):
        board_from_gnubg_id(gnubg_id(on_bar), LONG)
    both_on_my_head = np.zeros((2, 26), dtype=np.int8)
    both_on_my_head[[0, 1], [24, 12]] = 15
    with pytest.raises(PositionError, match="held by both"):
        board_from_gnubg_id(gnubg_id(both_on_my_head), LONG)


# XGID


def test_a_reported_xgid_gives_board_roll_and_id() -> None:
    position = parse_position(F01, SHORT)
    assert np.array_equal(position.board, case_board("F01"))
    assert position.dice == (1, 6)
    assert gnubg_id(position.board) == "4HPkASjg2+ABMA"


def test_a_cube_owned_by_the_mover_is_said_to_be_his_and_ignored() -> None:
    position = parse_position(E15, SHORT)
    assert np.array_equal(position.board, case_board("E15"))
    assert position.dice == (2, 1)
    assert position.echo == E15
    assert "cube 2 owned by the player on roll" in position.notes[0]
    assert "kept and ignored" in position.notes[0]


@pytest.mark.parametrize(
    "owner, turn, says",
    [(0, 1, "centred"), (1, 1, "on roll"), (-1, 1, "opponent"), (1, -1, "opponent"), (-1, -1, "on roll")],
)
def test_the_owner_of_the_cube_is_named_by_the_player_on_roll(owner: int, turn: int, says: str) -> None:
    xgid = replace(parse_xgid(START_XGID), cube_log2=2, cube_owner=owner, turn=turn)
    assert (
        f"cube 4 {'' if owner == 0 else 'owned by the '}{'player ' if says == 'on roll' else ''}{says}"
        in (xgid.notes()[0])
    )


def test_cube_actions_and_the_largest_cube_are_kept_apart() -> None:
    head = START_XGID.split(":")[0]
    texts = [f"{head}:2:-1:-1:00:0:0:2:0:8", f"{head}:2:-1:-1:D:0:0:2:0:10"]  # F03
    texts += [f"{head}:2:-1:-1:{letter}:0:0:2:0:10" for letter in "BR"]
    assert [format_xgid(parse_xgid(text)) for text in texts] == texts
    offered = parse_position(texts[1], SHORT)
    assert offered.dice is None and "a double is offered" in offered.notes[0]


def test_a_match_score_is_shown_from_the_mover() -> None:
    xgid = replace(parse_xgid(START_XGID), score_lower=3, score_upper=1, match_length=5)
    assert "match to 5, score 3-1" in xgid.notes()[0]
    assert "match to 5, score 1-3" in replace(xgid, turn=-1).notes()[0]


letters = st.sampled_from("-ABCDEFGHIJKLMNOPabcdefghijklmnop")
points = st.builds(
    lambda first, middle, last: first + "".join(middle) + last,
    st.sampled_from("-abcdefghijklmnop"),
    st.lists(letters, min_size=24, max_size=24),
    st.sampled_from("-ABCDEFGHIJKLMNOP"),
)
dice = st.one_of(st.sampled_from(["00", "D", "B", "R"]), st.from_regex(r"\A[1-6]{2}\Z"))
scores = st.integers(0, 99999)
xgids = st.builds(
    lambda *parts: "XGID=" + ":".join(map(str, parts)),
    points,
    st.integers(0, 30),
    st.integers(-1, 1),
    st.sampled_from([1, -1]),
    dice,
    scores,
    scores,
    st.integers(0, 3),
    scores,
    st.integers(0, 30),
)


@given(text=xgids)
def test_every_xgid_is_written_as_it_was_read(text: str) -> None:
    assert format_xgid(parse_xgid(text)) == text


@given(text=st.text(max_size=60) | xgids.map(lambda text: text[:-3] + text[5:9]))
def test_any_text_is_a_position_or_one_line_of_error(text: str) -> None:
    for rules in (SHORT, LONG):
        try:
            parse_position(text, rules)
        except PositionError as error:
            assert len(str(error).splitlines()) == 1


def mirrored(text: str) -> str:
    """The same position with the players' places at the table exchanged."""
    parts = text.split(":")
    parts[0] = "XGID=" + parts[0][5:][::-1].swapcase()
    parts[3] = str(-int(parts[3]))
    return ":".join(parts)


def test_plays_do_not_depend_on_which_side_of_the_table_the_mover_sits() -> None:
    rng = np.random.default_rng(6)
    boards, rolls = random_play(SHORT, 40, rng)  # B19
    for board, roll in zip(boards, rolls, strict=True):
        text = format_xgid(xgid_of(board, (int(roll[0]), int(roll[1]))))
        here, there = parse_position(text, SHORT), parse_position(mirrored(text), SHORT)
        assert np.array_equal(here.board, board) and np.array_equal(there.board, board)
        assert here.dice == there.dice == tuple(roll)
        after = legal_afterstates(board, roll, SHORT)[0]
        assert play_text(here.board, roll, after, SHORT) == play_text(there.board, roll, after, SHORT)


@pytest.mark.parametrize(
    "text, says",
    [
        (START_XGID[:-3], "10 fields divided by ':', got 9"),
        (START_XGID + ":1", "got 11"),
        (START_XGID.replace("=-", "=A"), "26 characters"),
        (START_XGID.replace("B-:", "Ba:"), "26 characters"),
        (START_XGID.replace("-b", "b"), "26 characters"),
        (START_XGID.replace("-b", "-z"), "26 characters"),
        (START_XGID.replace(":31:", ":71:"), "two digits 1 to 6"),
        (START_XGID.replace(":31:", ":3:"), "two digits 1 to 6"),
        (START_XGID.replace(":0:0:1:", ":0:2:1:"), "cube_owner of an XGID must be -1 to 1, got '2'"),
        (START_XGID.replace(":0:0:1:", ":0:0:0:"), "turn of an XGID must be 1 or -1, got '0'"),
        (START_XGID.replace(":0:0:1:", ":00:0:1:"), "cube_log2"),
        (START_XGID.replace(":10", ":٣"), "max_cube_log2"),
        (START_XGID.replace(":0:10", ":-1:10"), "match_length"),
        (START_XGID.replace("-b----E", "-b---PE"), "27 checkers|at most 15"),
        ("XGID=" + "-" * 26 + START_XGID[31:], "both sides"),
        ("XGID=" + ":" * 2000, "at most 1000 characters"),
    ],
)
def test_a_bad_xgid_is_refused_in_one_line(text: str, says: str) -> None:
    with pytest.raises(PositionError, match=says) as caught:
        parse_position(text, SHORT)
    assert "\n" not in str(caught.value)


def test_an_xgid_is_refused_in_long_nardy() -> None:
    with pytest.raises(PositionError, match="an XGID describes short nardy, the rules are long_classic"):
        parse_position(START_XGID, LONG)


# any form


@pytest.mark.parametrize("rules", [SHORT, LONG], ids=str)
@pytest.mark.parametrize("text", ["start", " START "])
def test_start_is_the_start_of_the_rules(text: str, rules: Any) -> None:
    position = parse_position(text, rules)
    assert np.array_equal(position.board, rules.start_board())
    assert (position.source, position.echo, position.dice) == ("start", "start", None)


@pytest.mark.parametrize("rules", [SHORT, LONG], ids=str)
def test_what_was_understood_is_echoed_in_a_form_that_is_read_again(rules: Any) -> None:
    board = random_play(rules, 60, np.random.default_rng(4))[0][-1]
    texts = [gnubg_id(board), json.dumps(board.tolist())]
    if rules.can_hit:
        texts += [
            format_xgid(xgid_of(board)),
            format_xgid(xgid_of(board))[5:],
            "xgid=" + format_xgid(xgid_of(board))[5:],
        ]
    for text in texts:
        position = parse_position(text, rules)
        again = parse_position(position.echo, rules)
        assert np.array_equal(position.board, board) and np.array_equal(again.board, board)
        assert (again.source, again.echo) == (position.source, position.echo)


def test_rows_are_taken_as_text_lists_or_an_array() -> None:
    board = SHORT.start_board()
    for rows in (json.dumps(board.tolist(), indent=1)[:1000], board.tolist(), board, tuple(map(tuple, board))):
        position = parse_position(rows, SHORT)
        assert position.source == "rows" and position.board.dtype == np.int8
        assert np.array_equal(position.board, board)


def test_a_match_id_after_the_position_is_said_to_be_ignored() -> None:
    position = parse_position("4HPwATDgc/ABMA:cAkAAAAAAAAA", SHORT)
    assert position.echo == "4HPwATDgc/ABMA" and "match ID" in position.notes[0]


@pytest.mark.parametrize(
    "value, says",
    [
        ("", "positions are given as start, a GNUBG position ID"),
        ("starting", "positions are given as start"),
        ("[[1,2],[3]]", "two lists of 26"),
        ("[" * 900, "not valid JSON"),
        ("[[1e400" + ",0" * 25 + "],[0" + ",0" * 25 + "]]", "0 to 15 checkers, got 'inf'"),
        ("[[NaN]]", "two lists of 26"),
        ([[0.0] * 26] * 2, "0 to 15 checkers"),
        ([[True] * 26] * 2, "0 to 15 checkers"),
        ([[16] + [0] * 25] * 2, "0 to 15 checkers, got '16'"),
        ([[15] + [0] * 25] * 2, "both sides have borne off"),
        (None, "two lists of 26"),
        (b"start", "two lists of 26"),
        ({"board": []}, "two lists of 26"),
        ("x" * 1001, "at most 1000 characters, got 1001"),
    ],
)
def test_anything_else_is_refused_in_one_line(value: Any, says: str) -> None:
    with pytest.raises(PositionError, match=says) as caught:
        parse_position(value, SHORT)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300
