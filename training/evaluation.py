"""Strength checks while a net trains: error rate on a referee file, points against fixed opponents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agent.arena import play_match
from agent.evaluator import Evaluator
from agent.levels import Level
from agent.net import Net
from agent.net_players import player_of
from agent.players import make_player
from agent.referee import RULES_OF_REFERENCE, RefereeSet, error_rate, load_referee
from engine.errors import ConfigError
from engine.rules import Rules, get_rules
from training.config import CheckConfig
from training.curves import Metric

CHECK_SEED = 20_261_130  # the same dice for every check of every run: curves differ by the nets alone


class StrengthCheck:
    """What a run measures of its nets, opponents and file loaded once and checked before the first game.

    Args:
        rules: the game.
        config: opponents and pairs.
        referee: a file like `referee/visible.npz`, or None.
        threads: for the matches.
    Raises:
        ConfigError: a referee file for a game that it does not cover.
        PlayerError: an opponent that is unknown or cannot be had here.
        RecordError: the referee file cannot be read.
    """

    def __init__(self, rules: Rules, config: CheckConfig, referee: Path | None, *, threads: int) -> None:
        self.rules, self.config, self.threads = rules, config, threads
        self.decisions: RefereeSet | None = None if referee is None else load_referee(referee)
        if referee is not None and not rules.can_hit:
            raise ConfigError(f"the referee file {referee} holds decisions of {RULES_OF_REFERENCE}, the run is {rules}")
        if config.match_pairs:
            for opponent in config.opponents:
                make_player(opponent, rules)

    def metrics(self, net: Net) -> list[Metric]:
        """Strength of a net at 0-ply: a metric for each class of the referee file and for each opponent."""
        return [*self._errors(net), *(self._match(net, opponent) for opponent in self._opponents())]

    def _opponents(self) -> Sequence[str]:
        return self.config.opponents if self.config.match_pairs else ()

    def _errors(self, net: Net) -> list[Metric]:
        if self.decisions is None:
            return []
        result = error_rate(Evaluator(net, get_rules(RULES_OF_REFERENCE)), self.decisions)
        return [
            {"kind": "referee", "class": c.name, "error_rate_mpt": c.error_rate_mpt, "se": c.se_mpt}
            for c in result.classes
        ]

    def _match(self, net: Net, opponent: str) -> Metric:
        player = player_of(Evaluator(net, self.rules), Level(plies=0))
        result = play_match(
            player, make_player(opponent, self.rules), self.rules, self.config.match_pairs, CHECK_SEED,
            workers=self.threads,
        )  # fmt: skip
        return {
            "kind": "match",
            "opponent": opponent,
            "pairs": self.config.match_pairs,
            "ppg": result.ppg,
            "se": result.se,
            "win_rate": result.win_rate,
        }


def strength_text(metrics: Sequence[Metric]) -> str:
    """The metrics of one check in one line, with their standard errors."""
    parts = []
    for m in metrics:
        if m["kind"] == "match":
            parts.append(f"{m['ppg']:+.3f} +- {m['se']:.3f} ppg against {m['opponent']}")
        elif m["class"] == "all":
            parts.append(f"{m['error_rate_mpt']:.2f} +- {m['se']:.2f} mpt")
    return ", ".join(parts)
