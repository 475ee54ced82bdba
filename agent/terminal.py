"""A game in the terminal: people and players of the registry at one table, moves typed as `24/18 13/9`.

The loop shows what is up and makes one event after the other; what a person types is looked up in
`agent.play_words.COMMANDS`, and anything else is read as moves.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from agent import bot
from agent.game_view import GameView, dice_text, typed_moves
from agent.play_words import COMMANDS, LEVELS
from agent.players import Player
from agent.screen import Screen
from engine.board import Boards
from engine.errors import NardyError
from engine.events import State
from engine.fair_dice import FairDice
from engine.rules import BAR
from engine.table import Table
from engine.turn import Turn


class Quit(Exception):
    """A player typed `quit`."""


@dataclass(frozen=True)
class Seat:
    """Who sits at a side of the table: a person when there is no player."""

    name: str
    player: Player | None = None


class TerminalGame:
    """One game shown on a screen.

    Args:
        table: the game.
        seats: player 0 and player 1.
        screen: where it is shown.
        rng: what the bots draw from.
    """

    def __init__(self, table: Table, seats: tuple[Seat, Seat], screen: Screen, rng: np.random.Generator) -> None:
        self.table, self.seats, self.screen, self.rng = table, seats, screen, rng
        self.session = table.session
        self.names = (seats[0].name, seats[1].name)
        self.view = GameView(self.session, self.names, screen)
        self._commands: dict[str, Callable[[str], None]] = {
            "done": lambda _: self._commit(),
            "roll": lambda _: self._throw(),
            "undo": lambda _: self._event("undo"),
            "reset": lambda _: self._event("reset"),
            "legal": lambda _: self.view.legal(),
            "hint": lambda _: self.view.hint(),
            "why": self.view.why,
            "eval": lambda _: self.view.worth(),
            "board": lambda _: self.view.draw(self._viewer()),
            "save": self._save,
            "resign": self._resign,
            "place": self._place,
            "accept": lambda _: self._answer(is_yes=True),
            "decline": lambda _: self._answer(is_yes=False),
            "demand": lambda _: self._demand(),
            "help": lambda _: self.view.help(),
            "quit": lambda _: self._quit(),
        }

    def play(self) -> None:
        """Play until the game is over.

        Raises:
            Quit, InputEnded, KeyboardInterrupt: a person left; the record holds all that happened.
            NardyError: a player of the registry failed.
        """
        self._take_nonces()
        while self.session.state is not State.OVER:
            self._advance()
        self.view.result()
        dice = self.table.dice
        if isinstance(dice, FairDice):
            self.screen.say("secret", secret=dice.secret.hex())

    # What happens next

    def _advance(self) -> None:
        session = self.session
        if session.state is State.TOSS:
            self._toss()
            return
        assert session.to_act is not None
        seat = self.seats[session.to_act]
        if session.state is State.MOVING and session.offer is None and self._turn().must_pass():
            self._pass()
        elif seat.player is not None:
            self._let_act(seat.player)
        elif session.offer is not None:
            self._prompt("ask_offer")
        elif session.state is State.REVIEW:
            self._prompt("ask_review")
        elif session.state is State.TO_ROLL:
            self._prompt("ask_roll" if self.table.dice is not None else "ask_roll_typed")
        else:
            self._prompt("ask_move")

    def _toss(self) -> None:
        if self.table.dice is None:
            given = self.screen.ask("ask_toss", first=self.names[0])
            if self._try(lambda: self.table.throw(given)):
                self.view.toss()
        else:
            self.table.throw()
            self.view.toss()

    def _pass(self) -> None:
        turn = self._turn()
        self.screen.say("pass", name=self.view.mover, dice=dice_text(turn))
        if turn.changes:
            self._event("reset")
        self._event("commit")

    def _let_act(self, player: Player) -> None:
        """One event, or whole turn, of a bot; typed dice are typed for it by the people at the table."""
        session = self.session
        if session.state is State.TO_ROLL and session.offer is None:
            if self.table.dice is None:
                self._prompt("ask_roll_typed")
            else:
                self._throw()
            return
        before, state, offer, by = session.turn, session.state, session.offer, session.to_act
        bot.act(self.table, player, self.rng)
        if offer is not None:
            if session.offer is None and session.state is not State.OVER:
                self.screen.say("declined", name=self.names[by or 0])
        elif state is State.REVIEW:
            self.view.demanded()
        elif before is not None:
            self.view.played(before, "played")

    def _prompt(self, key: str) -> None:
        """Ask the person to act, and do what he types."""
        session = self.session
        by = session.to_act
        assert by is not None
        self.view.draw(self._viewer(), is_wanted=False)
        typed = self.screen.ask(key, name=self.names[by], dice=dice_text(session.turn) if session.turn else "")
        word, _, rest = typed.partition(" ")
        command = COMMANDS.get(word.lower())
        if not typed:
            self._try(self._enter)
        elif command is not None:
            self._try(lambda: self._commands[command](rest.strip()))
        elif session.state is State.MOVING and session.offer is None:
            self._try(lambda: self._move(typed))
        elif session.state in (State.TO_ROLL, State.REVIEW) and self.table.dice is None:
            self._try(lambda: self._throw(typed))
        else:
            self.screen.say("unknown", given=typed)

    def _try(self, action: Callable[[], None]) -> bool:
        """Do what a person asked for; say in one line why it cannot be done."""
        try:
            action()
        except NardyError as error:
            self.screen.say("refused", why=self.screen.why(error))
            return False
        return True

    # What a person does

    def _enter(self) -> None:
        session = self.session
        if session.offer is not None or session.state is State.REVIEW:
            self.view.help()
        elif session.state is State.TO_ROLL:
            self._throw()
        elif not self._turn().changes and not self._turn().is_correct():
            self.view.refuse(self._turn().why_wrong())
        else:
            self._commit()

    def _throw(self, typed: str | None = None) -> None:
        by = self.session.to_act
        self.table.throw(typed, by=by)
        event = self.session.log[-1]
        if by is not None and event["event"] == "roll":
            self.screen.say("rolled", name=self.names[by], dice=f"{event['dice'][0]}-{event['dice'][1]}")

    def _move(self, typed: str) -> None:
        turn, moves = self._turn(), typed_moves(typed)
        if not moves:
            self._commit()
            return
        steps = turn.find_steps(moves, self.session.is_strict)
        if steps is None:
            self.view.refuse(turn.why_no_steps(moves))
            return
        for step in steps:
            self.table.apply({"event": "step", "by": self.session.to_act, "start": step.start, "die": step.die})

    def _place(self, typed: str) -> None:
        """Checkers moved by hand, whatever the dice say."""
        session = self.session
        board: Boards = session.board.copy()
        for start, end in typed_moves(typed):
            board[0, start] -= 1
            board[0, end] += 1
            theirs = session.rules.opponent_point[end]
            if session.rules.can_hit and 0 < end < BAR and board[1, theirs] == 1:
                board[1, theirs] -= 1
                board[1, BAR] += 1
        self._event("place", board=board.tolist())

    def _commit(self) -> None:
        turn = self.session.turn
        self._event("commit")
        if turn is not None and not self._is_alone() and self.session.turn is not turn:
            self.view.played(turn)

    def _answer(self, is_yes: bool) -> None:
        session = self.session
        by = session.to_act
        if session.offer is not None:
            self._event("accept_resignation" if is_yes else "decline")
            if not is_yes and by is not None:
                self.screen.say("declined", name=self.names[by])
        elif is_yes:
            self._event("accept")
            if by is not None:
                self.screen.say("accepted", name=self.names[by])
        else:
            self._demand()

    def _demand(self) -> None:
        self._event("demand")
        self.view.demanded()

    def _resign(self, typed: str) -> None:
        level = LEVELS.get(typed.lower(), typed) if typed else "single"
        self._event("resign", level=level)
        self.view.resigns(level)

    def _save(self, typed: str) -> None:
        writer = self.table.writer
        if writer is None:
            self.screen.say("no_record")
        elif typed:
            try:
                shutil.copyfile(writer.path, typed)
                self.screen.say("copied", path=typed)
            except OSError as error:
                self.screen.say("refused", why=f"{typed}: {error.strerror}")
        else:
            self.screen.say_how_to_resume(writer.path)

    def _quit(self) -> None:
        raise Quit

    def _event(self, name: str, **values: object) -> None:
        self.table.apply({"event": name, "by": self.session.to_act, **values})

    def _take_nonces(self) -> None:
        dice = self.table.dice
        if not isinstance(dice, FairDice):
            return
        self.screen.say("commitment", sha256=dice.commitment)
        for place, seat in enumerate(self.seats):
            while place not in dice.nonces:
                typed = "" if seat.player is not None else self.screen.ask("ask_nonce", name=seat.name)
                nonce = typed or secrets.token_hex(8)
                if self._try(lambda place=place, nonce=nonce: self.table.add_nonce(place, nonce)):  # type: ignore[misc]
                    self.screen.say("nonce", name=seat.name, nonce=nonce)

    def _turn(self) -> Turn:
        return self.view.turn()

    def _viewer(self) -> int:
        """Whose board is shown: of the people at the table the one to act, else the first."""
        people = [place for place, seat in enumerate(self.seats) if seat.player is None]
        by = self.session.to_act
        return by if by is not None and (by in people or not people) else (people or [0])[0]

    def _is_alone(self) -> bool:
        """Whether a single person plays, who needs no report of his own plays."""
        return sum(seat.player is None for seat in self.seats) == 1
