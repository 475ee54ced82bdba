"""Judging and choosing: nets, look-ahead, suggestions and matches of long and short nardy.

The names load when they are asked for: a suggestion does not wait for the arena, nor Ctrl-C for either.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent.arena import play_match
    from agent.evaluator import load_evaluator
    from agent.suggest import suggest

__all__ = ["load_evaluator", "play_match", "suggest"]


def __getattr__(name: str) -> Any:
    if name == "play_match":
        from agent.arena import play_match

        return play_match
    if name == "load_evaluator":
        from agent.evaluator import load_evaluator

        return load_evaluator
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Package(ModuleType):
    """A package in which `suggest` is the function; the module of that name stays importable as `agent.suggest`."""

    @property
    def suggest(self) -> Any:
        """The function."""
        from agent.suggest import suggest

        return suggest

    @suggest.setter
    def suggest(self, module: ModuleType) -> None:
        """Python puts a loaded module under its name here, which would hide the function."""


sys.modules[__name__].__class__ = _Package
