"""What `nardy play` shows of a game: board, plays, reasons, hints, and how it ended."""

from __future__ import annotations

from agent.lang import reason_text
from agent.play_words import MOVE_WORDS, say
from agent.screen import Screen
from engine.board import Boards
from engine.errors import NardyError, SessionError
from engine.events import State
from engine.legality import Move
from engine.notation import parse_moves, play_text, steps_text
from engine.reason import Reason, move_text
from engine.rules import OUTCOME_LEVELS, Rules
from engine.session import Session
from engine.turn import Turn

SHOWN_PLAYS = 24
HINTS = 3


class GameView:
    """A game on a screen; nothing here changes it.

    Args:
        session: the game.
        names: of player 0 and player 1.
        screen: where it is shown.
    """

    def __init__(self, session: Session, names: tuple[str, str], screen: Screen) -> None:
        self.session, self.names, self.screen = session, names, screen
        self._drawn: tuple[int, int] | None = None  # revision and viewer of the board last shown

    @property
    def mover(self) -> str:
        """The name of the player to move."""
        return self.names[self.session.mover]

    def turn(self) -> Turn:
        """The roll on the table. Raises SessionError when there is none."""
        if self.session.turn is None:
            raise SessionError("no dice are on the table", "wrong_state")
        return self.session.turn

    def draw(self, viewer: int, *, is_wanted: bool = True) -> None:
        """The board as a player sees it, and what is up; if it is not wanted, only when something has changed."""
        session = self.session
        if not is_wanted and self._drawn == (len(session.log), viewer):
            return
        self.screen.draw(session, viewer, self.names)
        self._drawn = (len(session.log), viewer)
        if session.state is State.MOVING and session.offer is None:
            left = say("nothing_left", self.screen.lang)
            if session.legal_steps():
                left = " ".join(str(die) for die in session.dice_left)
            self.screen.say("to_play", name=self.mover, dice=dice_text(self.turn()), left=left)
        elif session.state is State.REVIEW:
            self.played(self.turn(), "wrong_play")
            self._wrong(self.turn().why_wrong())
        elif session.is_last_turn and session.state is State.TO_ROLL:
            self.screen.say("last_turn", name=self.mover)

    def toss(self) -> None:
        """The toss just thrown."""
        session, lang = self.session, self.screen.lang
        dice = session.log[-1]["dice"]
        winner = say("toss_again", lang)
        if session.first is not None:
            winner = say("toss_won", lang, name=self.names[session.first])
        first, second = self.names
        self.screen.say("toss", first=first, second=second, die0=dice[0], die1=dice[1], winner=winner)

    def played(self, turn: Turn, key: str = "played") -> None:
        """A turn, still on the table or just committed."""
        is_running = self.session.turn is turn
        name = self.names[0 if (self.session.mover == 0) is is_running else 1]
        self.screen.say(key, name=name, dice=dice_text(turn), play=turn_text(turn, self.screen.lang))

    def demanded(self) -> None:
        """A correct turn was demanded."""
        by = 1 - self.session.mover
        self.screen.say("demanded", name=self.names[by], other=self.mover, dice=dice_text(self.turn()))

    def resigns(self, level: str) -> None:
        """A resignation is offered."""
        points = self.session.rules.level_points[OUTCOME_LEVELS.index(level)]
        shown = level_name(level, self.screen.lang)
        self.screen.say("resigns", name=self.mover, level=shown, points=f"{points:g}", n=int(points))

    def legal(self) -> None:
        """The legal turns of the roll."""
        turn = self.turn()
        self.screen.say("legal", n=len(turn.legal))
        self.screen.write("  " + ",  ".join(turn_text_of(turn, after) for after in turn.legal[:SHOWN_PLAYS]))
        if len(turn.legal) > SHOWN_PLAYS:
            self.screen.say("more", n=len(turn.legal) - SHOWN_PLAYS)

    def why(self, typed: str) -> None:
        """Why moves, or the board as it lies if none are given, are no legal turn or part of one."""
        turn, lang = self.turn(), self.screen.lang
        if self.session.state is State.REVIEW or not typed:
            reason, shown = turn.why_wrong(), turn_text(turn, lang)
        else:
            moves = typed_moves(typed)
            reason, shown = turn.why_no_steps(moves), " ".join(move_text(*move) for move in moves)
        if reason is None:
            self.screen.say("can_play", moves=shown)
        elif typed:
            self.refuse(reason)
        else:
            self._wrong(reason)

    def hint(self) -> None:
        """The best plays of the roll by the shipped net, or before the roll what the position is worth."""
        from agent.suggest import suggest

        turn = self.session.turn
        if turn is None:
            self.worth()
            return
        try:
            plays = suggest(turn.start, turn.dice, self.session.rules, top=HINTS)
        except NardyError as error:
            self.screen.say("no_hint", why=error)
            return
        for rank, play in enumerate(plays, 1):
            self.screen.say("hint", rank=rank, play=f"{play.play_text:<24}", equity=play.equity)

    def worth(self) -> None:
        """What the position is worth to the player to move, before the roll."""
        from agent.suggest import evaluate

        session = self.session
        board = session.turn.start if session.turn is not None else session.board
        try:
            worth = evaluate(board, session.rules)
        except NardyError as error:
            self.screen.say("no_hint", why=error)
            return
        win = float(worth.probs[: session.rules.game.levels].sum())
        before = say("eval_before_roll", self.screen.lang) if session.turn is not None else ""
        self.screen.write(before + say("eval", self.screen.lang, name=self.mover, equity=worth.equity, win=win))

    def result(self) -> None:
        """How the game ended."""
        result = self.session.result
        if result is None:
            return
        if result.winner is None or result.level is None:
            self.screen.say("drawn")
            return
        level, name = level_name(result.level, self.screen.lang), self.names[result.winner]
        self.screen.say("won", name=name, level=level, points=f"{result.points:g}", n=int(result.points))

    def help(self) -> None:
        """What can be typed."""
        self.screen.say("help", levels=", ".join(level_names(self.session.rules, self.screen.lang)))

    def refuse(self, reason: Reason | None) -> None:
        """Why something cannot be done."""
        if reason is not None:
            self.screen.say("refused", why=reason_text(reason, self.screen.lang))

    def _wrong(self, reason: Reason | None) -> None:
        if reason is not None:
            self.screen.say("review", why=reason_text(reason, self.screen.lang))


