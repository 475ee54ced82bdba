"""The evaluator: kernels equal a plain forward pass, experts by phase, finished boards exactly, plays by argmax."""

import numpy as np
import pytest

from agent.evaluator import Evaluator, expert_index, load_evaluator, needs_tables
from agent.features import FEATURE_SETS
from agent.levels import Level
from agent.ranking import rank_plays
from engine.board import BEAROFF, CONTACT, RACE, opponent_view, phase
from engine.errors import DiceError, NetError, PositionError, RulesError
from engine.movegen import legal_afterstates
from engine.outcome import UNFINISHED, outcome_class
from engine.rules import RULES, get_rules
from plain_net import plain_probs, random_net
from random_positions import placed, random_play, random_rolls

GAMES = [RULES["short"], RULES["long_classic"]]
BOTH_GAMES = pytest.mark.parametrize("rules", GAMES, ids=str)
FEATURES = {"short": "short_v1", "long": "long_v1"}
WIDTHS = [(8,), (20,), (100,), (64, 32), (100, 20), (72, 100, 12), (130, 64, 9)]


def positions(rules, count=300, seed=3):
    """Boards of all phases, some finished."""
    rng = np.random.default_rng(seed)
    boards = np.concatenate([random_play(rules, count, rng)[0], placed(rules, count, rng)[0]])
    over = boards[:20].copy()
    over[:, 0] = 0
    over[:, 0, 0] = 15
    return np.concatenate([boards, over, opponent_view(over)])


@BOTH_GAMES
@pytest.mark.parametrize("hidden", WIDTHS, ids=str)
def test_equals_a_plain_forward_pass_at_any_width(rules, hidden):
    net = random_net(rules, hidden=hidden)
    boards = positions(rules, 60)
    given = Evaluator(net, rules, use_tables=False).outcome_probs(boards)
    assert given == pytest.approx(plain_probs(net, boards, rules), abs=1e-5)


@BOTH_GAMES
def test_equals_a_plain_forward_pass_with_features_and_experts(rules):
    net = random_net(rules, FEATURES[rules.game.name], (40, 16), ("contact", "race", "bearoff"))
    boards = positions(rules)
    assert set(phase(boards, rules)[: 2 * 300]) == {CONTACT, RACE, BEAROFF}
    given = Evaluator(net, rules, use_tables=False).outcome_probs(boards)
    assert given == pytest.approx(plain_probs(net, boards, rules), abs=1e-5)


@BOTH_GAMES
@pytest.mark.parametrize("features", ["counts_v1", "own"])
def test_first_layer_updated_from_the_parent_equals_one_from_nothing(rules, features):
    features = features if features in FEATURE_SETS else FEATURES[rules.game.name]
    evaluator = Evaluator(random_net(rules, features, (70, 16), ("contact", "race")), rules, use_tables=False)
    boards, dice = random_play(rules, 400, np.random.default_rng(5))
    chosen, probs = evaluator.choose_judged(boards, dice)
    assert probs == pytest.approx(evaluator.outcome_probs(chosen), abs=1e-5)


@BOTH_GAMES
def test_chosen_play_is_the_best_of_all_legal_ones(rules):
    evaluator = Evaluator(random_net(rules, FEATURES[rules.game.name], (32, 8), ("contact", "race")), rules)
    boards, dice = random_play(rules, 300, np.random.default_rng(6))
    chosen = evaluator.choose(boards, dice)
    afterstates, offsets = legal_afterstates(boards, dice, rules)
    equity = evaluator.equity(afterstates)
    most = 0
    for i in range(len(boards)):
        plays = slice(offsets[i], offsets[i + 1])
        most = max(most, plays.stop - plays.start)
        same = (afterstates[plays] == chosen[i]).all(axis=(1, 2))
        assert same.sum() == 1
        assert equity[plays][same][0] >= equity[plays].max() - 1e-5
    assert most > 64, "some decision must take more than two groups of plays"


def test_a_lost_game_is_played_on_from_the_rear():
    # The other side bears its last two checkers off on any roll, and no play bears one off before: each is worth -2.
    board = np.zeros((1, 2, 26), dtype=np.int8)
    board[0, 0, [2, 3, 4, 5, 6, 10, 11, 12, 16]] = [3, 1, 2, 2, 2, 2, 1, 1, 1]
    board[0, 1, [0, 1]] = [13, 2]
    dice = np.array([[6, 1]], dtype=np.int8)
    evaluator = load_evaluator("short_backgammon")
    chosen = evaluator.choose(board, dice)
    assert (evaluator.equity(legal_afterstates(board[0], (6, 1), evaluator.rules)) == -2.0).all()
    assert chosen[0, 0, 16] == 0
    ranked = rank_plays(evaluator, board, dice, Level())
    assert (ranked.afterstates[0] == chosen[0]).all()


