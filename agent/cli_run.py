"""Running a set of commands: exit codes, one line on stderr for each error that a user can cause, clean interrupts."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from itertools import pairwise
from typing import Any

import typer

from agent.interrupts import EXIT_INTERRUPTED, Interrupts

EXIT_BAD_INPUT = 2
EXIT_BROKEN_PIPE = 141  # 128 + SIGPIPE
LONGEST_ERROR = 1000  # characters

# Packages that belong to an extra of pyproject.toml.
EXTRAS = {
    "fastapi": "serve",
    "uvicorn": "serve",
    "matplotlib": "report",
    "scipy": "report",
    "gnubg_nn": "peers",
    "bgsage": "peers",
    "torch": "train",
}


def run(commands: typer.Typer, name: str, arguments: Sequence[str] | None = None) -> int:
    """Run commands the way `nardy` and `nardy-train` do.

    Args:
        commands: what to run.
        name: the program's name, which starts every error line.
        arguments: the command line without the program's name; None takes the process's own. None at all show the
            help.
    Returns:
        The exit code: 0, 2 for bad input, 130 when interrupted, 141 when the reader of stdout went away.
    """
    _open_missing_streams()
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a locale without box drawing or Cyrillic is no reason to fail
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    interrupts = Interrupts()
    with interrupts.watched():
        try:
            code = _finished(commands, name, words)
        except BaseException:
            if not interrupts.came:
                raise
            code = EXIT_INTERRUPTED  # whatever the interrupt has become on its way
    return EXIT_INTERRUPTED if interrupts.came and code == EXIT_BAD_INPUT else code


def _finished(commands: typer.Typer, name: str, words: list[str]) -> int:
    """The exit code of one command line."""
    try:
        result = _invoke(commands, name, words)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except BrokenPipeError:
        # Python flushes stdout once more on exit, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    except (KeyboardInterrupt, typer.Abort):
        return EXIT_INTERRUPTED
    except Exception as error:
        text = error_line(error, _lang_in(words))
        if text is None:
            raise
        print(text if text.startswith("Usage:") else f"{name}: {_shortened(text)}", file=sys.stderr)
        return EXIT_BAD_INPUT


def called_as(name: str) -> str:
    """How this program was called, for a user to type again: by its name, or by the script that started it."""
    return os.environ.get("NARDY_COMMAND", name)


def error_line(error: Exception, lang: str = "en") -> str | None:
    """What a user is told of an error that he can cause; None for a fault of the program.

    One line, except for the help page of a group of commands that was called without one.

    Args:
        error: any.
        lang: `en`, or another language, which errors of the library have sentences in.
    """
    from engine.errors import NardyError

    if isinstance(error, NardyError) and lang != "en":
        from agent.error_words import error_text

        return error_text(error, lang)
    if isinstance(error, NardyError):
        return " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, ModuleNotFoundError) and (extra := EXTRAS.get(str(error.name).partition(".")[0])):
        return f"{error.name} is not installed; it comes with the extra {extra}: pip install 'nardy[{extra}]'"
    if hasattr(error, "format_message"):  # a usage error; its class has no public name in every version of typer
        message = str(error.format_message())
        return message if message.startswith("Usage:") else " ".join(message.split())
    return None


def _lang_in(words: Sequence[str]) -> str:
    """The language that a command line asks for; English where it asks for none that there is."""
    from agent.lang import LANGS

    asked = [after for word, after in pairwise([*words, ""]) if word == "--lang"]
    asked += [word.removeprefix("--lang=") for word in words if word.startswith("--lang=")]
    return next((lang for lang in asked if lang in LANGS), "en")


def _open_missing_streams() -> None:
    """Give a process that was started with closed streams empty ones, and keep files from taking their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115  (open until the end)


def _shortened(text: str) -> str:
    """A line without the middle of what a user gave by the megabyte."""
    half = LONGEST_ERROR // 2
    return text if len(text) <= LONGEST_ERROR else f"{text[:half]} ... {text[-half:]}"


def _invoke(commands: typer.Typer, name: str, words: list[str]) -> Any:
    try:
        with typer.main.get_command(commands).make_context(name, words) as context:
            return context.command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
