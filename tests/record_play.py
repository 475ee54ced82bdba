"""Recorded games for tests: a clock that ticks, plays to the end, and records taken apart and put together."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from engine.events import State
from engine.fair_dice import FairDice
from engine.records import Header
from engine.table import Table

SECRET = bytes(range(32))


def ticking() -> Callable[[], str]:
    """A clock for tests: one second later at each look."""
    seconds = count()
    return lambda: f"2026-11-30T10:{(n := next(seconds)) // 60 % 60:02d}:{n % 60:02d}.000+00:00"


def play_out(table: Table, turns: int | None = None) -> None:
    """Play on with the first legal turn until the game is over, or for a number of turns."""
    session = table.session
    while session.state is not State.OVER and (turns is None or session.turns < turns):
        if session.state is State.MOVING:
            table.play(session.legal_turns()[0])
        else:
            table.throw()


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def written(lines: list[Any]) -> bytes:
    return b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)


def fair_game(path: Path) -> list[dict[str, Any]]:
    table = Table.create(Header(rules="long_classic"), FairDice(SECRET), path, ticking())
    table.add_nonce(0, "white")
    table.add_nonce(1, "black")
    play_out(table, 5)
    table.apply({"event": "resign", "level": "single"})
    table.apply({"event": "accept_resignation"})
    return lines_of(path)
