"""Boards as text: every checker is on its point, for both games and from both sides."""

from __future__ import annotations

import re

import numpy as np
import pytest

from agent.play_words import board_words
from engine import RULES
from engine.board import Boards
from engine.drawing import LONGEST_NAME, draw_board
from engine.errors import PositionError
from engine.rules import Rules
from examples import row_from
from random_positions import placed

SHORT = RULES["short"]
LONG = RULES["long_classic"]


def board_of(text: str) -> Boards:
    return np.array([row_from(part) for part in text.split()], dtype=np.int8)


def read_drawing(text: str) -> dict[str, dict[int, int]]:
    """Checkers of X and O by the numbers along the edges (25: the bar, 0: off), counted in a drawing."""
    lines = text.splitlines()[:-2]
    left = lines[1].index("+") + 1
    found: dict[str, dict[int, int]] = {"X": {}, "O": {}}
    for numbers, rows in ((lines[0], lines[2:7]), (lines[-1], lines[12:7:-1])):
        for match in re.finditer(r"\d+", numbers):
            cells = [row[match.end() - 3 : match.end()].strip() for row in rows]
            marks = [cell for cell in cells if cell in ("X", "O")]
            counts = [int(cell) for cell in cells if cell.isdigit()]
            if marks:
                found[marks[0]][int(match[0])] = counts[0] if counts else len(marks)
    for mark, count in re.findall(r"\|([XO])(\d+) *\|", "\n".join(line[left:] for line in lines)):
        found[mark][25] = int(count)
    for mark, count in re.findall(r"([XO]) off (\d+)", text):
        found[mark][0] = int(count)
    return found


@pytest.mark.parametrize("rules", [SHORT, LONG], ids=str)
@pytest.mark.parametrize("numbering_from", ["me", "opponent"])
@pytest.mark.parametrize("bottom", ["me", "opponent"])
def test_every_checker_is_drawn_on_its_point(rules: Rules, numbering_from: str, bottom: str) -> None:
    for board in placed(rules, 60, np.random.default_rng(9))[0]:
        text = draw_board(board, rules, numbering_from=numbering_from, bottom=bottom)  # type: ignore[arg-type]
        drawn = read_drawing(text)
        for row, mark in enumerate("XO"):
            is_own_numbering = (mark == "X") == (numbering_from == "me")
            numbers = np.arange(26) if is_own_numbering else rules.opponent_point
            expected = {int(numbers[p]): int(n) for p, n in enumerate(board[row]) if n or p == 0}
            assert drawn[mark] == expected, text
        assert max(map(len, text.splitlines())) <= 80


def test_the_start_of_short_nardy_looks_like_a_gammon_board() -> None:
    assert draw_board(SHORT.start_board(), SHORT).splitlines()[:-2] == [
        "  13  14  15  16  17  18        19  20  21  22  23  24",
        "+-------------------------+---+-------------------------+",
        "|  X               O      |   |  O                   X  |  O off 0",
        "|  X               O      |   |  O                   X  |",
        "|  X               O      |   |  O                      |",
        "|  X                      |   |  O                      |",
        "|  X                      |   |  O                      |",
        "|                         |BAR|                         |",
        "|  O                      |   |  X                      |",
        "|  O                      |   |  X                      |",
        "|  O               X      |   |  X                      |",
        "|  O               X      |   |  X                   O  |",
        "|  O               X      |   |  X                   O  |  X off 0",
        "+-------------------------+---+-------------------------+",
        "  12  11  10   9   8   7         6   5   4   3   2   1",
    ]


def test_heads_of_long_nardy_stand_at_opposite_corners_and_homes_too() -> None:
    lines = draw_board(LONG.start_board(), LONG).splitlines()
    assert lines[2].rstrip(" |").endswith("X") and lines[2].startswith("O off 0")
    assert lines[12].split("|")[1].split() == ["O"] and lines[12].endswith("X off 0")
    assert lines[-2:] == [
        "X on roll: 360 pips, counter-clockwise from 24 to 1, home 6 to 1",
        "O opponent: 360 pips, counter-clockwise from 12 to 13, home 18 to 13",
    ]


def test_both_sides_of_short_nardy_go_opposite_ways() -> None:
    lines = draw_board(SHORT.start_board(), SHORT, names=("Anna", "Boris")).splitlines()
    assert lines[-2:] == [
        "X Anna: 167 pips, counter-clockwise from 24 to 1, home 6 to 1",
        "O Boris: 167 pips, clockwise from 1 to 24, home 19 to 24",
    ]


@pytest.mark.parametrize("rules", [SHORT, LONG], ids=str)
def test_a_board_in_russian_has_no_english_word_and_fits_the_width(rules: Rules) -> None:
    name = "х" * LONGEST_NAME
    lines = draw_board(rules.start_board(), rules, names=(name, name), words=board_words("ru"), width=80).splitlines()
    words = set(re.findall("[A-Za-z]+", "\n".join(lines)))
    assert words == {"X", "O"}
    pips, home = ("167", "19–24") if rules.can_hit else ("360", "18–13")
    way = "по часовой стрелке с 1 до 24" if rules.can_hit else "против часовой стрелки с 12 до 13"
    assert lines[-1] == f"O {name}: пипсы {pips}, {way}, дом {home}"
    english = draw_board(rules.start_board(), rules).splitlines()
    assert [line.count("X") for line in lines[:-2]] == [line.count("X") for line in english[:-2]]


def test_the_opponent_may_sit_below_with_his_own_numbers() -> None:
    board = board_of("me{24:14,18:1} opp{24:15}")
    lines = draw_board(board, LONG, bottom="opponent", numbering_from="opponent").splitlines()
    assert lines[0].split()[-1] == "24" and lines[2].rstrip(" |").endswith("O")
    assert lines[-2].startswith("O opponent: 360 pips, counter-clockwise from 24 to 1")


def test_colours_are_codes_only_when_asked_for() -> None:
    plain = draw_board(SHORT.start_board(), SHORT)
    colored = draw_board(SHORT.start_board(), SHORT, color=True)
    assert "\033" not in plain
    assert re.sub(r"\033\[[0-9;]*m", "", colored) == plain != colored


def test_a_long_name_is_cut_and_a_narrow_width_refused() -> None:
    text = draw_board(SHORT.start_board(), SHORT, names=("x" * 500, "y"))
    assert max(map(len, text.splitlines())) <= 80
    with pytest.raises(PositionError, match=r"the board needs \d+ columns, got 40"):
        draw_board(SHORT.start_board(), SHORT, width=40)


def test_bad_boards_are_refused() -> None:
    with pytest.raises(PositionError, match="shape"):
        draw_board(SHORT.start_board()[None], SHORT)
    with pytest.raises(PositionError, match="no bar"):
        draw_board(board_of("me{25:1} opp{24:15}"), LONG)
