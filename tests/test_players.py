"""The registry of players, the simple ones, and how a player of one's own is checked."""

from __future__ import annotations

import sys
import textwrap

import numpy as np
import pytest

from agent.arena import play_match
from agent.levels import Level
from agent.net_players import player_of
from agent.outside import CallablePlayer, answers_of
from agent.players import USAGE, best_rows, make_player, tie_break_order
from engine.board import pip_count
from engine.errors import PlayerError, RulesError
from engine.movegen import legal_afterstates
from engine.rules import RULES
from fake_judge import FakeJudge
from random_positions import random_play


@pytest.fixture(params=["short", "short_backgammon", "long_classic", "long_common", "long_fnr2026"])
def rules(request):
    return RULES[request.param]


@pytest.mark.parametrize("text", ["random", "pips", "heuristic"])
def test_every_simple_player_chooses_legal_plays(text, rules, rng):
    boards, dice = random_play(rules, 120, rng)
    chosen = make_player(text, rules).choose(boards, dice, rng)
    assert chosen.shape == boards.shape and chosen.dtype == np.int8
    for i in range(len(boards)):
        assert (legal_afterstates(boards[i], dice[i], rules) == chosen[i]).all(axis=(1, 2)).any()


def test_pips_leaves_the_fewest_pips(rules, rng):
    boards, dice = random_play(rules, 120, rng)
    chosen = make_player("pips", rules).choose(boards, dice, rng)
    for i in range(len(boards)):
        legal = legal_afterstates(boards[i], dice[i], rules)
        assert pip_count(chosen[i])[0] == pip_count(legal)[:, 0].min()


def test_pips_ties_go_to_fewer_checkers_behind():
    rules = RULES["short"]
    chosen = make_player("pips", rules).choose(
        rules.start_board()[None], np.array([[2, 1]], dtype=np.int8), np.random.default_rng(0)
    )
    # Both rear checkers leave 24 (to 23 and 22); nothing else empties it.
    assert chosen[0, 0, 24] == 0 and chosen[0, 0, 23] == 1 and chosen[0, 0, 22] == 1


def test_random_picks_each_play_about_equally_often():
    rules = RULES["short"]
    boards = np.repeat(rules.start_board()[None], 4000, axis=0)
    dice = np.tile(np.array([6, 5], dtype=np.int8), (4000, 1))
    chosen = make_player("random", rules).choose(boards, dice, np.random.default_rng(3))
    plays, counts = np.unique(chosen.reshape(4000, -1), axis=0, return_counts=True)
    expected = 4000 / len(legal_afterstates(boards[0], (6, 5), rules))
    assert len(plays) == 7
    assert np.abs(counts - expected).max() < 4 * np.sqrt(expected)


def test_best_rows_equal_a_plain_search_with_ties(rng):
    rules = RULES["long_classic"]
    boards, dice = random_play(rules, 80, rng)
    afterstates, offsets = legal_afterstates(boards, dice, rules)
    values = rng.integers(0, 3, size=len(afterstates)).astype(np.float64)
    keys = np.stack(tie_break_order(afterstates), axis=1)
    for board, row in enumerate(best_rows(values, afterstates, offsets)):
        span = range(offsets[board], offsets[board + 1])
        assert row == min(span, key=lambda i: (-values[i], *keys[i].tolist()))


def test_tie_break_order_tells_all_plays_apart(rules, rng):
    boards, dice = random_play(rules, 50, rng)
    for board, roll in zip(boards, dice, strict=True):
        keys = np.stack(tie_break_order(legal_afterstates(board, roll, rules)), axis=1)
        assert len(np.unique(keys, axis=0)) == len(keys)


def test_a_net_player_chooses_as_its_evaluator_and_names_its_depth(rules, rng):
    boards, dice = random_play(rules, 60, rng)
    judge = FakeJudge(rules)
    player = player_of(judge, Level())
    assert player.name == "fake@0ply" and player.rules == rules
    assert (player.choose(boards, dice, rng) == judge.choose(boards, dice)).all()


def test_text_of_a_net_player_carries_path_and_depth(monkeypatch, tmp_path):
    asked = []

    def load(rules, net):
        asked.append((str(rules), net))
        return FakeJudge(rules)

    shipped = tmp_path / "nets" / "short.safetensors"
    older = tmp_path / "nets" / "ladder" / "short-old.safetensors"
    older.parent.mkdir(parents=True)
    shipped.write_bytes(b"shipped")
    older.write_bytes(b"older")
    monkeypatch.setattr("agent.evaluator.load_evaluator", load)
    monkeypatch.setattr("agent.net_players.NETS_FOLDER", shipped.parent)
    monkeypatch.setattr("agent.net_players.shipped_net", lambda rules: shipped)
    path = tmp_path / "a net.safetensors"
    path.write_bytes(b"weights")
    rules = RULES["short"]
    assert make_player("net", rules).name == "net@0ply"
    assert make_player("net@2ply", rules).name == "net@2ply"
    player = make_player(f"net:{path}@1ply", rules)
    assert player.name == f"net:{path}@1ply" and len(player.info["sha256"]) == 16
    assert make_player("net:short-old@1ply", rules).name == "net:short-old@1ply"
    assert [net for _, net in asked] == [shipped, shipped, path, older]
    with pytest.raises(PlayerError, match="0 to 3 plies"):
        make_player("net@9ply", rules)


