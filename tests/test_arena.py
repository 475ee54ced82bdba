"""Paired matches: shared dice, exact zeros, independence from workers and interruptions, and failing players."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from agent import arena
from agent.arena import Tournament, pairs_of_games, play_match, round_robin, run_tournament
from agent.evaluator import Evaluator
from agent.levels import Level
from agent.lockstep import DRAW, FORFEIT_LOST, FORFEIT_WON, play_chunk
from agent.match_result import MatchResult, mean_of
from agent.net_players import player_of
from agent.outside import CallablePlayer
from agent.pair_dice import pair_keys, turn_dice
from agent.players import make_player
from agent.rating import rate
from agent.report import tournament_html
from agent.results_file import ResultsFile
from engine.board import pip_count
from engine.errors import ConfigError, RecordError
from engine.movegen import legal_afterstates
from engine.outcome import UNFINISHED, outcome_class
from engine.rules import RULES, get_rules
from engine.session import Session
from fake_judge import FakeJudge
from played_games import same_results
from small_net import small_net

ROOT = Path(__file__).resolve().parent.parent
PRESETS = ["short", "short_backgammon", "long_classic", "long_common", "long_fnr2026"]


def first_legal(boards, dice, rules, rng):
    afterstates, offsets = legal_afterstates(boards, dice, rules)
    return afterstates[offsets[:-1]]


# dice


def test_dice_of_a_pair_are_a_function_of_seed_pair_and_turn():
    keys = pair_keys(5, 0, 8)
    assert (pair_keys(5, 3, 5) == keys[3:]).all()
    assert (turn_dice(keys, 7, RULES["short"]) == turn_dice(keys, 7, RULES["short"])).all()
    assert (pair_keys(6, 0, 8) != keys).all()


def test_all_36_throws_come_equally_often():
    keys = pair_keys(11, 0, 400)
    throws = np.concatenate([turn_dice(keys, turn, RULES["short"]) for turn in range(90)])
    counts = np.bincount((throws[:, 0] - 1) * 6 + throws[:, 1] - 1, minlength=36)
    expected = len(throws) / 36
    chi_square = ((counts - expected) ** 2 / expected).sum()
    assert len(counts) == 36 and chi_square < 35 + 4 * np.sqrt(70)  # mean 35, SE sqrt(70)
    same = (throws[:-400] == throws[400:]).all(axis=1).mean()  # the same throw on the next turn of a pair
    assert abs(same - 1 / 36) < 4 * np.sqrt(1 / 36 / len(throws))


@pytest.mark.parametrize("preset", PRESETS)
def test_a_kept_opening_roll_is_never_a_double_and_a_fresh_one_can_be(preset):
    rules = RULES[preset]
    throws = turn_dice(pair_keys(2, 0, 3000), 0, rules)
    doubles = (throws[:, 0] == throws[:, 1]).mean()
    if rules.opening_roll == "kept":
        counts = np.bincount((throws[:, 0] - 1) * 6 + throws[:, 1] - 1, minlength=36)
        assert doubles == 0 and (counts > 0).sum() == 30
        assert np.abs(counts[counts > 0] - 100).max() < 4.5 * np.sqrt(100)
    else:
        assert abs(doubles - 1 / 6) < 4 * np.sqrt(5 / 36 / 3000)


# matches


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("text", ["pips", "heuristic"])
def test_a_deterministic_player_against_itself_gives_every_pair_exactly_zero(preset, text):
    match = play_match(text, text, preset, pairs=20, seed=3)
    assert (match.pair_points == 0.0).all() and match.ppg == 0.0 and match.se == 0.0
    assert (match.points[:, 0] != 0).all() and match.games_to_decide is None
    assert (match.turns[:, 0] == match.turns[:, 1]).all()


@pytest.mark.parametrize("preset", ["short_backgammon", "long_classic"])
def test_a_net_against_itself_gives_every_pair_exactly_zero(preset):
    rules = RULES[preset]
    player = player_of(Evaluator(small_net(preset), rules, use_tables=False), Level())
    match = play_match(player, player, rules, pairs=20, seed=1)
    assert (match.pair_points == 0.0).all() and match.a == match.b and match.a.endswith("@0ply")


@pytest.mark.parametrize("preset", ["short", "long_classic"])
def test_random_against_itself_is_level_within_three_errors(preset):
    match = play_match("random", "random", preset, pairs=400, seed=9)
    assert abs(match.ppg) < 3 * match.se
    assert abs(match.win_rate - 0.5) < 3 * match.win_rate_mean.se
    assert 0.02 < match.se < 0.3


@pytest.mark.parametrize("preset", ["short", "long_classic"])
def test_loaded_dice_for_one_seat_are_found_out(preset):
    """The control that must fail: player A gets sixes more often, whichever seat it has."""
    rules = RULES[preset]
    player = make_player("random", rules)

    class Loaded:
        name, rules, is_trusted = "random", player.rules, True

        def choose(self, boards, dice, rng):
            lucky = dice.copy()
            lucky[rng.random(len(dice)) < 0.25] = 6
            return player.choose(boards, lucky, rng)

    match = play_match(Loaded(), player, rules, pairs=300, seed=9)
    assert match.ppg > 3 * match.se


def test_dice_that_favour_the_first_seat_cancel_in_pairs():
    rules = RULES["long_classic"]
    player = make_player("heuristic", rules)

    def first_seat_rolls_sixes(keys, turn, rules):
        throws = turn_dice(keys, turn, rules)
        return np.full_like(throws, 5) if turn % 2 == 0 else np.minimum(throws, 2)

    chunk = play_chunk(player, player, 1, 0, 20, dice=first_seat_rolls_sixes)
    assert (chunk.points[:, 0] > 0).all() and (chunk.points.mean(axis=1) == 0).all()


def test_the_stronger_player_wins_whichever_side_it_is_named_on():
    one = play_match("heuristic", "random", "long_classic", pairs=100, seed=4)
    other = play_match("random", "heuristic", "long_classic", pairs=100, seed=4)
    assert one.ppg > 1.0 and other.ppg < -1.0
    assert one.win_rate > 0.88


def test_both_games_of_a_pair_see_the_same_dice_with_seats_swapped():
    rules = RULES["short"]
    seen: list[tuple[int, int]] = []

    def watch(boards, dice, rules, rng):
        seen.extend((int(a), int(b)) for a, b in dice)
        return first_legal(boards, dice, rules, rng)

    player = CallablePlayer(name="own", rules=rules, function=first_legal)
    watcher = CallablePlayer(name="watch", rules=rules, function=watch)
    chunk = play_chunk(watcher, player, 8, 0, 1, keep_plays=True)
    first, second = chunk.plays
    shared = min(len(first), len(second))
    assert [roll for roll, _ in first[:shared]] == [roll for roll, _ in second[:shared]]
    assert set(seen) <= {roll for roll, _ in first} | {roll for roll, _ in second}


def test_kept_plays_replay_to_the_result():
    rules = RULES["long_classic"]
    match = play_match("heuristic", "random", rules, pairs=3, seed=8, keep_plays=True)
    for game, plays in enumerate(match.plays):
        board = rules.start_board()
        for roll, afterstate in plays:
            assert (legal_afterstates(board, roll, rules) == afterstate).all(axis=(1, 2)).any()
            board = np.ascontiguousarray(afterstate[::-1])
        assert board[1, 0] == 15 and len(plays) == match.turns[game // 2, game % 2]


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of ten pairs, so that short matches have several."""
    monkeypatch.setattr(arena, "_chunk_pairs", lambda player: 10)


