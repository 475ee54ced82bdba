"""Explanations: every fact is counted, and the sentences say what was counted."""

from __future__ import annotations

import numpy as np
import pytest

from agent.explain import explain, fact_sentences, why
from agent.facts import longest_block, play_facts
from agent.suggest import evaluate, suggest
from engine.board import opponent_view
from engine.movegen import legal_afterstates
from engine.notation import parse_play
from engine.rules import get_rules
from fake_judge import FakeJudge
from random_positions import board_of, random_play

SHORT, LONG = get_rules("short"), get_rules("long_classic")


def facts_of(play: str, board: np.ndarray, dice: str, rules):
    return play_facts(board, parse_play(play, board, dice, rules), rules)


def test_the_opening_3_1_makes_the_five_point() -> None:
    facts = facts_of("8/5 6/5", SHORT.start_board(), "31", SHORT)
    assert facts.made == (5,) and facts.broken == () and facts.hits == ()
    assert (facts.pips_before, facts.pips, facts.pips_opponent) == (167, 163, 167)
    assert facts.hit_rolls == 0 and facts.blots == ()


@pytest.mark.parametrize(
    ("distance", "rolls"),
    [
        *[(1, 11), (2, 12), (3, 14), (4, 15), (5, 15), (6, 17), (7, 6), (8, 6), (9, 5), (10, 3), (11, 2), (12, 3)],
        *[(13, 0), (15, 1), (16, 1), (18, 1), (20, 1), (21, 0)],
    ],
)
def test_shots_at_a_lone_blot_are_those_of_the_books(distance: int, rolls: int) -> None:
    """Direct and indirect shots with nothing in between: the table found in every backgammon book."""
    afterstate = board_of({distance + 1: 1}, {24: 2})  # his 24 is my 1
    assert play_facts(afterstate, afterstate, SHORT).blots == ((distance + 1, rolls),)


def test_the_share_of_hits_is_counted_over_real_replies() -> None:
    boards, dice = random_play(SHORT, 25, np.random.default_rng(4))
    for board, roll in zip(boards, dice, strict=True):
        afterstate = legal_afterstates(board, roll, SHORT)[0]
        facts = play_facts(board, afterstate, SHORT)
        hits = 0
        for a in range(1, 7):
            for b in range(1, 7):
                replies = legal_afterstates(np.ascontiguousarray(opponent_view(afterstate)), (a, b), SHORT)
                hits += bool((replies[:, 1, 25] > afterstate[0, 25]).any())
        assert facts.hit_rolls == hits
        assert max([rolls for _, rolls in facts.blots], default=0) <= hits


def test_a_block_counts_the_checkers_it_holds() -> None:
    # My 4..8 are the opponent's 21..17; two of his checkers stand behind them on his 24, one on his bar.
    board = board_of({4: 2, 5: 2, 6: 2, 7: 2, 8: 2, 13: 5}, {24: 2, 25: 1, 13: 5, 6: 7})
    block = longest_block(board, SHORT)
    assert (block.length, {block.rear, block.front}, block.held) == (5, {4, 8}, 3)
    long_board = board_of({22: 2, 23: 1, 24: 9, 1: 1, 2: 2}, {24: 10, 5: 5})
    block = longest_block(long_board, LONG)  # my 24 and 1 are his 12 and 13: neighbours on his route
    assert (block.length, block.rear, block.front, block.held) == (5, 2, 22, 10)
    assert longest_block(board_of({1: 15}, {24: 15}), LONG) is None
    assert longest_block(board_of({4: 5, 5: 5, 6: 5}, {1: 15}), SHORT) is None  # nobody is left behind it


def test_a_closed_bar_is_told_as_rolls_without_a_play() -> None:
    board = board_of({6: 3, 5: 2, 4: 2, 3: 2, 2: 2, 1: 2, 8: 2}, {25: 1, 6: 14})
    facts = play_facts(board, board, SHORT)
    assert facts.stuck_rolls == 36
    sentences = fact_sentences(facts, "en")
    assert "With 36 of the 36 rolls the opponent has no play." in sentences


