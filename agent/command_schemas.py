"""JSON Schema of what each command prints with `--json`, by the command's name (`nardy schema NAME`)."""

from __future__ import annotations

from types import MappingProxyType

from agent.analysis_schema import ANALYSIS
from agent.schema import (
    _BOARD,
    _DICE,
    _FLAG,
    _POSITION,
    _RULES,
    EVALUATION,
    OPENINGS,
    ROLLOUT,
    SUGGESTIONS,
    Schema,
    _list,
    _maybe,
    _number,
    _object,
    _text,
    _whole,
)


def _map(of: Schema, about: str) -> Schema:
    return {"type": "object", "description": about, "additionalProperties": of}


_DATA: Schema = {"type": ["string", "integer", "array"], "items": _whole("die or point", 0, 25)}
WHY = _object(
    "whether a play is legal and, if not, which rule it breaks",
    {
        "rules": _RULES,
        "position": _POSITION,
        "dice": _DICE,
        "play": _text("the play as it was given"),
        "is_legal": _FLAG,
        "reason": _maybe(
            _object(
                "the rule, or null where the play is legal",
                {"code": _text("as engine.legality gives it"), "data": _map(_DATA, "what the message names")},
            )
        ),
        "message": _text("one sentence in the language asked for"),
    },
)
BOARD = _object(
    "a position",
    {
        "rules": _RULES,
        "position": _POSITION,
        "board": _BOARD,
        "gnubg_id": _text("the GNUBG position ID"),
        "dice": _maybe(_DICE),
        "pips": _list(_whole("pips", 0), "of the player on roll and of the opponent", 2),
        "phase": _text("contact, race, bearoff or finished"),
        "n_legal": _maybe(_whole("number of legal plays, where a roll was given", 0)),
    },
)
INFO = _object(
    "this installation",
    {
        "versions": _map(_text("version"), "of Python and the packages at hand"),
        "nets": _list(
            _object(
                "a shipped net",
                {
                    **{
                        name: _text("what the net says of itself")
                        for name in ("file", "net", "game", "rules", "features", "experts", "hidden", "sha256")
                    },
                    "metadata": _map(_text("as stored in the file"), "the net's metadata"),
                },
            ),
            "shipped nets",
        ),
        "presets": _map(_map(_text("value"), "options of the preset"), "rules by name"),
        "aliases": _map(_text("preset"), "other names of presets"),
    },
)
PROOF = _object(
    "a record whose dice were recomputed",
    {
        "kind": _text("seeded or verifiable"),
        "rolls": _whole("rolls recomputed", 0),
        "said": _text("the seed, or the commitment"),
        "events": _whole("events of the record", 0),
    },
)
_STATS = _object(
    "rolls against what fair dice would show; a p-value near 0 says that they would hardly do this",
    {
        "rolls": _whole("rolls", 1),
        "face_counts": _list(_whole("times", 0), "of the faces 1 to 6", 6),
        "face_expected": _number("times"),
        "face_chi_square": _number("5 degrees of freedom", 0.0),
        "face_p": _number("p-value", 0.0, 1.0),
        "pair_counts": _list(_list(_whole("times", 0), "by the second die", 6), "by the first die", 6),
        "pair_expected": _number("times"),
        "pair_chi_square": _number("35 degrees of freedom", 0.0),
        "pair_p": _number("p-value", 0.0, 1.0),
        "doubles": _whole("doubles", 0),
        "doubles_expected": _number("doubles"),
        "doubles_z": _number("deviation in standard errors"),
        "serial_correlation": _number("of each die with the next one thrown"),
        "mean_pips": _number("pips a roll; a double counts four steps"),
    },
)
DICE_STATS = _object(
    "statistics of rolls",
    {"source": _text("the seed or record"), "players": _map(_STATS, "statistics of each player's rolls")},
)
COMMAND_SCHEMAS = MappingProxyType(
    {
        "suggest": SUGGESTIONS,
        "evaluate": EVALUATION,
        "why": WHY,
        "rollout": ROLLOUT,
        "openings": OPENINGS,
        "analyze": ANALYSIS,
        "board": BOARD,
        "info": INFO,
        "dice verify": PROOF,
        "dice stats": DICE_STATS,
    }
)
