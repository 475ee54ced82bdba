"""Players outside this process, by text: `cmd:PROGRAM`, `ubgi:PROGRAM`, `gnubg:HOST:PORT`.

- `cmd:` speaks JSON lines, for both games: `{"rules", "board", "dice"}` in, `{"afterstate"}` (or `{"play": TEXT}`) out.
- `ubgi:` starts a UBGI engine (draft protocol; short nardy).
- `gnubg:` connects to GNU Backgammon's `external` command (short nardy).

A time limit for one answer is written behind the kind: `cmd@2s:PROGRAM`. A program that dies or hangs is started anew;
see `agent.outside` for how such games are scored.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from agent.channels import Channel, NoAnswerError, ProgramChannel, SocketChannel
from agent.fibs import format_fibs
from agent.outside import Answers, Fault, OutsidePlayer, fingerprint_of
from agent.players import Dice
from engine.board import Boards, as_boards
from engine.digits import whole_number
from engine.errors import NardyError, PlayerError
from engine.notation import parse_play
from engine.position_ids import format_xgid, xgid_of
from engine.rules import BAR, OFF, Rules

ANSWER_S = 10.0
START_S = 30.0  # more, for the first answer after a start: it may load nets
MAX_IN_A_ROW = 3  # failures without an answer between them, after which a program is not asked again
MAX_FAILURES = 20  # and in all

_LIMIT_TEXT = re.compile(r"@(?P<seconds>\d{1,4}(?:\.\d{1,3})?)s:(?P<rest>.*)", re.ASCII | re.DOTALL)


@dataclass(kw_only=True)
class ProgramPlayer(OutsidePlayer):
    """A player reached through a channel, asked one board at a time."""

    is_thread_safe: ClassVar[bool] = False
    open_channel: Callable[[], Channel]
    limit_s: float = ANSWER_S
    _channel: Channel | None = field(default=None, init=False)
    _is_fresh: bool = field(default=False, init=False)  # started, and has not answered since
    _has_answered: bool = field(default=False, init=False)
    _in_a_row: int = field(default=0, init=False)
    _failures: int = field(default=0, init=False)

    def question(self, board: Boards, dice: tuple[int, int]) -> str:
        """The line that asks for a play."""
        raise NotImplementedError

    def play_of(self, answer: str, board: Boards, dice: tuple[int, int]) -> Boards:
        """The afterstate that an answer means; raises `NardyError` when it means none."""
        raise NotImplementedError

    def greet(self, channel: Channel) -> None:
        """What is said once after the start."""

    def ask(self, boards: Boards, dice: Dice, rng: np.random.Generator) -> Answers:
        """Answers one by one; a failure costs one game, and too many of them the rest of the chunk."""
        chosen, faults = boards.copy(), {}
        for row in range(len(boards)):
            roll = (int(dice[row, 0]), int(dice[row, 1]))
            try:
                answer = self._answer(self.question(boards[row], roll))
                chosen[row] = self.play_of(answer, boards[row], roll)
            except NoAnswerError as error:
                faults[row] = Fault(error.kind, str(error))
            except NardyError as error:
                faults[row] = Fault("illegal", f"answered {answer[:80]!r}: {error}"[:300])
        return chosen, faults

    def _answer(self, question: str) -> str:
        if self._in_a_row >= MAX_IN_A_ROW or self._failures >= MAX_FAILURES:
            raise NoAnswerError("crash", f"given up after {self._failures} failures")
        try:
            if self._channel is None:
                self._open()
            assert self._channel is not None
            self._channel.send(question)
            answer = self._received(self._channel)
        except NoAnswerError:
            self._failures += 1
            self._in_a_row += 1
            self.close()
            raise
        self._in_a_row = 0
        self._is_fresh, self._has_answered = False, True
        return answer

    def _received(self, channel: Channel) -> str:
        # A program that never answered gets the time to start only once.
        may_load = self._is_fresh and (self._has_answered or self._failures == 0)
        try:
            return channel.receive(self.limit_s + START_S * may_load)
        except NoAnswerError as error:
            if error.kind != "timeout" or not may_load:
                raise
            shown = f"no answer within {self.limit_s:g} s and the {START_S:g} s that a start may take"
            raise NoAnswerError("timeout", shown) from None

    def _open(self) -> None:
        self._is_fresh = True
        try:
            self._channel = self.open_channel()
        except PlayerError as error:
            raise NoAnswerError("crash", str(error)) from error
        self.greet(self._channel)

    def check(self) -> None:
        """Start it now, so that a wrong command is found before the first game.

        Raises:
            PlayerError: the program cannot be started, or does not greet as its protocol says.
        """
        try:
            self._channel = self.open_channel()
            self._is_fresh = True
            self.greet(self._channel)
        except NoAnswerError as error:
            self.close()
            raise PlayerError(f"player {self.name}: {error.kind}: {error}") from error

    def close(self) -> None:
        """End the program or connection; the next question opens it again."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None


