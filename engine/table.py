"""A game at its table: the session, the dice it is played with and the record that is written of it.

The terminal, the server and bots all play through `Table`, so every accepted event reaches the record and the dice
are thrown in the order in which they are checked later.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from engine.board import Boards
from engine.dice import DiceSource, SeededDice
from engine.errors import DiceError, RecordError
from engine.events import State
from engine.fair_dice import FairDice, secret_from_hex
from engine.records import Clock, Event, Header, Record, RecordWriter, thrown, utc_now
from engine.session import Session

SECRET_SUFFIX = ".secret"


class Table:
    """One game in progress. Use `Table(...)` for a new game and `Table.resume` for one read from its record.

    Args:
        session: the game.
        dice: where dice come from; None: they are typed in (`throw` needs them).
        writer: the record, if one is kept.
        header: what the record says of the game.
    """

    def __init__(
        self,
        session: Session,
        dice: DiceSource | None = None,
        writer: RecordWriter | None = None,
        header: Header | None = None,
    ) -> None:
        self.session = session
        self.dice = dice
        self.writer = writer
        self.header = header
        self.is_ahead = False  # of its record, which the disk did not take: then nothing more may happen here

    @classmethod
    def create(
        cls,
        header: Header,
        dice: DiceSource | None = None,
        record: str | Path | None = None,
        clock: Clock = utc_now,
    ) -> Table:
        """A new game as a header says, with a record if a path is given. Verifiable dice are committed to at once.

        Args:
            header: its dice are filled in from `dice`.
            dice: where dice come from; None: they are typed in.
            record: path of a new file.
            clock: gives the times in the record.
        Raises:
            RulesError, SessionError, PositionError: the header is not valid.
            RecordError: the record exists or cannot be written.
        """
        header = Header(**{**vars(header), "dice": dice_header(dice)})
        session = header.new_session()
        writer = None if record is None else _new_record(Path(record), header, dice, clock)
        table = cls(session, dice, writer, header)
        if isinstance(dice, FairDice):
            table._write({"event": "commitment", "sha256": dice.commitment})
        return table

    @classmethod
    def resume(cls, record: str | Path, clock: Clock = utc_now) -> tuple[Table, Record]:
        """Take up a game from its record, with its dice where they stopped.

        Raises:
            RecordError: no valid record, or the secret of its verifiable dice is missing.
        """
        writer, read = RecordWriter.resume(record, clock)
        table = cls(read.replay(), _dice_of(read, writer.path), writer, read.header)
        table._complete_proof({str(event["event"]) for event in read.events})
        return table, read

    def apply(self, event: Mapping[str, Any]) -> None:
        """Let the game take an event and write it down. Raises what `Session.apply` raises, and then writes nothing.

        Raises:
            RecordError: the disk does not take the event. The game is then ahead of its record and takes no other one;
                `Table.resume` goes on from what is on the disk.
        """
        self._refuse_if_ahead()
        seen = len(self.session.log)
        self.session.apply(event)
        for accepted in self.session.log[seen:]:
            self._write(accepted)
        if self.session.state is State.OVER:
            self._reveal()

    def throw(self, dice: Any = None, by: int | None = None) -> None:
        """The toss or roll that comes next.

        Args:
            dice: the dice, where they are typed in; otherwise the table's own are thrown.
            by: the player who throws, if it is to be checked.
        Raises:
            SessionError: no dice are to be thrown now.
            DiceError: no dice left, or dice given for a table that has its own.
        """
        name = "toss" if self.session.state is State.TOSS else "roll"
        self._refuse_if_ahead()
        self.session.check(name, by)
        if dice is None and self.dice is None:
            raise DiceError("these dice are typed in: two numbers from 1 to 6 are needed")
        if dice is not None and self.dice is not None:
            raise DiceError(f"dice cannot be given: this game throws its own ({self.dice.kind})")
        roll = dice if self.dice is None else self.dice.roll()
        self.apply({"event": name, "dice": roll, **({} if by is None or name == "toss" else {"by": by})})

    def play(self, afterstate: Boards) -> None:
        """Play and commit a whole legal turn. Raises what `Session.turn_events` raises."""
        for event in self.session.turn_events(afterstate):
            self.apply(event)

    def add_nonce(self, player: int, nonce: str) -> None:
        """Take a player's part in verifiable dice. Raises DiceError when it is not wanted."""
        if not isinstance(self.dice, FairDice):
            raise DiceError("only verifiable dice take a nonce")
        self._refuse_if_ahead()
        self.dice.add_nonce(player, nonce)
        self._write({"event": "nonce", "by": player, "nonce": nonce})

    def _complete_proof(self, names: set[str]) -> None:
        """Write what a crash kept from the record: the commitment, or the secret of a finished game."""
        if isinstance(self.dice, FairDice) and "commitment" not in names:
            self._write({"event": "commitment", "sha256": self.dice.commitment})
        if self.session.state is State.OVER and "secret" not in names:
            self._reveal()

    def _write(self, event: Event) -> None:
        if self.writer is None:
            return
        try:
            self.writer.write(event)
        except RecordError:
            self.is_ahead = True
            raise

    def _refuse_if_ahead(self) -> None:
        if self.is_ahead and self.writer is not None:
            raise RecordError(f"record {self.writer.path} could not be written: go on from what it holds")

    def _reveal(self) -> None:
        if isinstance(self.dice, FairDice):
            self._write({"event": "secret", "secret": self.dice.secret.hex()})
            if self.writer is not None:
                secret_path(self.writer.path).unlink(missing_ok=True)


