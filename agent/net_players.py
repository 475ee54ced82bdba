"""Players that a net drives: 0-ply through the evaluator's fast path, deeper through levels, and rollouts."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agent.levels import Level, as_level
from agent.net import NETS_FOLDER, shipped_net
from agent.players import BasePlayer, Dice
from agent.ranking import Judge, choose_plays
from engine.board import Boards
from engine.errors import ConfigError, PlayerError
from engine.rules import Rules

PAIRS_PER_CHUNK = (250, 16, 1, 1)  # by plies: enough games to fill a kernel, few enough to share out and to resume
COSTS = (1.0, 120.0, 3000.0, 60_000.0)  # by plies, measured in long nardy

_NET_TEXT = re.compile(r"(?P<path>.*?)(?:@(?P<level>[\w:-]+))?", re.ASCII | re.DOTALL)


@dataclass(kw_only=True)
class NetPlayer(BasePlayer):
    """The best play of an evaluator at a level."""

    judge: Judge
    level: Level
    threads: int = 1  # for plies beyond the net alone; the arena plays chunks side by side instead

    def choose(self, boards: Boards, dice: Dice, rng: np.random.Generator) -> Boards:
        """The best afterstate of each board at the player's level; `rng` is not used."""
        return choose_plays(self.judge, boards, dice, self.level, threads=self.threads)


def net_player(argument: str, rules: Rules) -> NetPlayer:
    """A player from the text behind `net`: empty, `PATH`, `@Nply` or `PATH@Nply`.

    Args:
        argument: PATH is a file, or the name of a shipped net such as one of the ladder.
        rules: the exact variant.
    Raises:
        PlayerError: a level that cannot be read.
        NetError: a net that cannot be read or does not fit the rules.
    """
    from agent.evaluator import load_evaluator

    match = _NET_TEXT.fullmatch(argument)
    path, level_text = (match["path"], match["level"]) if match else (argument, None)
    try:
        level = as_level(level_text or 0)
    except ConfigError as error:
        raise PlayerError(f"player net{':' if path else ''}{argument}: {error}") from error
    file = _net_file(path) if path else shipped_net(rules)
    judge = load_evaluator(rules, file)
    return player_of(judge, level, shown=f"net:{path}" if path else "net", path=file)


def _net_file(path: str) -> Path:
    """The file of a net: the path itself, or else the shipped net of that name."""
    named = [folder / f"{path}.safetensors" for folder in (NETS_FOLDER, NETS_FOLDER / "ladder")]
    if re.fullmatch(r"[\w.-]{1,100}", path, re.ASCII) and not Path(path).exists():
        return next((file for file in named if file.is_file()), Path(path))
    return Path(path)


def player_of(judge: Judge, level: Level, *, shown: str | None = None, path: Path | None = None) -> NetPlayer:
    """A player from an evaluator that is already loaded.

    Args:
        judge: the evaluator; its rules become the player's.
        level: depth and filters.
        shown: name in results, without the depth; None: the net's own name.
        path: the net's file, of which results keep a hash.
    """
    info: dict[str, Any] = {"net": judge.net_name, "plies": level.plies}
    if path is not None:
        info["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    if level.plies:
        info["filters"] = ",".join(str(f) for f in level.filters[: level.plies])
    return NetPlayer(
        name=f"{shown or judge.net_name}@{level.plies}ply",
        rules=judge.rules,
        info=info,
        judge=judge,
        level=level,
        pairs_per_chunk=PAIRS_PER_CHUNK[level.plies],
        cost=COSTS[level.plies],
    )
