"""The ladder of a game: fixed players, every shipped net and its look-ahead, met and rated in one standard way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from agent.arena import Fixture
from agent.net import NETS_FOLDER
from engine.errors import ConfigError
from engine.rules import Rules

FIXED_PLAYERS = ("random", "pips", "heuristic")
ANCHORS = ("heuristic", "net@0ply")
OLDER_FOLDER = "ladder"
MAX_SHARE = 100


@dataclass(frozen=True, kw_only=True)
class LadderConfig:
    """Who meets how often."""

    plies: tuple[int, ...] = field(default=(0, 1, 2), metadata={"help": "Depths at which each net plays."})
    pairs: tuple[int, ...] = field(
        default=(2000, 500, 50, 10), metadata={"help": "Pairs of games by the deeper player's plies."}
    )
    luck_from: int = field(default=2, metadata={"help": "Plies from which luck is taken off the results."})

    def __post_init__(self) -> None:
        if not self.plies or not all(0 <= plies < len(self.pairs) for plies in self.plies):
            raise ConfigError(f"plies of a ladder lie between 0 and {len(self.pairs) - 1}, got {self.plies}")
        if any(pairs < 1 for pairs in self.pairs):
            raise ConfigError(f"each meeting of a ladder needs a pair of games or more, got {self.pairs}")


def older_nets(rules: Rules, folder: Path = NETS_FOLDER) -> list[str]:
    """Names of the earlier shipped nets of a game, the oldest first as their names sort; `net:NAME` plays one."""
    return sorted(path.stem for path in (folder / OLDER_FOLDER).glob(f"{rules.game.name}*.safetensors"))


def ladder_fixtures(
    rules: Rules, config: LadderConfig | None = None, *, nets: Sequence[str] | None = None
) -> list[Fixture]:
    """Meetings of the ladder: each player against the next one and against the two anchors.

    Args:
        rules: the exact variant.
        config: depths and numbers of games.
        nets: player texts of the nets without depth, weakest first; None: every net shipped for the game.
    """
    chosen = config or LadderConfig()
    texts = nets if nets is not None else [*(f"net:{name}" for name in older_nets(rules)), "net"]
    rungs = [(text, 0) for text in FIXED_PLAYERS]
    rungs += [(f"{text}@{plies}ply", plies) for plies in sorted(chosen.plies) for text in texts]
    depth = dict(rungs)
    names = [name for name, _ in rungs]
    meetings = list(pairwise(names))
    anchors = [anchor for anchor in ANCHORS if anchor in depth]
    meetings += [(name, anchor) for anchor in anchors for name in names if name != anchor]
    fixtures, seen = [], set()
    for a, b in meetings:
        if frozenset((a, b)) in seen:
            continue
        seen.add(frozenset((a, b)))
        deeper = max(depth[a], depth[b])
        luck = "net" if deeper >= chosen.luck_from else None
        fixtures.append(Fixture(a=b, b=a, pairs=chosen.pairs[deeper], luck=luck))
    return fixtures


def ladder_config(plies: str, share: float = 1.0) -> LadderConfig:
    """A config from text such as `0,1`, with a share of the standard number of games.

    Raises:
        ConfigError: plies that are no numbers with commas between, or a share that is not above 0 and at most 100.
    """
    try:
        depths = tuple(sorted({int(part) for part in plies.split(",")}))
    except ValueError:
        raise ConfigError(
            f"plies of a ladder are numbers with commas between, such as 0,1,2, got {plies[:40]!r}"
        ) from None
    if not 0.0 < share <= MAX_SHARE:
        raise ConfigError(f"the share of games must be above 0 and at most {MAX_SHARE}, got {share}")
    pairs = tuple(max(1, round(share * count)) for count in LadderConfig().pairs)
    return LadderConfig(plies=depths, pairs=pairs)
