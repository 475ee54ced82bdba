"""Engines of other packages choose legal plays, and are named when they are missing. Short only: they know no other."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from agent.peers import _after_steps, _signed, _unsigned
from agent.players import PEERS, make_player
from agent.referee import error_rate
from engine.errors import PlayerError
from engine.movegen import legal_afterstates
from engine.rules import RULES
from random_positions import random_play

RULES_HERE = RULES["short_backgammon"]
SMALL = Path(__file__).parent / "data" / "referee_small.npz"
needs_gnubg = pytest.mark.skipif(importlib.util.find_spec("gnubg_nn") is None, reason="extra peers")
needs_bgsage = pytest.mark.skipif(importlib.util.find_spec("bgsage") is None, reason="extra peers")


@needs_gnubg
@pytest.mark.parametrize(("text", "count"), [("pubeval", 300), ("gnubg0", 300), ("gnubg1", 20), ("gnubg2", 2)])
def test_gnubg_players_choose_legal_plays(text, count, rng):
    boards, dice = random_play(RULES_HERE, count, rng)
    player = make_player(text, RULES_HERE)
    chosen = player.choose(boards, dice, rng)  # raises on an illegal one
    assert chosen.shape == boards.shape and player.info["package"] == "gnubg-nn"


@needs_bgsage
@pytest.mark.parametrize(("text", "count"), [("bgsage1", 300), ("bgsage2", 10)])
def test_bgsage_players_choose_legal_plays(text, count, rng):
    boards, dice = random_play(RULES_HERE, count, rng)
    assert make_player(text, RULES_HERE).choose(boards, dice, rng).shape == boards.shape


@needs_gnubg
@needs_bgsage
def test_peers_have_the_error_rates_they_are_known_for():
    """On the whole set: pubeval 35.1, gnubg0 2.70, bgsage1 2.9; this part of it has other means."""
    rates = {name: error_rate(name, SMALL)["all"] for name in ("pubeval", "gnubg0", "bgsage1")}
    assert rates["gnubg0"].error_rate_mpt < 6 and rates["bgsage1"].error_rate_mpt < 6
    assert 15 < rates["pubeval"].error_rate_mpt < 80


def test_signed_boards_of_bgsage_round_trip(rng):
    boards, _ = random_play(RULES_HERE, 200, rng)
    assert all((_unsigned(_signed(board)) == board).all() for board in boards)


def test_steps_of_pubeval_hit_enter_and_bear_off():
    board = np.zeros((2, 26), dtype=np.int8)
    board[0, [25, 6, 0]] = (1, 2, 12)
    board[1, [3, 13, 0]] = (1, 5, 9)  # his 3 is my 22
    after = _after_steps(board, [(25, 22), (6, -1)])
    assert after[0, 22] == 1 and after[0, 25] == 0 and after[0, 6] == 1 and after[0, 0] == 13
    assert after[1, 3] == 0 and after[1, 25] == 1
    assert (
        (legal_afterstates(board, (6, 3), RULES_HERE) == _after_steps(board, [(25, 22), (22, 16)]))
        .all(axis=(1, 2))
        .any()
    )


@pytest.mark.parametrize("kind", PEERS)
def test_peers_refuse_long_nardy(kind):
    with pytest.raises(PlayerError, match=f"player {kind} knows short nardy only, not long_classic"):
        make_player(kind, "long")


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch):
    for name in ("gnubg_nn", "bgsage"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(PlayerError, match=r"player gnubg0 needs the package gnubg-nn: pip install 'nardy\[peers\]'"):
        make_player("gnubg0", RULES_HERE)