def test_the_head_is_told_in_long_nardy_only() -> None:
    board = LONG.start_board()
    facts = facts_of("24/14", board, "64", LONG)
    assert (facts.head, facts.head_taken, facts.made) == (14, 1, (14,))
    assert "Takes 1 from the head, 14 checkers stay there." in fact_sentences(facts, "en")
    assert "Снимает с головы 1 шашку, на голове остаётся 14." in fact_sentences(facts, "ru")
    assert not any("blot" in s for s in fact_sentences(facts, "en"))
    assert facts_of("13/8", SHORT.start_board(), "41", SHORT).head is None


def test_a_hit_and_what_it_leaves_open_are_told() -> None:
    board = board_of({24: 1, 8: 3, 6: 5, 13: 6}, {24: 1, 20: 1, 13: 5, 8: 3, 6: 5})
    facts = facts_of("8/5* 6/5", board, "31", SHORT)
    assert facts.hits == (5,) and facts.made == (5,)
    english = fact_sentences(facts, "en")
    assert english[0] == "Hits a checker on point 5." and "Makes point 5." in english
    assert fact_sentences(facts, "ru")[0] == "Бьёт шашку на пункте 5."


def test_bearing_off_a_race_speaks_of_pips_only() -> None:
    board = board_of({6: 2, 5: 2}, {6: 3})
    sentences = fact_sentences(facts_of("6/off 5/off", board, "65", SHORT), "en")
    assert sentences == ["Bears off 2 checkers.", "Pips 11 to 18: 7 ahead in the race."]


def test_a_pass_is_called_a_pass() -> None:
    board = board_of({25: 1, 8: 2}, dict.fromkeys(range(1, 7), 2))
    assert fact_sentences(play_facts(board, board, SHORT), "ru")[0] == "Ходить нечем: пропуск хода."


@pytest.mark.parametrize("lang", ["en", "ru"])
@pytest.mark.parametrize("rules", [SHORT, LONG])
def test_every_suggestion_can_be_explained(rules, lang: str) -> None:
    judge = FakeJudge(rules)
    boards, dice = random_play(rules, 12, np.random.default_rng(7))
    for board, roll in zip(boards, dice, strict=True):
        answer = suggest(board, roll, rules, judge, top=3)
        before = evaluate(board, rules, judge)
        for s in answer:
            sentences = explain(s, lang, before=before, best=answer[0])
            assert all(sentence.endswith(".") and "{" not in sentence for sentence in sentences)
            assert any("%" in sentence for sentence in sentences)
        if len(answer) > 1:
            assert answer[0].play_text in explain(answer[1], lang, best=answer[0])[-1]


def test_chances_before_and_after_are_those_of_the_judge() -> None:
    judge = FakeJudge(SHORT)
    answer, before = suggest(SHORT.start_board(), "31", SHORT, judge), evaluate(SHORT.start_board(), SHORT, judge)
    win, win_before = answer[0].probs[:4].sum(), before.probs[:4].sum()
    told = explain(answer[0], "en", before=before)[-1]
    assert told.startswith(f"Wins {100 * win:.1f} % (before the roll {100 * win_before:.1f} %)")
    assert f"equity {answer[0].equity:+.3f}, {before.equity:+.3f} before the roll." in told


def test_chances_before_the_roll_name_their_level_where_it_differs() -> None:
    judge = FakeJudge(SHORT)
    suggestion, before = (
        suggest(SHORT.start_board(), "31", SHORT, judge)[0],
        evaluate(SHORT.start_board(), SHORT, judge),
    )
    suggestion.level = "2-ply"
    assert "before the roll, judged at 0-ply: wins " in explain(suggestion, "en", before=before)[-1]
    assert "до броска, на уровне 0-ply: победа " in explain(suggestion, "ru", before=before)[-1]


def test_why_says_whether_a_play_is_legal_and_if_not_why() -> None:
    board = LONG.start_board()
    assert why(board, (6, 4), [(24, 14)], LONG, shown="24/14") == "24/14 is legal."
    english = why(board, (6, 4), [(24, 18), (24, 20)], LONG, shown="24/18 24/20")
    assert english.startswith("24/18 24/20 is not legal: ") and "head" in english
    russian = why(board, (6, 4), [(24, 18), (24, 20)], LONG, "ru", shown="24/18 24/20")
    assert russian.startswith("24/18 24/20: так ходить нельзя, ") and "голов" in russian
