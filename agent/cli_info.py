"""`nardy info`, `board` and `schema`: versions, nets and presets, what a position looks like, what `--json` gives."""

from __future__ import annotations

import platform
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agent.cli_options import (
    DiceOption,
    JsonOption,
    PositionOption,
    RulesOption,
    note_first_compile,
    print_json,
    read_position,
)
from agent.cli_table import print_table

if TYPE_CHECKING:
    from agent.net import Net

PACKAGES = ("nardy", "numpy", "numba", "safetensors", "torch", "fastapi", "matplotlib", "gnubg-nn", "bgsage")


def mount(app: typer.Typer) -> None:
    """Add these commands to an app."""
    app.command()(board)
    app.command()(info)
    app.command()(schema)


def board(
    rules: RulesOption,
    position: PositionOption = "start",
    dice: DiceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a position: the board as text, pips, and its IDs."""
    from engine.board import PHASES, phase, pip_count
    from engine.drawing import draw_board
    from engine.movegen import legal_afterstates
    from engine.position_ids import gnubg_id
    from engine.rules import get_rules

    variant = get_rules(rules)
    place, roll = read_position(position, dice, variant)
    if roll is not None:
        note_first_compile()
    pips = pip_count(place.board).tolist()
    facts: dict[str, Any] = {
        "rules": str(variant),
        "position": place.echo,
        "board": place.board,
        "gnubg_id": gnubg_id(place.board),
        "dice": roll,
        "pips": pips,
        "phase": PHASES[int(phase(place.board, variant))],
        "n_legal": None if roll is None else len(legal_afterstates(place.board, roll, variant)),
    }
    if as_json:
        print_json(facts)
        return
    typer.echo(f"rules {variant}\nposition {place.echo}")
    typer.echo(draw_board(place.board, variant))
    typer.echo(f"pips {pips[0]} and {pips[1]}  phase {facts['phase']}  ID {facts['gnubg_id']}")
    if roll is not None:
        typer.echo(f"dice {roll[0]}:{roll[1]}  legal plays {facts['n_legal']}")


def info(as_json: JsonOption = False) -> None:
    """Versions, the nets at hand with what is known of them, and the presets."""
    from engine.rules import ALIASES, RULES

    versions = {"python": platform.python_version()} | {
        name: version for name in PACKAGES if (version := _version(name)) is not None
    }
    nets = [_net_facts(path) for path in _shipped_nets()]
    presets = {name: {option: str(getattr(r, option)) for option in r.game.options} for name, r in RULES.items()}
    if as_json:
        print_json({"versions": versions, "nets": nets, "presets": presets, "aliases": dict(ALIASES)})
        return
    typer.echo("  ".join(f"{name} {version}" for name, version in versions.items()))
    if nets:
        columns = ["net", "game", "rules", "features", "experts", "hidden", "sha256"]
        print_table(columns, [[str(net[column]) for column in columns] for net in nets], left=len(columns))
    else:
        typer.echo("no nets are shipped with this installation")
    typer.echo("presets (each takes options: preset(option=value,...)):")
    for name, options in presets.items():
        aka = "".join(f" (also {alias})" for alias, preset in ALIASES.items() if preset == name)
        typer.echo(f"  {name}{aka}: " + " ".join(f"{option}={value}" for option, value in options.items()))


def schema(
    command: Annotated[str, typer.Argument(help="A command, such as suggest or 'dice stats'.")],
) -> None:
    """JSON Schema of what a command prints with --json."""
    from agent.command_schemas import COMMAND_SCHEMAS
    from engine.errors import ConfigError

    if command not in COMMAND_SCHEMAS:
        raise ConfigError(f"a schema is kept for {', '.join(COMMAND_SCHEMAS)}, got {command[:60]!r}")
    print_json(COMMAND_SCHEMAS[command])


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _shipped_nets() -> list[Path]:
    from agent.net import NETS_FOLDER

    return sorted(NETS_FOLDER.rglob("*.safetensors"), key=lambda path: (len(path.parts), path.name))


def _net_facts(path: Path) -> dict[str, Any]:
    from agent.net import NETS_FOLDER, load_net

    net = load_net(path)
    return {
        "file": path.relative_to(NETS_FOLDER).as_posix(),
        "net": net.name,
        "game": net.game,
        "rules": net.rules,
        "features": net.features,
        "experts": " ".join(net.experts),
        "hidden": _hidden(net),
        "sha256": net.digest,
        "metadata": net.metadata,
    }


def _hidden(net: Net) -> str:
    return "-".join(str(width) for width in (net.bias.shape[1], *(w.shape[2] for w, _ in net.layers[:-1])))
