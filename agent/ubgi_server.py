"""`nardy ubgi`: our nets as a UBGI engine, so that other programs can play them. Short nardy.

A line in, a line out, no state kept. It never doubles, and takes a double when its cubeless equity is above -0.5.
Source: CONVENTIONS.md A.5 (draft of the Universal Backgammon Interface).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import metadata
from typing import TextIO

import numpy as np

from agent.fibs import PREFIX, parse_fibs
from agent.levels import Level
from agent.ranking import Judge, choose_plays
from engine.board import Boards, opponent_view
from engine.errors import ConfigError, NardyError
from engine.outcome import equity_of, is_finished
from engine.position_ids import parse_position
from engine.rules import BAR, OFF
from engine.steps import play_steps

TAKE_POINT = -0.5
MAX_LINE = 2000


class UbgiEngine:
    """Answers UBGI lines with a net at a level.

    Raises:
        ConfigError: the evaluator is not bound to rules of short nardy.
    """

    def __init__(self, judge: Judge, level: Level) -> None:
        if not judge.rules.can_hit:
            raise ConfigError(f"UBGI knows short nardy only, the net is bound to {judge.rules}")
        self.judge = judge
        self.level = level

    def answer(self, line: str) -> list[str]:
        """The lines that answer one line: none for `stop` and `quit`, `sorry` for what is not understood."""
        text = line.strip()
        if text == "ubgi":
            return self._introduction()
        if text in ("", "stop", "quit"):
            return []
        try:
            return [self._decision(text)]
        except NardyError:
            return ["sorry"]

    def _introduction(self) -> list[str]:
        try:
            version = metadata.version("nardy")
        except metadata.PackageNotFoundError:
            version = "unknown"
        return [
            f"id name nardy {self.judge.net_name} {self.level}",
            "id author the nardy project",
            f"id version {version}",
            "readyok",
        ]

    def _decision(self, text: str) -> str:
        rules = self.judge.rules
        if len(text) > MAX_LINE:
            return "sorry"
        if text.startswith(PREFIX):
            position = parse_fibs(text, rules)
            board, dice, is_doubled = position.board, position.dice, position.is_doubled
        elif text.upper().startswith("XGID="):
            given = parse_position(text, rules)
            word = given.xgid.dice if given.xgid else "00"
            if word in ("B", "R"):
                return "sorry"
            board, dice, is_doubled = given.board, given.dice, word == "D"
        else:
            return "sorry"
        if is_finished(board):
            return "sorry"
        if is_doubled:
            return self._cube_answer(board)
        return "roll" if dice is None else self._move(board, dice)

    def _cube_answer(self, board: Boards) -> str:
        """Take or drop for the player not on roll, who has just been doubled."""
        probs = self.judge.outcome_probs(np.ascontiguousarray(opponent_view(board))[None])[0]
        return "take" if float(equity_of(probs, self.judge.rules)) > TAKE_POINT else "drop"

    def _move(self, board: Boards, dice: tuple[int, int]) -> str:
        chosen = choose_plays(self.judge, board[None], np.array([dice], dtype=np.int8), self.level)[0]
        steps = play_steps(board, dice, chosen, self.judge.rules)
        return " ".join(f"{_point(step.start)}/{_point(step.end)}" for step in steps)


def _point(index: int) -> str:
    return {BAR: "bar", OFF: "off"}.get(index, str(index))


def bounded_lines(stream: TextIO) -> Iterator[str]:
    """The lines of a stream as they come; of one longer than `MAX_LINE` no more than a first part is kept."""
    while line := stream.readline(MAX_LINE + 1):
        yield line
        while len(line) > MAX_LINE and not line.endswith("\n"):
            line = stream.readline(MAX_LINE + 1)


def serve_ubgi(engine: UbgiEngine, lines: Iterable[str], out: TextIO) -> None:
    """Answer lines until `quit` or the end of the input, flushing after each.

    Args:
        engine: what answers.
        lines: such as `sys.stdin`.
        out: such as `sys.stdout`; nothing else may be printed there.
    """
    for line in lines:
        if line.strip() == "quit":
            return
        for answer in engine.answer(line):
            print(answer, file=out, flush=True)
