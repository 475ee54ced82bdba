"""What the HTTP service may be asked: the bodies of the native endpoints, with their examples."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_PLAY = 120
MAX_RULES = 400
MAX_POSITION = 1000

Row = Annotated[list[int], Field(min_length=26, max_length=26)]
Rows = Annotated[list[Row], Field(min_length=2, max_length=2)]
Dice = Annotated[list[int], Field(min_length=2, max_length=2)]
Rules = Annotated[
    str,
    Field(max_length=MAX_RULES, description="A preset such as short or long_classic, or preset(option=value,...)."),
]
PositionText = Annotated[str, Field(max_length=MAX_POSITION)]
Position = Annotated[
    PositionText | Rows,
    Field(description="start, a GNUBG position ID, an XGID (short nardy), or rows [[26],[26]], the mover's first."),
]
AnyDice = Annotated[
    Annotated[str, Field(max_length=20)] | Dice | None,
    Field(description="The roll, such as 64 or [6,4]; not needed where the XGID holds it."),
]
Lang = Annotated[Literal["en", "ru"], Field(description="Language of words.")]
Name = Annotated[str, Field(max_length=120)]


class Ask(BaseModel):
    """A body with the fields named and no others."""

    model_config = ConfigDict(extra="forbid", strict=True)


class PositionAsk(Ask):
    """A position under exact rules."""

    rules: Rules
    position: Position = "start"


class Depth(Ask):
    """How deep plays are judged."""

    plies: Annotated[int | None, Field(ge=0, le=3, description="Turns looked ahead.")] = None
    level: Annotated[
        str | None, Field(max_length=20, description="Instead of plies: fast, good, strong, deep, gnubg:2ply, xg:3ply.")
    ] = None
    filters: Annotated[
        str | None, Field(max_length=60, description="Who is judged deeper: KEEP:WITHIN a ply, such as 8:0.16,4:0.08.")
    ] = None
    scoring: Annotated[
        str | None, Field(max_length=60, description="Points to rank by, a name or 1/2/3; else the rules' own.")
    ] = None


class SuggestAsk(PositionAsk, Depth):
    """The best plays of a roll."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"rules": "long_classic", "position": "start", "dice": "64", "top": 3},
                {
                    "rules": "short",
                    "position": "4HPwATDgc/ABMA",
                    "dice": [3, 1],
                    "plies": 1,
                    "words": True,
                    "lang": "ru",
                },
            ]
        }
    )

    dice: AnyDice = None
    top: Annotated[int, Field(ge=1, le=200, description="How many plays at most.")] = 5
    words: Annotated[bool, Field(description="Explain each play in words.")] = False
    lang: Lang = "en"


class EvaluateAsk(PositionAsk, Depth):
    """What a position is worth before the roll."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"rules": "short_backgammon", "position": "start"}]})


class DescribeAsk(PositionAsk):
    """What a text means as a position."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"rules": "short", "position": "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"}]
        }
    )


class LegalAsk(PositionAsk):
    """The legal plays of a roll, in pages."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"rules": "long_classic", "position": "start", "dice": "66"}]}
    )

    dice: AnyDice = None
    offset: Annotated[int, Field(ge=0, le=4000, description="Plays left out at the beginning.")] = 0
    limit: Annotated[int, Field(ge=1, le=200, description="Most plays in the answer.")] = 200
    lang: Lang = "en"


class WhyAsk(PositionAsk):
    """Whether a play is legal and, if not, which rule it breaks."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"rules": "long_classic", "position": "start", "dice": "65", "play": "24/18", "lang": "ru"}]
        }
    )

    dice: AnyDice = None
    play: Annotated[str | None, Field(max_length=MAX_PLAY, description="Such as 24/18 13/9*.")] = None
    afterstate: Annotated[Rows | None, Field(description="Instead of a play: the board after it.")] = None
    lang: Lang = "en"


