"""Games of a `.mat` file played through: every roll becomes a turn with its boards, or a note says why not.

Nothing in a file stops the reading of what stands before it. An illegal play is kept with its reason and carried out
as it is written where that leaves a board at all; where it does not, or where a line cannot be followed, the rest of
that game is left out and a note names the line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from agent.mat_lines import MAX_NOTES, Action, RawGame
from agent.played import CubeAction, PlayedGame, PlayedTurn, finished_result
from engine.board import Boards, as_boards, opponent_view
from engine.dice import Roll, as_dice
from engine.errors import NotationError, PositionError, RecordError
from engine.events import GameResult
from engine.legality import MovesGoal, why_illegal
from engine.notation import parse_moves, parse_play
from engine.reason import Reason
from engine.rules import BAR, CHECKERS, OFF, OUTCOME_LEVELS, Rules
from engine.steps import dice_given, find_lines, has_board, head_limit, legal_set

MAX_ILLEGAL = 300  # in one file; beyond that it is no file of these rules
MAX_CUBE = 2**30
LOOK_AHEAD = 8  # plays that follow one whose hits are not marked
MAX_TRIED = 300  # boards tried for it
_UNPLAYED = "?"  # written in place of a play that was not made


@dataclass(kw_only=True)
class IllegalCount:
    """Illegal plays of a whole file so far."""

    seen: int = 0

    def add(self, rules: Rules) -> None:
        """Count one more. Raises RecordError when there are too many."""
        self.seen += 1
        if self.seen > MAX_ILLEGAL:
            raise RecordError(f"the file has more than {MAX_ILLEGAL} plays that are illegal under {rules}")


def replay_game(
    raw: RawGame,
    rules: Rules,
    *,
    score: tuple[float, float],
    next_score: tuple[float, float] | None,
    has_stars: bool,
    illegal: IllegalCount,
) -> PlayedGame:
    """One game as written, played through; side 0 of `raw` is player 0.

    Args:
        raw: the lines of the game.
        rules: the exact variant.
        score: points of player 0 and 1 before the game.
        next_score: those before the next game, where the file states them.
        has_stars: whether the writer marks hits at all.
        illegal: counts illegal plays of the file.
    Raises:
        RecordError: too many illegal plays.
    """
    state = _Game(raw=raw, rules=rules, has_stars=has_stars, illegal=illegal, board=rules.start_board())
    state.play()
    result, winner, points = _Ending(state, score, next_score).found()
    return PlayedGame(
        number=raw.number,
        score=score,
        turns=tuple(state.turns),
        cube=tuple(state.cube),
        result=result,
        winner=winner,
        points=points,
        notes=tuple(state.notes[:MAX_NOTES]),
    )


@dataclass(kw_only=True)
class _Game:
    raw: RawGame
    rules: Rules
    has_stars: bool
    illegal: IllegalCount
    board: Boards  # seen by the player to move next
    turns: list[PlayedTurn] = field(default_factory=list)
    cube: list[CubeAction] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    cube_value: int = 1
    dropped_by: int | None = None
    resigned_by: int | None = None
    win: Action | None = None
    unmarked: list[int] = field(default_factory=list)
    is_followed: bool = True

    @property
    def result(self) -> GameResult | None:
        """The result on the board."""
        return finished_result(self.turns[-1], self.rules) if self.turns else None

    def play(self) -> None:
        self.notes += self.raw.notes
        for place, action in enumerate(self.raw.actions):
            if action.kind == "win":
                self.win = action
            elif action.kind == "resign":
                self.resigned_by = action.side
            elif action.kind == "roll":
                if self.is_followed:
                    self._roll(action, self._next_rolls(place))
            elif action.kind == "other":
                self._stop(action, f"{action.text[:60]!r} is not understood")
            else:
                self._cube(action)
        if self.unmarked:
            lines = ", ".join(str(line) for line in self.unmarked)
            self.notes.append(f"hits are not marked, so these lines were read as later plays demand: {lines}")

    def _next_rolls(self, place: int) -> list[Action]:
        """The rolls that follow an action, as many as are looked at."""
        rest = islice(self.raw.actions, place + 1, place + 1 + 2 * LOOK_AHEAD)
        return [action for action in rest if action.kind == "roll"][:LOOK_AHEAD]

    def _stop(self, action: Action, why: str) -> None:
        if self.is_followed:
            self.notes.append(f"line {action.line}: {why}; the rest of game {self.raw.number} is left out")
        self.is_followed = False

    def _cube(self, action: Action) -> None:
        if action.kind in ("double", "beaver"):
            doubled = int(action.value) if 1 < action.value <= MAX_CUBE else min(2 * self._offered(), MAX_CUBE)
            value = doubled
        else:
            value = self._offered()
        if action.kind == "take":
            self.cube_value = value
        if action.kind == "drop":
            self.dropped_by = action.side
        self.cube.append(CubeAction(player=action.side, action=action.kind, value=value, before_turn=len(self.turns)))

    def _offered(self) -> int:
        """What the cube shows once the doubles that are open are taken."""
        last = self.cube[-1] if self.cube else None
        is_open = last is not None and last.action in ("double", "beaver")
        return last.value if last is not None and is_open else self.cube_value

    def _roll(self, action: Action, following: list[Action]) -> None:
        if self.result is not None:
            self._stop(action, "a roll after the end of the game")
            return
        if self.turns and self.turns[-1].player == action.side:
            self._stop(action, "the same player throws twice in a row")
            return
        if self.turns and self.turns[-1].afterstate is None:
            self._stop(action, "the roll before this one was not played")
            return
        dice = as_dice(action.dice)
        after: Boards | None = None
        reason: Reason | None = None
        if not self._is_unplayed(action, dice, following):
            try:
                after, reason = self._played(action, dice, following)
            except NotationError as error:
                self._stop(action, str(error))
        self.turns.append(
            PlayedTurn(
                player=action.side,
                board=self.board,
                dice=dice,
                afterstate=after,
                reason=reason,
                text=action.text,
                line=action.line,
            )
        )
        if after is not None:
            self.board = opponent_view(after)

    def _is_unplayed(self, action: Action, dice: Roll, following: list[Action]) -> bool:
        """A roll with nothing behind it that ends the game, though something could be played: thrown and resigned."""
        if action.text.strip(_UNPLAYED):
            return False
        return bool(action.text) or (
            not following and not has_board(legal_set(self.board, dice, self.rules), self.board)
        )

    def _played(self, action: Action, dice: Roll, following: list[Action]) -> tuple[Boards | None, Reason | None]:
        """The board that a play leaves and the rule that it breaks.

        Raises:
            NotationError: text that names no moves.
        """
        text = action.text
        try:
            return parse_play(text, self.board, dice, self.rules, are_stars_complete=self.has_stars), None
        except NotationError:
            moves = parse_moves(text)
        fitting = fitting_boards(self.board, dice, moves, self.rules)
        if fitting:
            self.unmarked.append(action.line)
            return self._likeliest(fitting, following), None
        self.illegal.add(self.rules)
        reason = why_illegal(self.board, dice, moves, self.rules)
        after = as_written(self.board, moves, self.rules)
        if after is None:
            self._stop(action, f"{text!r} cannot be carried out ({reason})")
        return after, reason

    def _likeliest(self, boards: list[Boards], following: list[Action]) -> Boards:
        """The board from which most of the plays that follow are legal; of several, the one with the fewest hits."""
        ordered = sorted(boards, key=lambda board: int(board[1, BAR]))
        reach = _Reach(self.rules, following)
        return max(ordered, key=lambda board: reach.plays(opponent_view(board)))


class _Reach:
    """How many of the plays that follow can be made from a board, whichever hits they mean."""

    def __init__(self, rules: Rules, following: list[Action]) -> None:
        self.rules = rules
        self.following = following
        self.tried = 0

    def plays(self, board: Boards, place: int = 0) -> int:
        """The number of plays from `place` on that can be made one after the other."""
        self.tried += 1
        if place == len(self.following) or self.tried > MAX_TRIED:
            return 0
        action = self.following[place]
        try:
            moves = parse_moves(action.text)
        except NotationError:
            return 0
        found = fitting_boards(board, as_dice(action.dice), moves, self.rules)
        return max((1 + self.plays(opponent_view(after), place + 1) for after in found), default=0)


def fitting_boards(board: Boards, dice: Roll, moves: list[tuple[int, int]], rules: Rules) -> list[Boards]:
    """The legal afterstates that moves can mean, whatever they hit on the way.

    Args:
        board: int8 [2, 26], the mover in row 0.
        dice: the roll.
        moves: pairs (start, end), each by one die or more; none for a pass.
        rules: the exact variant.
    """
    if (board[:, OFF] == CHECKERS).any():
        return []
    legal = legal_set(board, dice, rules)
    found: dict[bytes, Boards] = {}
    goal = MovesGoal(tuple(sorted(moves, reverse=True)))
    for line in find_lines(board, dice_given(dice), goal, rules, head_limit(board, dice, rules)):
        if has_board(legal, line.board):
            found[line.board.tobytes()] = line.board
    return list(found.values())


def as_written(board: Boards, moves: list[tuple[int, int]], rules: Rules) -> Boards | None:
    """The board after moves that break a rule, carried out as written, or None where they leave no board.

    Args:
        board: int8 [2, 26], the mover in row 0.
        moves: pairs (start, end), 25 the bar, 0 off.
        rules: the exact variant.
    """
    after = board.copy()
    for start, end in moves:
        if after[0, start] <= 0:
            return None
        after[0, start] -= 1
        after[0, end] += 1
        point = int(rules.opponent_point[end])
        if end != OFF and rules.can_hit and after[1, point] == 1:
            after[1, point] -= 1
            after[1, BAR] += 1
    try:
        return np.asarray(as_boards(after, rules), dtype=np.int8)
    except PositionError:
        return None


class _Ending:
    """Who won how much: the board decides, then a dropped cube, then the next score, the words and their column."""

    def __init__(self, game: _Game, score: tuple[float, float], next_score: tuple[float, float] | None) -> None:
        self.game = game
        self.gain = (0.0, 0.0)
        if next_score is not None:
            self.gain = (next_score[0] - score[0], next_score[1] - score[1])

    def found(self) -> tuple[GameResult | None, int | None, float]:
        """Result, winner and points credited."""
        game = self.game
        result, cube = game.result, game.cube_value
        if result is not None:
            points = self._credited(result.points * cube)
            if points != result.points * cube:
                game.notes.append(
                    f"game {game.raw.number}: {points:g} points are credited, the board says {result.points * cube:g}"
                )
            return result, result.winner, points
        if game.dropped_by is not None:
            return None, 1 - game.dropped_by, self._credited(float(cube))
        winner = self._winner()
        if winner is None:
            game.notes.append(f"game {game.raw.number} has no end")
            return None, None, 0.0
        points = self._credited(float(cube))
        if not game.is_followed:
            return None, winner, points
        return self._resigned(winner, points / cube), winner, points

    def _credited(self, otherwise: float) -> float:
        if self.game.win is not None and self.game.win.value > 0:
            return self.game.win.value
        return max(self.gain) if max(self.gain) > 0 else otherwise

    def _winner(self) -> int | None:
        if max(self.gain) > 0 and min(self.gain) == 0:
            return int(self.gain[1] > 0)
        if self.game.resigned_by is not None:
            return 1 - self.game.resigned_by
        return None if self.game.win is None else self.game.win.side

    def _resigned(self, winner: int, points: float) -> GameResult:
        """A resignation at the dearest outcome class that the points pay for."""
        worth = self.game.rules.level_points
        level = 0
        for place, value in enumerate(worth):
            if worth[level] < value <= points + 1e-9:
                level = place
        return GameResult(winner=winner, level=OUTCOME_LEVELS[level], points=worth[level], how="resigned")
