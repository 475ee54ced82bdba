"""Judging and choosing: nets, look-ahead, suggestions and matches of long and short nardy."""

from agent.arena import play_match
from agent.evaluator import load_evaluator
from agent.suggest import suggest  # the name then means the function; the module stays importable as `agent.suggest`

__all__ = ["load_evaluator", "play_match", "suggest"]
