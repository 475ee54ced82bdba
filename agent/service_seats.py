"""Who sits at a table of the HTTP service: people, and the players that a request may name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.levels import as_level
from agent.net_players import player_of
from agent.players import Player, make_player
from agent.ranking import Judge
from agent.service_judges import Judges
from engine.errors import NardyError, PlayerError
from engine.rules import Rules

PERSON = "you"
MAX_NAME = 40
SIMPLE_BOTS = ("heuristic", "pips", "random")
NET_BOTS = ("net", "net@0ply", "net@1ply", "net@2ply")  # players that run programs or read files are not for requests
_FORMS = f"you, you:NAME, {', '.join((*NET_BOTS, *SIMPLE_BOTS))}"


@dataclass(frozen=True)
class Seat:
    """One side of a table: a person (`player` None) or a bot.

    Attributes:
        text: what the record says.
        judge: the server's net, for a bot without one of its own; None: there is none.
    """

    text: str
    name: str
    player: Player | None
    judge: Judge | None = None

    @property
    def is_person(self) -> bool:
        """Whether a person sits here."""
        return self.player is None

    @property
    def is_slow(self) -> bool:
        """Whether the bot's plays are slow jobs."""
        return "2ply" in self.text


def take_seat(text: str, rules: Rules, judges: Judges) -> Seat:
    """The seat that a text names.

    Raises:
        PlayerError: another text, or a name that is too long or has control characters.
        NetError: no net for the rules.
    """
    kind, _, name = text.partition(":")
    if kind.strip() == PERSON:
        name = name.strip()
        if len(name) > MAX_NAME or not name.isprintable():
            raise PlayerError(f"a name has at most {MAX_NAME} printable characters, got {name[:60]!r}")
        return Seat(f"{PERSON}:{name}" if name else PERSON, name, None)
    if text in SIMPLE_BOTS:
        return Seat(text, text, make_player(text, rules), _judge(rules, judges))
    if text in NET_BOTS:
        level = as_level(text.partition("@")[2] or 0)
        return Seat(text, text, player_of(judges.evaluator(rules), level))
    raise PlayerError(f"unknown player {text[:60]!r}; allowed: {_FORMS}")


def _judge(rules: Rules, judges: Judges) -> Judge | None:
    try:
        return judges.evaluator(rules)
    except NardyError:
        return None


def seats_of_record(texts: tuple[str, str], rules: Rules, judges: Judges) -> tuple[Seat, Seat]:
    """The seats of a record that may come from anywhere: a player who is not known here becomes a person."""
    return _seat_or_person(texts[0], rules, judges), _seat_or_person(texts[1], rules, judges)


def _seat_or_person(text: str, rules: Rules, judges: Judges) -> Seat:
    try:
        return take_seat(text, rules, judges)
    except NardyError:
        shown = re.sub(r"[^\w @.\-]", " ", text.removeprefix(PERSON).removeprefix(":"))[:MAX_NAME].strip()
        return Seat(f"{PERSON}:{shown}" if shown else PERSON, shown, None)