@BOTH_GAMES
def test_plays_judged_side_by_side_equal_those_judged_alone(rules):
    evaluator = Evaluator(random_net(rules, FEATURES[rules.game.name], (32, 8), ("contact", "race")), rules)
    boards, dice = random_play(rules, 300, np.random.default_rng(8))
    plays, offsets = legal_afterstates(boards, dice, rules)
    together = evaluator.outcome_probs(plays, offsets=offsets)
    assert together == pytest.approx(evaluator.outcome_probs(plays), abs=1e-5)
    assert np.array_equal(together, evaluator.outcome_probs(plays, offsets=offsets, threads=1))
    chosen, probs = evaluator.choose_judged(boards, dice)
    owner = np.repeat(np.arange(len(boards)), np.diff(offsets))
    played = (plays == chosen[owner]).all(axis=(1, 2))
    assert np.array_equal(together[played], probs), "ranking and choosing must see the same figures"


@pytest.mark.parametrize("offsets", [[0, 1], [1, 3], [0, 4], [0, 2, 1, 3], [], [[0, 3]]])
def test_offsets_that_do_not_cover_the_rows_are_refused(offsets):
    evaluator = load_evaluator("short")
    with pytest.raises(PositionError, match="offsets must rise from 0 to the 3 afterstates given"):
        evaluator.outcome_probs(np.repeat(evaluator.rules.start_board()[None], 3, axis=0), offsets=np.array(offsets))


@BOTH_GAMES
def test_equity_weighs_the_probabilities_by_the_scoring(rules):
    boards = positions(rules, 50)
    other = get_rules(f"{rules}(scoring={'1/2/4/9' if rules.can_hit else '1/2/9'})")
    net = random_net(rules)
    first, second = Evaluator(net, rules), Evaluator(net, other)
    assert np.array_equal(first.outcome_probs(boards), second.outcome_probs(boards))
    expected = first.outcome_probs(boards).astype(np.float64) @ other.points
    assert second.equity(boards) == pytest.approx(expected, abs=1e-5)
    assert not np.allclose(first.equity(boards), second.equity(boards))


@BOTH_GAMES
def test_experts_judge_their_own_phase_alone(rules):
    boards = positions(rules)[:600]
    names = ("contact", "race", "bearoff")
    net = random_net(rules, experts=names)
    before = Evaluator(net, rules, use_tables=False).outcome_probs(boards)
    for expert, board_phase in enumerate((CONTACT, RACE, BEAROFF)):
        changed = random_net(rules, experts=names)
        changed.layers[-1][1][expert] += np.arange(len(rules.outcomes), dtype=np.float32)
        after = Evaluator(changed, rules, use_tables=False).outcome_probs(boards)
        assert np.array_equal((after != before).any(axis=1), phase(boards, rules) == board_phase)


@pytest.mark.parametrize(
    ("experts", "wanted"),
    [(("all",), (0, 0, 0)), (("race", "contact"), (1, 0, 0)), (("contact", "bearoff"), (0, 0, 1))],
    ids=str,
)
def test_a_phase_without_an_expert_falls_to_the_one_before(experts, wanted):
    rules = RULES["short"]
    boards = positions(rules)[:600]
    phases = phase(boards, rules)
    given = expert_index(boards, random_net(rules, experts=experts), rules)
    assert [set(given[phases == p]) for p in (CONTACT, RACE, BEAROFF)] == [{w} for w in wanted]


@BOTH_GAMES
def test_finished_boards_are_certain(rules):
    boards = positions(rules)
    outcomes = outcome_class(boards, rules)
    over = outcomes != UNFINISHED
    assert over.sum() == 40
    probs = Evaluator(random_net(rules), rules).outcome_probs(boards[over])
    assert np.array_equal(probs, np.eye(len(rules.outcomes), dtype=np.float32)[outcomes[over]])


@BOTH_GAMES
@pytest.mark.parametrize("use_tables", [False, True])
def test_probabilities_lie_between_0_and_1_and_sum_to_one(rules, use_tables):
    probs = Evaluator(random_net(rules), rules, use_tables=use_tables).outcome_probs(positions(rules))
    assert probs.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    assert probs.min() >= 0.0


def test_overwhelming_logits_stay_finite():
    rules = RULES["short"]
    net = random_net(rules)
    net.layers[-1][1][:] = [[500.0, -500.0, 0, 0, 0, 0, 0, 0]]
    probs = Evaluator(net, rules, use_tables=False).outcome_probs(positions(rules)[:100])
    assert np.array_equal(probs[:, 0], np.ones(100))


