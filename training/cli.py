"""`nardy-train`: train a net by self-play, and take it out of a run folder."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from agent.cli_run import called_as
from agent.cli_run import run as run_commands
from agent.net import load_net, save_net
from engine.errors import ConfigError
from engine.rules import Rules, get_rules
from engine.threads import default_threads
from training.average import averaged_net
from training.checkpoint import load_checkpoint
from training.config import PRESETS, TrainConfig, preset_config
from training.curves import read_metrics
from training.loop import NET_FILE, RunOptions, run_training
from training.ranks import Ranks
from training.reproduce import ALLOWED_SE, compare_curves, published_curve

app = typer.Typer(
    help="Train nets for long and short nardy by self-play.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.command()
def run(
    rules: Annotated[str, typer.Option(help="What to train, such as short or long_classic.")],
    out: Annotated[Path, typer.Option(help="Folder of the run: checkpoint, metrics, curve, net.")],
    preset: Annotated[str, typer.Option(help=f"One of {', '.join(PRESETS)}.")] = "laptop",
    resume: Annotated[bool, typer.Option(help="Go on from the folder's last checkpoint.")] = False,
    init: Annotated[Path | None, typer.Option(help="Start from the weights of this net.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of weights, dice and order.")] = 1,
    threads: Annotated[
        int | None, typer.Option(min=1, max=256, help="Threads of self-play; all cores of the machine by default.")
    ] = None,
    games: Annotated[int | None, typer.Option(help="Self-play games instead of the preset's budget.")] = None,
    referee: Annotated[Path | None, typer.Option(help="File of reference decisions for the curve.")] = None,
    device: Annotated[str, typer.Option(help="Where the learner runs: cpu or cuda.")] = "cpu",
) -> None:
    """Train a net; the folder then holds it as net.safetensors."""
    if resume and init is not None:
        raise ConfigError("--init starts a fresh run and --resume goes on with one: give one of them")
    exact = get_rules(rules)
    config = _config_in(out, exact, games) if resume else preset_config(preset, exact, seed=seed, games=games)
    if init is not None:
        config = config.from_net()
    ranks = Ranks.from_environment()
    try:
        threads = threads or max(1, default_threads() // ranks.local)
        options = RunOptions(threads=threads, device=device, referee=referee)
        start = None if init is None else load_net(init)
        done = run_training(config, out, options, is_resumed=resume, init=start, ranks=ranks)
    finally:
        ranks.close()
    if not ranks.is_first:
        return
    if done.games < config.games:
        print(
            f"stopped after {done.games} of {config.games} games; go on with: "
            f"{called_as('nardy-train')} run --rules {quote(rules)} --out {quote(str(out))} --resume",
            file=sys.stderr,
        )
    print(out / NET_FILE)


def _config_in(folder: Path, rules: Rules, games: int | None) -> TrainConfig:
    """The settings that a run in a folder goes on with. Raises ConfigError where the options say other ones."""
    config = load_checkpoint(folder).config
    if config.rules != str(rules):
        raise ConfigError(f"{folder} trains {config.rules}, --rules says {rules}")
    if games not in (None, config.games):
        raise ConfigError(f"{folder} trains {config.games} games, which --resume keeps; --games says {games}")
    return config


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="Folder of a run.")],
    net: Annotated[Path, typer.Argument(help="File to write, named *.safetensors.")],
) -> None:
    """Write the net of a run's last checkpoint to a file."""
    load_checkpoint(folder)
    save_net(load_net(folder / NET_FILE), net)
    print(net)


@app.command()
def average(
    nets: Annotated[list[Path], typer.Argument(help="Two nets or more that grew out of one another.")],
    out: Annotated[Path, typer.Option(help="File to write, named *.safetensors.")],
) -> None:
    """Write the mean of the weights of several nets to a file; smaller ones are widened first."""
    save_net(averaged_net([load_net(net) for net in nets]), out)
    print(out)


@app.command()
def reproduce(
    rules: Annotated[str, typer.Option(help="Game whose published curve is trained again.")],
    out: Annotated[Path, typer.Option(help="Folder of the run.")],
    resume: Annotated[bool, typer.Option(help="Go on from the folder's last checkpoint.")] = False,
    seed: Annotated[int, typer.Option(help="Seed; the published curve's own by default.")] = 1,
    games: Annotated[int | None, typer.Option(min=1, help="Stop once so many games are played.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, max=256, help="Threads of self-play.")] = None,
    referee: Annotated[Path | None, typer.Option(help="File of reference decisions for the curve.")] = None,
) -> None:
    """Train the laptop preset and compare its curve with the published one, point by point."""
    exact = get_rules(rules)
    published = published_curve(exact)
    config = load_checkpoint(out).config if resume else preset_config("laptop", exact, seed=seed)
    options = RunOptions(threads=threads or default_threads(), referee=referee, stop_after_games=games)
    run_training(config, out, options, is_resumed=resume)
    points = compare_curves(published, read_metrics(out))
    for point in points:
        print(point)
    worst = max((point.deviation for point in points), default=0.0)
    print(f"{len(points)} points, the farthest {worst:.1f} joint SE apart; allowed {ALLOWED_SE:.0f}")
    if worst > ALLOWED_SE:
        raise typer.Exit(1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `nardy-train` and give its exit code.

    Args:
        arguments: the command line without the program's name; None takes the process's own.
    """
    return run_commands(app, "nardy-train", arguments)


if __name__ == "__main__":
    sys.exit(main())
