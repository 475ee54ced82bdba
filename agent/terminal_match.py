"""`nardy play` as a function: games and matches in the terminal, new ones or taken up from a record."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import numpy as np

from agent.play_words import say
from agent.players import WITH_ARGUMENT, make_player
from agent.screen import InputEnded, Screen
from agent.terminal import Quit, Seat, TerminalGame
from engine.dice import MAX_SEED, DiceSource, SeededDice
from engine.errors import ConfigError, NardyError, PlayerError
from engine.events import State
from engine.fair_dice import FairDice
from engine.match import Match
from engine.records import Header, Record
from engine.rules import Rules, get_rules
from engine.table import Table

PERSON = "you"
DICE = ("seed", "typed", "verifiable")


@dataclass(frozen=True, kw_only=True)
class PlayOptions:
    """What `nardy play` was asked for.

    Attributes:
        rules: the variant.
        players: two texts: `you`, `you:NAME`, or a player of `agent.players.make_player`.
        enforce: `strict` or `claims`.
        dice: `seed`, `typed` or `verifiable`.
        seed: of the dice and the bots; None: a new one.
        record: file of the (first) record; None: a new file in `default_folder()`.
        length: points of a match; None: one game.
        next_first: who starts the next game of a match.
    """

    rules: Rules
    players: tuple[str, str]
    enforce: str = "strict"
    dice: str = "seed"
    seed: int | None = None
    record: Path | None = None
    length: int | None = None
    next_first: str = "toss"

    def __post_init__(self) -> None:
        if self.dice not in DICE:
            raise ConfigError(f"dice must be {', '.join(DICE)}, got {self.dice!r}")
        if self.seed is not None and not 0 <= self.seed <= MAX_SEED:
            raise ConfigError(f"seed must lie between 0 and {MAX_SEED}, got {self.seed}")


def default_folder() -> Path:
    """Where records go that no file was named for: `nardy/games` in the user's data folder.

    Source:
        XDG base directory specification (a relative XDG_DATA_HOME is ignored).
    """
    folder = os.environ.get("XDG_DATA_HOME", "")
    base = Path(folder) if os.path.isabs(folder) else Path.home() / ".local" / "share"
    return base / "nardy" / "games"


def play(options: PlayOptions, screen: Screen) -> None:
    """Play a game, or a match of several.

    Args:
        options: what is played.
        screen: where.
    Raises:
        KeyboardInterrupt: Ctrl-C, after saying how to go on; leaving with `quit` or Ctrl-D returns.
        NardyError: bad options, a record that cannot be written, or a player that failed.
    """
    match = Match(options.rules, length=options.length, enforce=options.enforce, next_first=options.next_first)
    seats = take_seats(options.players, options.rules, screen.lang)
    seed = secrets.randbits(63) if options.seed is None else options.seed
    first_record = options.record or _new_record_path(options.rules)
    dice = _dice(options.dice, seed, 0)
    header = Header(rules=str(options.rules), enforce=options.enforce, players=options.players, match=_said(match))
    table = Table.create(header, dice, first_record)
    how = say(f"dice_{options.dice}", screen.lang, seed=seed)
    screen.say("rules", rules=options.rules, enforce=say(options.enforce, screen.lang), dice=how)
    screen.say("record", path=first_record)
    _play_match(match, table, seats, screen, seed)


def go_on(table: Table, record: Record, screen: Screen, *, is_trusted: bool = False) -> None:
    """Go on with a recorded game, and with its match.

    Args:
        table: the game, and
        record: what was read of it, as `Table.resume` gives them.
        screen: where.
        is_trusted: whether programs and modules that the record names as players may be run.
    Raises:
        PlayerError: they may not, and the record names one.
        KeyboardInterrupt, NardyError: as `play`.
    """
    header = record.header
    rules = get_rules(header.rules)
    match = header.new_match()
    for text in header.players:
        if text.partition(":")[0] in WITH_ARGUMENT and not is_trusted:
            raise PlayerError(f"the record would start the program {text!r}; if you trust it, add --trust")
    screen.say("resumed", n=len(record.events))
    seed = table.dice.seed if isinstance(table.dice, SeededDice) else secrets.randbits(63)
    _play_match(match, table, take_seats(header.players, rules, screen.lang), screen, seed)


def take_seats(texts: tuple[str, str], rules: Rules, lang: str) -> tuple[Seat, Seat]:
    """The two sides of a table from their texts. Raises PlayerError for an unknown player."""
    players = [None if text.partition(":")[0] == PERSON else make_player(text, rules) for text in texts]
    names = [text.partition(":")[2].strip()[:20] or say("person", lang) for text in texts]
    shown = distinct(*(player.name if player else name for name, player in zip(names, players, strict=True)))
    return Seat(shown[0], players[0]), Seat(shown[1], players[1])


def distinct(first: str, second: str) -> tuple[str, str]:
    """Two names that can be told apart."""
    return (first, second) if first != second else (f"{first} 1", f"{second} 2")


def _play_match(match: Match, table: Table, seats: tuple[Seat, Seat], screen: Screen, seed: int) -> None:
    """Play the game at the table and, in a match, the games after it; each has a record of its own."""
    names = (seats[0].name, seats[1].name)
    while True:
        match.game = table.session
        index = match.game_number - 1
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(index, 1)))
        if match.length is not None:
            _show_score(match, names, screen, "game_of_match")
        _play_one(table, seats, screen, rng)
        if match.length is None or table.session.state is not State.OVER:
            return
        if match.winner is not None:
            _show_score(match, names, screen, "match_won")
            return
        session = match.start_next_game()
        header, dice = _next_header(table, match, session.first), table.dice
        path = _next_path(table, match.game_number)
        table = Table.create(header, None if dice is None else _dice(dice.kind, seed, match.game_number - 1), path)
        screen.say("record", path=path)


def _play_one(table: Table, seats: tuple[Seat, Seat], screen: Screen, rng: np.random.Generator) -> None:
    try:
        TerminalGame(table, seats, screen, rng).play()
    except (Quit, InputEnded):
        screen.write()
        _say_how_to_resume(table, screen)
    except (KeyboardInterrupt, NardyError):
        screen.write()
        _say_how_to_resume(table, screen)
        raise


def _say_how_to_resume(table: Table, screen: Screen) -> None:
    if table.writer is not None:
        screen.say_how_to_resume(table.writer.path)


def _show_score(match: Match, names: tuple[str, str], screen: Screen, key: str) -> None:
    scores = [f"{points:g}" for points in match.score]
    data = {"number": match.game_number, "length": match.length, "first": names[0], "second": names[1]}
    winner = "" if match.winner is None else names[match.winner]
    screen.say(key, **data, score0=scores[0], score1=scores[1], name=winner)


def _said(match: Match) -> dict[str, object] | None:
    """What a record says about the match its game belongs to."""
    if match.length is None:
        return None
    said = {"length": match.length, "next_first": match.next_first}
    return {**said, "game_number": match.game_number, "score": list(match.score)}


def _next_header(table: Table, match: Match, first: int | None) -> Header:
    assert table.writer is not None and table.header is not None
    return replace(table.header, first=first, match=_said(match), time="")


def _next_path(table: Table, number: int) -> Path:
    """`game.jsonl` is followed by `game-2.jsonl`, `game-3.jsonl` ..."""
    assert table.writer is not None
    path = table.writer.path
    stem = path.stem.removesuffix(f"-{number - 1}")
    return path.with_name(f"{stem}-{number}{path.suffix}")


def _dice(kind: str, seed: int, index: int) -> DiceSource | None:
    if kind == "typed":
        return None
    return SeededDice(seed, index) if kind == "seed" else FairDice()


def _new_record_path(rules: Rules) -> Path:
    folder = default_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"records cannot be kept in {folder}: {error.strerror}; name a file with --record"
        raise ConfigError(message) from error
    return folder / f"{datetime.now():%Y%m%d-%H%M%S-%f}-{rules.preset}.jsonl"
