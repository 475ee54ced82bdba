"""Plays as text and back, in both games."""

from __future__ import annotations

import json

import numpy as np
import pytest

from engine import RULES, get_rules, legal_afterstates
from engine.board import Boards
from engine.errors import DiceError, IllegalPlayError, NotationError, PositionError
from engine.notation import parse_play, play_text, steps_text
from engine.rules import Rules
from engine.steps import Step
from examples import DATA, row_from
from random_positions import placed, random_play

VARIANTS = [*RULES, "long_classic(block_check=turn)"]
CASES = {case["id"]: case for case in map(json.loads, (DATA / "cases.jsonl").read_text().splitlines())}
SHORT = RULES["short"]
LONG = RULES["long_classic"]
START = SHORT.start_board()


def board_of(text: str) -> Boards:
    return np.array([row_from(part) for part in text.split()], dtype=np.int8)


def case_board(name: str) -> Boards:
    return np.array([CASES[name]["me"], CASES[name]["opp"]], dtype=np.int8)


def texts(board: Boards, dice: tuple[int, int], rules: Rules) -> set[str]:
    return {play_text(board, dice, after, rules) for after in legal_afterstates(board, dice, rules)}


@pytest.mark.parametrize("name", VARIANTS)
def test_every_play_is_read_back_from_its_text(name: str, is_long: bool) -> None:
    rules = get_rules(name)
    rng = np.random.default_rng(7)
    n = 800 if is_long else 40
    found = [*zip(*random_play(rules, n // 2, rng), strict=True), *zip(*placed(rules, n - n // 2, rng), strict=True)]
    for board, dice in found:
        legal = legal_afterstates(board, dice, rules)
        for after in legal[rng.permutation(len(legal))[:4]]:
            text = play_text(board, dice, after, rules)
            assert np.array_equal(parse_play(text, board, dice, rules), after), (board.tolist(), dice, text)
            assert text == play_text(board, dice[::-1], after, rules)


@pytest.mark.parametrize("name", ["short", "long_classic"])
def test_no_two_plays_of_a_roll_share_a_text(name: str) -> None:
    rules = RULES[name]
    rng = np.random.default_rng(19)
    for board, dice in zip(*placed(rules, 30, rng), strict=True):
        legal = legal_afterstates(board, dice, rules)
        if len(legal) <= 40:
            assert len(texts(board, dice, rules)) == len(legal)


@pytest.mark.parametrize(
    "preset, board, dice, plays",
    [
        ("short", "me{6:1,2:1} opp{21:1,10:4}", (4, 2), {"6/4*/off", "6/2/off"}),  # S8: a hit or not
        (
            "short",
            "me{24:1,18:1} opp{9:1,12:2}",
            (2, 2),
            {"24/20 18/16*/14", "24/22 18/16*/12", "18/16*/10", "24/16*"},
        ),
        ("short", "me{3:1} opp{23:1,10:5,6:4}", (3, 1), {"3/2*/off"}),  # S9
        ("short", "me{6:3} opp{24:1}", (5, 5), {"6/off 6/1*(2)"}),
        ("long_classic", "me{24:15} opp{24:15}", (6, 6), {"24/18(2)"}),
        ("long_classic", "me{24:15} opp{24:15}", (3, 3), {"24/15 24/21", "24/18(2)"}),
        ("long_classic", "me{3:1} opp{24:15}", (3, 1), {"3/off"}),  # O9: also 3/2/off
        ("long_classic", "me{6:1,1:1} opp{24:15}", (6, 1), {"6/off 1/off", "6/5/off"}),  # O1
        (
            "short",
            "me{25:1,24:1,6:1} opp{20:1,4:1,6:2}",
            (4, 2),
            {"bar/21* 24/22", "bar/21* 6/4", "bar/23 24/20", "bar/23 6/2"},
        ),
    ],
)
def test_plays_are_written_in_the_shortest_form_that_is_theirs_alone(
    preset: str, board: str, dice: tuple[int, int], plays: set[str]
) -> None:
    assert texts(board_of(board), dice, RULES[preset]) == plays


@pytest.mark.parametrize(
    "case, dice, plays",
    [
        ("B01", (6, 2), {"24/22 8/2"}),
        ("B03", (6, 4), {"9/5/off"}),
        ("B05", (4, 2), {"4/off 2/off", "4/2/off"}),
        ("B07", (2, 2), {"4/2*/off(2)", "4/off 4/2*(2)", "4/2*(4)"}),
        ("B11", (6, 5), {"13/8 9/3"}),
        ("B13a", (4, 1), {"5/1/off", "5/1 3/2"}),
        ("B13b", (4, 4), {"5/1 3/off(2) 2/off"}),
        ("B15", (4, 2), {"5/1 2/off", "5/3/off"}),
        ("N01", (3, 1), {"1/off(2)"}),
        ("N03", (2, 2), {"pass"}),
        ("N11", (4, 1), {"7/3"}),
        ("N13", (6, 1), {"4/off 4/3", "4/off 2/1"}),
        ("N17", (2, 1), {"7/4", "7/5 1/off"}),
        ("N19", (6, 5), {"24/13"}),
        ("N21a", (6, 6), {"24/18"}),
        ("N21b", (5, 5), {"24/4"}),
        ("N28", (4, 4), {"pass"}),
    ],
)
def test_plays_of_reported_positions_read_as_they_are_played(case: str, dice: tuple[int, int], plays: set[str]) -> None:
    rules = SHORT if case.startswith("B") else LONG
    assert texts(case_board(case), dice, rules) == plays


def test_a_single_checker_borne_off_with_a_larger_die_never_ends_below_zero() -> None:
    board = board_of("me{2:1} opp{24:2}")  # F09
    assert texts(board, (6, 1), SHORT) == {"2/off"}
    with pytest.raises(NotationError, match="is no move"):
        parse_play("2/-4", board, (6, 1), SHORT)


def test_every_move_goes_down_and_the_bar_point_can_be_made() -> None:
    for text in texts(START, (6, 1), SHORT):  # F17
        for move in text.split():
            points = [int(point) for point in move.replace("*", "").split("(")[0].split("/")]
            assert points == sorted(points, reverse=True)
    assert "13/7 8/7" in texts(START, (6, 1), SHORT)


@pytest.mark.parametrize(
    "text",
    [
        "24/18 13/9*",
        "13/9* 24/18",
        "24/18 13/9",
        " 24/18,13/9* ",
        "24/18, 13/9",
        "24 / 18  13 / 9 *",
        "24-18 13-9",
        "24–18 13→9",
        "24/18;13/9*",
    ],
)
def test_liberal_input_names_the_same_play(text: str) -> None:
    board = board_of("me{24:2,13:5,8:3,6:5} opp{24:2,16:1,13:4,8:3,6:5}")
    after = parse_play(text, board, (6, 4), SHORT)
    assert play_text(board, (6, 4), after, SHORT) == "24/18 13/9*"


@pytest.mark.parametrize("text", ["bar/20/15/10* 13/8", "bar/10* 13/8", "BAR/10 13/8", "25/20/10*,13/8", "25-10* 13-8"])
def test_a_double_from_the_bar_is_read_with_or_without_its_way(text: str) -> None:
    board = case_board("B09")
    after = parse_play(text, board, (5, 5), SHORT)
    assert after[0].tolist() == CASES["B09"]["must_include_me"][0]
    assert play_text(board, (5, 5), after, SHORT) == "bar/10* 13/8"


@pytest.mark.parametrize("text", ["bar/20/15/10*", "bar/10*"])
def test_an_unfinished_double_from_the_bar_says_how_many_steps_are_due(text: str) -> None:
    with pytest.raises(NotationError, match="4 times, this plays 3"):  # B09
        parse_play(text, case_board("B09"), (5, 5), SHORT)


@pytest.mark.parametrize("text", ["6/off(2) 2/off(2)", "6/0(2) 2/0 2/0", "6/Off 6/OFF 2/off(2)", "2/off (2) 6/off (2)"])
def test_bearing_off_is_read_with_numbers_words_and_counts(text: str) -> None:
    board = board_of("me{6:2,2:3} opp{24:15}")
    after = parse_play(text, board, (6, 6), LONG)
    assert play_text(board, (6, 6), after, LONG) == "6/off(2) 2/off(2)"


@pytest.mark.parametrize("text", ["pass", "PASS", "no move", " No  Move ", "", "cannot move"])
def test_a_pass_is_read_in_words(text: str) -> None:
    board = case_board("N03")
    assert np.array_equal(parse_play(text, board, (2, 2), LONG), board)


def test_a_text_that_fits_two_plays_names_them() -> None:
    board = board_of("me{6:1,2:1} opp{21:1,10:4}")  # S8
    with pytest.raises(NotationError, match=r"fits 2 plays of 4-2, write 6/2/off or 6/4\*/off"):
        parse_play("6/off", board, (4, 2), SHORT)


def test_complete_stars_choose_between_plays_that_differ_in_hits() -> None:
    board = board_of("me{6:1,2:1} opp{21:1,10:4}")
    after = parse_play("6/off", board, (4, 2), SHORT, are_stars_complete=True)
    assert play_text(board, (4, 2), after, SHORT) == "6/2/off"
    unmarked = board_of("me{24:2,13:5,8:3,6:5} opp{24:2,16:1,13:4,8:3,6:5}")
    assert parse_play("24/18 13/9", unmarked, (6, 4), SHORT, are_stars_complete=True)[1, 25] == 1


@pytest.mark.parametrize(
    "text, says",
    [
        ("13/7", "both dice must be played"),
        ("13/8 6/5", "13/8 cannot be made with the dice 6-1"),
        ("7/13 8/7", "7/13 goes backwards"),
        ("14/8 6/5", "no checker on 14"),
        ("24/23 24/18 13/7", "cannot be made together"),
        ("pass", "nothing was moved"),
        ("24/18 24/23*", "marks a hit where there is none to make: on 23"),
        ("24/18 6/5 4/3 2/1 8/7", "has 5 moves; a roll gives at most 4"),
        ("hello", "'hello' is no move; plays are written such as"),
        ("24/18 6", "'6' is no move"),
        ("26/20", "names point 26"),
        ("13/7(9)", "is no move"),
        ("13*/7 8/7", "is no move"),
        ("13/7 8/7 👍", "is no move"),
        ("٢٤/١٨ 8/7", "is no move"),
        ("1" * 121, "at most 120 characters"),
        (None, "at most 120 characters"),
    ],
)
def test_bad_text_says_what_is_wrong_in_one_line(text: str, says: str) -> None:
    with pytest.raises(NotationError) as caught:
        parse_play(text, START, (6, 1), SHORT)
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_half_a_turn_is_refused_in_long_nardy_too() -> None:
    with pytest.raises(NotationError, match="both dice must be played"):  # N19
        parse_play("24/18", LONG.start_board(), (6, 5), LONG)


def test_a_finished_game_has_no_plays() -> None:
    with pytest.raises(NotationError, match="the game is over"):
        parse_play("pass", board_of("me{} opp{3:1}"), (6, 5), SHORT)


def test_bad_boards_dice_and_afterstates_are_refused() -> None:
    with pytest.raises(DiceError):
        parse_play("24/18", START, "77", SHORT)
    with pytest.raises(PositionError, match=r"\[1, 2, 26\]"):
        parse_play("24/18", START[None], (6, 1), SHORT)
    with pytest.raises(IllegalPlayError, match="nothing was moved"):
        play_text(START, (6, 1), START, SHORT)


def test_steps_are_written_with_every_point_on_the_way() -> None:
    steps = [Step(24, 18, 6, False), Step(18, 13, 5, True)]
    assert steps_text(steps) == "24/18/13*"
    assert steps_text([Step(8, 5, 3, False)] * 2) == "8/5(2)"


def test_a_hit_is_marked_once_at_the_end_of_a_way() -> None:
    steps = [Step(13, 11, 2, True), Step(13, 11, 2, False), Step(11, 9, 2, False)]
    assert steps_text(steps) == "13/11/9 13/11*"
    board = board_of("me{13:2,24:2} opp{14:1,6:5,8:9}")
    after = board_of("me{24:1,22:1,11:1,9:1} opp{25:1,6:5,8:9}")
    assert play_text(board, (2, 2), after, SHORT) == "24/22 13/9 13/11*"
