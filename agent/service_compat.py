"""Endpoints in the shape of other servers: wildbg (`/move`, `/eval`) and bgweb (`/api/v1/getmoves`).

Source: CONVENTIONS.md A.1 and A.2 of the project. Both are short nardy under backgammon scoring, judged at 0-ply.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from agent.ranking import Probs
from agent.service_asks import GetMovesAsk
from agent.service_judges import Judges
from agent.suggest import Suggestion, evaluate, suggest
from engine.board import Boards, as_boards
from engine.dice import as_dice
from engine.errors import ConfigError, DiceError, IllegalPlayError, NardyError, NetError, PositionError
from engine.outcome import is_finished
from engine.reason import move_text
from engine.rules import BAR, CHECKERS, OFF, SLOTS, Rules, get_rules
from engine.steps import make_step, replay

Answer = dict[str, Any]

RULES = "short_backgammon"
ONE_POINTER = "win_only"
_DOUBLE_ABOVE, _DOUBLE_BELOW = 0.4, 0.6  # wildbg's window on the cubeless equity
_ACCEPT_BELOW = 0.5
_DECIMALS = 3  # bgweb's figures


class NoNet(NardyError):
    """wildbg's answer when it has no net."""


def wildbg_move(query: Mapping[str, str], judges: Judges) -> Answer:
    """The answer of `GET /move`: every legal play, best first.

    Args:
        query: the parameters as they came.
    Raises:
        PositionError, DiceError, ConfigError: bad input, in wildbg's order (what cannot be read, board, dice, score)
            and with its words.
    """
    dice = [_number(query, name, None) for name in ("die1", "die2")]
    board = wildbg_board(query)
    if not all(1 <= die <= 6 for die in dice):
        raise DiceError("Dice values must be between 1 and 6.")
    rules = _wildbg_rules(_number(query, "x_away", 0), _number(query, "o_away", 0))
    judge = _judge(judges, rules)
    if is_finished(board):
        probs = judge.outcome_probs(board[None], threads=1)[0]
        return {"moves": [{"play": [], "probabilities": _wildbg_probs(probs, rules)}]}
    found = suggest(board, dice, rules, judge, top=None, threads=1)
    return {"moves": [{"play": _steps(play), "probabilities": _wildbg_probs(play.probs, rules)} for play in found]}


def wildbg_eval(query: Mapping[str, str], judges: Judges) -> Answer:
    """The answer of `GET /eval`: a position before the roll, and the cube by wildbg's window on cubeless equity.

    Raises:
        PositionError: as for `wildbg_move`.
    """
    board, rules = wildbg_board(query), get_rules(RULES)
    worth = evaluate(board, rules, _judge(judges, rules), threads=1)
    cube = {"double": _DOUBLE_ABOVE < worth.equity < _DOUBLE_BELOW, "accept": worth.equity < _ACCEPT_BELOW}
    return {"cube": cube, "probabilities": _wildbg_probs(worth.probs, rules)}


def wildbg_board(query: Mapping[str, str]) -> Boards:
    """The board of parameters p0 to p25: x above zero and on roll, o below; what is missing to 15 is borne off.

    Raises:
        PositionError: with wildbg's words.
    """
    pips = np.array([_number(query, f"p{index}", 0) for index in range(SLOTS)], dtype=np.int64)
    mine, theirs = np.maximum(pips, 0), np.maximum(-pips, 0)[::-1]  # p0 is o's bar, his index 25
    for name, count in (("x", mine.sum()), ("o", theirs.sum())):
        if count > CHECKERS:
            raise PositionError(f"Player {name} has more than 15 checkers on the board.")
    if pips[BAR] < 0:
        raise PositionError("Index 25 is the bar for player x, number of checkers needs to be positive.")
    if pips[OFF] > 0:
        raise PositionError("Index 0 is the bar for player o, number of checkers needs to be negative.")
    if not pips.any():
        raise PositionError("no checker is given: p0 to p25 tell who has how many on a point, such as p24=2&p19=-5")
    board = np.stack([mine, theirs])
    board[:, OFF] = CHECKERS - board.sum(axis=1)
    return as_boards(board, get_rules(RULES))


def _wildbg_rules(x_away: int, o_away: int) -> Rules:
    if (x_away, o_away) == (0, 0):
        return get_rules(RULES)
    if (x_away, o_away) == (1, 1):
        return get_rules(f"{RULES}(scoring={ONE_POINTER})")
    if (x_away, o_away) == (0, 1):
        raise ConfigError("If x_away is 0, then o_away must also be 0.")
    if (x_away, o_away) == (1, 0):
        raise ConfigError("If o_away is 0, then x_away must also be 0.")
    raise ConfigError("Currently only 1 pointers and money games are supported.")


