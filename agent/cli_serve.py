"""`nardy serve`: the HTTP service and the web board."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agent.cli_options import note_first_compile


def mount(app: typer.Typer) -> None:
    """Add the command to an app."""
    app.command()(serve)


def serve(
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; 0.0.0.0 lets other machines in.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 takes a free one.")] = 8080,
    net: Annotated[
        list[Path] | None, typer.Option("--net", help="A net of your own in place of the shipped one; once a game.")
    ] = None,
    games: Annotated[
        Path | None, typer.Option("--games", help="Folder of the games; else the user's data folder.")
    ] = None,
    cors: Annotated[
        list[str] | None, typer.Option("--cors", help="Another origin that may send requests, or *; may be repeated.")
    ] = None,
) -> None:
    """Serve the web board and the JSON API until Ctrl-C."""
    import fastapi  # noqa: F401  (named in the error when the extra is not installed)
    import uvicorn  # noqa: F401

    from agent.server import ServerConfig
    from agent.server import serve as run
    from agent.server_guard import LOCAL_HOSTS
    from agent.terminal_match import default_folder

    config = ServerConfig(
        nets=tuple(net or ()),
        folder=games or default_folder(),
        hosts=LOCAL_HOSTS if host in LOCAL_HOSTS else None,
        origins=tuple(cors or ()),
    )
    note_first_compile()
    run(config, host, port)
