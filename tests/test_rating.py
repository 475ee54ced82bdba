"""Ratings recover known strengths, with errors that cover them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agent.match_result import MatchResult
from agent.rating import ELO_SCALE, rate
from engine.errors import ConfigError
from engine.rules import RULES

SHORT = RULES["short"]


def match_of(a: str, b: str, won: np.ndarray, luck: np.ndarray | None = None) -> MatchResult:
    """A match in which `a` won the games marked in bool [P, 2], all singly."""
    outcomes = np.where(won, 0, SHORT.game.levels).astype(np.int8)
    return MatchResult(
        a=a,
        b=b,
        rules=SHORT,
        seed=1,
        points=np.where(won, 1.0, -1.0),
        outcomes=outcomes,
        turns=np.full(won.shape, 50, dtype=np.int32),
        luck=luck,
    )


def simulated(strengths: dict[str, float], pairs: int, rng: np.random.Generator) -> list[MatchResult]:
    names = list(strengths)
    matches = []
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            chance = 1 / (1 + 10 ** ((strengths[b] - strengths[a]) / 400))
            matches.append(match_of(a, b, rng.random((pairs, 2)) < chance))
    return matches


def test_two_players_get_the_difference_of_their_score():
    won = np.zeros((100, 2), dtype=bool)
    won[:75] = True
    ratings = rate([match_of("a", "b", won)], anchor="b")
    gap, _ = ratings.difference("a", "b")
    assert gap == pytest.approx(400 * np.log10(3), abs=2.0)
    assert ratings.players[0].player == "a" and ratings.players[0].score == 0.75 and ratings.players[0].ppg == 0.5


def test_known_strengths_are_found_within_their_errors(rng):
    strengths = {"a": 150.0, "b": 60.0, "c": 0.0, "d": -200.0}
    misses = []
    for _ in range(40):
        ratings = rate(simulated(strengths, 60, rng), anchor="c")
        for rating in ratings.players:
            if rating.player != "c":
                misses.append((rating.elo - strengths[rating.player]) / rating.se)
    # 120 standardised errors, not all independent: their mean square is 1 within about three errors of 0.16.
    assert abs(np.mean(np.square(misses)) - 1.0) < 0.5
    assert abs(np.mean(misses)) < 0.4


def test_errors_of_pairs_that_share_dice_are_smaller_than_those_of_single_games():
    first = np.arange(200) % 2 == 0
    paired = np.stack([first, ~first], axis=1)  # each pair one win, one loss: no noise at all
    single = np.stack([first, first], axis=1)  # each pair two wins or two losses
    small = rate([match_of("a", "b", paired)]).players[0].se
    large = rate([match_of("a", "b", single)]).players[0].se
    assert small < 5 < large


def test_a_player_who_won_everything_stays_finite():
    ratings = rate([match_of("a", "b", np.ones((50, 2), dtype=bool))], anchor="b")
    assert 400 < ratings.players[0].elo < 2000 and np.isfinite(ratings.players[0].se)


def test_without_an_anchor_the_mean_is_zero_and_order_does_not_matter(rng):
    matches = simulated({"a": 100.0, "b": 0.0, "c": -50.0}, 200, rng)
    one = rate(matches)
    other = rate(matches[::-1])
    assert sum(r.elo for r in one.players) == pytest.approx(0.0, abs=1e-6)
    assert {r.player: round(r.elo, 6) for r in one.players} == {r.player: round(r.elo, 6) for r in other.players}


def test_players_who_never_met_are_compared_through_others(rng):
    matches = [m for m in simulated({"a": 200.0, "b": 100.0, "c": 0.0}, 400, rng) if (m.a, m.b) != ("a", "c")]
    gap, se = rate(matches).difference("a", "c")
    assert abs(gap - 200.0) < 4 * se and se > 10


def test_luck_adjusted_scores_are_used_where_luck_was_measured():
    won = np.zeros((50, 2), dtype=bool)
    won[:, 0] = True  # level by results
    luck = np.zeros((50, 2, 2))
    luck[..., 1] = -0.25  # but a was unlucky by a quarter of a win a game
    ratings = rate([match_of("a", "b", won, luck)], anchor="b")
    assert ratings.difference("a", "b")[0] == pytest.approx(400 * np.log10(3), abs=4.0)


def test_a_match_against_oneself_rates_nobody():
    ratings = rate([match_of("a", "a", np.ones((5, 2), dtype=bool))])
    assert ratings.players[0].games == 0 and ratings.players[0].elo == 0.0


def test_ratings_have_text_and_json_forms():
    ratings = rate([match_of("a", "b", np.ones((5, 2), dtype=bool))], anchor="b")
    assert ratings.table().splitlines()[1].startswith("a ")
    assert ratings.to_dict()["players"][0]["player"] == "a" and ratings.to_dict()["anchor"] == "b"
    assert pytest.approx(173.7, abs=0.1) == ELO_SCALE


def test_an_unknown_player_or_anchor_is_named():
    matches = [match_of("a", "b", np.ones((5, 2), dtype=bool))]
    with pytest.raises(ConfigError, match="the anchor 'z' is not among the players: a, b"):
        rate(matches, anchor="z")
    with pytest.raises(ConfigError, match="no rating of 'z'; rated: a, b"):
        rate(matches).difference("a", "z")


def test_a_few_pairs_that_agree_by_chance_do_not_shrink_the_error():
    few = rate([match_of("a", "b", np.tile([True, False], (2, 1)))])
    fewer = rate([match_of("a", "b", np.tile([True, False], (1, 1)))])
    assert few.difference("a", "b")[1] == pytest.approx(98.0, abs=1.5)
    assert few.difference("a", "b")[1] < fewer.difference("a", "b")[1]
    many = rate([match_of("a", "b", np.tile([True, False], (40, 1)))])
    assert many.difference("a", "b")[1] < 10.0


def test_errors_count_dice_that_several_matches_share_only_once(rng):
    ratings, errors = [], []
    for _ in range(150):
        luck = 0.7 * rng.normal(size=(60, 2))  # of the dice, which every opponent of `a` meets
        won = [luck + 0.7 * rng.normal(size=(60, 2)) > 0 for _ in range(5)]
        found = rate([match_of("a", name, one) for name, one in zip("bcdef", won, strict=True)])
        (of_a,) = [rating for rating in found.players if rating.player == "a"]
        ratings.append(of_a.elo)
        errors.append(of_a.se)
    # 150 ratings: their spread is known to about 6 %. Counted as independent, the errors would be a third too small.
    assert np.std(ratings) == pytest.approx(np.mean(errors), rel=0.2)


def test_the_same_games_given_twice_do_not_shrink_the_error(rng):
    won = rng.random((100, 2)) < 0.6
    once, twice = rate([match_of("a", "b", won)]), rate([match_of("a", "b", won), match_of("b", "a", ~won)])
    assert twice.players[0].se == pytest.approx(once.players[0].se, rel=0.02)


def test_dice_are_known_by_the_numbers_of_their_pairs(rng):
    won = rng.random((100, 2)) < 0.6
    late = replace(match_of("b", "a", ~won), numbers=np.arange(100, 200))
    once, apart = rate([match_of("a", "b", won)]), rate([match_of("a", "b", won), late])
    assert apart.players[0].se == pytest.approx(once.players[0].se / np.sqrt(2), rel=0.02)


def test_players_who_never_met_the_others_are_rated_apart_and_said_to_be(rng):
    matches = simulated({"a": 100.0, "b": 0.0}, 60, rng) + simulated({"c": 0.0, "d": -300.0}, 60, rng)
    ratings = rate(matches, anchor="b")
    elo = {rating.player: rating.elo for rating in ratings.players}
    assert elo["b"] == 0.0 and elo["c"] + elo["d"] == pytest.approx(0.0) and elo["a"] > 0.0
    assert ratings.caution is not None and ratings.caution.startswith("2 groups never met")
    assert ratings.caution in ratings.table()
    with pytest.raises(ConfigError, match="'a' and 'c' never met, not even through others"):
        ratings.difference("a", "c")
    alone = rate(matches[:1], anchor="b")
    assert alone.caution is None and alone.difference("a", "b") == pytest.approx(ratings.difference("a", "b"))
