"""Judging and choosing: nets, look-ahead, suggestions and matches of long and short nardy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent.evaluator import load_evaluator
from agent.suggest import suggest  # the name then means the function; the module stays importable as `agent.suggest`

if TYPE_CHECKING:
    from agent.arena import play_match

__all__ = ["load_evaluator", "play_match", "suggest"]


def __getattr__(name: str) -> Any:
    if name == "play_match":  # loaded when asked for, so that a suggestion does not wait for the arena
        from agent.arena import play_match

        return play_match
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
