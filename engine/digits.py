"""Numbers in text from outside, where Python's `int` takes more than is meant and raises on very long ones."""

from __future__ import annotations

MAX_DIGITS = 18  # so that every number fits in 64 bits


def whole_number(text: str) -> int | None:
    """The number that up to `MAX_DIGITS` ASCII digits write; None for any other text."""
    return int(text) if len(text) <= MAX_DIGITS and text.isascii() and text.isdecimal() else None
