"""Answers of the native HTTP endpoints, as plain functions of what was asked: no HTTP, no threads.

A field of an answer is added here. The figures are those of `agent.suggest` and `agent.rollout`; the games are in
`agent.service_games`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from agent.explain import explain, why
from agent.jobs import StopFlag
from agent.lang import reason_text
from agent.levels import Level
from agent.rollout import RolloutConfig, RolloutResult, judged_rules, rollout
from agent.service_asks import (
    BatchAsk,
    Depth,
    EvaluateAsk,
    LegalAsk,
    PositionAsk,
    RolloutAsk,
    SuggestAsk,
    WhyAsk,
)
from agent.service_judges import Judges
from agent.service_turns import verdict
from agent.suggest import chosen_level, evaluate, suggest, suggest_many
from engine.board import PHASES, Boards, phase, pip_count
from engine.dice import Roll, as_dice
from engine.errors import ConfigError, DiceError, NardyError, PositionError
from engine.legality import why_illegal, why_step_illegal
from engine.movegen import legal_afterstates
from engine.notation import parse_moves, parse_play, play_text
from engine.outcome import is_finished
from engine.position_ids import Position, format_xgid, gnubg_id, parse_position, xgid_of
from engine.reason import Reason
from engine.rules import ALIASES, OUTCOME_LEVELS, RULES, Rules, get_rules
from engine.steps import route_to

Answer = dict[str, Any]

ONE_THREAD = 1
SLOW_PLIES = 2  # suggestions from here on are slow jobs; an evaluation looks one roll further by itself
SLOW_BATCH = 64
QUICK_TOP = 10  # to write more plays as text takes a slow job's time


def depth_of(ask: Depth) -> Level:
    """The level that a request names. Raises ConfigError."""
    return chosen_level(ask.plies, ask.level, ask.filters)


def place_of(ask: PositionAsk, dice: Any, rules: Rules) -> tuple[Position, Roll | None]:
    """The position of a request and its dice: those given, or those of an XGID.

    Raises:
        PositionError, DiceError: bad input, or dice that disagree with those of the XGID.
    """
    position = parse_position(ask.position, rules)
    given = None if dice is None else as_dice(dice)
    if given and position.dice and sorted(given) != sorted(position.dice):
        stated = "".join(map(str, position.dice))
        raise DiceError(f"dice {dice} disagree with the position, which says {stated}; leave one of them out")
    return position, given or position.dice


def need_dice(roll: Roll | None) -> Roll:
    """The dice, when there are any. Raises DiceError."""
    if roll is None:
        raise DiceError("dice are missing: two numbers from 1 to 6 such as 64, or a position that holds them (XGID)")
    return roll


def rules_answer() -> Answer:
    """The presets and what a board drawn for them has to know: geometry, start, options, outcome classes."""
    presets = {}
    for name, rules in RULES.items():
        presets[name] = {
            "game": rules.game.name,
            "has_bar": rules.can_hit,
            "has_head": rules.has_head_rule,
            "opponent_point": rules.opponent_point.tolist(),
            "start_board": rules.start_board().tolist(),
            "levels": list(OUTCOME_LEVELS[: rules.game.levels]),
            "level_points": list(rules.level_points),
            "outcomes": list(rules.outcomes),
            "options": {
                option: {"value": str(getattr(rules, option)), "allowed": list(allowed)}
                for option, allowed in rules.game.options.items()
            },
        }
    return {"presets": presets, "aliases": dict(ALIASES)}


def describe_answer(ask: PositionAsk) -> Answer:
    """What a position text was understood to be, with its IDs."""
    rules = get_rules(ask.rules)
    position, roll = place_of(ask, None, rules)
    return {
        "rules": str(rules),
        "position": position.echo,
        "source": position.source,
        "notes": list(position.notes),
        "board": position.board.tolist(),
        "dice": roll,
        "pips": pip_count(position.board).tolist(),
        "phase": PHASES[int(phase(position.board, rules))],
        "gnubg_id": gnubg_id(position.board),
        "xgid": format_xgid(xgid_of(position.board, roll)) if rules.can_hit else None,
    }


def suggest_answer(ask: SuggestAsk, judges: Judges, flag: StopFlag | None = None) -> Answer:
    """The best plays of a roll (`agent.schema.SUGGESTIONS`)."""
    rules = get_rules(ask.rules)
    position, roll = place_of(ask, ask.dice, rules)
    judge = judges.evaluator(rules, ask.scoring, flag)
    depth = depth_of(ask)
    found = suggest(position.board, need_dice(roll), judge.rules, judge, level=depth, top=ask.top, threads=ONE_THREAD)
    answer = _echo(position) | found.to_dict()
    for play, one in zip(found, answer["suggestions"], strict=True):
        one["verdict"] = verdict(play.equity_loss)
        if ask.words:
            one["words"] = explain(play, ask.lang, best=found[0])
    return answer


def evaluate_answer(ask: EvaluateAsk, judges: Judges, flag: StopFlag | None = None) -> Answer:
    """What a position is worth before the roll (`agent.schema.EVALUATION`)."""
    rules = get_rules(ask.rules)
    position, _ = place_of(ask, None, rules)
    judge = judges.evaluator(rules, ask.scoring, flag)
    found = evaluate(position.board, judge.rules, judge, level=depth_of(ask), threads=ONE_THREAD)
    return _echo(position) | found.to_dict()


def batch_answer(ask: BatchAsk, judges: Judges, flag: StopFlag | None = None) -> Answer:
    """`suggest_answer` for many positions at once.

    Raises:
        ConfigError: an item at fault, by its number.
    """
    rules = get_rules(ask.rules)
    judge = judges.evaluator(rules, ask.scoring, flag)
    boards, rolls, positions = [], [], []
    for number, item in enumerate(ask.items):
        try:
            place = PositionAsk(rules=ask.rules, position=item.position)
            position, roll = place_of(place, item.dice, rules)
            if is_finished(position.board):
                raise PositionError("the game is over; a play needs a board on which neither side has finished")
            rolls.append(need_dice(roll))
        except NardyError as error:
            raise ConfigError(f"item {number} of the batch: {error}") from error
        positions.append(position)
        boards.append(position.board)
    found = suggest_many(
        np.stack(boards), rolls, judge.rules, judge, level=depth_of(ask), top=ask.top, threads=ONE_THREAD
    )
    answers = [_echo(position) | one.to_dict() for position, one in zip(positions, found, strict=True)]
    return {"rules": str(judge.rules), "answers": answers}


def legal_answer(ask: LegalAsk) -> Answer:
    """The legal plays of a roll, a page of them as text and steps; a finished game has none."""
    rules = get_rules(ask.rules)
    position, given = place_of(ask, ask.dice, rules)
    roll, board = need_dice(given), position.board
    plays = legal_afterstates(board, roll, rules)
    assert isinstance(plays, np.ndarray)
    is_pass = len(plays) == 1 and bool(np.array_equal(plays[0], board))
    page = plays[ask.offset : ask.offset + ask.limit]
    return {
        **_echo(position),
        "rules": str(rules),
        "board": board.tolist(),
        "dice": list(roll),
        "n_legal": len(plays),
        "is_pass": is_pass,
        "pass_reasons": pass_reasons(board, roll, rules, ask.lang) if is_pass else [],
        "offset": ask.offset,
        "plays": [_play_dict(board, roll, after, rules) for after in page],
    }


def pass_reasons(board: Boards, dice: Roll, rules: Rules, lang: str) -> list[Answer]:
    """Why nothing can be played on a board int8 [2, 26]: for each die and each own checker, the rule that stops it."""
    found = []
    for die in dict.fromkeys(dice):
        for start in range(25, 0, -1):
            if board[0, start]:
                reason = why_step_illegal(board, (), dice, start, die, rules)
                if reason is not None and reason.code != "bar_first":
                    found.append({"start": start, "die": int(die), **reason_dict(reason, lang)})
    return found


def why_answer(ask: WhyAsk) -> Answer:
    """Whether a play is legal and, if not, which rule it breaks."""
    rules = get_rules(ask.rules)
    position, given = place_of(ask, ask.dice, rules)
    roll = need_dice(given)
    if (ask.play is None) == (ask.afterstate is None):
        raise ConfigError("give a play or an afterstate, not both and not neither")
    wanted: Any = parse_moves(ask.play) if ask.play is not None else np.array(ask.afterstate)
    reason = why_illegal(position.board, roll, wanted, rules)
    return {
        **_echo(position),
        "rules": str(rules),
        "dice": list(roll),
        "is_legal": reason is None,
        "reason": None if reason is None else reason_dict(reason, ask.lang),
        "sentence": why(position.board, roll, wanted, rules, ask.lang, shown=ask.play),
    }


def reason_dict(reason: Reason, lang: str) -> Answer:
    """A reason as JSON values with its sentence."""
    return {"code": reason.code, "data": reason.data, "text": reason_text(reason, lang)}


class RolloutJob:
    """A rollout that was asked for, checked at once and run later.

    Raises:
        NardyError: bad input, each kind with its own error.
    """

    def __init__(self, ask: RolloutAsk, judges: Judges, flag: StopFlag) -> None:
        self.rules = get_rules(ask.rules)
        self.position, roll = place_of(ask, ask.dice, self.rules)
        self.roll = need_dice(roll)
        self.mover_is_first = ask.mover_is_first
        self.judge = judges.evaluator(judged_rules(self.rules), None, flag)
        board = self.position.board
        if is_finished(board):
            raise PositionError("the game is over; a rollout needs a board on which neither side has finished")
        if ask.plays:
            plays = [parse_play(play, board, self.roll, self.rules) for play in ask.plays]
        else:
            best = suggest(board, self.roll, self.judge.rules, self.judge, top=ask.top, threads=ONE_THREAD)
            plays = [play.afterstate for play in best]
        self.afterstates = np.stack(plays)
        self.texts = [play_text(board, self.roll, after, self.rules) for after in plays]
        self.config = RolloutConfig(
            trials=ask.trials,
            truncate=ask.truncate,
            level=Level(plies=ask.plies),
            variance_reduction=ask.variance_reduction,
            stop_at_joint_se=ask.stop_at_joint_se,
            seed=ask.seed,
        )
        if self.rules.last_turn != "none" and ask.mover_is_first is None:
            raise ConfigError(f"under {self.rules} a rollout must be told whether the mover began (mover_is_first)")
        if self.judge.rules != self.rules and ask.truncate is not None:
            raise ConfigError(f"a truncated rollout ends with the net, which cannot judge {self.rules}")

    def run(self, tell: Callable[[Answer], object]) -> Answer:
        """The whole rollout; `tell` gets the result so far after each chunk."""
        result = rollout(
            self.afterstates,
            self.rules,
            self.judge,
            self.config,
            mover_is_first=self.mover_is_first,
            watch=lambda so_far: tell(self.answer(so_far)) or True,
            threads=ONE_THREAD,
        )
        return self.answer(result)

    def answer(self, result: RolloutResult) -> Answer:
        """A result as JSON values (`agent.schema.ROLLOUT`)."""
        place = {"board": self.position.board.tolist(), "dice": list(self.roll)}
        return {**_echo(self.position), **place, **result.to_dict(self.texts)}


def _echo(position: Position) -> Answer:
    return {"position": position.echo, "notes": list(position.notes)}


def _play_dict(board: Boards, roll: Roll, after: Boards, rules: Rules) -> Answer:
    steps = route_to(board, roll, after, rules)
    return {
        "play": play_text(board, roll, after, rules, steps=steps),
        "steps": [{"from": s.start, "to": s.end, "die": s.die, "is_hit": bool(s.is_hit)} for s in steps],
        "afterstate": after.tolist(),
    }
