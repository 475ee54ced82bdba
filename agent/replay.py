"""`nardy replay` as a function: a record shown event by event."""

from __future__ import annotations

import sys

from agent.game_view import GameView
from agent.screen import InputEnded, Screen
from agent.terminal_match import PERSON, distinct
from engine.events import EVENTS, State
from engine.records import Event, Record
from engine.turn import Turn

SHOWN_AFTER = ("roll", "accept", "demand", "resign")  # events after which the board is worth a look


def replay(record: Record, screen: Screen, *, steps: bool | None = None) -> None:
    """Show a record from its first event to its last.

    Args:
        record: what `engine.records.read_record` gave.
        screen: where it is shown.
        steps: wait for Enter after each shown event; None: when a person looks at a terminal.
    Raises:
        RecordError: an event that the game refuses.
    """
    waits = sys.stdin.isatty() and sys.stdout.isatty() if steps is None else steps
    names = shown_names(record)
    screen.write(f"{record.header.rules}  {names[0]} - {names[1]}  {record.header.time}")
    view = None
    turn: Turn | None = None
    for number, (event, session) in enumerate(record.sessions()):
        if view is None:
            view = GameView(session, names, screen)
        if event is not None:
            screen.write(f"{number}. {event_text(event, names)}")
            if event["event"] == "commit" and turn is not None and session.state is not State.REVIEW:
                view.played(turn)
            is_shown = event["event"] in SHOWN_AFTER or session.state is State.REVIEW
            if is_shown and session.state is not State.OVER:
                view.draw(0)
            if waits and is_shown and not _wants_more(screen):
                return
        turn = session.turn
    if view is not None:
        view.result()
    screen.say("replay_end")


def shown_names(record: Record) -> tuple[str, str]:
    """The players as the replay calls them."""
    first, second = (name.removeprefix(f"{PERSON}:") for name in record.header.players)
    return distinct(first, second)


def event_text(event: Event, names: tuple[str, str]) -> str:
    """An event in one line, with the words of the record."""
    by = event.get("by")
    who = f"{names[by]}: " if by in (0, 1) else ""
    values = {key: value for key, value in event.items() if key not in ("event", "by", "time", "board")}
    if event["event"] in EVENTS and "dice" in values:
        values["dice"] = "-".join(str(die) for die in values["dice"])
    return f"{who}{event['event']} " + " ".join(f"{key} {value}" for key, value in values.items())


def _wants_more(screen: Screen) -> bool:
    try:
        return screen.ask("step_prompt").lower() not in ("q", "quit", "выход")
    except InputEnded:
        return False