@BOTH_GAMES
@pytest.mark.parametrize("features", ["counts_v1", "own"])
def test_batch_equals_its_boards_one_by_one_and_any_number_of_threads(rules, features):
    features = features if features in FEATURE_SETS else FEATURES[rules.game.name]
    evaluator = Evaluator(random_net(rules, features, experts=("contact", "race")), rules)
    boards = positions(rules, 350)
    dice = random_rolls(len(boards), np.random.default_rng(8))
    probs = evaluator.outcome_probs(boards, threads=1)
    chosen, judged = evaluator.choose_judged(boards, dice, threads=1)
    for threads in (2, 3):
        assert np.array_equal(evaluator.outcome_probs(boards, threads=threads), probs)
        again = evaluator.choose_judged(boards, dice, threads=threads)
        assert np.array_equal(again[0], chosen)
        assert np.array_equal(again[1], judged)
    for i in range(0, len(boards), 29):
        assert np.array_equal(evaluator.outcome_probs(boards[i : i + 1])[0], probs[i])
        assert np.array_equal(evaluator.choose(boards[i : i + 1], dice[i : i + 1])[0], chosen[i])


@BOTH_GAMES
def test_finished_and_empty_batches_are_served(rules):
    evaluator = Evaluator(random_net(rules), rules)
    over = positions(rules)[-40:]
    dice = np.tile(np.array([3, 1], dtype=np.int8), (40, 1))
    chosen, probs = evaluator.choose_judged(over, dice)
    assert np.array_equal(chosen, over)
    assert np.array_equal(probs, evaluator.outcome_probs(over))
    none = np.zeros((0, 2, 26), dtype=np.int8)
    assert evaluator.outcome_probs(none).shape == (0, len(rules.outcomes))
    assert evaluator.choose(none, np.zeros((0, 2), dtype=np.int8)).shape == (0, 2, 26)


def test_boards_may_be_views_and_read_only():
    rules = RULES["short"]
    evaluator = Evaluator(random_net(rules), rules)
    boards = positions(rules)[:50]
    dice = random_rolls(50, np.random.default_rng(1))
    expected = evaluator.outcome_probs(np.ascontiguousarray(opponent_view(boards)))
    assert np.array_equal(evaluator.outcome_probs(opponent_view(boards)), expected)
    chosen = evaluator.choose(boards, dice)
    boards.setflags(write=False)
    assert np.array_equal(evaluator.choose(boards, dice), chosen)


def test_tables_are_loaded_only_when_a_board_is_near_enough():
    rules = RULES["short"]
    boards = random_play(rules, 2000, np.random.default_rng(4))[0]
    assert not needs_tables(rules.start_board()[None], rules)
    assert not needs_tables(boards[:0], rules)
    near = phase(boards, rules) == BEAROFF
    assert near.any()
    assert all(needs_tables(board[None], rules) for board in boards[near])
    evaluator = Evaluator(random_net(rules), rules)
    evaluator.choose(rules.start_board()[None], np.array([[3, 1]], dtype=np.int8))
    assert evaluator.tables_for(rules.start_board()[None]).one_sided.size == 0
    assert evaluator.tables_for(boards[near]).one_sided.size > 0


def test_unknown_rules_and_nets_are_refused(tmp_path):
    with pytest.raises(RulesError, match="unknown rules 'medium'"):
        load_evaluator("medium")
    with pytest.raises(NetError, match="cannot read net"):
        load_evaluator("short", tmp_path / "gone.safetensors")
    with pytest.raises(NetError, match="net must be a Net, a path or None, got int"):
        load_evaluator("short", 5)
    assert load_evaluator("long", random_net(RULES["long_classic"])).rules == get_rules("long_classic")


@BOTH_GAMES
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda board: board, "shape"),
        (lambda board: board[None].astype(float), "whole numbers"),
        (lambda board: board[None].astype(int) * 2**40, "0 to 15"),
        (lambda board: np.zeros_like(board)[None], "15 checkers"),
        (lambda board: [[1], [1, 2]], "unequal length"),
        (lambda board: None, "shape"),
    ],
)
def test_boards_that_kernels_must_not_read_are_refused(rules, spoil, message):
    evaluator = Evaluator(random_net(rules), rules, use_tables=False)
    boards = spoil(rules.start_board())
    for ask in (evaluator.outcome_probs, evaluator.equity, lambda b: evaluator.choose(b, [[3, 1]])):
        with pytest.raises(PositionError, match=message):
            ask(boards)


@pytest.mark.parametrize("dice", [[[7, 1]], [[0, 1]], [[3.0, 1.0]], [[3, 1], [3, 1]], 3, None])
def test_dice_that_kernels_must_not_read_are_refused(dice):
    rules = RULES["short"]
    with pytest.raises(DiceError):
        Evaluator(random_net(rules), rules, use_tables=False).choose(rules.start_board()[None], dice)
