"""Games of the HTTP service: each is a session with its record on disk, so that none is lost with the page or server.

An action that names a revision is refused when the game has moved on since, so a late answer never moves twice
(case N26). All of a game happens under its lock, but a bot thinks outside it: looking at a game never waits for a bot.
"""

from __future__ import annotations

import copy
import re
import secrets
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agent.bot import act, chosen_play
from agent.jobs import Limits
from agent.service_asks import ActionAsk, GameAsk, LoadAsk
from agent.service_judges import Judges
from agent.service_seats import Seat, seats_of_record, take_seat
from agent.service_turns import TurnMade, analysis
from agent.service_views import game_view
from engine.board import Boards
from engine.dice import MAX_SEED, DiceSource, SeededDice
from engine.errors import IllegalPlayError, NardyError, RecordError, SessionError
from engine.events import State
from engine.fair_dice import FairDice
from engine.position_ids import parse_position
from engine.records import Header, RecordWarning, parse_record, read_record
from engine.rules import BAR, get_rules
from engine.session import Session
from engine.table import Table, secret_path
from engine.whole_file import write_whole

Answer = dict[str, Any]
SUFFIX = ".jsonl"
ACTIONS = (
    *("roll", "step", "move", "place", "undo", "reset", "commit", "accept", "demand"),
    *("resign", "accept_resignation", "decline", "bot", "nonce"),
)
_ID = re.compile(r"[0-9a-f]{12}", re.ASCII)


class UnknownGame(NardyError):
    """No game has this number."""

    code = "unknown_game"


class StaleGame(SessionError):
    """The game has moved on since the asker looked at it."""


class BotChoice(NamedTuple):
    """A bot's play and the revision of the game that it was thought out for."""

    revision: int
    afterstate: Boards


class OpenGame:
    """A game in memory: table, seats and the turns made so far."""

    def __init__(self, name: str, table: Table, seats: tuple[Seat, Seat], turns: list[TurnMade]) -> None:
        self.name, self.table, self.seats, self.turns = name, table, seats, turns
        self.lock = threading.RLock()
        self.listeners: set[Callable[[], object]] = set()
        self._rng = np.random.default_rng()

    @property
    def session(self) -> Session:
        """The game itself."""
        return self.table.session

    @property
    def revision(self) -> int:
        """Grows with every event."""
        return len(self.session.log)

    @property
    def bot_seat(self) -> Seat | None:
        """The bot that is to act, if it is a bot's turn."""
        by = self.session.to_act
        return None if by is None or self.seats[by].is_person else self.seats[by]

    def act(self, action: str, ask: ActionAsk) -> None:
        """Let one action happen. Raises what the session raises, and then nothing has changed."""
        chosen = self.bot_choice(ask) if action == "bot" else None
        with self.lock:
            self.check_revision(ask.revision if chosen is None else chosen.revision)
            before = self.revision
            try:
                if chosen is None:
                    _ACT[action](self, ask)
                else:
                    self.noting(lambda: self.table.play(chosen.afterstate))
            finally:
                if self.revision != before:
                    for listener in list(self.listeners):
                        listener()

    def check_revision(self, asked: int | None) -> None:
        """Raises StaleGame when the asker knows an older game."""
        if asked is not None and asked != self.revision:
            message = f"the game has moved on: it is at revision {self.revision}, the request was about {asked}"
            raise StaleGame(message, "stale")

    def bot_choice(self, ask: ActionAsk) -> BotChoice | None:
        """The play that the bot to act chooses; None where it has none to choose. The lock is not held meanwhile."""
        with self.lock:
            self.check_revision(ask.revision)
            seat, revision, moment = self.bot_seat, self.revision, copy.copy(self.session)
        if seat is None or seat.player is None or moment.state is not State.MOVING or moment.offer is not None:
            return None
        return BotChoice(revision, chosen_play(moment, seat.player, self._rng))

    def apply(self, name: str, ask: ActionAsk, **fields: Any) -> None:
        """One event of the session, with the turn it ends."""
        self.noting(lambda: self.table.apply({"event": name, "by": ask.by, **fields}))

    def noting(self, change: Callable[[], object]) -> None:
        """Make a change and keep the turn that it ends."""
        turn, by, count = self.session.turn, self.session.mover, self.session.turns
        if turn is None:
            change()
            return
        try:
            change()
        finally:
            if self.session.turns > count:
                self.turns.append(TurnMade(by, turn))

    def throw(self, ask: ActionAsk) -> None:
        """The toss or roll that comes next; typed dice that are not given are thrown here."""
        dice: Any = ask.dice
        if dice is None and self.table.dice is None:
            dice = (secrets.randbelow(6) + 1, secrets.randbelow(6) + 1)
        self.noting(lambda: self.table.throw(dice, by=ask.by))

    def step(self, ask: ActionAsk) -> None:
        """One checker by one die."""
        self.apply("step", ask, start=ask.start, die=ask.die)

    def move(self, ask: ActionAsk) -> None:
        """One checker from point to point, by one die or more; the larger die where either fits."""
        self.session.check("step", ask.by)
        turn = self.session.turn
        assert turn is not None
        if ask.start is None or ask.end is None:
            raise SessionError("a move needs start and end", "bad_value")
        steps = turn.find_steps([(ask.start, ask.end)], self.session.is_strict)
        if steps is None:
            reason = turn.why_no_steps([(ask.start, ask.end)])
            raise IllegalPlayError(f"move refused: {reason}", reason)
        for step in steps:
            self.apply("step", ask, start=int(step.start), die=int(step.die))

    def place(self, ask: ActionAsk) -> None:
        """Checkers put by hand: a whole board, or one checker from `start` to `end` with what it meets."""
        if ask.board is not None:
            self.apply("place", ask, board=ask.board)
            return
        self.session.check("place", ask.by)
        if ask.start is None or ask.end is None:
            raise SessionError("to place needs a board, or start and end", "bad_value")
        board = self.session.board.astype(int)
        if not board[0, ask.start]:
            raise SessionError(f"place refused: you have no checker on {ask.start}", "bad_value")
        board[0, ask.start] -= 1
        board[0, ask.end] += 1
        facing = int(self.session.rules.opponent_point[ask.end])
        if self.session.rules.can_hit and 0 < ask.end < BAR and board[1, facing] == 1:
            board[1, facing] -= 1
            board[1, BAR] += 1
        self.apply("place", ask, board=board.tolist())

    def bot(self, ask: ActionAsk) -> None:
        """Let the bot that is to act do what needs no thought: roll, or answer."""
        seat = self.bot_seat
        if seat is None or seat.player is None:
            raise SessionError("no bot is to act now", "not_your_turn")
        player = seat.player
        if self.table.dice is None and self.session.is_chance:
            self.throw(ActionAsk(dice=ask.dice))
        else:
            self.noting(lambda: act(self.table, player, self._rng, seat.judge))

    def nonce(self, ask: ActionAsk) -> None:
        """A player's part in verifiable dice."""
        if ask.by is None or ask.nonce is None:
            raise SessionError("a nonce needs by and nonce", "bad_value")
        self.table.add_nonce(ask.by, ask.nonce)

    def view(self, lang: str) -> Answer:
        """All that a board shows of the game."""
        with self.lock:
            return game_view(self.name, self.table, self.seats, self.turns, lang)

    def turns_answer(self) -> Answer:
        """The move list."""
        with self.lock:
            turns = [made.to_dict(number) for number, made in enumerate(self.turns, 1)]
            return {"id": self.name, "revision": self.revision, "rules": str(self.session.rules), "turns": turns}

    def analysis_answer(self, judges: Judges) -> Answer:
        """The move list judged at 0-ply."""
        with self.lock:
            turns, revision = list(self.turns), self.revision
        judge = judges.evaluator(self.session.rules)
        judged = analysis(turns, self.session.rules, judge)
        return {"id": self.name, "revision": revision, "net": judge.net_name, "level": "0-ply", "turns": judged}