def test_results_do_not_depend_on_workers(small_chunks):
    one = play_match("heuristic", "random", "short", pairs=45, seed=2, workers=1)
    two = play_match("heuristic", "random", "short", pairs=45, seed=2, workers=2)
    assert one.pairs == 45 and same_results(one, two)


def test_results_do_not_depend_on_processes(tmp_path, monkeypatch, small_chunks):
    (tmp_path / "own_arena_player.py").write_text(
        "from engine import legal_afterstates\n"
        "def choose(boards, dice, rules, rng):\n"
        "    afterstates, offsets = legal_afterstates(boards, dice, rules)\n"
        "    return afterstates[offsets[1:] - 1]\n"
    )
    monkeypatch.chdir(tmp_path)
    text = f"py:{tmp_path}/own_arena_player.py:choose"
    one = play_match(text, "random", "short", pairs=30, seed=2, workers=1)
    two = play_match(text, "random", "short", pairs=30, seed=2, workers=2)
    assert same_results(one, two)


def test_one_seed_gives_one_result_and_another_seed_another():
    one = play_match("random", "pips", "short", pairs=30, seed=1)
    assert same_results(one, play_match("random", "pips", "short", pairs=30, seed=1))
    assert not same_results(one, play_match("random", "pips", "short", pairs=30, seed=2))


