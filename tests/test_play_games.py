"""Whole games in kernels: legal plays only, dice of their own, the same for any number of threads."""

import numpy as np
import pytest

from agent import _play_kernels as kernels
from agent import play
from agent.bearoff import empty_arrays
from agent.evaluator import Evaluator
from agent.play import GameRecords, game_seeds, play_games
from engine.board import opponent_view
from engine.errors import ConfigError, NetError
from engine.movegen import legal_afterstates
from engine.outcome import is_finished, outcome_class
from engine.rules import RULES, get_rules
from plain_net import random_net

GAMES = 24
EVERY_PRESET = pytest.mark.parametrize("rules", RULES.values(), ids=str)
BOTH_GAMES = pytest.mark.parametrize("rules", [RULES["short"], RULES["long_classic"]], ids=str)


def played(rules, seeds=None, net_seed=1, **options) -> GameRecords:
    options = {"use_tables": False} | options
    return play_games(
        random_net(rules, seed=net_seed), rules, game_seeds(7, 0, GAMES) if seeds is None else seeds, **options
    )


def equal_records(first, second):
    pairs = zip(vars(first).values(), vars(second).values(), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


@EVERY_PRESET
def test_every_turn_is_a_legal_play_of_its_own_dice(rules):
    seeds = game_seeds(7, 0, GAMES)
    records = played(rules, seeds, random_rate=0.3)
    for game, seed in enumerate(seeds):
        turns = records.afterstates[records.offsets[game] : records.offsets[game + 1]]
        before = np.concatenate([rules.start_board()[None], opponent_view(turns[:-1])])
        dice = [kernels.roll_at(seed, turn, rules.opening_roll == "kept" and turn == 0) for turn in range(len(turns))]
        plays, offsets = legal_afterstates(before, dice, rules)
        for turn in range(len(turns)):
            same = (plays[offsets[turn] : offsets[turn + 1]] == turns[turn]).all(axis=(1, 2))
            assert same.sum() == 1, (game, turn)
        assert not is_finished(turns[:-1]).any()
        assert turns[-1, 0, 0] == 15


@EVERY_PRESET
def test_outcome_is_that_of_the_last_board_for_its_mover(rules):
    records = played(rules)
    last = records.afterstates[records.offsets[1:] - 1]
    assert np.array_equal(records.outcomes, outcome_class(last, rules))
    assert (records.outcomes < len(rules.outcomes) // 2).all()
    assert (records.offsets[0], records.offsets[-1]) == (0, len(records.afterstates))


@BOTH_GAMES
def test_values_are_those_of_the_best_play_and_greedy_says_whether_it_was_played(rules):
    net, seeds = random_net(rules), game_seeds(7, 0, 8)
    records = play_games(net, rules, seeds, random_rate=0.5, use_tables=False)
    evaluator = Evaluator(net, rules, use_tables=False)
    starts = set(records.offsets.tolist())
    before = opponent_view(np.roll(records.afterstates, 1, axis=0)).copy()
    before[sorted(starts)[:-1]] = rules.start_board()
    dice = [
        kernels.roll_at(seed, t, False)
        for seed, n in zip(seeds, np.diff(records.offsets), strict=True)
        for t in range(n)
    ]
    best, probs = evaluator.choose_judged(before, np.array(dice, dtype=np.int8))
    assert records.values == pytest.approx(probs, abs=1e-5)
    assert np.array_equal((best == records.afterstates).all(axis=(1, 2)), records.is_greedy)
    assert 0.2 < records.is_greedy.mean() < 0.9


@BOTH_GAMES
@pytest.mark.parametrize("threads", [2, 3])
def test_records_do_not_depend_on_the_threads(rules, threads):
    alone = played(rules, threads=1, random_rate=0.1)
    assert equal_records(alone, played(rules, threads=threads, random_rate=0.1))


@BOTH_GAMES
def test_a_game_belongs_to_its_seed_whatever_else_is_played(rules):
    seeds = game_seeds(7, 0, GAMES)
    together, alone = played(rules, seeds, random_rate=0.2), played(rules, seeds[5:6], random_rate=0.2)
    part = slice(together.offsets[5], together.offsets[6])
    assert np.array_equal(together.afterstates[part], alone.afterstates)
    assert np.array_equal(together.values[part], alone.values)
    assert together.outcomes[5] == alone.outcomes[0]
    assert np.array_equal(game_seeds(7, 5, 1), seeds[5:6])
    assert not np.array_equal(game_seeds(8, 0, GAMES), seeds)


@BOTH_GAMES
def test_the_second_net_plays_every_other_turn(rules):
    first, second = random_net(rules, seed=1), random_net(rules, seed=2)
    seeds = game_seeds(7, 0, 6)
    mixed = play_games(first, rules, seeds, opponent=second, use_tables=False)
    for parity, net in enumerate((first, second)):
        evaluator = Evaluator(net, rules, use_tables=False)
        for game in range(len(seeds)):
            turns = np.arange(mixed.offsets[game] + parity, mixed.offsets[game + 1], 2)
            assert mixed.values[turns[:-1]] == pytest.approx(
                evaluator.outcome_probs(mixed.afterstates[turns[:-1]]), abs=1e-5
            )


@BOTH_GAMES
def test_rate_one_is_random_play_and_rate_zero_never_is(rules):
    assert played(rules).is_greedy.all()
    records = played(rules, random_rate=1.0)
    assert records.is_greedy.mean() < 0.4
    assert records.is_greedy.any(), "forced plays and chance"


@BOTH_GAMES
def test_opening_rate_holds_for_the_opening_turns_alone(rules):
    records = played(rules, game_seeds(3, 0, 60), opening_random_rate=1.0, opening_turns=4)
    turn = np.arange(len(records.is_greedy)) - np.repeat(records.offsets[:-1], np.diff(records.offsets))
    assert records.is_greedy[turn >= 4].all()
    assert records.is_greedy[turn < 4].mean() < 0.8


def test_random_turns_pick_every_play_equally_often():
    rules = RULES["short"]
    seeds = game_seeds(1, 0, 4000)
    seeds = seeds[[kernels.roll_at(seed, 0, False) in ((3, 1), (1, 3)) for seed in seeds]]
    opened = played(rules, seeds, random_rate=1.0)
    first = opened.afterstates[opened.offsets[:-1]]
    plays = legal_afterstates(rules.start_board(), (3, 1), rules)
    counts = np.array([(first == play).all(axis=(1, 2)).sum() for play in plays])
    expected = len(seeds) / len(plays)
    assert counts.sum() == len(seeds)
    assert ((counts - expected) ** 2 / expected).sum() < 37.7  # chi-square, 15 degrees of freedom, p = 0.001


@pytest.mark.parametrize("no_double", [False, True])
def test_dice_are_fair(no_double):
    draws = 36_000
    counts = np.zeros((7, 7))
    for seed in game_seeds(11, 0, draws // 60):
        for turn in range(60):
            counts[kernels.roll_at(seed, turn, no_double)] += 1
    assert counts.sum() == draws
    faces = counts[1:, 1:]
    wanted = np.full((6, 6), draws / 36)
    if no_double:
        assert not np.diag(faces).any()
        wanted = np.where(np.eye(6), 0, draws / 30)
    chi_square = ((faces - wanted) ** 2)[wanted > 0] / wanted[wanted > 0]
    assert chi_square.sum() < (58.3 if no_double else 66.6)  # 29 and 35 degrees of freedom, p = 0.001
    assert ((faces - faces.mean()) ** 2 / faces.mean()).sum() > 66.6 or not no_double  # doubles missing is not fair


def test_dice_of_neighbouring_turns_and_seeds_are_unrelated():
    seeds = game_seeds(2, 0, 300)
    total = np.array([[sum(kernels.roll_at(seed, turn, False)) for turn in range(60)] for seed in seeds], dtype=float)
    total -= total.mean()
    for shifted in (np.roll(total, 1, axis=0), np.roll(total, 1, axis=1)):
        correlation = (total * shifted).mean() / total.var()
        assert abs(correlation) < 4 / np.sqrt(total.size)


def test_kept_opening_roll_is_never_a_double_and_a_fresh_one_may_be():
    seeds = game_seeds(4, 0, 1000)
    seeds = seeds[[kernels.roll_at(seed, 0, False) == (6, 6) for seed in seeds]]
    assert len(seeds) > 10
    for rules, expected in ((RULES["short"], True), (RULES["short_backgammon"], False)):
        doubles = legal_afterstates(rules.start_board(), (6, 6), rules)
        records = played(rules, seeds, random_rate=1.0)
        first = records.afterstates[records.offsets[:-1]]
        assert ((first[:, None] == doubles[None]).all(axis=(2, 3)).any(axis=1) == expected).all()


def test_game_longer_than_the_limit_is_cut_without_an_outcome():
    rules = RULES["short"]
    net = random_net(rules).arrays
    boards = np.empty((5, 2, 26), dtype=np.int8)
    values, greedy = np.empty((5, 8), dtype=np.float32), np.empty(5, dtype=np.bool_)
    workspace, scratch = kernels.new_workspace(), kernels.new_scratch(net)
    rest = (rules.start_board(), rules.code, rules.points, empty_arrays(), False, np.zeros(3))
    turns, outcome = kernels.play_game(
        workspace, scratch, scratch, net, net, np.uint64(3), *rest, boards, values, greedy
    )
    assert (turns, outcome) == (5, -1)
    assert (boards.sum(axis=2) == 15).all()


def test_buffers_grow_while_games_are_played(monkeypatch):
    rules = RULES["long_classic"]
    enough = played(rules, random_rate=1.0)
    monkeypatch.setattr(play, "TURNS_GUESS", 1)
    assert len(enough.afterstates) > len(enough.outcomes) + kernels.MAX_TURNS
    assert equal_records(enough, played(rules, random_rate=1.0, threads=1))


def test_no_games_give_empty_records():
    records = played(RULES["short"], game_seeds(1, 0, 0))
    assert records.afterstates.shape == (0, 2, 26)
    assert (len(records.outcomes), records.offsets.tolist()) == (0, [0])


@pytest.mark.parametrize("rate", [-0.1, 1.5, float("nan")])
def test_rate_outside_its_range_is_refused(rate):
    for option in ("random_rate", "opening_random_rate"):
        with pytest.raises(ConfigError, match=r"chance of a random turn must lie in \[0, 1\], got"):
            played(RULES["short"], **{option: rate})


def test_net_of_the_other_game_is_refused_on_either_side():
    short, long = random_net(RULES["short"]), random_net(RULES["long_classic"])
    for nets in ((short, long), (long, short)):
        with pytest.raises(NetError, match="plays long nardy"):
            play_games(nets[0], get_rules("short"), game_seeds(1, 0, 1), opponent=nets[1])
