"""The commands of `nardy`, one thin function for each of the library's.

Each command reads its options, calls the library and prints. Modules are imported inside the commands, so that a
suggestion does not wait for what it does not use.
"""

from __future__ import annotations

import typer

from agent import cli_analyze, cli_arena, cli_info, cli_league, cli_rollout, cli_serve, cli_suggest, play_cli

app = typer.Typer(
    name="nardy",
    help="Long and short nardy: suggestions, games, arena and analysis. `nardy COMMAND --help` shows the options.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for commands in (cli_suggest, cli_rollout, cli_analyze, play_cli, cli_serve, cli_arena, cli_league, cli_info):
    commands.mount(app)
