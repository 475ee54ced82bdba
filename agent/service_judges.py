"""The evaluators of the HTTP service: one net a game, bound to exact rules and kept by their full text."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from agent.evaluator import Evaluator
from agent.jobs import StopFlag, StoppableEvaluator
from agent.net import Net, load_net, shipped_net
from engine.rules import RULES, Rules, get_rules

MAX_BOUND = 64


class Judges:
    """Nets by game: the shipped ones, or nets of one's own.

    An evaluator is kept by the text of its rules, scoring included, so no answer can come from other settings
    (case E06).

    Args:
        nets: net files, each in place of the shipped one for the game that it plays.
    Raises:
        NetError: a file is no net.
    """

    def __init__(self, nets: Iterable[Path] = ()) -> None:
        self._nets: dict[str, Net] = {net.game: net for net in map(load_net, nets)}
        self._bound: OrderedDict[str, Evaluator] = OrderedDict()
        self._lock = threading.Lock()

    def evaluator(self, rules: Rules | str, scoring: str | None = None, flag: StopFlag | None = None) -> Evaluator:
        """An evaluator bound to rules.

        Args:
            rules: the exact variant.
            scoring: a payoff in place of the rules' own.
            flag: what can stop the job it is for.
        Raises:
            RulesError, NetError: unknown rules or scoring; no net for them.
        """
        wanted = get_rules(rules)
        if scoring is not None:
            wanted = replace(wanted, scoring=scoring)
        if flag is not None:
            return StoppableEvaluator(self.net(wanted), wanted, flag)
        key = str(wanted)
        with self._lock:
            found = self._bound.get(key)
            if found is not None:
                self._bound.move_to_end(key)
                return found
        bound = Evaluator(self.net(wanted), wanted)
        with self._lock:
            self._bound[key] = bound
            while len(self._bound) > MAX_BOUND:
                self._bound.popitem(last=False)
        return bound

    def net(self, rules: Rules) -> Net:
        """The net of a game. Raises NetError when there is none."""
        with self._lock:
            if rules.game.name not in self._nets:
                self._nets[rules.game.name] = load_net(shipped_net(rules))
            return self._nets[rules.game.name]

    def names(self) -> dict[str, str]:
        """Names of the nets that are there, by game."""
        found = {}
        for rules in RULES.values():
            try:
                found[rules.game.name] = self.net(rules).name
            except ValueError:
                continue
        return found
