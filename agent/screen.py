"""The terminal as `nardy play` and `replay` use it: lines to read and write, the board, colours and width."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.cli_run import called_as
from agent.error_words import error_text
from agent.lang import as_lang
from agent.play_words import board_words, say
from engine.drawing import draw_board
from engine.errors import NardyError
from engine.session import Session

MIN_WIDTH = 80
_COPIED = ("record", "saved", "commitment", "secret")


class InputEnded(Exception):
    """The input is over (Ctrl-D, or a file at its end)."""


@dataclass(frozen=True)
class Screen:
    """Where a game is shown.

    Attributes:
        lang: language of the words, `en` or `ru`.
        color: whether the board is coloured by ANSI codes.
        width: columns, at least 80.
    """

    lang: str = "en"
    color: bool = False
    width: int = MIN_WIDTH

    @classmethod
    def of_terminal(cls, lang: str, color: bool | None = None) -> Screen:
        """The screen of this process.

        Args:
            lang: `en` or `ru`.
            color: None: as the terminal and NO_COLOR say.
        Raises:
            ConfigError: an unknown language.
        """
        if color is None:
            is_plain = os.environ.get("NO_COLOR", "") != "" or os.environ.get("TERM", "dumb") == "dumb"
            color = sys.stdout.isatty() and not is_plain
        return cls(as_lang(lang), color, max(MIN_WIDTH, shutil.get_terminal_size((MIN_WIDTH, 24)).columns))

    def write(self, text: str = "") -> None:
        """Lines of text, wrapped at the width."""
        for line in text.split("\n"):
            print(textwrap.fill(line, self.width, break_long_words=False, break_on_hyphens=False) if line else "")
        sys.stdout.flush()

    def say(self, key: str, **data: Any) -> None:
        """A sentence of `agent.play_words`; one that is there to be copied is not wrapped."""
        text = say(key, self.lang, **data)
        if key in _COPIED:
            print(text, flush=True)
        else:
            self.write(text)

    def say_how_to_resume(self, record: Path) -> None:
        """The command that goes on with a game, for a shell."""
        self.say("saved", command=called_as("nardy"), path=shlex.quote(str(record)))

    def ask(self, key: str, **data: Any) -> str:
        """What the player types after a prompt, without spaces around it. Raises InputEnded."""
        try:
            return input(say(key, self.lang, **data)).strip()
        except EOFError:
            raise InputEnded from None

    def draw(self, session: Session, viewer: int, names: tuple[str, str]) -> None:
        """The board with the viewer's home at the bottom right, points counted by him."""
        board = session.board_of(viewer)
        shown = (names[viewer], names[1 - viewer])
        self.write()
        words = board_words(self.lang)
        print(draw_board(board, session.rules, names=shown, color=self.color, width=self.width, words=words))

    def why(self, error: NardyError) -> str:
        """What a refusal says, in the player's language where there are words for it, without a full stop."""
        return error_text(error, self.lang)