def _event(name: str) -> Callable[[OpenGame, ActionAsk], None]:
    return lambda game, ask: game.apply(name, ask)


_ACT: dict[str, Callable[[OpenGame, ActionAsk], None]] = {
    "roll": OpenGame.throw,
    "step": OpenGame.step,
    "move": OpenGame.move,
    "place": OpenGame.place,
    "resign": lambda game, ask: game.apply("resign", ask, level=ask.level),
    "bot": OpenGame.bot,
    "nonce": OpenGame.nonce,
    **{n: _event(n) for n in ("undo", "reset", "commit", "accept", "demand", "accept_resignation", "decline")},
}


class GameRoom:
    """All games of a folder; the ones last used stay in memory.

    Args:
        folder: where records are kept; made when the first game begins.
        judges: nets of the bots.
        limits: how many games.
    """

    def __init__(self, folder: Path, judges: Judges, limits: Limits) -> None:
        self.folder, self._judges, self._limits = folder, judges, limits
        self._open: OrderedDict[str, OpenGame] = OrderedDict()
        self._lock = threading.RLock()

    def create(self, ask: GameAsk) -> OpenGame:
        """A new game. Raises NardyError when what was asked for does not fit."""
        rules = get_rules(ask.rules)
        seats = (take_seat(ask.players[0], rules, self._judges), take_seat(ask.players[1], rules, self._judges))
        board = None if ask.position is None else parse_position(ask.position, rules).board.tolist()
        header = Header(
            rules=str(rules),
            enforce=ask.enforce,
            players=(seats[0].text, seats[1].text),
            first=ask.first,
            board=board,
        )
        with self._lock:
            name, path = self._new_path()
            table = Table.create(header, _dice(ask), path)
            game = OpenGame(name, table, seats, [])
            for player, seat in enumerate(seats):
                if isinstance(table.dice, FairDice) and not seat.is_person:
                    table.add_nonce(player, secrets.token_hex(8))
            self._keep(game)
        return game

    def load(self, ask: LoadAsk) -> OpenGame:
        """A game from the text of a record; it gets a number and a file of its own.

        Raises:
            RecordError: no record, or one that the rules contradict.
        """
        text = ask.record if ask.record.endswith("\n") else ask.record + "\n"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecordWarning)
            record = parse_record(text.encode(errors="replace"), "the record")
        if len(record.events) > self._limits.events:
            raise RecordError(f"the record has {len(record.events)} events, at most {self._limits.events} are taken")
        record.replay()
        if record.header.dice.get("kind") == "verifiable" and not any(e["event"] == "secret" for e in record.events):
            raise RecordError(
                "the record has verifiable dice whose secret is not revealed: it cannot be continued here"
            )
        with self._lock:
            name, path = self._new_path()
            with self._kept():
                write_whole(path, text.encode(errors="replace"))
        try:
            return self.game(name)
        except NardyError:
            path.unlink(missing_ok=True)
            raise

    def game(self, name: str) -> OpenGame:
        """A game by its number, from memory or its record.

        Raises:
            UnknownGame: there is none.
            RecordError: its record is damaged.
        """
        with self._lock:
            path = self._existing(name)
            if name in self._open and self._open[name].table.is_ahead:
                self._open.pop(name)  # the disk did not take an event: the record is what holds
            if name not in self._open:
                self._keep(self._resumed(name, path))
            self._open.move_to_end(name)
            return self._open[name]

    def delete(self, name: str) -> None:
        """Forget a game and remove its record, a damaged one too. Raises UnknownGame, RecordError."""
        with self._lock:
            path = self._existing(name)
            with self._kept():
                path.unlink()
                secret_path(path).unlink(missing_ok=True)
            self._open.pop(name, None)

    def record(self, name: str) -> bytes:
        """The record of a game as it lies on the disk. Raises UnknownGame."""
        game = self.game(name)
        with game.lock:
            return self._path(name).read_bytes()

    def listing(self, limit: int) -> list[Answer]:
        """The games last played, newest first; damaged records are left out."""
        found: list[Answer] = []
        paths = self.folder.glob(f"*{SUFFIX}") if self.folder.is_dir() else ()
        stamps = sorted(((p.stat().st_mtime, p) for p in paths if _ID.fullmatch(p.stem)), reverse=True)
        for _, path in stamps:
            if len(found) == limit:
                break
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", RecordWarning)
                    header = read_record(path).header
            except NardyError:
                continue
            found.append({"id": path.stem, "rules": header.rules, "players": list(header.players), "time": header.time})
        return found

    def _resumed(self, name: str, path: Path) -> OpenGame:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecordWarning)
            table, record = Table.resume(path)
        turns: list[TurnMade] = []
        turn, by, count = None, 0, 0
        for _, session in record.sessions():
            if session.turns > count and turn is not None:
                turns.append(TurnMade(by, turn))
            turn, by, count = session.turn, session.mover, session.turns
        header = record.header
        return OpenGame(name, table, seats_of_record(header.players, get_rules(header.rules), self._judges), turns)

    def _keep(self, game: OpenGame) -> None:
        self._open[game.name] = game
        idle = [name for name, each in self._open.items() if not each.listeners and each is not game]
        for name in idle[: max(0, len(self._open) - self._limits.open_games)]:
            if self._open[name].lock.acquire(blocking=False):  # a game that is in use stays
                self._open.pop(name).lock.release()

    def _new_path(self) -> tuple[str, Path]:
        with self._kept():
            self.folder.mkdir(parents=True, exist_ok=True)
        if sum(1 for _ in self.folder.glob(f"*{SUFFIX}")) >= self._limits.games:
            raise SessionError(f"{self._limits.games} games are kept already; delete some first", "too_many_games")
        name = secrets.token_hex(6)
        return name, self._path(name)

    def _existing(self, name: str) -> Path:
        if not _ID.fullmatch(name):
            raise UnknownGame(f"a game is named by 12 hexadecimal digits, got {name[:40]!r}")
        path = self._path(name)
        if not path.is_file():
            raise UnknownGame(f"there is no game {name}")
        return path

    @contextmanager
    def _kept(self) -> Iterator[None]:
        """Turn what the disk refuses into one line for the asker."""
        try:
            yield
        except OSError as error:
            raise RecordError(f"the folder of games {self.folder} cannot be written: {error.strerror}") from error

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}{SUFFIX}"


def _dice(ask: GameAsk) -> DiceSource | None:
    if ask.dice == "verifiable":
        return FairDice()
    if ask.dice == "typed":
        return None
    return SeededDice(secrets.randbelow(MAX_SEED) if ask.seed is None else ask.seed)