def dice_header(dice: DiceSource | None) -> dict[str, Any]:
    """What a record's header says about dice."""
    if isinstance(dice, SeededDice):
        return {"kind": "seed", "seed": dice.seed, "index": dice.index}
    return {"kind": "typed" if dice is None else dice.kind}


def secret_path(record: Path) -> Path:
    """Where the secret of verifiable dice is kept until the game is over."""
    return record.with_name(record.name + SECRET_SUFFIX)


def _new_record(path: Path, header: Header, dice: DiceSource | None, clock: Clock) -> RecordWriter:
    """A new record; of verifiable dice the secret is kept before it, for a record without one cannot be continued."""
    if not isinstance(dice, FairDice) or path.exists():
        return RecordWriter.create(path, header, clock)
    try:
        _keep_secret(path, dice)
        return RecordWriter.create(path, header, clock)
    except RecordError:
        with suppress(OSError):
            secret_path(path).unlink(missing_ok=True)
        raise


def _keep_secret(record: Path, dice: FairDice) -> None:
    """The secret must outlive a crash, and nobody but the thrower may read it before the end.

    One that lies there without a record, after a crash between the two, is of a game that never began.
    """
    path = secret_path(record)
    try:
        path.unlink(missing_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(dice.secret.hex())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise RecordError(f"the dice secret {path} cannot be written: {error.strerror}") from error


def _dice_of(record: Record, path: Path) -> DiceSource | None:
    count = len(thrown(record.events))
    said = record.header.dice
    if said["kind"] == "typed":
        return None
    if said["kind"] == "seed":
        return SeededDice(said.get("seed", -1), said.get("index", 0), skip=count)
    revealed = [event.get("secret") for event in record.events if event["event"] == "secret"]
    try:
        text = revealed[0] if revealed else secret_path(path).read_bytes().decode("ascii", "replace").strip()
        dice = FairDice(secret_from_hex(text), skip=count)
        for event in record.events:
            if event["event"] == "nonce":
                dice.add_nonce(event.get("by", -1), event.get("nonce", ""))
    except OSError as error:
        message = f"the dice secret {secret_path(path)} cannot be read, so the game cannot be continued"
        raise RecordError(f"{message}: {error.strerror}") from error
    except DiceError as error:
        raise RecordError(f"the verifiable dice of {path} cannot go on: {error}") from error
    return dice
