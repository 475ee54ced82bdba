"""Suggestions: the legal plays of a position, best first, with what the net expects of each.

`suggest` is the one function behind Python, the command line and HTTP; `suggest_many` judges a batch, `evaluate` a
position before the roll. The JSON forms (`to_dict`) are described by `agent.schema`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agent.chances import probs_dict
from agent.evaluator import Evaluator, load_evaluator
from agent.levels import PLY_NAMES, Level, PlyFilter, as_level
from agent.net import Net, shipped_net
from agent.ranking import Judge, Probs, Ranking, rank_plays
from engine.board import Boards, as_boards
from engine.dice import ROLL_WEIGHTS, ROLLS, as_dice, as_dice_batch
from engine.errors import ConfigError, NetError, PositionError
from engine.notation import play_text
from engine.outcome import UNFINISHED, is_finished, outcome_class
from engine.rules import Rules, get_rules
from engine.steps import Step, play_steps

NetLike = Net | str | Path | Judge | None
LevelText = str | int | Level
Filters = str | tuple[PlyFilter, ...] | None


@dataclass(kw_only=True, eq=False)
class Suggestion:
    """One legal play with its figures, all seen by the player who makes it.

    Attributes:
        afterstate: int8 [2, 26], row 0 that player.
        equity: points expected after the play.
        equity_loss: points lost against the best play, both judged at this play's level.
        probs: float32 [K], in the order of `rules.outcomes`.
        level: the depth it was judged at, such as `2-ply`.
        board: int8 [2, 26] before the play.
    """

    board: Boards
    dice: tuple[int, int]
    rules: Rules
    afterstate: Boards
    equity: float
    equity_loss: float
    probs: Probs
    level: str

    @property
    def is_pass(self) -> bool:
        """Whether nothing can be played, so that the board stays as it is."""
        return bool(np.array_equal(self.board, self.afterstate))

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The play as single steps in a legal order; empty for a pass."""
        return () if self.is_pass else play_steps(self.board, self.dice, self.afterstate, self.rules)

    @cached_property
    def play_text(self) -> str:
        """The play as text, such as `24/18 13/9*`."""
        return play_text(self.board, self.dice, self.afterstate, self.rules)

    def to_dict(self) -> dict[str, Any]:
        """The suggestion as JSON values (`agent.schema.SUGGESTION`)."""
        steps = [{"from": s.start, "to": s.end, "die": s.die, "is_hit": bool(s.is_hit)} for s in self.steps]
        return {
            "play": self.play_text,
            "is_pass": self.is_pass,
            "steps": steps,
            "afterstate": self.afterstate.tolist(),
            "equity": _rounded(self.equity),
            "equity_loss": _rounded(self.equity_loss),
            "level": self.level,
            **probs_dict(self.probs, self.rules),
        }