def typed_moves(typed: str) -> list[Move]:
    """The moves that a player typed, in either language. Raises NotationError when they are none."""
    plain = typed.lower()
    for word, means in MOVE_WORDS.items():
        plain = plain.replace(word, means)
    return parse_moves(plain)


def turn_text(turn: Turn, lang: str) -> str:
    """The tentative board of a turn as a play."""
    if turn.is_correct():
        return turn_text_of(turn, turn.board)
    if turn.steps is None:
        return say("by_hand", lang)
    return steps_text(turn.steps) if turn.steps else say("nothing_moved", lang)


def turn_text_of(turn: Turn, afterstate: Boards) -> str:
    """A legal afterstate of a turn as a play."""
    try:
        return play_text(turn.start, turn.dice, afterstate, turn.rules)
    except NardyError:  # the extra turn of `last_turn`, whose opponent has finished
        return steps_text(turn.route(afterstate)) or "pass"


def dice_text(turn: Turn) -> str:
    """The dice of a turn, such as 6-4."""
    return f"{turn.dice[0]}-{turn.dice[1]}"


def level_names(rules: Rules, lang: str) -> list[str]:
    """What the outcome classes of a game are called, the single win first."""
    return say("levels", lang).split(", ")[: rules.game.levels]


def level_name(level: str, lang: str) -> str:
    """What an outcome class is called."""
    return say("levels", lang).split(", ")[OUTCOME_LEVELS.index(level)]
