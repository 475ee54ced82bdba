"""Players by text: one registry for everything that can choose a play.

`random`, `pips`, `heuristic`, `net`, `net@2ply`, `net:PATH@1ply`, `rollout:...`, `pubeval`, `gnubg0`, `bgsage1`,
`py:MODULE:NAME`, `cmd:PROGRAM`, `ubgi:PROGRAM`, `gnubg:HOST:PORT`. Modules behind a kind load when it is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from agent.heuristics import ValueFunction, linear_value
from engine.board import Boards, pip_count
from engine.errors import PlayerError
from engine.movegen import Offsets, afterstates_of
from engine.rules import BAR, Rules, get_rules

Dice = npt.NDArray[np.int8]


@runtime_checkable
class Player(Protocol):
    """Anything that chooses plays for batches of boards under one `Rules`."""

    @property
    def name(self) -> str:
        """The player as results show it: kind, net and depth."""

    @property
    def rules(self) -> Rules:
        """The exact variant that this player plays."""

    def choose(self, boards: Boards, dice: Dice, rng: np.random.Generator) -> Boards:
        """The chosen afterstate of each board: int8 [N, 2, 26] for boards int8 [N, 2, 26] and dice int8 [N, 2]."""


@dataclass(kw_only=True)
class BasePlayer:
    """What the arena wants to know about a player besides its plays; the values here suit a quick trusted one."""

    name: str
    rules: Rules
    info: dict[str, Any] = field(default_factory=dict)  # net name, hash, versions: copied into results

    is_thread_safe: ClassVar[bool] = True  # False: parallel work needs one process each
    is_trusted: ClassVar[bool] = True  # False: answers are checked for legality (see agent/outside.py)
    pairs_per_chunk: int = 64
    cost: float = 1.0  # time of its turns beside those of the net alone, roughly: for the time left only

    def close(self) -> None:
        """Give back what the player holds; nothing for most."""


def tie_break_order(afterstates: Boards) -> list[npt.NDArray[np.uint64]]:
    """Sort keys, most significant first, that order distinct boards by their rearmost checkers.

    Args:
        afterstates: int8 [N, 2, 26].
    Returns:
        Four uint64 [N]: row 0 from index 25 down, then row 1; fewer checkers behind come first.
    """
    keys = []
    for row in (0, 1):
        counts = afterstates[:, row].astype(np.uint64)
        for high, low in ((BAR, 13), (12, 1)):
            key = np.zeros(len(afterstates), dtype=np.uint64)
            for index in range(high, low - 1, -1):
                key = key << np.uint64(4) | counts[:, index]
            keys.append(key)
    return keys


def best_rows(values: npt.NDArray[Any], afterstates: Boards, offsets: Offsets) -> npt.NDArray[np.int64]:
    """Row of the best afterstate of each board; equal values are decided by `tie_break_order`.

    Args:
        values: [M], higher is better.
        afterstates: int8 [M, 2, 26].
        offsets: int64 [B + 1], every board having at least one row.
    Returns:
        int64 [B].
    """
    best = np.maximum.reduceat(values, offsets[:-1])
    owner = np.repeat(np.arange(len(best)), np.diff(offsets))
    rows = np.flatnonzero(values == best[owner])
    if len(rows) > len(best):
        keys = tie_break_order(afterstates[rows])
        rows = rows[np.lexsort((*keys[::-1], owner[rows]))]
        rows = rows[np.unique(owner[rows], return_index=True)[1]]
    return rows


@dataclass(kw_only=True)
class RandomPlayer(BasePlayer):
    """Picks each legal play with equal chance."""

    name: str = "random"
    pairs_per_chunk: int = 256

    def choose(self, boards: Boards, dice: Dice, rng: np.random.Generator) -> Boards:
        """A random afterstate of each board; shapes as for `Player.choose`, and so in every player."""
        afterstates, offsets = afterstates_of(boards, dice, self.rules, threads=1)
        picks = (rng.random(len(boards)) * np.diff(offsets)).astype(np.int64)
        return np.asarray(afterstates[offsets[:-1] + picks])


@dataclass(kw_only=True)
class ValuePlayer(BasePlayer):
    """Picks the afterstate with the highest value of a plain function; ties go to fewer checkers behind."""

    value: ValueFunction
    pairs_per_chunk: int = 256

    def choose(self, boards: Boards, dice: Dice, rng: np.random.Generator) -> Boards:
        """The afterstate of highest value of each board; `rng` is not used."""
        afterstates, offsets = afterstates_of(boards, dice, self.rules, threads=1)
        return np.asarray(afterstates[best_rows(self.value(afterstates, self.rules), afterstates, offsets)])


def fewest_pips(afterstates: Boards, rules: Rules) -> npt.NDArray[np.float64]:
    """Own pips left, negative: float64 [N]."""
    return -pip_count(afterstates)[:, 0].astype(np.float64)


Maker = Callable[[str, Rules], Player]  # (argument after the first colon, rules)


def _random(argument: str, rules: Rules) -> Player:
    return RandomPlayer(rules=rules)


def _pips(argument: str, rules: Rules) -> Player:
    return ValuePlayer(name="pips", rules=rules, value=fewest_pips)


def _heuristic(argument: str, rules: Rules) -> Player:
    return ValuePlayer(name="heuristic", rules=rules, value=linear_value(rules))


def _net(argument: str, rules: Rules) -> Player:
    from agent.net_players import net_player

    return net_player(argument, rules)


def _rollout(argument: str, rules: Rules) -> Player:
    from agent.rollout_player import rollout_player

    return rollout_player(argument, rules)


def _peer(kind: str) -> Maker:
    def make(argument: str, rules: Rules) -> Player:
        from agent.peers import peer_player

        return peer_player(kind, rules)

    return make


def _callable(argument: str, rules: Rules) -> Player:
    from agent.outside import callable_player

    return callable_player(argument, rules)


def _program(kind: str) -> Maker:
    def make(argument: str, rules: Rules) -> Player:
        from agent.protocols import program_player

        return program_player(kind, argument, rules)

    return make


MAX_TEXT = 4096  # characters of a player's text; no path is longer
PEERS = ("pubeval", "gnubg0", "gnubg1", "gnubg2", "bgsage1", "bgsage2")
KINDS: dict[str, Maker] = {
    "random": _random,
    "pips": _pips,
    "heuristic": _heuristic,
    "net": _net,
    "rollout": _rollout,
    **{kind: _peer(kind) for kind in PEERS},
    "py": _callable,
    **{kind: _program(kind) for kind in ("cmd", "ubgi", "gnubg")},
}
WITH_ARGUMENT = {"py": "py:MODULE:NAME", "cmd": "cmd:PROGRAM", "ubgi": "ubgi:PROGRAM", "gnubg": "gnubg:HOST:PORT"}
USAGE = (
    "random, pips, heuristic, net, net:PATH, net@Nply, net:PATH@Nply, rollout:OPTIONS, "
    + ", ".join(PEERS)
    + ", "
    + ", ".join(WITH_ARGUMENT.values())
)
_PLAYER_TEXT = re.compile(r"(?P<kind>[a-z]+[0-9]?)(?P<argument>[:@].*)?", re.DOTALL)


def make_player(text: str, rules: str | Rules) -> Player:
    """The player that a text names, bound to one `Rules`.

    Args:
        text: such as `heuristic`, `net@1ply`, `net:runs/a/net.safetensors`, `py:my_module:choose`.
        rules: a `Rules`, or its text.
    Raises:
        PlayerError: a text that is too long, an unknown kind, a missing argument, a player that does not know this
            game, or a package that is not installed.
        RulesError: unknown rules.
        NetError: a net that cannot be read or does not fit the rules.
    """
    bound = get_rules(rules)
    if len(text) > MAX_TEXT:
        raise PlayerError(f"a player's text has at most {MAX_TEXT} characters, got {len(text)}")
    match = _PLAYER_TEXT.fullmatch(text.strip())
    kind = match["kind"] if match else ""
    if match is None or kind not in KINDS:
        raise PlayerError(f"unknown player {text[:60]!r}; allowed: {USAGE}")
    argument = match["argument"] or ""
    if kind in WITH_ARGUMENT and len(argument) < 2:
        raise PlayerError(f"player {text!r} lacks its argument; write {WITH_ARGUMENT[kind]}")
    if kind not in WITH_ARGUMENT and kind not in ("net", "rollout") and argument:
        raise PlayerError(f"player {kind} takes no argument, got {text[:60]!r}")
    return KINDS[kind](argument[1:] if argument.startswith(":") else argument, bound)
