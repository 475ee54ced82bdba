"""Rules as data: presets, options, texts and what kernels read of them."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import FrozenInstanceError, replace
from itertools import product
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest

from engine import RULES, Rules, get_rules
from engine import _movegen_kernels as kernels
from engine import rules as rules_module
from engine.errors import NardyError, RulesError
from engine.rules import ALIASES, LONG, SHORT


def all_variants() -> Iterator[Rules]:
    """Every preset with every combination of its options."""
    for preset in RULES.values():
        words: dict[str, Any] = {**preset.game.options, "koks_needs_none_off": (True, False)}
        words["scoring"] = (*preset.game.options["scoring"], "/".join(["1", "2", "2.5", "7"][: preset.game.levels]))
        for values in product(*words.values()):
            yield replace(preset, **dict(zip(words, values, strict=True)))


def test_there_are_five_presets_and_two_aliases() -> None:
    assert list(RULES) == ["short", "short_backgammon", "long_classic", "long_common", "long_fnr2026"]
    assert dict(ALIASES) == {"long": "long_classic", "backgammon": "short_backgammon"}


@pytest.mark.parametrize(
    ("preset", "scoring", "first_turn", "block_check", "opening_roll"),
    [
        ("short", "seed", "unlimited", "off", "fresh"),
        ("short_backgammon", "backgammon", "unlimited", "off", "kept"),
        ("long_classic", "seed", "classic", "step", "fresh"),
        ("long_common", "fnr2026", "common", "step", "fresh"),
        ("long_fnr2026", "fnr2026", "fnr2026", "step", "kept"),
    ],
)
def test_presets_are_those_of_the_table_in_section_6(
    preset: str, scoring: str, first_turn: str, block_check: str, opening_roll: str
) -> None:
    rules = get_rules(preset)
    assert (rules.scoring, rules.first_turn, rules.block_check) == (scoring, first_turn, block_check)
    assert (rules.opening_roll, rules.koks_zone, rules.koks_needs_none_off) == (opening_roll, "home", True)
    assert rules.last_turn == "none"


def test_every_combination_of_options_survives_its_text() -> None:
    texts = set()
    for rules in all_variants():
        again = get_rules(str(rules))
        assert again == rules and hash(again) == hash(rules) and str(again) == str(rules)
        assert np.array_equal(again.code, rules.code) and np.array_equal(again.points, rules.points)
        texts.add(str(rules))
    assert len(texts) == 2 * 4 * 2 * 2 * 2 + 3 * 4 * 4 * 3 * 2 * 3 * 2 * 2


def test_a_preset_is_written_without_options_that_it_has_anyway() -> None:
    assert str(get_rules("long_classic(block_check=step,scoring=seed)")) == "long_classic"
    assert str(get_rules("long_classic()")) == "long_classic"


def test_texts_are_read_liberally_and_written_strictly() -> None:
    rules = get_rules("  LONG ( block_check = turn , koks_needs_none_off=false ) ")
    assert str(rules) == "long_classic(block_check=turn,koks_needs_none_off=False)"
    assert get_rules(rules) is rules


def test_rules_are_frozen_and_so_are_their_arrays() -> None:
    rules = get_rules("long")
    with pytest.raises(FrozenInstanceError):
        rules.scoring = "fnr2026"  # type: ignore[misc]
    for array in (rules.points, rules.code, rules.opponent_point):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_changed_start_board_does_not_change_the_next_one() -> None:
    rules = get_rules("short")
    rules.start_board()[0, 24] = 0
    assert rules.start_board()[0, 24] == 2


def test_rules_can_be_copied_and_sent_to_another_process() -> None:
    rules = get_rules("long_fnr2026(block_check=turn)")
    assert copy.deepcopy(rules) == rules
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(get_rules, rules).result() == rules


def test_equal_rules_are_one_key_of_a_dictionary() -> None:
    assert len({get_rules("long"), get_rules("long_classic"), get_rules("long_classic(block_check=step)")}) == 1
    assert get_rules("long") != get_rules("long_common") and get_rules("long") != "long_classic"


@pytest.mark.parametrize("preset", RULES)
def test_my_point_is_the_opponents_point_as_section_1_1_maps_it(preset: str) -> None:
    rules = get_rules(preset)
    for point in range(1, 25):
        expected = 25 - point if rules.can_hit else (point + 11) % 24 + 1
        assert rules.opponent_point[point] == expected
        assert rules.opponent_point[expected] == point
    assert rules.opponent_point[[0, 25]].tolist() == [0, 25]


@pytest.mark.parametrize(("preset", "start"), [("short", {24: 2, 13: 5, 8: 3, 6: 5}), ("long", {24: 15})])
def test_start_boards_are_those_of_sections_4_1_and_5_1(preset: str, start: dict[int, int]) -> None:
    board = get_rules(preset).start_board()
    assert board.shape == (2, 26) and board.dtype == np.int8
    for row in board:
        assert {int(i): int(row[i]) for i in np.flatnonzero(row)} == start


def test_outcomes_are_eight_in_short_and_six_in_long_and_the_points_mirror() -> None:
    assert get_rules("short").outcomes == (
        *("win_single", "win_gammon", "win_home", "win_bar"),
        *("lose_single", "lose_gammon", "lose_home", "lose_bar"),
    )
    assert get_rules("short").points.tolist() == [1, 2, 3, 4, -1, -2, -3, -4]
    assert get_rules("short_backgammon").points.tolist() == [1, 2, 3, 3, -1, -2, -3, -3]
    assert get_rules("long").outcomes == (
        *("win_single", "win_gammon", "win_home"),
        *("lose_single", "lose_gammon", "lose_home"),
    )
    assert get_rules("long").points.tolist() == [1, 2, 3, -1, -2, -3]
    assert get_rules("long_common").points.tolist() == [1, 2, 2, -1, -2, -2]
    assert get_rules("long(scoring=win_only)").points.tolist() == [1, 1, 1, -1, -1, -1]
    assert get_rules("short(scoring=1/2/2.5/6)").points.tolist() == [1, 2, 2.5, 6, -1, -2, -2.5, -6]


def test_code_holds_what_kernels_read_of_every_variant() -> None:
    for rules in all_variants():
        code = rules.code
        assert code.dtype == np.int64 and code.flags.c_contiguous
        assert code[rules_module.CODE_CAN_HIT] == rules.can_hit
        assert rules_module.FIRST_TURNS[code[rules_module.CODE_FIRST_TURN]] == rules.first_turn
        assert rules_module.BLOCK_CHECKS[code[rules_module.CODE_BLOCK]] == rules.block_check
        zone = (int(code[rules_module.CODE_ZONE_LOW]), int(code[rules_module.CODE_ZONE_HIGH]))
        assert zone == rules.game.koks_zones[rules.koks_zone]
        assert code[rules_module.CODE_NEEDS_NONE_OFF] == rules.koks_needs_none_off
        assert code[rules_module.CODE_LEVELS] == rules.game.levels == len(rules.outcomes) / 2
        assert np.array_equal(code[rules_module.CODE_OPPONENT_POINT :], rules.opponent_point)


def test_the_move_kernel_reads_code_at_the_places_where_rules_write_it() -> None:
    assert kernels.CAN_HIT == rules_module.CODE_CAN_HIT
    assert kernels.FIRST_TURN == rules_module.CODE_FIRST_TURN
    assert kernels.BLOCK == rules_module.CODE_BLOCK
    assert kernels.OPPONENT_POINT == rules_module.CODE_OPPONENT_POINT
    words = (kernels.UNLIMITED, kernels.NONE, kernels.CLASSIC, kernels.COMMON, kernels.FNR2026)
    assert [rules_module.FIRST_TURNS[word] for word in words] == ["unlimited", "none", "classic", "common", "fnr2026"]
    blocks = (kernels.BLOCK_OFF, kernels.BLOCK_STEP, kernels.BLOCK_TURN)
    assert [rules_module.BLOCK_CHECKS[word] for word in blocks] == ["off", "step", "turn"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("chess", "unknown rules 'chess'; allowed: short, short_backgammon, long_classic"),
        ("", "unknown rules ''; allowed: short"),
        ("long_classic(", "unknown rules 'long_classic\\('; allowed"),
        ("long_classic)x", "unknown rules 'long_classic\\)x'; allowed"),
        ("short(block_check=turn)", "unknown option 'block_check' of short; allowed: scoring, opening_roll"),
        ("long(cube=yes)", "unknown option 'cube' of long_classic; allowed: scoring, first_turn"),
        ("long(turn)", "unknown option 'turn' of long_classic; allowed"),
        ("long(block_check=turn,block_check=off)", "option 'block_check' of long_classic is given twice"),
        ("long(block_check=never)", "block_check of long_classic must be off or step or turn, got 'never'"),
        ("long(first_turn=two)", "first_turn of long_classic must be none or classic or common or fnr2026, got 'two'"),
        ("long(first_turn=unlimited)", "first_turn of long_classic must be none or classic"),
        ("long(koks_zone=bar)", "koks_zone of long_classic must be home or first_quarter or home_or_behind, got 'bar'"),
        ("short(opening_roll=x)", "opening_roll of short must be fresh or kept, got 'x'"),
        ("short(last_turn=close)", "last_turn of short must be none or second_player, got 'close'"),
        ("short(koks_needs_none_off=maybe)", "koks_needs_none_off of short must be True or False, got 'maybe'"),
        ("short(scoring=fnr2026)", "scoring of short nardy must be seed, backgammon, win_only or 4 numbers"),
        ("short(scoring=1/2/3)", "4 numbers from 0 to 1000 such as 1/2/3/4, got '1/2/3'"),
        ("long(scoring=1/2/-3)", "3 numbers from 0 to 1000 such as 1/2/3, got '1/2/-3'"),
        ("long(scoring=1/2/nan)", "3 numbers from 0 to 1000"),
        ("long(scoring=1/2/\u0663)", "3 numbers from 0 to 1000"),
        ("long(scoring=1/2/1_0)", "3 numbers from 0 to 1000"),
        ("long(scoring=)", "scoring of long nardy must be seed, fnr2026, win_only or 3 numbers"),
    ],
)
def test_a_wrong_rules_text_is_refused_with_what_is_allowed(text: str, message: str) -> None:
    with pytest.raises(RulesError, match=message) as caught:
        get_rules(text)
    assert "\n" not in str(caught.value) and isinstance(caught.value, NardyError)


def test_a_rules_text_without_end_is_refused_in_short() -> None:
    with pytest.raises(RulesError) as caught:
        get_rules("long(" + "x" * 100_000)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("value", [None, 3, b"long", ["long"]])
def test_rules_that_are_no_text_are_refused(value: object) -> None:
    with pytest.raises(RulesError, match="unknown rules"):
        get_rules(value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "option", [{"block_check": "turn"}, {"first_turn": "classic"}, {"koks_zone": "home_or_behind"}]
)
def test_an_option_of_the_other_game_is_refused_in_python_too(option: dict[str, str]) -> None:
    with pytest.raises(RulesError, match=r"unknown option .* of short; allowed: scoring"):
        replace(get_rules("short"), **option)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("koks_needs_none_off", "False", "koks_needs_none_off of short must be True or False, got 'False'"),
        ("koks_needs_none_off", 0, "koks_needs_none_off of short must be True or False, got 0"),
        ("koks_needs_none_off", None, "koks_needs_none_off of short must be True or False, got None"),
        ("scoring", 3, "scoring of short must be text such as 'seed', got 3"),
        ("scoring", [1, 2, 3, 4], r"scoring of short must be text such as 'seed', got \[1, 2, 3, 4\]"),
        ("opening_roll", True, "opening_roll of short must be text such as 'fresh', got True"),
        ("last_turn", None, "last_turn of short must be text such as 'none', got None"),
        ("first_turn", 0, "unknown option 'first_turn' of short; allowed: scoring"),
        ("preset", 3, "preset must be a name such as 'long_classic', got 3"),
        ("game", "short", "game of short must be a Game, SHORT or LONG, got 'short'"),
    ],
)
def test_a_field_of_another_type_is_refused_in_python(field: str, value: Any, message: str) -> None:
    """A text such as "False" counts as true, so no field is taken at its truth value."""
    with pytest.raises(RulesError, match=message):
        replace(get_rules("short"), **{field: value})


def test_long_nardy_without_a_first_turn_rule_is_refused() -> None:
    with pytest.raises(RulesError, match="first_turn of mine must be none or classic"):
        Rules(preset="mine", game=LONG)
    assert Rules(preset="mine", game=SHORT).can_hit