def test_a_rollout_player_rolls_out_its_near_candidates(monkeypatch, rules, rng):
    monkeypatch.setattr("agent.evaluator.load_evaluator", lambda rules, net: FakeJudge(rules))
    player = make_player("rollout:trials=36,truncate=2", rules)
    assert player.name == "rollout:trials=36,truncate=2,level=0"
    boards, dice = random_play(rules, 40, rng)
    boards, dice = boards[-4:], dice[-4:]
    chosen = player.choose(boards, dice, np.random.default_rng(5))
    for i in range(len(boards)):
        assert (legal_afterstates(boards[i], dice[i], rules) == chosen[i]).all(axis=(1, 2)).any()
    assert (player.choose(boards, dice, np.random.default_rng(5)) == chosen).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rollout:games=5", "unknown rollout option 'games'; allowed: trials, truncate, level, net"),
        ("rollout:trials=none", "player rollout:trials=none: invalid literal"),
        ("rollout:trials=0", "player rollout:trials=0: trials must be 1 or more, got 0"),
    ],
)
def test_bad_rollout_options_say_what_is_allowed(text, message):
    with pytest.raises(PlayerError, match=message):
        make_player(text, "short")


def write_module(tmp_path, monkeypatch, name: str, body: str) -> None:
    (tmp_path / f"{name}.py").write_text(textwrap.dedent(body))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))


OWN_PLAYER = """
    import numpy as np
    from engine import legal_afterstates

    def choose(boards, dice, rules, rng):
        afterstates, offsets = legal_afterstates(boards, dice, rules)
        return afterstates[offsets[:-1]]
"""


def test_a_player_of_your_own_is_found_in_the_current_folder_and_by_file(tmp_path, monkeypatch, rules, rng):
    write_module(tmp_path, monkeypatch, "own_player_a", OWN_PLAYER)
    boards, dice = random_play(rules, 30, rng)
    wanted = [legal_afterstates(b, d, rules)[0] for b, d in zip(boards, dice, strict=True)]
    for text in ("py:own_player_a:choose", f"py:{tmp_path}/own_player_a.py:choose"):
        player = make_player(text, rules)
        assert player.name == text
        assert (player.choose(boards, dice, rng) == np.array(wanted)).all()


def test_an_illegal_answer_is_an_error_that_shows_the_position(rng):
    rules = RULES["short"]
    player = CallablePlayer(name="py:cheat:choose", rules=rules, function=lambda boards, dice, rules, rng: boards)
    boards = rules.start_board()[None]
    with pytest.raises(PlayerError, match=r"py:cheat:choose: illegal: with 3:1 it answered a pass"):
        player.choose(boards, np.array([[3, 1]], dtype=np.int8), rng)


def test_only_the_failing_rows_of_a_batch_are_faults(rng):
    rules = RULES["short"]

    def choose(boards, dice, rules, rng):
        if (dice[:, 0] == 6).any():
            raise RuntimeError("sixes are\nunlucky")
        afterstates, offsets = legal_afterstates(boards, dice, rules)
        chosen = afterstates[offsets[:-1]]
        chosen[dice[:, 0] == 5] = 0
        return chosen

    player = CallablePlayer(name="own", rules=rules, function=choose)
    boards = np.repeat(rules.start_board()[None], 3, axis=0)
    dice = np.array([[3, 1], [6, 1], [5, 1]], dtype=np.int8)
    chosen, faults = player.answers(boards, dice, rng)
    assert set(faults) == {1, 2}
    assert faults[1] == ("crash", "RuntimeError: sixes are unlucky")
    assert faults[2].kind == "illegal"
    assert (chosen[0] == legal_afterstates(boards[0], (3, 1), rules)[0]).all()


@pytest.mark.parametrize(
    "answer", [None, [], np.zeros((1, 2, 25), dtype=np.int8), np.zeros((1, 2, 26)), np.zeros((2, 2, 26), dtype=int)]
)
def test_an_answer_of_the_wrong_shape_is_a_crash_with_the_shape_wanted(answer, rng):
    rules = RULES["short"]
    player = CallablePlayer(name="own", rules=rules, function=lambda *arguments: answer)
    _, faults = player.answers(rules.start_board()[None], np.array([[3, 1]], dtype=np.int8), rng)
    assert faults[0].kind == "crash" and "[1, 2, 26]" in faults[0].detail