def test_more_pairs_of_a_seed_begin_with_the_same_games():
    few = play_match("heuristic", "pips", "short", pairs=20, seed=1)
    many = play_match("heuristic", "pips", "short", pairs=50, seed=1)
    assert (many.points[:20] == few.points).all()


def test_errors_are_those_of_pairs():
    match = play_match("heuristic", "pips", "short", pairs=50, seed=1)
    means = match.points.mean(axis=1)
    assert match.ppg == pytest.approx(means.mean())
    assert match.se == pytest.approx(means.std(ddof=1) / np.sqrt(50))
    assert sum(match.outcome_counts.values()) == match.games == 100
    wins = sum(n for name, n in match.outcome_counts.items() if name.startswith("win"))
    assert match.win_rate == pytest.approx(wins / 100)
    spread = match.se * np.sqrt(50)
    assert match.games_to_decide == 2 * int(np.ceil((1.959964 * spread / match.ppg) ** 2))


def match_of(*pairs: tuple[str, str]) -> MatchResult:
    """A result of a against b with these outcomes."""
    rules = RULES["short"]
    outcomes = np.array([[rules.outcomes.index(name) for name in pair] for pair in pairs], dtype=np.int8)
    turns = np.full(outcomes.shape, 50, dtype=np.int32)
    points = rules.points.astype(np.float64)[outcomes]
    return MatchResult(a="a", b="b", rules=rules, seed=1, points=points, outcomes=outcomes, turns=turns)


def test_few_pairs_do_not_say_how_many_would_decide():
    mixed = [("win_single", "win_single"), ("win_single", "lose_single"), ("win_gammon", "lose_single")] * 9
    few, enough = match_of(*mixed), match_of(*mixed, *mixed)
    assert few.games_to_decide is None and few.summary().endswith("too few games to tell")
    assert few.to_dict()["games_to_decide"] is None
    assert enough.summary().endswith(f"{enough.games_to_decide} games would decide")


@pytest.mark.parametrize("count", [2, 100])
def test_pairs_that_all_gave_the_same_claim_no_error(count):
    match = match_of(*[("win_single", "win_single")] * count)
    said, data = match.summary(), match.to_dict()
    assert "too few games to tell" in said and "+- 0" not in said and "all pairs gave the same" in said
    assert (data["se"], data["win_rate_se"], data["games_to_decide"]) == (None, None, None)
    assert data["interval95"] == [None, None]
    low = count / (count + 1.959964**2)  # Wilson's limit where all succeed
    assert data["win_rate_interval95"] == pytest.approx([low, 1.0])
    assert f"win rate  100.00 %   95 % [{100 * low:.2f} %, 100.00 %]" in said
    assert (
        "±"
        not in tournament_html(
            Tournament(rules=match.rules, seed=1, matches=(match,), ratings=rate([match])), with_plots=False
        ).split("<h2>Ratings")[0]
    )


def test_where_pairs_differ_the_win_rate_has_its_error_and_stays_within_bounds():
    match = match_of(*[("win_single", "win_single")] * 40, ("win_single", "lose_single"))
    assert match.win_rate_interval[1] == 1.0
    assert match.win_rate_interval[0] == pytest.approx(match.win_rate - 1.959964 * match.win_rate_mean.se)
    assert f"+- {100 * match.win_rate_mean.se:.2f} %" in match.summary()


