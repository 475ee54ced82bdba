"""A player that rolls out its few best candidates before it chooses: `rollout:trials=72,truncate=8,level=0`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from agent.levels import Level
from agent.players import BasePlayer, Dice
from agent.ranking import Judge, rank_plays
from agent.rollout import RolloutConfig, rollout
from engine.board import Boards
from engine.errors import ConfigError, PlayerError
from engine.rules import Rules

KEEP = 4  # candidates at 0-ply that are rolled out
WITHIN = 0.12  # and the largest 0-ply loss of one
MAX_SEED = 2**32


@dataclass(kw_only=True)
class RolloutPlayer(BasePlayer):
    """The candidate with the best rollout; each decision draws a seed of its own from the match's stream."""

    judge: Judge
    config: RolloutConfig
    pairs_per_chunk: int = 1
    cost: float = 3000.0

    def choose(self, boards: Boards, dice: Dice, rng: np.random.Generator) -> Boards:
        """The afterstate with the best rollout of each board."""
        ranking = rank_plays(self.judge, boards, dice, Level())
        chosen = ranking.afterstates[ranking.offsets[:-1]]
        seeds = rng.integers(MAX_SEED, size=len(boards))
        for row in range(len(boards)):
            start, end = ranking.offsets[row : row + 2]
            is_near = ranking.loss[start:end] <= WITHIN
            candidates = ranking.afterstates[start:end][is_near][:KEEP]
            if len(candidates) > 1:
                config = replace(self.config, seed=int(seeds[row]))
                chosen[row] = rollout(candidates, self.rules, self.judge, config).candidates[0].afterstate
        return np.asarray(chosen)


def rollout_player(argument: str, rules: Rules) -> RolloutPlayer:
    """A player from the text behind `rollout`: empty, or `trials=72,truncate=8,level=0,net=PATH` in any order.

    Raises:
        PlayerError: an option that is unknown or cannot be read.
        NetError: a net that cannot be read or does not fit the rules.
    """
    from agent.evaluator import load_evaluator

    options: dict[str, Any] = {"trials": 72, "truncate": 8}
    path = None
    try:
        for part in filter(None, argument.split(",")):
            name, _, value = (word.strip() for word in part.partition("="))
            if name == "net":
                path = value
            elif name == "truncate":
                options[name] = None if value == "none" else int(value)
            elif name == "trials":
                options[name] = int(value)
            elif name == "level":
                options[name] = value
            else:
                raise PlayerError(f"unknown rollout option {name!r}; allowed: trials, truncate, level, net")
        config = RolloutConfig(**options)
    except (ConfigError, ValueError) as error:
        raise PlayerError(f"player rollout:{argument}: {error}") from error
    judge = load_evaluator(rules, path)
    shown = f"rollout:trials={config.trials},truncate={config.truncate},level={config.level.plies}"
    return RolloutPlayer(name=shown, rules=rules, info={"net": judge.net_name}, judge=judge, config=config)