def _number(query: Mapping[str, str], name: str, default: int | None) -> int:
    text = query.get(name)
    if text is None and default is None:
        given = ", ".join(f"{die}={query[die][:20]!r}" for die in ("die1", "die2") if die in query) or "neither"
        raise ConfigError(f"missing field `{name}`: die1 and die2 must be numbers from 1 to 6, got {given}")
    if text is None:
        return int(default or 0)
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 4):
        raise ConfigError(f"{name} must be a whole number, got {text[:20]!r}")
    return int(text)


def _steps(play: Suggestion) -> list[Answer]:
    """The steps as wildbg writes them: one checker that goes by both dice goes by the smaller first, if it can."""
    steps = play.steps
    if len(steps) == 2 and steps[0].end == steps[1].start and steps[0].die > steps[1].die:
        way = [make_step(play.board, steps[0].start, steps[1].die, play.rules)]
        try:
            between, _, _ = replay(play.board, way, play.dice, play.rules)
            way.append(make_step(between, way[0].end, steps[0].die, play.rules))
            after, _, _ = replay(play.board, way, play.dice, play.rules)
        except IllegalPlayError:
            after = play.board
        if np.array_equal(after, play.afterstate):
            steps = tuple(way)
    return [{"from": int(step.start), "to": int(step.end)} for step in steps]


def _wildbg_probs(probs: Probs, rules: Rules) -> dict[str, float]:
    """wildbg's five cumulative numbers; `win` includes `winG`, and that `winBg`."""
    levels = rules.game.levels
    won, lost = probs[:levels], probs[levels:]
    figures = {"win": won, "winG": won[1:], "winBg": won[2:], "loseG": lost[1:], "loseBg": lost[2:]}
    return {name: round(float(part.sum()), 6) for name, part in figures.items()}


def _judge(judges: Judges, rules: Rules) -> Any:
    try:
        return judges.evaluator(rules)
    except NetError as error:
        raise NoNet("Neural net could not be constructed.") from error


def getmoves(ask: GetMovesAsk, judges: Judges) -> list[Answer]:
    """The answer of bgweb's `POST /api/v1/getmoves`: plays, best first, with cubeless figures at 0-ply.

    Raises:
        PositionError, DiceError, ConfigError: bad input, or `cubeful`, which there is no cube for.
    """
    if ask.cubeful:
        raise ConfigError("cubeful must be false: plays are judged without a cube here")
    rules = get_rules(RULES)
    sides = {"x": _side(ask.board.x, "x"), "o": _side(ask.board.o, "o")}
    board = as_boards([sides[ask.player], sides["o" if ask.player == "x" else "x"]], rules)
    found = suggest(board, as_dice(ask.dice), rules, judges.evaluator(rules), top=ask.max_moves or None, threads=1)
    if found[0].is_pass:
        return []
    return [_scored(play, found[0].equity, rules, ask.score_moves) for play in found]


def _side(points: Mapping[str, Any], name: str) -> list[int]:
    row = [0] * SLOTS
    for point, count in points.items():
        index = BAR if point == "bar" else int(point) if point.isascii() and point.isdigit() and len(point) < 3 else 0
        if not 1 <= index <= BAR or (index == BAR and point != "bar"):
            raise PositionError(f"points of {name} are named 1 to 24 or bar, got {point[:20]!r}")
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= CHECKERS:
            raise PositionError(f"a point holds 0 to 15 checkers, {name} has {str(count)[:20]} on {point}")
        row[index] = count
    if sum(row) > CHECKERS:
        raise PositionError(f"player {name} has {sum(row)} checkers on the board, at most 15 are allowed")
    row[OFF] = CHECKERS - sum(row)
    return row


def _scored(play: Suggestion, best: float, rules: Rules, is_scored: bool) -> Answer:
    answer: Answer = {"play": [{"from": move_text(step.start), "to": move_text(step.end)} for step in play.steps]}
    if not is_scored:
        return answer
    levels = rules.game.levels
    parts = {"win": play.probs[:levels], "lose": play.probs[levels:]}
    chances = {
        f"{side}{word}": _rounded(part[row:].sum())
        for side, part in parts.items()
        for row, word in enumerate(("", "G", "BG"))
    }
    answer["evaluation"] = {
        "info": {"cubeful": False, "plies": 0},
        "eq": _rounded(play.equity),
        "diff": _rounded(play.equity - best),
        "probability": chances,
    }
    return answer


def _rounded(value: float) -> float:
    return round(float(value), _DECIMALS) + 0.0  # no negative zero
