"""Suggestions: the legal plays of a position, best first, with what the net expects of each.

`suggest` is the one function behind Python, the command line and HTTP; `suggest_many` judges a batch, `evaluate` a
position before the roll. The JSON forms (`to_dict`) are described by `agent.schema`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agent.answers import Evaluation, RollPlay, Suggestion, Suggestions
from agent.evaluator import Evaluator, load_evaluator
from agent.levels import PLY_NAMES, Level, PlyFilter, as_level
from agent.net import Net, shipped_net
from agent.ranking import Judge, Probs, Ranking, rank_plays
from engine.board import Boards, as_boards
from engine.dice import ROLL_WEIGHTS, ROLLS, as_dice, as_dice_batch
from engine.errors import ConfigError, DiceError, NetError, PositionError
from engine.outcome import UNFINISHED, equity_of, is_finished, outcome_class
from engine.rules import Rules, get_rules

__all__ = [
    "Evaluation",
    "RollPlay",
    "Suggestion",
    "Suggestions",
    "as_judge",
    "before_roll",
    "chosen_level",
    "evaluate",
    "suggest",
    "suggest_many",
]

SETTLED_NS = 1_000_000_000  # a file written less than this ago may be written again within one tick of its time stamp

NetLike = Net | str | Path | Judge | None
LevelText = str | int | Level
Filters = str | tuple[PlyFilter, ...] | None


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
    checked = as_boards(board, judge.rules)
    if checked.ndim != 2:
        raise PositionError(f"suggest takes one board of shape [2, 26], got {list(checked.shape)}")
    return suggest_many(checked[None], [dice], judge.rules, judge, level=depth, top=top, threads=threads)[0]


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
    if top is not None and (not isinstance(top, (int, np.integer)) or top < 1):
        raise ConfigError(f"top must be 1 or more plays, or None for all, got {top!r}")
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


def before_roll(answer: Suggestions, net: NetLike = None, *, threads: int | None = None) -> Evaluation:
    """The position of some suggestions before the roll, at their level but no deeper than 2-ply.

    Each roll's play is picked at 0-ply and only then judged at the level, so that this costs about as much as the
    suggestions did.

    Args:
        answer: what `suggest` gave.
        net: the net that judged them, as for `suggest`.
        threads: most CPU threads to use; None: all cores.
    Raises:
        NetError: a net that does not fit their rules.
    """
    picked_at_0 = tuple(PlyFilter(keep=1, within=0.0) for _ in answer.level.filters)
    level = Level(plies=min(answer.level.plies, 2), filters=picked_at_0)
    return evaluate(answer.board, answer.rules, net, level=level, threads=threads)


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
        changed_ns = path.stat().st_mtime_ns if path.is_file() else 0
        is_settled = 0 < changed_ns < time.time_ns() - SETTLED_NS
        return _loaded(wanted, path, changed_ns) if is_settled else load_evaluator(wanted, path)
    if not hasattr(net, "rules"):
        raise NetError(f"net must be a Net, a path, an evaluator or None, got {type(net).__name__}")
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
    if not hasattr(dice, "__len__"):
        raise DiceError(f"dice must be a list of rolls, one a board, got {str(dice)[:60]}")
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
        equity=float(equity_of(probs, judge.rules)),
        rolls=rolls,
    )


def _finished_text(board: Boards, rules: Rules) -> str:
    outcome = int(outcome_class(board, rules))
    name = "drawn" if outcome == UNFINISHED else f"{rules.outcomes[outcome].replace('_', ' ')} for the player on roll"
    return f"the game is over ({name}); a play needs a board on which neither side has finished"
