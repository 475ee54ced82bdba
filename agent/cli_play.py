"""`nardy play` and its kin: games on the terminal and over HTTP."""

from __future__ import annotations

import typer


def mount(app: typer.Typer) -> None:
    """Add these commands to an app."""
