"""A judge without a net: probabilities from pips and borne off checkers, quick and the same on every machine."""

from __future__ import annotations

import numpy as np

from engine.board import pip_count
from engine.movegen import afterstates_of
from engine.outcome import UNFINISHED, equity_of, outcome_class
from engine.rules import OFF, Rules


class FakeJudge:
    """What `agent.ranking.Judge` asks; `judged` counts the boards it was asked about."""

    net_name = "fake"

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.judged = 0

    def outcome_probs(self, afterstates, *, offsets=None, threads=None):
        self.judged += len(afterstates)
        levels = self.rules.game.levels
        pips = pip_count(afterstates).astype(np.float64)  # [N, 2]
        win = 1.0 / (1.0 + np.exp((pips[:, 0] - pips[:, 1] - 4.0) / 12.0))
        probs = np.zeros((len(afterstates), 2 * levels))
        for row, share in ((0, win), (1, 1.0 - win)):
            loser = afterstates[:, 1 - row]
            gammon = np.where(loser[:, OFF] > 0, 0.0, np.clip((pips[:, 1 - row] - 60.0) / 250.0, 0.0, 0.6))
            home = 0.2 * gammon
            start = row * levels
            probs[:, start], probs[:, start + 1], probs[:, start + 2] = (
                share * (1.0 - gammon),
                share * (gammon - home),
                share * home,
            )
        outcome = outcome_class(afterstates, self.rules)
        over = np.flatnonzero(outcome != UNFINISHED)
        probs[over] = 0.0
        probs[over, outcome[over]] = 1.0
        return probs.astype(np.float32)

    def equity(self, afterstates, *, threads=None):
        return equity_of(self.outcome_probs(afterstates), self.rules)

    def choose(self, boards, dice, *, threads=None):
        return self.choose_judged(boards, dice)[0]

    def choose_judged(self, boards, dice, *, threads=None):
        plays, offsets = afterstates_of(boards, np.asarray(dice, dtype=np.int8), self.rules, threads=1)
        probs = self.outcome_probs(plays)
        owner = np.repeat(np.arange(len(boards)), np.diff(offsets))
        best = np.lexsort((-equity_of(probs, self.rules), owner))[offsets[:-1]]
        return plays[best], probs[best]
