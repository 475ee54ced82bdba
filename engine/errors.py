"""The error tree: every error a caller can cause says what was given and what is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.legality import Reason


class NardyError(Exception):
    """Root of all errors that bad input can cause; its text is one line fit for a user."""


class RulesError(NardyError, ValueError):
    """An unknown preset, option or option value."""


class PositionError(NardyError, ValueError):
    """A board that is not well formed under the rules, or text that is no position."""


class DiceError(NardyError, ValueError):
    """Dice that are not two numbers from 1 to 6."""


class NotationError(NardyError, ValueError):
    """Text that names no play, or more than one."""


class IllegalPlayError(NardyError, ValueError):
    """A play or step that the rules do not allow; `reason` says why."""

    def __init__(self, message: str, reason: Reason | None = None) -> None:
        super().__init__(message)
        self.reason = reason


class SessionError(NardyError):
    """An event that the state of a game does not accept; `code` names the reason."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class RecordError(NardyError, ValueError):
    """A game record, match file or dice proof that cannot be read or does not hold."""


class NetError(NardyError, ValueError):
    """A net file that cannot be read, or a net that does not fit the rules or the code."""


class ConfigError(NardyError, ValueError):
    """A setting outside its range, or a checkpoint that does not fit the settings."""


class PlayerError(NardyError):
    """A player that is unknown, crashed, hung or answered with an illegal play."""