class Suggestions(list[Suggestion]):
    """The plays asked for, best first, with what they answer; a list that notebooks show as a board.

    Attributes:
        board, dice, rules: the position asked about; the rules' text is what the figures hold for.
        net_name: the net that judged.
        level: the level asked for; each suggestion carries the one it got.
        n_legal: how many legal plays there are.
    """

    def __init__(
        self,
        items: Iterable[Suggestion],
        *,
        board: Boards,
        dice: tuple[int, int],
        judge: Judge,
        level: Level,
        n_legal: int,
    ) -> None:
        super().__init__(items)
        self.board = board
        self.dice = dice
        self.rules = judge.rules
        self.net_name = judge.net_name
        self.level = level
        self.n_legal = n_legal

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON values (`agent.schema.SUGGESTIONS`)."""
        return {
            "rules": str(self.rules),
            "net": self.net_name,
            "board": self.board.tolist(),
            "dice": list(self.dice),
            "level": str(self.level),
            "filters": [str(f) for f in self.level.filters[: self.level.plies]],
            "n_legal": self.n_legal,
            "suggestions": [s.to_dict() for s in self],
        }

    def _repr_svg_(self) -> str:
        from agent.svg import suggestions_svg  # only notebooks draw

        return suggestions_svg(self)


@dataclass(frozen=True, kw_only=True)
class RollPlay:
    """The best play of one of the 21 rolls; `weight` is the roll's probability, `luck` its equity above the mean."""

    weight: float
    luck: float
    best: Suggestion

    def to_dict(self) -> dict[str, Any]:
        """The roll as JSON values (`agent.schema.ROLL_PLAY`)."""
        roll = {"dice": list(self.best.dice), "weight": _rounded(self.weight), "luck": _rounded(self.luck)}
        return roll | self.best.to_dict()


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """A position before the roll, seen by the player about to roll.

    Attributes:
        probs: float32 [K] over `rules.outcomes`, the mean over the 21 rolls of the best play's.
        equity: points expected.
        rolls: the 21 rolls in the order of `engine.dice.ROLLS`; empty when the game is over.
    """

    board: Boards = field(repr=False)
    rules: Rules
    net_name: str
    level: Level
    probs: Probs
    equity: float
    rolls: tuple[RollPlay, ...] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The evaluation as JSON values (`agent.schema.EVALUATION`)."""
        return {
            "rules": str(self.rules),
            "net": self.net_name,
            "board": self.board.tolist(),
            "level": str(self.level),
            "equity": _rounded(self.equity),
            **probs_dict(self.probs, self.rules),
            "rolls": [roll.to_dict() for roll in self.rolls],
        }


def suggest(
    board: Any,
    dice: Any,
    rules: str | Rules,
    net: NetLike = None,
    *,
    plies: int | None = None,
    level: LevelText | None = None,
    top: int | None = 5,
    filters: Filters = None,
    scoring: str | None = None,
    threads: int | None = None,
) -> Suggestions:
    """The best plays of a roll.

    Args:
        board: [2, 26] whole numbers, row 0 the player on roll.
        dice: the roll, as a pair or text.
        rules: the exact variant, as text or `Rules`.
        net: a net file, None for the shipped net, or an evaluator already loaded.
        plies: turns looked ahead, 0 to 3; the same as `level`.
        level: `fast`, `good`, `strong`, `deep`, plies, `gnubg:Nply`, `xg:Nply` or a `Level`.
        top: how many plays at most; None for all.
        filters: who is judged deeper, `KEEP:WITHIN` a ply.
        scoring: the payoff of the outcome classes to rank by, in place of the rules' own.
        threads: most CPU threads to use; None: all cores.
    Returns:
        A list of `Suggestion`, best first; a single one, the pass, where nothing can be played.
    Raises:
        RulesError, PositionError, DiceError, NetError, ConfigError: bad input; a finished game is a PositionError.
    """
    judge = as_judge(rules, net, scoring)
    depth = chosen_level(plies, level, filters)
    return suggest_many(np.asarray(board)[None], [dice], judge.rules, judge, level=depth, top=top, threads=threads)[0]


def suggest_many(
    boards: Any,
    dice: Sequence[Any],
    rules: str | Rules,
    net: NetLike = None,
    *,
    plies: int | None = None,
    level: LevelText | None = None,
    top: int | None = 5,
    filters: Filters = None,
    scoring: str | None = None,
    threads: int | None = None,
) -> list[Suggestions]:
    """`suggest` for B positions at once, judged in one batch.

    Args:
        boards: [B, 2, 26] whole numbers, row 0 the player on roll.
        dice: B rolls.
        rules, net, plies, level, top, filters, scoring, threads: as for `suggest`.
    Returns:
        One `Suggestions` a position, in order.
    Raises:
        RulesError, PositionError, DiceError, NetError, ConfigError: bad input, or a finished game among the boards.
    """
    judge = as_judge(rules, net, scoring)
    depth = chosen_level(plies, level, filters)
    if top is not None and top < 1:
        raise ConfigError(f"top must be 1 or more plays, got {top}")
    checked = as_boards(boards, judge.rules)
    rolls = _rolls(dice, len(checked))
    for board in checked[is_finished(checked)]:
        raise PositionError(_finished_text(board, judge.rules))
    if not len(rolls):
        return []
    ranking = rank_plays(judge, checked, rolls, depth, threads=threads)
    return [
        _suggestions(ranking, row, checked[row], (first, second), judge, depth, top)
        for row, (first, second) in enumerate(rolls.tolist())
    ]


def evaluate(
    board: Any,
    rules: str | Rules,
    net: NetLike = None,
    *,
    plies: int | None = None,
    level: LevelText | None = None,
    filters: Filters = None,
    scoring: str | None = None,
    threads: int | None = None,
) -> Evaluation:
    """What a position is worth before the roll, and the best play of each of the 21 rolls.

    Args:
        board: [2, 26] whole numbers, row 0 the player about to roll. A finished game is worth what it ended with.
        rules, net, plies, level, filters, scoring, threads: as for `suggest`.
    Raises:
        RulesError, PositionError, NetError, ConfigError: bad input.
    """
    judge = as_judge(rules, net, scoring)
    depth = chosen_level(plies, level, filters)
    checked = as_boards(board, judge.rules)
    if checked.ndim != 2:
        raise PositionError(f"evaluate takes one board of shape [2, 26], got {list(checked.shape)}")
    if is_finished(checked):
        probs = judge.outcome_probs(checked[None])[0]
        return _evaluation(checked, judge, depth, probs, ())
    boards = np.repeat(checked[None], len(ROLLS), axis=0)
    ranking = rank_plays(judge, boards, ROLLS, depth, threads=threads)
    best = ranking.offsets[:-1]
    probs = (ROLL_WEIGHTS @ ranking.probs[best]).astype(np.float32)
    mean = float(ROLL_WEIGHTS @ ranking.equity[best])
    rolls = []
    for row, (first, second) in enumerate(ROLLS.tolist()):
        plays = _suggestions(ranking, row, checked, (first, second), judge, depth, 1)
        rolls.append(RollPlay(weight=float(ROLL_WEIGHTS[row]), luck=plays[0].equity - mean, best=plays[0]))
    return _evaluation(checked, judge, depth, probs, tuple(rolls))


def as_judge(rules: str | Rules, net: NetLike = None, scoring: str | None = None) -> Judge:
    """The evaluator for rules under a scoring chosen at call time.

    Args:
        rules: the exact variant.
        net: a net or its file, None for the shipped one, or an evaluator already loaded for exactly these rules.
        scoring: a scoring of the game, or its points as `1/2/3`; None keeps the rules' own.
    Raises:
        RulesError, NetError: unknown rules or scoring, or a net that does not fit.
    """
    wanted = get_rules(rules)
    if scoring is not None:
        wanted = replace(wanted, scoring=scoring)
    if isinstance(net, Net):
        return load_evaluator(wanted, net)
    if net is None or isinstance(net, (str, Path)):
        path = shipped_net(wanted) if net is None else Path(net)
        is_there = path.is_file()
        return _loaded(wanted, path, path.stat().st_mtime_ns) if is_there else load_evaluator(wanted, path)
    if net.rules != wanted:
        raise NetError(f"the evaluator was loaded for {net.rules}, the question is about {wanted}")
    return net


@lru_cache(maxsize=8)
def _loaded(rules: Rules, path: Path, changed_ns: int) -> Evaluator:  # the time stamp: a file written anew is read anew
    return load_evaluator(rules, path)


def chosen_level(plies: int | None, level: LevelText | None, filters: Filters = None) -> Level:
    """The level that `plies` or `level` names, 0-ply where neither is given.

    Raises:
        ConfigError: both are given, or one that is unknown.
    """
    if plies is not None and level is not None:
        raise ConfigError(f"give plies or level, not both: got plies {plies} and level {level}")
    return as_level(level if level is not None else plies or 0, filters)


def _rolls(dice: Sequence[Any], count: int) -> npt.NDArray[np.int8]:
    if len(dice) != count:
        raise PositionError(f"each board needs one roll, got {count} boards and {len(dice)} rolls")
    if isinstance(dice, np.ndarray) and dice.ndim == 2:
        return as_dice_batch(dice, count)
    return np.array([as_dice(d) for d in dice], dtype=np.int8).reshape(count, 2)


def _suggestions(
    ranking: Ranking, row: int, board: Boards, dice: tuple[int, int], judge: Judge, level: Level, top: int | None
) -> Suggestions:
    start, end = int(ranking.offsets[row]), int(ranking.offsets[row + 1])
    shown = slice(start, end if top is None else min(end, start + top))
    figures = (ranking.equity[shown].tolist(), ranking.loss[shown].tolist(), ranking.plies[shown].tolist())
    items = [
        Suggestion(
            board=board,
            dice=dice,
            rules=judge.rules,
            afterstate=afterstate,
            equity=equity,
            equity_loss=loss,
            probs=probs,
            level=PLY_NAMES[plies],
        )
        for afterstate, probs, equity, loss, plies in zip(
            ranking.afterstates[shown], ranking.probs[shown], *figures, strict=True
        )
    ]
    return Suggestions(items, board=board, dice=dice, judge=judge, level=level, n_legal=end - start)


def _evaluation(board: Boards, judge: Judge, level: Level, probs: Probs, rolls: tuple[RollPlay, ...]) -> Evaluation:
    return Evaluation(
        board=board,
        rules=judge.rules,
        net_name=judge.net_name,
        level=level,
        probs=probs,
        equity=float(probs @ judge.rules.points),
        rolls=rolls,
    )


def _finished_text(board: Boards, rules: Rules) -> str:
    outcome = int(outcome_class(board, rules))
    name = "drawn" if outcome == UNFINISHED else f"{rules.outcomes[outcome].replace('_', ' ')} for the player on roll"
    return f"the game is over ({name}); a play needs a board on which neither side has finished"


def _rounded(value: float) -> float:
    return round(float(value), 6)