class RolloutAsk(PositionAsk):
    """Games played out from plays of a roll."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"rules": "short", "dice": "31", "plays": ["8/5 6/5", "24/23 13/10"], "trials": 324, "truncate": 7}
            ]
        }
    )

    dice: AnyDice = None
    plays: Annotated[
        list[Annotated[str, Field(max_length=MAX_PLAY)]], Field(max_length=10, description="Else the best at 0-ply.")
    ] = []
    top: Annotated[int, Field(ge=1, le=10, description="How many plays, where none are named.")] = 3
    trials: Annotated[int, Field(ge=1, le=20_736, description="Games a play; 36 or a multiple is best.")] = 324
    truncate: Annotated[int | None, Field(ge=1, le=1000, description="Turns before the net judges.")] = None
    plies: Annotated[int, Field(ge=0, le=1, description="Depth at which the games are played.")] = 0
    variance_reduction: Annotated[bool, Field(description="Take the luck of the rolls off.")] = True
    stop_at_joint_se: Annotated[
        float | None, Field(gt=0, le=100, description="Stop once all others are behind by this many standard errors.")
    ] = None
    seed: Annotated[int, Field(ge=0, le=2**63 - 1, description="Seed of the dice.")] = 1
    mover_is_first: Annotated[bool | None, Field(description="Needed under last_turn=second_player.")] = None


class BatchItem(Ask):
    """One position of a batch."""

    position: Position = "start"
    dice: AnyDice = None


class BatchAsk(Depth):
    """The best plays of many positions under the same rules."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"rules": "long_classic", "items": [{"dice": "64"}, {"dice": "33"}], "top": 1, "plies": 0}]
        }
    )

    rules: Rules
    items: Annotated[list[BatchItem], Field(min_length=1, max_length=256)]
    top: Annotated[int, Field(ge=1, le=20)] = 1


class GameAsk(Ask):
    """A new game."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"rules": "long_classic", "players": ["you", "net"]},
                {"rules": "short", "players": ["you:Анна", "you:Борис"], "enforce": "claims", "dice": "typed"},
            ]
        }
    )

    rules: Rules
    players: Annotated[
        list[Name],
        Field(
            min_length=2, max_length=2, description="you, you:NAME, net, net@1ply, net@2ply, heuristic, pips, random."
        ),
    ] = ["you", "net"]
    enforce: Literal["strict", "claims"] = "strict"
    dice: Annotated[
        Literal["seed", "typed", "verifiable"],
        Field(description="seed: the server throws; typed: given by hand, or thrown where none are given."),
    ] = "seed"
    seed: Annotated[int | None, Field(ge=0, le=2**63 - 1, description="Seed of the dice; else a new one.")] = None
    first: Annotated[int | None, Field(ge=0, le=1, description="Who begins; without it there is a toss.")] = None
    position: Annotated[Position | None, Field(description="Another start, seen by the player who begins.")] = None


class LoadAsk(Ask):
    """A game record to go on with, or to look at."""

    record: Annotated[str, Field(max_length=900_000, description="The text of a record: JSON lines.")]


class ActionAsk(Ask):
    """What happens in a game; each action takes the fields that belong to it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"revision": 3, "start": 24, "die": 6}, {"revision": 3, "start": 24, "end": 13}]
        }
    )

    revision: Annotated[
        int | None,
        Field(ge=0, description="The game as the asker knows it: a request about an older one is refused."),
    ] = None
    by: Annotated[int | None, Field(ge=0, le=1, description="The player who acts, if it is to be checked.")] = None
    dice: AnyDice = None
    start: Annotated[
        int | None, Field(ge=0, le=25, description="step, move, place: from which point; 25 is the bar.")
    ] = None
    end: Annotated[int | None, Field(ge=0, le=25, description="move, place: to which point; 0 is off.")] = None
    die: Annotated[int | None, Field(ge=1, le=6, description="step: by which die.")] = None
    board: Annotated[Rows | None, Field(description="place: the whole board.")] = None
    level: Annotated[str | None, Field(max_length=20, description="resign: single, gammon, home or bar.")] = None
    nonce: Annotated[str | None, Field(max_length=64, description="nonce: a player's part in verifiable dice.")] = None
    lang: Lang = "en"


class GetMovesBoard(Ask):
    """Both sides' checkers by point, each from its own side."""

    x: dict[str, Any]
    o: dict[str, Any]


class GetMovesAsk(Ask):
    """The body of bgweb's getmoves (CONVENTIONS.md A.2)."""

    model_config = ConfigDict(
        populate_by_name=True,
        json_schema_extra={
            "examples": [
                {
                    "board": {"x": {"6": 5, "8": 3, "13": 5, "24": 2}, "o": {"6": 5, "8": 3, "13": 5, "24": 2}},
                    "dice": [3, 1],
                    "player": "x",
                    "max-moves": 3,
                }
            ]
        },
    )

    board: GetMovesBoard
    dice: Dice
    player: Literal["x", "o"]
    max_moves: Annotated[int, Field(ge=0, alias="max-moves", description="0: all.")] = 0
    score_moves: Annotated[bool, Field(alias="score-moves")] = True
    cubeful: bool = False
