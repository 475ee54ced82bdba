"""Opening tables: what each first turn, and each reply to it, is worth by rollout, with 95 % intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from agent.chances import rounded
from agent.levels import Level
from agent.ranking import Judge, rank_plays
from agent.rollout import RolloutConfig, RolloutResult, rollout
from engine.board import Boards, opponent_view
from engine.dice import ROLLS
from engine.errors import ConfigError
from engine.notation import play_text
from engine.rules import Rules

Z95 = 1.959964  # half width of a 95 % interval in standard errors

Dice = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class OpeningLine:
    """A first turn, or a reply to one, with its equity for the player who makes the last of them.

    `low` and `high` bound the 95 % interval; `se` is the standard error over `trials` games, not a number for one game.
    """

    dice: Dice
    play_text: str
    reply_dice: Dice | None
    reply_text: str
    equity: float
    se: float
    low: float
    high: float
    trials: int

    def to_dict(self) -> dict[str, Any]:
        """The line as JSON values (`agent.schema.OPENING_LINE`)."""
        return {
            "dice": list(self.dice),
            "play": self.play_text,
            "reply_dice": list(self.reply_dice) if self.reply_dice else None,
            "reply": self.reply_text or None,
            "equity": rounded(self.equity),
            "se": rounded(self.se),
            "interval_95": [rounded(self.low), rounded(self.high)],
            "trials": self.trials,
        }


@dataclass(frozen=True, kw_only=True)
class Openings:
    """All lines, by first roll and then best first, and what they were measured with."""

    rules: Rules
    net_name: str
    config: RolloutConfig
    lines: tuple[OpeningLine, ...]

    def to_dict(self) -> dict[str, Any]:
        """The table as JSON values (`agent.schema.OPENINGS`)."""
        return {
            "rules": str(self.rules),
            "net": self.net_name,
            "level": str(self.config.level),
            "seed": self.config.seed,
            "truncate": self.config.truncate,
            "lines": [line.to_dict() for line in self.lines],
        }


def roll_out_openings(
    judge: Judge,
    config: RolloutConfig,
    *,
    plays: int = 2,
    has_replies: bool = False,
    watch: Callable[[int, int], object] | None = None,
) -> Openings:
    """The opening table of the judge's rules.

    Args:
        judge: the evaluator, bound to the rules.
        config: trials, truncation, depth and seed of each rollout.
        plays: most plays of a roll that are rolled out: those that the net likes best at 0-ply.
        has_replies: whether the replies to the best play of each first roll are rolled out too.
        watch: called with the number of rollouts done and of all planned.
    Returns:
        The table; Ctrl-C gives the lines finished so far.
    Raises:
        ConfigError: fewer than one play a roll.
    """
    if plays < 1:
        raise ConfigError(f"plays must be 1 or more a roll, got {plays}")
    rules = judge.rules
    start = rules.start_board()
    roller = _Roller(judge, config, watch)
    firsts = [(dice, _candidates(judge, start, dice, plays)) for dice in first_rolls(rules)]
    roller.planned += sum(len(candidates) for _, candidates in firsts)
    lines: list[OpeningLine] = []
    try:
        for dice, candidates in firsts:
            rolled = roller.roll_out(candidates)
            texts = [play_text(start, dice, r.candidates[0].afterstate, rules) for r in rolled]
            lines += [_line(r, dice, text) for r, text in zip(rolled, texts, strict=True)]
            if has_replies:
                lines.extend(_replies(roller, rolled[0].candidates[0].afterstate, dice, texts[0], plays))
    except KeyboardInterrupt:
        if not lines:
            raise
    return Openings(rules=rules, net_name=judge.net_name, config=config, lines=tuple(lines))


def first_rolls(rules: Rules) -> list[Dice]:
    """The rolls that the first turn can have: no double where the dice of the toss are kept."""
    return [(a, b) for a, b in ROLLS.tolist() if a != b or rules.opening_roll == "fresh"]


class _Roller:
    """Rolls out candidates and remembers afterstates that several rolls lead to."""

    def __init__(self, judge: Judge, config: RolloutConfig, watch: Callable[[int, int], object] | None) -> None:
        self.judge, self.config, self.watch = judge, config, watch
        self.planned = 0
        self._done = 0
        self._known: dict[bytes, RolloutResult] = {}

    def roll_out(self, afterstates: Boards) -> list[RolloutResult]:
        """Each afterstate rolled out by itself on the same dice, best first."""
        rolled = []
        for afterstate in afterstates:
            key = afterstate.tobytes()
            if key not in self._known:
                result = rollout(afterstate[None], self.judge.rules, self.judge, self.config)
                if result.stopped == "interrupt":
                    raise KeyboardInterrupt
                self._known[key] = result
            rolled.append(self._known[key])
            self._done += 1
            if self.watch is not None:
                self.watch(self._done, self.planned)
        return sorted(rolled, key=lambda result: -result.candidates[0].equity)


def _candidates(judge: Judge, board: Boards, dice: Dice, plays: int) -> Boards:
    ranking = rank_plays(judge, board[None], np.array([dice], dtype=np.int8), Level())
    return ranking.afterstates[:plays]


def _replies(roller: _Roller, first: Boards, dice: Dice, first_text: str, plays: int) -> Iterator[OpeningLine]:
    board = np.ascontiguousarray(opponent_view(first))
    replies = [((a, b), _candidates(roller.judge, board, (a, b), plays)) for a, b in ROLLS.tolist()]
    roller.planned += sum(len(candidates) for _, candidates in replies)
    for reply_dice, candidates in replies:
        for result in roller.roll_out(candidates):
            reply_text = play_text(board, reply_dice, result.candidates[0].afterstate, roller.judge.rules)
            yield _line(result, dice, first_text, reply_dice, reply_text)


def _line(
    result: RolloutResult, dice: Dice, text: str, reply_dice: Dice | None = None, reply_text: str = ""
) -> OpeningLine:
    rolled = result.candidates[0]
    return OpeningLine(
        dice=dice,
        play_text=text,
        reply_dice=reply_dice,
        reply_text=reply_text,
        equity=rolled.equity,
        se=rolled.se,
        low=rolled.equity - Z95 * rolled.se,
        high=rolled.equity + Z95 * rolled.se,
        trials=result.trials,
    )