def test_a_player_is_not_asked_where_it_has_no_choice(rng):
    rules = RULES["long_classic"]

    def never(boards, dice, rules, rng):
        raise AssertionError("asked")

    player = CallablePlayer(name="own", rules=rules, function=never)
    chosen = player.choose(rules.start_board()[None], np.array([[2, 1]], dtype=np.int8), rng)
    assert (chosen == legal_afterstates(rules.start_board(), (2, 1), rules)).all()


def test_objects_that_only_look_like_players_are_checked_too(rng):
    class Cheat:
        name = "cheat"
        rules = RULES["short"]

        def choose(self, boards, dice, rng):
            return boards

    boards = RULES["short"].start_board()[None]
    _, faults = answers_of(Cheat(), boards, np.array([[3, 1]], dtype=np.int8), rng)
    assert faults[0].kind == "illegal"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("grandmaster", f"unknown player 'grandmaster'; allowed: {USAGE}"),
        ("", f"unknown player ''; allowed: {USAGE}"),
        ("random:7", "player random takes no argument, got 'random:7'"),
        ("py", "player 'py' lacks its argument; write py:MODULE:NAME"),
        ("cmd:", "player 'cmd:' lacks its argument; write cmd:PROGRAM"),
        ("py:nothing", "write py:MODULE:NAME or py:FILE.py:NAME, got py:nothing"),
        ("py:no_such_module:choose", "cannot import 'no_such_module' for py:no_such_module:choose"),
        ("py:no_such_file.py:choose", "no file no_such_file.py"),
        ("py:json:choose", "json has no callable 'choose'; it needs choose(boards, dice, rules, rng)"),
    ],
)
def test_bad_player_text_says_what_is_allowed(text, message):
    with pytest.raises(PlayerError) as error:
        make_player(text, "short")
    assert message in str(error.value) and "\n" not in str(error.value)


def test_players_take_rules_as_text_and_refuse_unknown_ones():
    assert make_player("pips", "long").rules == RULES["long_classic"]
    with pytest.raises(RulesError):
        make_player("pips", "chess")


def test_a_player_of_your_own_that_ends_the_program_forfeits_and_the_match_goes_on(rng):
    def choose(boards, dice, rules, rng):
        sys.exit(0)

    player = CallablePlayer(name="own", rules=RULES["short"], function=choose)
    result = play_match(player, "random", "short", pairs=2)
    assert result.outcome_counts["forfeit_lost"] == 4 and result.faults[0].detail == "SystemExit: 0"


def test_a_module_that_ends_the_program_when_imported_is_one_line(tmp_path, monkeypatch):
    write_module(tmp_path, monkeypatch, "own_player_exits", "import sys\nsys.exit(0)\n")
    with pytest.raises(PlayerError, match="SystemExit"):
        make_player("py:own_player_exits:choose", "short")


def test_what_a_player_of_your_own_prints_does_not_mix_with_the_answer(tmp_path, monkeypatch, rng, capsys):
    write_module(tmp_path, monkeypatch, "own_player_talks", "print('hello')\n" + textwrap.dedent(OWN_PLAYER))
    player = make_player("py:own_player_talks:choose", "short")
    talking = CallablePlayer(name="own", rules=player.rules, function=lambda *a: print("so") or player.function(*a))
    talking.choose(RULES["short"].start_board()[None], np.array([[3, 1]], dtype=np.int8), rng)
    printed = capsys.readouterr()
    assert printed.out == "" and "hello" in printed.err and "so" in printed.err


def test_counts_that_only_fit_when_they_wrap_are_no_play(rng):
    rules = RULES["short"]
    board, dice = rules.start_board()[None], np.array([[3, 1]], dtype=np.int8)
    legal = legal_afterstates(board[0], (3, 1), rules)[:1].astype(np.int64)
    good, bad = (CallablePlayer(name="own", rules=rules, function=lambda *_, k=k: legal + k) for k in (0, 256))
    assert not good.answers(board, dice, rng)[1]
    _, faults = bad.answers(board, dice, rng)
    assert faults[0] == ("crash", "PlayerError: choose must return counts of checkers, got 256 to 261")


def test_a_text_far_too_long_to_name_a_player_is_refused_in_a_short_line() -> None:
    for text in ("py:points" + "x" * 20_000 + ":choose", "rollout:" + "y" * 20_000, "net:" + "z" * 20_000):
        with pytest.raises(PlayerError, match="at most 4096 characters, got 200") as refused:
            make_player(text, RULES["short_backgammon"])
        assert len(str(refused.value)) < 200