def test_a_match_of_one_pair_has_no_error_and_json_says_null():
    match = play_match("heuristic", "pips", "short", pairs=1, seed=1)
    assert np.isnan(match.se) and match.to_dict()["se"] is None
    json.dumps(match.to_dict(), allow_nan=False)
    assert "nan" not in match.summary() and "1 pair," in match.summary()


def test_a_result_survives_json_and_says_what_was_played():
    match = play_match("heuristic", "pips", "short_backgammon(scoring=win_only)", pairs=5, seed=1)
    data = json.loads(json.dumps(match.to_dict(), allow_nan=False))
    assert same_results(match, MatchResult.from_dict(data))
    assert data["rules"] == "short_backgammon(scoring=win_only)" and data["seed"] == 1 and data["games"] == 10
    assert data["info"]["versions"]["numpy"] and data["info"]["a"]["name"] == "heuristic"
    text = match.summary()
    assert "heuristic against pips" in text and "seed 1" in text and "95 % [" in text
    with pytest.raises(RecordError, match="not a match result"):
        MatchResult.from_dict({"a": "x"})


# luck


class RaceJudge(FakeJudge):
    """Single wins by the pip lead, measured by the noise that the rolls to come will add."""

    def outcome_probs(self, afterstates, *, offsets=None, threads=None):
        pips = pip_count(afterstates).astype(np.float64)
        lead = (pips[:, 1] - pips[:, 0] - 4.0) / np.sqrt(1.0 + 2.3 * pips.sum(axis=1))
        probs = super().outcome_probs(afterstates)
        levels = self.rules.game.levels
        live = outcome_class(afterstates, self.rules) == UNFINISHED
        probs[live] = 0.0
        probs[live, 0] = 1.0 / (1.0 + np.exp(-1.7 * lead[live]))
        probs[live, levels] = 1.0 - probs[live, 0]
        return probs


def test_luck_keeps_the_mean_and_takes_noise_away():
    rules = RULES["long_classic"]
    match = play_match("pips", "pips", rules, pairs=24, seed=5, luck=RaceJudge(rules))
    plain = play_match("pips", "pips", rules, pairs=24, seed=5)
    assert same_results(match, plain) and plain.adjusted_ppg is None
    assert match.luck.shape == (24, 2, 2)
    luck = mean_of(match.luck[:, 0, 0])  # of the games in which A moves first
    assert abs(luck.value) < 4 * luck.se
    games = match.points.reshape(-1)
    adjusted = games - match.luck[..., 0].reshape(-1)
    assert adjusted.std() < 0.8 * games.std()
    assert match.luck.sum(axis=1) == pytest.approx(0.0, abs=1e-9)  # the same rolls for the other seat
    assert match.adjusted_win_rate is not None and "less luck" in match.summary()


# failing players


@dataclass
class Troubled:
    """Fails in a chosen way on a share of its turns, by the dice alone."""

    rules: object
    how: str
    calls: int = field(default=0)

    def __call__(self, boards, dice, rules, rng):
        self.calls += 1
        chosen = first_legal(boards, dice, rules, rng)
        bad = (dice == 6).all(axis=1)
        if self.how == "crash" and bad.any():
            raise ValueError("no idea")
        if self.how == "illegal":
            chosen[bad] = boards[bad]
        return chosen


@pytest.mark.parametrize("how", ["crash", "illegal"])
def test_a_failing_player_forfeits_only_those_games_by_a_gammon(how):
    rules = RULES["short"]
    bad = CallablePlayer(name="troubled", rules=rules, function=Troubled(rules, how))
    match = play_match(bad, "pips", rules, pairs=20, seed=6)
    lost = match.outcomes == FORFEIT_LOST
    assert 0 < lost.sum() < match.games and len(match.faults) == lost.sum()
    assert (match.points[lost] == -2.0).all()
    assert {fault.kind for fault in match.faults} == {how} and match.faults[0].player == "troubled"
    assert match.outcome_counts["forfeit_lost"] == lost.sum()
    assert f"forfeited by troubled ({how}): {lost.sum()}, first: {match.faults[0].detail[:20]}" in match.summary()


