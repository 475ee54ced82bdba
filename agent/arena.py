"""Paired matches and tournaments: each dice sequence is played twice with seats swapped.

Work is split into fixed chunks of pairs; chunk and seed fix every die and every random choice, so results depend on
neither the number of workers nor on interruptions.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from agent.arena_progress import ProgressBar
from agent.lockstep import Chunk, play_chunk
from agent.match_result import MatchResult, joined
from agent.players import Player, make_player
from agent.ranking import Judge
from agent.rating import Ratings, rate
from agent.results_file import Entry, MatchKey, ResultsFile, read_matches
from agent.workers import worker_processes
from engine.errors import ConfigError
from engine.rules import Rules, get_rules
from engine.threads import MAX_THREADS, default_threads

MAX_PAIRS = 5_000_000
MAX_SEED = 2**64 - 1

PlayerLike = str | Player
Progress = Callable[[int], object]


@dataclass(frozen=True, kw_only=True)
class MatchConfig:
    """How a match is played, beside its players and rules."""

    pairs: int = field(default=500, metadata={"help": "Dice sequences, each played twice with seats swapped."})
    seed: int = field(default=1, metadata={"help": "Seed of all dice and random choices."})
    luck: str | None = field(
        default=None, metadata={"help": "Net whose 0-ply luck is taken off the results: a path, or `net` (shipped)."}
    )
    workers: int | None = field(default=None, metadata={"help": "Chunks played side by side; none: all cores."})

    def __post_init__(self) -> None:
        if not 1 <= self.pairs <= MAX_PAIRS:
            raise ConfigError(f"pairs must lie between 1 and {MAX_PAIRS}, got {self.pairs}")
        if not 0 <= self.seed <= MAX_SEED:
            raise ConfigError(f"seed must lie between 0 and {MAX_SEED}, got {self.seed}")
        if self.workers is not None and not 1 <= self.workers <= MAX_THREADS:
            raise ConfigError(f"workers must lie between 1 and {MAX_THREADS}, got {self.workers}")


def pairs_of_games(games: int) -> int:
    """Pairs that make up a number of games.

    Raises:
        ConfigError: an odd number, or none.
    """
    if games < 2 or games % 2:
        raise ConfigError(
            f"games must be an even number from 2 on, since each dice sequence is played twice, got {games}"
        )
    return games // 2


def play_match(
    a: PlayerLike,
    b: PlayerLike,
    rules: str | Rules,
    pairs: int = 500,
    seed: int = 1,
    *,
    luck: str | Judge | None = None,
    workers: int | None = None,
    results: ResultsFile | None = None,
    progress: Progress | None = None,
    keep_plays: bool = False,
) -> MatchResult:
    """A match of paired games between two players.

    Args:
        a, b: players by text (`agent.players`), or objects with `name`, `rules` and `choose`.
        rules: the exact variant; players given as objects must be bound to it.
        pairs: dice sequences; twice as many games are played.
        seed: with the players and rules it fixes every game.
        luck: net (path, or `net` for the shipped one) or evaluator whose luck is taken off; None measures none.
        workers: chunks side by side; None: all cores for players that share memory safely, else one. With more,
            such players are made once in each process, which needs them given as text.
        results: file that finished chunks are taken from and added to.
        progress: called with the number of games finished after each chunk.
        keep_plays: whether the result also holds every roll and afterstate; a results file holds none.
    Raises:
        PlayerError, RulesError, NetError, ConfigError: bad input.
    """
    if keep_plays and results is not None:
        raise ConfigError("a results file keeps no plays, so its games cannot be exported: give one of the two")
    luck_name = luck if luck is None or isinstance(luck, str) else luck.net_name
    config = MatchConfig(pairs=pairs, seed=seed, luck=luck_name, workers=workers)
    bound = get_rules(rules)
    with _made(a, bound) as first, _made(b, bound) as second:
        match = _Match(first, second, (a, b), bound, config, _luck_judge(luck, bound), results, keep_plays)
        return match.play(progress or (lambda games: None))


@dataclass(frozen=True, kw_only=True)
class Fixture:
    """Two players that meet, and how often."""

    a: PlayerLike
    b: PlayerLike
    pairs: int
    luck: str | None = None


@dataclass(frozen=True, kw_only=True)
class Tournament:
    """All matches of a tournament with the ratings they give."""

    rules: Rules
    seed: int
    matches: tuple[MatchResult, ...]
    ratings: Ratings


def round_robin(players: Sequence[PlayerLike], pairs: int, luck: str | None = None) -> list[Fixture]:
    """Each player against each other one, in the order given.

    Raises:
        ConfigError: fewer than two players, or one given twice.
    """
    if len(players) < 2:
        raise ConfigError(f"an arena needs two players or more, got {len(players)}")
    names = [_text(player) for player in players]
    for name in names:
        if names.count(name) > 1 and len(players) > 2:
            raise ConfigError(f"player {name!r} is given {names.count(name)} times")
    return [Fixture(a=a, b=b, pairs=pairs, luck=luck) for i, a in enumerate(players) for b in players[i + 1 :]]


def run_tournament(
    fixtures: Sequence[Fixture],
    rules: str | Rules,
    seed: int = 1,
    *,
    workers: int | None = None,
    results: str | Path | None = None,
    show_progress: bool = False,
    anchor: str | None = None,
    keep_plays: bool = False,
) -> Tournament:
    """Play all fixtures and rate the players.

    Args:
        fixtures: such as `round_robin(["net", "heuristic", "random"], pairs=500)`.
        rules: the exact variant.
        seed: one seed for all matches: every match sees the same dice.
        workers: as for `play_match`.
        results: a JSON lines file; chunks it holds are not played again, new ones are added as they finish.
        show_progress: whether a bar with the time left goes to stderr.
        anchor: name of the player rated 0; None: the mean is 0.
        keep_plays: as for `play_match`.
    Raises:
        PlayerError, RulesError, NetError, ConfigError, RecordError: bad input.
    """
    bound = get_rules(rules)
    file = None if results is None else ResultsFile(results)
    entrants = _entrants(fixtures, bound)
    if anchor is not None:
        anchor = _anchor_name(anchor, entrants)
    matches = []
    costs = [2 * f.pairs * (entrants[_text(f.a)].cost + entrants[_text(f.b)].cost) for f in fixtures]
    with ProgressBar(costs, is_shown=show_progress) as bar:
        for fixture, cost in zip(fixtures, costs, strict=True):
            bar.begin(f"{_text(fixture.a)} : {_text(fixture.b)}", cost / (2 * fixture.pairs))
            matches.append(
                play_match(
                    fixture.a,
                    fixture.b,
                    bound,
                    fixture.pairs,
                    seed,
                    luck=fixture.luck,
                    workers=workers,
                    results=file,
                    progress=bar.advance,
                    keep_plays=keep_plays,
                )
            )
    return Tournament(rules=bound, seed=seed, matches=tuple(matches), ratings=rate(matches, anchor=anchor))


class _Entrant(NamedTuple):
    """What is known of a player before a tournament: its name, and what its games cost beside the net alone."""

    name: str
    cost: float


def _entrants(fixtures: Sequence[Fixture], rules: Rules) -> dict[str, _Entrant]:
    """Every player by text, each made once, so that a wrong one is found before the first game.

    Raises:
        ConfigError: more than two players, and two texts mean the same one.
    """
    found: dict[str, _Entrant] = {}
    for given in (player for fixture in fixtures for player in (fixture.a, fixture.b)):
        if _text(given) not in found:
            with _made(given, rules) as player:
                found[_text(given)] = _Entrant(player.name, float(getattr(player, "cost", 1.0)))
    for luck in {fixture.luck for fixture in fixtures}:
        _luck_judge(luck, rules)
    texts: dict[str, str] = {}
    for text, entrant in found.items():
        if entrant.name in texts and len(found) > 2:
            raise ConfigError(f"{texts[entrant.name]!r} and {text!r} are one player, {entrant.name}; give it once")
        texts[entrant.name] = text
    return found


def _anchor_name(anchor: str, entrants: Mapping[str, _Entrant]) -> str:
    names = [entrant.name for entrant in entrants.values()]
    name = entrants[anchor].name if anchor in entrants else anchor
    if name not in names:
        raise ConfigError(f"the anchor {anchor!r} is not among the players: {', '.join(names)}")
    return name


def _text(player: PlayerLike) -> str:
    return player if isinstance(player, str) else player.name


def stored_tournament(path: str | Path, rules: str | Rules | None = None, *, anchor: str | None = None) -> Tournament:
    """The matches of a results file, with the ratings they give.

    Args:
        path: a results file.
        rules: only matches of these rules; None: the file has matches of one variant only.
        anchor: name of the player rated 0; None: the mean is 0.
    Raises:
        RecordError: the file is missing or holds something else.
        ConfigError: no match of these rules, or matches of several variants and none is named.
    """
    matches = read_matches(path)
    found = list(dict.fromkeys(str(match.rules) for match in matches))
    if rules is None and len(found) > 1:
        raise ConfigError(f"{path} has matches of {', '.join(found)}; name the rules to rate")
    wanted = str(get_rules(rules)) if rules is not None else "".join(found)
    chosen = [match for match in matches if str(match.rules) == wanted]
    if not chosen:
        raise ConfigError(f"{path} has no match of {wanted or 'any rules'}; it has {', '.join(found) or 'none'}")
    return Tournament(
        rules=chosen[0].rules, seed=chosen[0].seed, matches=tuple(chosen), ratings=rate(chosen, anchor=anchor)
    )


@dataclass
class _Match:
    a: Player
    b: Player
    given: tuple[PlayerLike, PlayerLike]
    rules: Rules
    config: MatchConfig
    judge: Judge | None
    results: ResultsFile | None
    keep_plays: bool

    def play(self, progress: Progress) -> MatchResult:
        spans = list(_spans(self.config.pairs, min(_chunk_pairs(self.a), _chunk_pairs(self.b))))
        key = self._key()
        info = {"a": _info(self.a), "b": _info(self.b), "versions": versions()}
        stored = [self.results.find(key, *span) if self.results else None for span in spans]
        chunks = [entry.chunk for entry in stored if entry]
        elapsed_s = sum(entry.elapsed_s for entry in stored if entry)
        progress(2 * sum(len(chunk.points) for chunk in chunks))
        missing = [span for span, entry in zip(spans, stored, strict=True) if entry is None]
        with closing(self._finished(missing)) as finished:
            for chunk, seconds in finished:
                chunks.append(chunk)
                elapsed_s += seconds
                if self.results is not None:
                    self.results.add(Entry(key=key, chunk=chunk, elapsed_s=seconds, info=info))
                progress(2 * len(chunk.points))
        return joined(key.a, key.b, self.rules, self.config.seed, chunks, elapsed_s=elapsed_s, info=info)

    def _key(self) -> MatchKey:
        return MatchKey(
            a=self.a.name,
            b=self.b.name,
            rules=str(self.rules),
            seed=self.config.seed,
            luck=self.config.luck,
            nets=(_fingerprint(self.a), _fingerprint(self.b)),
        )

    def _finished(self, spans: Sequence[tuple[int, int]]) -> Generator[tuple[Chunk, float], None, None]:
        """Chunks as they finish, each with the seconds it took."""
        is_shared = all(getattr(player, "is_thread_safe", False) for player in (self.a, self.b))
        workers = min(self.config.workers or (default_threads() if is_shared else 1), len(spans))
        by_text = all(isinstance(player, str) for player in self.given)
        if workers < 2 or not (is_shared or by_text):
            for span in spans:
                yield _timed_chunk(self.a, self.b, self.config.seed, span, self.judge, self.keep_plays)
            return
        with self._employed(workers, is_shared=is_shared) as begin:
            for task in as_completed([begin(span) for span in spans]):
                yield task.result()

    @contextmanager
    def _employed(
        self, workers: int, *, is_shared: bool
    ) -> Iterator[Callable[[tuple[int, int]], Future[tuple[Chunk, float]]]]:
        """What begins a chunk beside others: on a thread where players share memory safely, else in a process."""
        seed, keep = self.config.seed, self.keep_plays
        if not is_shared:
            text = (str(self.given[0]), str(self.given[1]), str(self.rules), self.config.luck)
            with worker_processes(workers) as submit:
                yield lambda span: submit(_chunk_by_text, text, seed, span, keep)
            return
        pool = ThreadPoolExecutor(workers)
        try:
            yield lambda span: pool.submit(_timed_chunk, self.a, self.b, seed, span, self.judge, keep)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _timed_chunk(
    a: Player, b: Player, seed: int, span: tuple[int, int], judge: Judge | None, keep_plays: bool
) -> tuple[Chunk, float]:
    start = time.perf_counter()
    chunk = play_chunk(a, b, seed, *span, judge=judge, keep_plays=keep_plays)
    return chunk, time.perf_counter() - start


@cache
def _players_by_text(a: str, b: str, rules: str, luck: str | None) -> tuple[Player, Player, Judge | None]:
    bound = get_rules(rules)
    return make_player(a, bound), make_player(b, bound), _luck_judge(luck, bound)


def _chunk_by_text(
    text: tuple[str, str, str, str | None], seed: int, span: tuple[int, int], keep_plays: bool
) -> tuple[Chunk, float]:
    a, b, judge = _players_by_text(*text)
    return _timed_chunk(a, b, seed, span, judge, keep_plays)


def _luck_judge(luck: str | Judge | None, rules: Rules) -> Judge | None:
    if luck is None or not isinstance(luck, str):
        return luck
    from agent.evaluator import load_evaluator

    return load_evaluator(rules, None if luck == "net" else luck)


@contextmanager
def _made(given: PlayerLike, rules: Rules) -> Iterator[Player]:
    """A player, ended afterwards if it was made here. Raises ConfigError for one bound to other rules."""
    player = make_player(given, rules) if isinstance(given, str) else given
    try:
        if player.rules != rules:
            raise ConfigError(f"player {player.name} is bound to {player.rules}, the match is {rules}")
        yield player
    finally:
        if isinstance(given, str) and hasattr(player, "close"):
            player.close()


def _spans(pairs: int, size: int) -> Iterator[tuple[int, int]]:
    for first in range(0, pairs, size):
        yield first, min(size, pairs - first)


def _chunk_pairs(player: Player) -> int:
    return int(getattr(player, "pairs_per_chunk", 64))


def _info(player: Player) -> dict[str, Any]:
    return {"name": player.name, **getattr(player, "info", {})}


def _fingerprint(player: Player) -> str:
    info = getattr(player, "info", {})
    return str(info.get("sha256") or info.get("net") or info.get("version") or getattr(player, "fingerprint", ""))


def versions() -> dict[str, str]:
    """Versions that a result should name: this package, Python, numpy and numba."""
    found = {"python": platform.python_version()}
    for name in ("nardy", "numpy", "numba"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # run from a checkout that is not installed
            found[name] = "not installed"
    return found
