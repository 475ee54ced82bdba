"""Whole games between nets in kernels: what self-play learns from and the arena counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from agent import _play_kernels as kernels
from agent._bearoff_kernels import BearoffArrays
from agent.bearoff import empty_arrays, load_tables
from agent.net import Net, check_fit
from engine.board import Boards
from engine.errors import ConfigError
from engine.rules import SLOTS, Rules
from engine.threads import map_slices

Scalar = TypeVar("Scalar", bound=np.generic)

GAMES_WORTH_A_THREAD = 4
TURNS_GUESS = 100  # turns of a long game between nets; a short one has about 55


@dataclass(frozen=True)
class GameRecords:
    """Turns of G games, one after another; a turn is seen by its mover.

    Attributes:
        afterstates: int8 [T, 2, 26], what was played.
        values: float32 [T, K], the mover's net on the best afterstate of the turn.
        is_greedy: bool [T], what was played is the best.
        offsets: int64 [G + 1], the turns of game i are offsets[i]:offsets[i+1].
        outcomes: int64 [G], outcome class seen by the player who made the last turn; -1 for a game cut short.
    """

    afterstates: Boards
    values: npt.NDArray[np.float32]
    is_greedy: npt.NDArray[np.bool_]
    offsets: npt.NDArray[np.int64]
    outcomes: npt.NDArray[np.int64]


def game_seeds(seed: int, first: int, count: int) -> npt.NDArray[np.uint64]:
    """Seeds of games first .. first + count - 1: each belongs to its index, whatever else is played.

    Args:
        seed: the run's seed, not negative.
        first, count: index of the first game, from 0, and how many.
    Returns:
        uint64 [count].
    """
    streams = (np.random.SeedSequence(seed, spawn_key=(game,)) for game in range(first, first + count))
    states = [stream.generate_state(1, np.uint64) for stream in streams]
    return np.concatenate(states) if states else np.zeros(0, dtype=np.uint64)


def play_games(
    net: Net,
    rules: Rules,
    seeds: npt.NDArray[np.uint64],
    *,
    opponent: Net | None = None,
    threads: int | None = None,
    random_rate: float = 0.0,
    opening_random_rate: float = 0.0,
    opening_turns: int = 0,
    use_tables: bool = True,
) -> GameRecords:
    """Play one game per seed, both sides picking the best play at 0-ply.

    Args:
        net: plays first.
        rules: the exact variant; a kept opening roll is never a double.
        seeds: uint64 [G], from `game_seeds`; dice and random turns of a game depend on its seed alone.
        opponent: plays second; None: the same net.
        threads: most threads to use; None: all cores. The records do not depend on it.
        random_rate: chance that a turn is played at random.
        opening_random_rate, opening_turns: that chance in the first turns, and how many those are.
        use_tables: whether bear-off positions are judged by the tables.
    Raises:
        NetError: a net does not fit the rules.
        ConfigError: a rate outside [0, 1].
    """
    other = net if opponent is None else opponent
    for each in (net, other):
        check_fit(each, rules)
    for rate in (random_rate, opening_random_rate):
        if not 0.0 <= rate <= 1.0:
            raise ConfigError(f"the chance of a random turn must lie in [0, 1], got {rate}")
    rates = np.array([opening_random_rate, opening_turns, random_rate], dtype=np.float64)
    tables = load_tables().arrays if use_tables else empty_arrays()
    parts = map_slices(
        lambda part: _play(net, other, rules, seeds[part], tables, rates),
        len(seeds),
        threads=threads,
        smallest=GAMES_WORTH_A_THREAD,
    )
    turns = np.cumsum([0] + [len(p.afterstates) for p in parts])
    return GameRecords(
        np.concatenate([p.afterstates for p in parts]),
        np.concatenate([p.values for p in parts]),
        np.concatenate([p.is_greedy for p in parts]),
        np.concatenate([[0], *(p.offsets[1:] + t for p, t in zip(parts, turns[:-1], strict=True))]),
        np.concatenate([p.outcomes for p in parts]),
    )


def _play(
    net: Net,
    opponent: Net,
    rules: Rules,
    seeds: npt.NDArray[np.uint64],
    tables: BearoffArrays,
    rates: npt.NDArray[np.float64],
) -> GameRecords:
    games = len(seeds)
    size = TURNS_GUESS * games + kernels.MAX_TURNS
    outputs = len(rules.outcomes)
    afterstates = np.empty((size, 2, SLOTS), dtype=np.int8)
    values = np.empty((size, outputs), dtype=np.float32)
    is_greedy = np.empty(size, dtype=np.bool_)
    offsets = np.zeros(games + 1, dtype=np.int64)
    outcomes = np.zeros(games, dtype=np.int64)
    done = 0
    while True:
        done = kernels.play_games(
            net.arrays,
            opponent.arrays,
            seeds,
            rules.start_board(),
            rules.code,
            rules.points,
            tables,
            rules.opening_roll == "kept",
            rates,
            done,
            afterstates,
            values,
            is_greedy,
            offsets,
            outcomes,
        )
        if done == games:
            break
        afterstates, values, is_greedy = _doubled(afterstates), _doubled(values), _doubled(is_greedy)
    turns = offsets[games]
    return GameRecords(afterstates[:turns], values[:turns], is_greedy[:turns], offsets, outcomes)


def _doubled(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    grown = np.empty((2 * len(array), *array.shape[1:]), dtype=array.dtype)
    grown[: len(array)] = array
    return grown