class JsonLinesPlayer(ProgramPlayer):
    """`cmd:PROGRAM`: one JSON object a line."""

    def question(self, board: Boards, dice: tuple[int, int]) -> str:
        """`{"rules": TEXT, "board": [[26], [26]], "dice": [a, b]}`."""
        return json.dumps({"rules": str(self.rules), "board": board.tolist(), "dice": list(dice)})

    def play_of(self, answer: str, board: Boards, dice: tuple[int, int]) -> Boards:
        """From `{"afterstate": [[26], [26]]}`, rows not exchanged, or `{"play": "24/18 13/9"}`."""
        try:
            given = json.loads(answer)
        except (ValueError, RecursionError) as error:
            raise PlayerError(f"no JSON: {str(error)[:80]}") from error
        if isinstance(given, dict) and isinstance(given.get("play"), str):
            return parse_play(given["play"], board, dice, self.rules)
        if not isinstance(given, dict) or "afterstate" not in given:
            raise PlayerError('write {"afterstate": [[26 numbers], [26 numbers]]} or {"play": "24/18 13/9"}')
        try:
            return as_boards(given["afterstate"], self.rules).reshape(board.shape)
        except (ValueError, TypeError, OverflowError) as error:
            raise PlayerError(str(error)) from error


class UbgiPlayer(ProgramPlayer):
    """`ubgi:PROGRAM`: a UBGI engine; positions are sent as XGID. Source: CONVENTIONS.md A.5 (draft)."""

    def greet(self, channel: Channel) -> None:
        """`ubgi`, then lines until `readyok`; the name it gives is kept in `info`."""
        channel.send("ubgi")
        for _ in range(100):
            line = channel.receive(START_S).strip()
            if line == "readyok":
                return
            if line.startswith("id name "):
                self.info["engine"] = line.removeprefix("id name ")[:80]
        raise NoAnswerError("crash", "100 lines without readyok")

    def question(self, board: Boards, dice: tuple[int, int]) -> str:
        """The position with its dice as XGID."""
        return format_xgid(xgid_of(board, dice))

    def play_of(self, answer: str, board: Boards, dice: tuple[int, int]) -> Boards:
        """From pairs of points, every step written out."""
        return parse_play(ubgi_pairs(answer), board, dice, self.rules)


class GnubgPlayer(ProgramPlayer):
    """`gnubg:HOST:PORT`: GNU Backgammon after its command `external`. Source: CONVENTIONS.md A.4."""

    def question(self, board: Boards, dice: tuple[int, int]) -> str:
        """A FIBS board line with dice."""
        return format_fibs(board, dice, ("nardy", "opponent"))

    def play_of(self, answer: str, board: Boards, dice: tuple[int, int]) -> Boards:
        """From a move such as `8/5 6/5`."""
        return parse_play(answer.strip(), board, dice, self.rules)


_WORDS = {"bar": BAR, "off": OFF}


def ubgi_pairs(text: str) -> str:
    """A UBGI move as `a/b c/d`, whichever separators it has within its pairs.

    Raises:
        PlayerError: not one to four pairs of points.
    """
    points = re.split(r"[\s/\-]+", text.strip()) if text.strip() else []
    if not 2 <= len(points) <= 8 or len(points) % 2:
        raise PlayerError("a UBGI move is one to four pairs of points such as 24/18 18/13")
    for point in points:
        index = _WORDS.get(point, whole_number(point))
        if index is None or index > BAR:
            raise PlayerError(f"{point[:20]!r} is no point; UBGI writes 0 to 25, bar and off")
    return " ".join(f"{start}/{end}" for start, end in zip(points[::2], points[1::2], strict=True))


_KINDS: dict[str, type[ProgramPlayer]] = {"cmd": JsonLinesPlayer, "ubgi": UbgiPlayer, "gnubg": GnubgPlayer}


def program_player(kind: str, argument: str, rules: Rules) -> ProgramPlayer:
    """A player of kind `cmd`, `ubgi` or `gnubg`, started at once so that a wrong command is found now.

    Args:
        argument: what stands behind the kind, with its time limit if there is one: `PROGRAM` or `@2s:PROGRAM`.
    Raises:
        PlayerError: the program cannot be started, nobody listens, or the protocol does not know this game.
    """
    match = _LIMIT_TEXT.fullmatch(argument)
    limit_s = float(match["seconds"]) if match else ANSWER_S
    target = match["rest"] if match else argument
    if argument.startswith("@") and (match is None or limit_s <= 0):
        raise PlayerError(f"a time limit is written {kind}@2s:..., got {kind}{argument[:40]}")
    if kind != "cmd" and not rules.can_hit:
        raise PlayerError(f"the protocol of {kind}: knows short nardy only, not {rules}")

    def open_channel() -> Channel:
        return SocketChannel(target, limit_s) if kind == "gnubg" else ProgramChannel(target)

    player = _KINDS[kind](
        name=f"{kind}:{target}",
        rules=rules,
        info={"limit_s": limit_s},
        open_channel=open_channel,
        limit_s=limit_s,
    )
    player.check()
    if kind != "gnubg":
        player.fingerprint = fingerprint_of(*shlex.split(target))
    return player
