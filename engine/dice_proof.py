"""Checking the dice of a record: every roll recomputed from its seed or secret, and the order of the proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from engine.dice import Roll, RollArray, SeededDice, as_dice
from engine.errors import DiceError, RecordError
from engine.fair_dice import as_nonce, commitment_of, fair_roll, secret_from_hex
from engine.records import Event, Record, thrown

SOURCES = {"seed": "seed", "verifiable": "secret"}  # what the rolls of each kind of dice are made from


@dataclass(frozen=True, kw_only=True)
class DiceProof:
    """What was checked. A fault is raised, so a `DiceProof` always says that the dice hold."""

    kind: str  # `seed` or `verifiable`
    rolls: int
    said: str  # the seed, or the commitment


def verify_dice(record: Record) -> DiceProof:
    """Recompute every roll of a record.

    Raises:
        RecordError: the first wrong roll, by number and line; a commitment that its secret does not fit; nonces that
            did not come after the commitment and before the dice; times that run backwards; or dice that cannot be
            checked: typed by hand, or a secret not revealed yet.
    """
    kind = str(record.header.dice["kind"])
    if kind == "typed":
        raise RecordError("these dice were typed in by hand; there is nothing to recompute")
    _check_times(record)
    if kind == "seed":
        rolls, said = _seeded(record)
    else:
        rolls, said = _verifiable(record)
    events = thrown(record.events)
    for number, (line, event) in enumerate(events):
        written, right = as_dice(event["dice"]), rolls(number)
        if written != right:
            raise RecordError(
                f"roll {number + 1} (line {line}, {event['event']}) is wrong: "
                f"recorded {written[0]}-{written[1]}, the {SOURCES[kind]} gives {right[0]}-{right[1]}"
            )
    return DiceProof(kind=kind, rolls=len(events), said=said)


def rolls_by_player(record: Record) -> dict[str, RollArray]:
    """The rolls of a record, int8 [N, 2] for each player's name; tosses are left out (one die each)."""
    found: dict[int, list[Roll]] = {0: [], 1: []}
    for _, event in thrown(record.events):
        if event["event"] == "roll" and event.get("by") in (0, 1):
            found[event["by"]].append(as_dice(event["dice"]))
    names = record.header.players
    keys = names if names[0] != names[1] else (f"{names[0]} (1)", f"{names[1]} (2)")
    return {keys[player]: np.array(rolls, dtype=np.int8).reshape(-1, 2) for player, rolls in found.items()}


def _check_times(record: Record) -> None:
    last = _time(record.header.time, 1)
    for line, event in enumerate(record.events, start=2):
        now = _time(event.get("time"), line)
        if now < last:
            raise RecordError(f"line {line} has an earlier time than the line before it: {event.get('time')}")
        last = now


def _time(text: Any, line: int) -> datetime:
    try:
        time = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        raise RecordError(f"line {line} has no valid time, got {text!r}") from None
    if time.tzinfo is None:
        raise RecordError(f"line {line} has a time without a zone: {text!r}")
    return time


def _seeded(record: Record) -> tuple[Callable[[int], Roll], str]:
    dice = record.header.dice
    try:
        source = SeededDice(dice.get("seed"), dice.get("index", 0))  # type: ignore[arg-type]  # checked inside
    except DiceError as error:
        raise RecordError(f"the header does not give a seed: {error}") from error
    rolls = source.rolls(len(thrown(record.events)))
    return lambda number: as_dice(rolls[number]), f"seed {source.seed}, game {source.index}"


def _verifiable(record: Record) -> tuple[Callable[[int], Roll], str]:
    events = list(enumerate(record.events, start=2))
    commitment = _only(events, "commitment", None)
    nonces = [_only(events, "nonce", 0), _only(events, "nonce", 1)]
    secret = _only(events, "secret", None, "the secret is not revealed yet: the dice cannot be checked")
    dice_lines = [line for line, _ in thrown(record.events)]
    for line, event in nonces:
        if line < commitment[0]:
            raise RecordError(f"line {line}: the nonce of player {event['by']} came before the commitment")
        if dice_lines and line > dice_lines[0]:
            raise RecordError(f"line {line}: the nonce of player {event['by']} came after the first dice")
    if dice_lines and secret[0] < dice_lines[-1]:
        raise RecordError(f"line {secret[0]}: the secret was revealed before the last dice were thrown")
    try:
        value = secret_from_hex(secret[1].get("secret"))
        texts = [as_nonce(event.get("nonce")) for _, event in nonces]
    except DiceError as error:
        raise RecordError(str(error)) from error
    said = str(commitment[1].get("sha256"))
    if commitment_of(value) != said:
        raise RecordError(f"the secret does not fit the commitment {said[:16]}...: it was exchanged")
    return lambda number: fair_roll(value, texts, number), f"commitment {said}"


def _only(events: list[tuple[int, Event]], name: str, by: int | None, missing: str = "") -> tuple[int, Event]:
    found = [(line, e) for line, e in events if e["event"] == name and (by is None or e.get("by") == by)]
    who = "" if by is None else f" of player {by}"
    if not found:
        raise RecordError(missing or f"the record has no {name}{who}")
    if len(found) > 1:
        raise RecordError(f"line {found[1][0]}: a second {name}{who}")
    return found[0]
