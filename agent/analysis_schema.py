"""An analysis as JSON values, and the JSON Schema that describes them (`nardy analyze --json`)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from agent.analysis import ILLEGAL, MARKS, MPT, Figures, GameAnalysis, MatchAnalysis, TurnAnalysis
from agent.chances import rounded
from agent.match_result import Mean
from agent.played import CUBE_ACTIONS
from agent.schema import (
    _BOARD,
    _DICE,
    _FLAG,
    _NET,
    _RULES,
    Schema,
    _list,
    _maybe,
    _number,
    _object,
    _text,
    _whole,
)

_PLAYER = _whole("player 0 or 1, in the order of players", 0, 1)
_POINTS = _number("points, seen by the player who made the turn")
_MEAN = _object(
    "a mean over games with its standard error; null where there are too few",
    {"value": _maybe(_number("points per game")), "se": _maybe(_number("standard error", 0.0))},
)
_FIGURES = _object(
    "what one player's plays come to",
    {
        "plays": _whole("turns played, the forced ones included", 0),
        "unforced": _whole("legal plays that were not the only one; rates are means over them", 0),
        "lost": _number("points lost by them", 0.0),
        "error_rate_mpt": _maybe(_number("millipoints lost a play that had a choice", 0.0)),
        "error_rate_mpt_se": _maybe(_number("its standard error, over plays", 0.0)),
        "pr": _maybe(_number("500 times the mean loss in points", 0.0)),
        "luck": _number("points, of all rolls"),
        "counts": _object("plays by mark", {mark: _whole("plays", 0) for mark in (*MARKS, ILLEGAL)}),
    },
)
_REASON = _object(
    "the rule that an illegal play breaks",
    {
        "code": _text("as engine.legality gives it"),
        "data": {
            "type": "object",
            "description": "what the message names",
            "additionalProperties": {"type": ["string", "integer", "array"], "items": _whole("die", 1, 6)},
        },
        "message": _text("one English line"),
    },
)
_TURN = _object(
    "one turn, seen by the player who made it",
    {
        "number": _whole("in its game, from 1", 1),
        "player": _PLAYER,
        "dice": _DICE,
        "board": _BOARD,
        "play": _maybe(_text("the play; null for a roll that was not played")),
        "afterstate": _maybe(_BOARD),
        "n_legal": _whole("number of legal plays", 1),
        "luck": _number("of the roll, in points, at 0-ply"),
        "equity": _maybe(_POINTS),
        "best": _maybe(_text("the best play")),
        "best_equity": _maybe(_POINTS),
        "equity_loss": _maybe(_number("points behind the best play; null for an illegal one", 0.0)),
        "level": _text("depth at which both were judged; empty for a roll that was not played"),
        "mark": {"enum": ["", *MARKS, ILLEGAL], "description": "how bad the play is"},
        "reason": _maybe(_REASON),
        "line": _whole("line of the file, 0 where there is none", 0),
    },
)
_CUBE = _object(
    "an action with the cube: kept, never judged",
    {
        "player": _PLAYER,
        "action": {"enum": list(CUBE_ACTIONS), "description": "what was done"},
        "value": _whole("of the cube when taken", 1),
        "before_turn": _whole("index of the turn that follows, from 0", 0),
    },
)
_RESULT = _object(
    "how the game ended",
    {
        "winner": _maybe(_PLAYER),
        "level": _maybe(_text("single, gammon, home or bar")),
        "points": _number("without the cube", 0.0),
        "how": {"enum": ["borne_off", "resigned", "draw"], "description": "how"},
    },
)
_GAME = _object(
    "one game",
    {
        "number": _whole("in the match, from 1", 0),
        "score": _list(_number("points"), "of player 0 and 1 before it", 2),
        "winner": _maybe(_PLAYER),
        "points": _number("credited to the winner, the cube included", 0.0),
        "result": _maybe(_RESULT),
        "value": _maybe(_number("points of player 0 without the cube")),
        "is_estimated": _FLAG | {"description": "whether value is the equity of the last position"},
        "adjusted": _maybe(
            _number("value less the luck of player 0, plus that of player 1; of an estimated one, up to its position")
        ),
        "figures": _list(_FIGURES, "of player 0 and 1", 2),
        "cube": _list(_CUBE, "in order"),
        "notes": _list(_text("note"), "what was odd"),
        "turns": _list(_TURN, "in order"),
    },
)
ANALYSIS: Schema = _object(
    "a match judged play by play",
    {
        "rules": _RULES,
        "net": _NET,
        "level": _text("the level asked for"),
        "filters": _list(_text("KEEP:WITHIN"), "who was judged deeper, one filter a ply"),
        "marks": _object("equity lost from which a mark is given", {mark: _number("points", 0.0) for mark in MARKS}),
        "players": _list(_text("name"), "player 0 and player 1", 2),
        "length": _maybe(_whole("points that win the match; null: no limit", 1)),
        "source": _text("record, mat or arena"),
        "headers": {"type": "object", "description": "of the file", "additionalProperties": _text("header")},
        "notes": _list(_text("note"), "what was read and is ignored"),
        "figures": _list(_FIGURES, "of player 0 and 1, all games", 2),
        "ppg": _MEAN,
        "adjusted_ppg": _MEAN,
        "games": _list(_GAME, "in order"),
    },
)


def analysis_dict(analysis: MatchAnalysis) -> dict[str, Any]:
    """An analysis as JSON values (`ANALYSIS`)."""
    match, config = analysis.match, analysis.config
    return {
        "rules": str(match.rules),
        "net": analysis.net_name,
        "level": str(config.level),
        "filters": [str(f) for f in config.level.filters[: config.level.plies]],
        "marks": dict(zip(MARKS, config.marks, strict=True)),
        "players": list(match.players),
        "length": match.length,
        "source": match.source,
        "headers": dict(match.headers),
        "notes": list(match.notes),
        "figures": [_figures(figures) for figures in analysis.figures],
        "ppg": _mean(analysis.ppg),
        "adjusted_ppg": _mean(analysis.adjusted_ppg),
        "games": [_game(game) for game in analysis.games],
    }


def _game(entry: GameAnalysis) -> dict[str, Any]:
    game = entry.game
    return {
        "number": game.number,
        "score": list(game.score),
        "winner": game.winner,
        "points": game.points,
        "result": None if game.result is None else asdict(game.result),
        "value": rounded(entry.value),
        "is_estimated": entry.is_estimated,
        "adjusted": rounded(entry.adjusted),
        "figures": [_figures(figures) for figures in entry.figures],
        "cube": [asdict(action) for action in game.cube],
        "notes": list(game.notes),
        "turns": [_turn(turn) for turn in entry.turns],
    }


def _turn(entry: TurnAnalysis) -> dict[str, Any]:
    turn = entry.turn
    reason = None if turn.reason is None else asdict(turn.reason) | {"message": str(turn.reason)}
    return {
        "number": entry.number,
        "player": turn.player,
        "dice": list(turn.dice),
        "board": turn.board.tolist(),
        "play": entry.play_text or None,
        "afterstate": None if turn.afterstate is None else turn.afterstate.tolist(),
        "n_legal": entry.n_legal,
        "luck": rounded(entry.luck),
        "equity": rounded(entry.equity),
        "best": entry.best_text or None,
        "best_equity": rounded(entry.best_equity),
        "equity_loss": rounded(entry.loss),
        "level": entry.level,
        "mark": entry.mark,
        "reason": reason,
        "line": turn.line,
    }


def _figures(figures: Figures) -> dict[str, Any]:
    return {
        "plays": figures.plays,
        "unforced": figures.unforced,
        "lost": rounded(figures.lost),
        "error_rate_mpt": rounded(figures.error_rate_mpt),
        "error_rate_mpt_se": rounded(MPT * figures.error_rate.se),
        "pr": rounded(figures.pr),
        "luck": rounded(figures.luck),
        "counts": dict(figures.counts),
    }


def _mean(mean: Mean) -> dict[str, Any]:
    return {"value": rounded(mean.value), "se": rounded(mean.se)}
