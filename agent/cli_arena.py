"""`nardy arena` and `referee`: how strong players are."""

from __future__ import annotations

import typer


def mount(app: typer.Typer) -> None:
    """Add these commands to an app."""
