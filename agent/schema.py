"""JSON Schema of every answer: what `to_dict()` gives, `--json` prints and the HTTP service sends.

Figures are in points and probabilities, rounded to six decimals. `probs` are exclusive and sum to 1; `cumulative`
counts a class and every dearer one of that side, so `win_or_better` is the chance to win at all.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def _object(about: str, fields: dict[str, Schema], optional: tuple[str, ...] = ()) -> Schema:
    required = [name for name in fields if name not in optional]
    return {
        "description": about,
        "type": "object",
        "properties": fields,
        "required": required,
        "additionalProperties": False,
    }


def _list(of: Schema, about: str, size: int | None = None) -> Schema:
    schema: Schema = {"type": "array", "items": of, "description": about}
    return schema if size is None else schema | {"minItems": size, "maxItems": size}


def _number(about: str, low: float | None = None, high: float | None = None) -> Schema:
    schema: Schema = {"type": "number", "description": about}
    limits = {"minimum": low, "maximum": high}
    return schema | {name: limit for name, limit in limits.items() if limit is not None}


def _maybe(schema: Schema) -> Schema:
    return schema | {"type": [schema["type"], "null"]}


def _whole(about: str, low: int, high: int | None = None) -> Schema:
    return _number(about, low, high) | {"type": "integer"}


def _text(about: str) -> Schema:
    return {"type": "string", "description": about}


def _chances(about: str, low: float | None = 0.0, high: float | None = 1.0) -> Schema:
    values = _number("probability", low, high)
    return {"type": "object", "description": about, "additionalProperties": values}


_FLAG: Schema = {"type": "boolean"}
_ROW = _list(_whole("checkers", 0, 15), "26 counts by distance to bearing off: 0 off, 1..24 points, 25 bar", 26)
_BOARD = _list(_ROW, "row 0 the player asked about, row 1 the opponent, each from his own side", 2)
_DICE = _list(_whole("die", 1, 6), "the roll", 2)
_RULES = _text("the exact rules, as text that get_rules reads")
_NET = _text("name of the net that judged")
_POSITION = _text("the position as it was understood, where it was given as text")
_PROBS = _chances("exclusive outcome probabilities, named as rules.outcomes; they sum to 1")
_CUMULATIVE = _chances("cumulative: win_or_better, win_gammon_or_better, ..., lose_or_worse, lose_gammon_or_worse, ...")
_STEP = _object(
    "one checker by one die",
    {
        "from": _whole("point, 25 the bar", 1, 25),
        "to": _whole("point, 0 borne off", 0, 24),
        "die": _whole("die", 1, 6),
        "is_hit": _FLAG | {"description": "whether it hits"},
    },
)
_SUGGESTION_FIELDS: dict[str, Schema] = {
    "play": _text("the play, such as 24/18 13/9*, or pass"),
    "is_pass": _FLAG | {"description": "nothing can be played"},
    "steps": _list(_STEP, "the play step by step, in a legal order"),
    "afterstate": _BOARD,
    "equity": _number("points expected after the play"),
    "equity_loss": _number("points behind the best play, both judged at this play's level", 0.0),
    "level": _text("depth this play was judged at, such as 2-ply"),
    "probs": _PROBS,
    "cumulative": _CUMULATIVE,
}
SUGGESTION = _object("one legal play", _SUGGESTION_FIELDS)
SUGGESTIONS = _object(
    "the best plays of a roll, best first; plays judged deeper stand before the others",
    {
        "position": _POSITION,
        "rules": _RULES,
        "net": _NET,
        "board": _BOARD,
        "dice": _DICE,
        "level": _text("the level asked for"),
        "filters": _list(_text("KEEP:WITHIN"), "who was judged deeper, one filter a ply"),
        "n_legal": _whole("number of legal plays", 1),
        "suggestions": _list(SUGGESTION, "best first"),
    },
    optional=("position",),
)
ROLL_PLAY = _object(
    "the best play of one roll",
    {
        "dice": _DICE,
        "weight": _number("probability of the roll", 0.0, 1.0),
        "luck": _number("its equity less the mean over the rolls"),
        **_SUGGESTION_FIELDS,
    },
)
EVALUATION = _object(
    "a position before the roll",
    {
        "position": _POSITION,
        "rules": _RULES,
        "net": _NET,
        "board": _BOARD,
        "level": _text("the level asked for"),
        "equity": _number("points expected by the player about to roll"),
        "probs": _PROBS,
        "cumulative": _CUMULATIVE,
        "rolls": _list(ROLL_PLAY, "the 21 rolls; empty when the game is over"),
    },
    optional=("position",),
)
_SE = _maybe(_number("standard error; null for a single trial", 0.0))
ROLLED = _object(
    "one candidate of a rollout; luck-adjusted chances of rare classes can leave 0..1 by noise",
    {
        "play": _maybe(_text("the play, or null where an afterstate was given")),
        "afterstate": _BOARD,
        "equity": _number("mean points"),
        "se": _SE,
        "loss": _number("points behind the best candidate", 0.0),
        "loss_se": _SE,
        "probs": _chances("exclusive outcome frequencies; they sum to 1, less draws", None, None),
        "cumulative": _chances("the same, cumulative", None, None),
        "probs_se": {"type": "object", "additionalProperties": _SE},
    },
)
ROLLOUT = _object(
    "candidates rolled out on the same dice, best first",
    {
        "position": _POSITION,
        "board": _BOARD,
        "dice": _DICE,
        "rules": _RULES,
        "net": _NET,
        "level": _text("depth at which the trials were played"),
        "trials": _whole("trials of each candidate", 1),
        "truncate": _maybe(_whole("turns before the net judged; null: played to the end", 1)),
        "variance_reduction": _FLAG,
        "seed": _whole("seed of the dice", 0),
        "stopped": {"enum": ["trials", "rule", "interrupt", "watcher"], "description": "what ended the rollout"},
        "candidates": _list(ROLLED, "best first"),
    },
    optional=("position", "board", "dice"),
)
OPENING_LINE = _object(
    "a first turn, or a reply to one, seen by the player who makes the last of them",
    {
        "dice": _DICE,
        "play": _text("the first turn"),
        "reply_dice": _maybe(_DICE),
        "reply": _maybe(_text("the reply, or null")),
        "equity": _number("mean points"),
        "se": _SE,
        "interval_95": _list(_maybe(_number("points")), "bounds of the 95 % interval; null for a single trial", 2),
        "trials": _whole("trials", 1),
    },
)
OPENINGS = _object(
    "an opening table",
    {
        "rules": _RULES,
        "net": _NET,
        "level": _text("depth at which the trials were played"),
        "seed": _whole("seed of the dice", 0),
        "truncate": _maybe(_whole("turns before the net judged; null: played to the end", 1)),
        "lines": _list(OPENING_LINE, "by first roll, best first"),
    },
)