def test_a_fault_of_the_second_player_is_a_win_of_the_first():
    rules = RULES["long_classic"]
    bad = CallablePlayer(name="troubled", rules=rules, function=Troubled(rules, "illegal"))
    match = play_match("pips", bad, rules, pairs=10, seed=6)
    won = match.outcomes == FORFEIT_WON
    assert won.any() and (match.points[won] == 2.0).all() and (match.scores[won] == 1.0).all()


# the extra turn of last_turn


def test_the_second_player_has_a_turn_after_the_first_has_finished_and_may_draw():
    rules = get_rules("long_classic(last_turn=second_player)")
    match = play_match("pips", "pips", rules, pairs=150, seed=2, keep_plays=True)
    plain = play_match("pips", "pips", "long_classic", pairs=150, seed=2, keep_plays=True)
    drawn = (match.outcomes == DRAW).reshape(-1)
    assert 0 < drawn.sum() < 60 and (match.points.reshape(-1)[drawn] == 0).all()
    for game, (plays, shorter) in enumerate(zip(match.plays, plain.plays, strict=True)):
        has_extra = len(shorter) % 2 == 1  # the first player has borne off his last checker
        assert len(plays) == len(shorter) + has_extra == match.turns[game // 2, game % 2]
        last = plays[-1][1]
        assert drawn[game] == bool(has_extra and last[0, 0] == last[1, 0] == 15)
        if not drawn[game]:
            winner_is_a = (match.points[game // 2, game % 2] > 0) == (plain.points[game // 2, game % 2] > 0)
            assert winner_is_a and abs(match.points[game // 2, game % 2]) <= abs(plain.points[game // 2, game % 2])


def test_games_with_a_last_turn_are_those_of_a_session():
    rules = get_rules("short(last_turn=second_player)")
    match = play_match("pips", "random", rules, pairs=20, seed=2, keep_plays=True)
    for game, plays in enumerate(match.plays):
        session = Session(rules, first=game % 2)
        for roll, afterstate in plays:
            session.roll(roll)
            session.play(afterstate)
        points = 0.0 if session.result.winner is None else session.result.points * (1 - 2 * session.result.winner)
        assert points == match.points[game // 2, game % 2]


# bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pairs_of_games(7), "games must be an even number from 2 on, .* got 7"),
        (lambda: pairs_of_games(0), "games must be an even number from 2 on, .* got 0"),
        (lambda: play_match("pips", "pips", "short", pairs=0), "pairs must lie between 1 and 5000000, got 0"),
        (lambda: play_match("pips", "pips", "short", pairs=1, seed=-1), "seed must lie between 0 and .*, got -1"),
        (lambda: play_match("pips", "pips", "short", pairs=1, workers=0), "workers must lie between 1 and 256, got 0"),
        (lambda: round_robin(["pips"], 5), "an arena needs two players or more, got 1"),
        (lambda: round_robin(["pips", "random", "pips"], 5), "player 'pips' is given 2 times"),
        (
            lambda: play_match("pips", "pips", "short", pairs=1, keep_plays=True, results=ResultsFile("x.jsonl")),
            "a results file keeps no plays, so its games cannot be exported: give one of the two",
        ),
        (
            lambda: run_tournament(round_robin(["pips", " pips", "random"], 1), "short"),
            "'pips' and ' pips' are one player, pips; give it once",
        ),
        (
            lambda: play_match(make_player("pips", "long"), "pips", "short", pairs=1),
            "player pips is bound to long_classic, the match is short",
        ),
        (
            lambda: run_tournament(round_robin(["pips", "random"], 1), "short", anchor="net"),
            "the anchor 'net' is not among the players: pips, random",
        ),
    ],
)
def test_bad_input_says_what_was_given_and_what_is_allowed(call, message):
    with pytest.raises(ConfigError, match=message) as error:
        call()
    assert "\n" not in str(error.value)
