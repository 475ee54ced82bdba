"""What the commands share: options, positions with their dice, JSON on stdout, and the note on the first compile."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from engine.position_ids import Position
    from engine.rules import Rules

RulesOption = Annotated[
    str, typer.Option("--rules", "-r", help="A preset such as short or long_classic, or preset(option=value,...).")
]
PositionOption = Annotated[
    str, typer.Option("--position", "-p", help="start, GNUBG position ID, XGID (short), or JSON rows.")
]
DiceOption = Annotated[str | None, typer.Option("--dice", "-d", help="Two numbers from 1 to 6, such as 64.")]
NetOption = Annotated[Path | None, typer.Option("--net", help="A net of your own; without it the shipped one.")]
JsonOption = Annotated[bool, typer.Option("--json", help="JSON on stdout and nothing else.")]
LangOption = Annotated[str, typer.Option("--lang", help="Language of words: en or ru.")]
SvgOption = Annotated[Path | None, typer.Option("--svg", help="Also draw the board with arrows into this file.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Seed of all randomness.")]


def read_position(text: str, dice: str | None, rules: Rules) -> tuple[Position, tuple[int, int] | None]:
    """The position that a text names, and its dice: those given, or those of an XGID. What it holds and is ignored is
    said on stderr.

    Raises:
        PositionError: text that is no position.
        DiceError: text that is no dice, or dice that disagree with those of the XGID.
    """
    from engine.dice import as_dice
    from engine.errors import DiceError
    from engine.position_ids import parse_position

    position = parse_position(text, rules)
    for note in position.notes:
        print(f"nardy: {note}", file=sys.stderr)
    given = None if dice is None else as_dice(dice)
    if given and position.dice and sorted(given) != sorted(position.dice):
        stated = "".join(map(str, position.dice))
        raise DiceError(f"--dice {dice} disagrees with the position, which says {stated}; leave one of them out")
    return position, given or position.dice


def require_dice(dice: tuple[int, int] | None) -> tuple[int, int]:
    """The dice, when there are any.

    Raises:
        DiceError: neither `--dice` nor the position gave them.
    """
    from engine.errors import DiceError

    if dice is None:
        raise DiceError("--dice is missing: two numbers from 1 to 6 such as 64, or a position that holds them (XGID)")
    return dice


def print_json(answer: Mapping[str, Any]) -> None:
    """One JSON object on stdout; numpy numbers and arrays become plain ones."""
    typer.echo(json.dumps(answer, ensure_ascii=False, allow_nan=False, default=_plain))


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def write_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    from engine.whole_file import write_whole

    write_whole(path, text.encode())


def note_first_compile() -> None:
    """Say on stderr that kernels compile, when none was compiled on this machine before."""
    from engine import _movegen_kernels

    cache = Path(_movegen_kernels.generate_batch.stats.cache_path or "")
    if not any(cache.glob("_movegen_kernels.*.nbi")):
        print("nardy: compiling its kernels, once on this machine (about 20 s) ...", file=sys.stderr, flush=True)
