"""Everything that reads what strangers wrote, as functions of bytes, with valid inputs to mutate: for `fuzz_inputs`.

A parser raises `NardyError` for input it refuses, and nothing else; over HTTP an answer below status 500 is right.
Programs, modules and hosts that a mutated text names are never started, imported or called.
"""

from __future__ import annotations

import contextlib
import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unittest import mock

import numpy as np
import safetensors.numpy

from agent import bearoff, outside, protocols, results_file
from agent.analysis import AnalysisConfig, analyze
from agent.cli import main as command
from agent.convert import convert
from agent.fibs import format_fibs, parse_fibs
from agent.game_files import read_games
from agent.levels import Level, as_level, parse_filters
from agent.matfile import match_text, parse_match
from agent.net import load_net, save_net
from agent.played import match_of_records
from agent.players import make_player
from agent.protocols import GnubgPlayer, JsonLinesPlayer, UbgiPlayer
from agent.rating import rate
from agent.referee_set import load_referee
from agent.results_file import Entry, MatchKey, read_matches
from agent.ubgi_server import UbgiEngine
from asgi_call import Web, http_seeds
from engine.dice import SeededDice, as_dice, as_dice_batch
from engine.dice_proof import verify_dice
from engine.errors import NardyError, PlayerError
from engine.legality import why_illegal
from engine.notation import parse_moves, parse_play
from engine.position_ids import format_xgid, gnubg_id, parse_position, xgid_of
from engine.records import Header, parse_record
from engine.rules import RULES, get_rules
from engine.table import Table
from fake_judge import FakeJudge
from mutation import ANY_JSON, ANY_LINES, ANY_TENSORS, ANY_TEXT, Mutation, of_bytes
from played_games import DOUBLED, RESIGNED_GAMMON, played_match
from random_positions import random_play
from record_play import play_out, ticking
from small_net import small_net

DATA = Path(__file__).parent / "data"
SHORT, LONG = RULES["short_backgammon"], RULES["long_classic"]
BOTH = (SHORT, LONG)


@dataclass(frozen=True, kw_only=True)
class Parser:
    """One way in.

    Attributes:
        read: takes the bytes; raises NardyError where it refuses them.
        seeds: valid inputs.
        mutations: how they are changed.
    """

    name: str
    read: Callable[[bytes], object]
    seeds: Sequence[bytes]
    mutations: Sequence[Mutation]


def texts(*items: str) -> list[bytes]:
    return [item.encode() for item in items]


def text_of(data: bytes) -> str:
    """Bytes as the text that a command line or a stream would make of them."""
    return data.decode("utf-8", "surrogateescape")


def some_boards(count: int) -> list[tuple[Any, Any, Any]]:
    """Boards met in play, with dice and rules."""
    found = []
    for rules in BOTH:
        boards, dice = random_play(rules, 400, np.random.default_rng(7))
        found += [(boards[i], tuple(map(int, dice[i])), rules) for i in range(0, 400, 400 // count)]
    return found


def position_parsers(folder: Path) -> list[Parser]:
    """Positions, dice, rules and levels as text."""
    boards = some_boards(12)
    rows = [json.dumps(board.tolist()).encode() for board, _, _ in boards]
    ids = [gnubg_id(board).encode() for board, _, _ in boards]
    xgids = [format_xgid(xgid_of(board, dice)).encode() for board, dice, rules in boards if rules.can_hit]
    drawn = [form.text.encode() for board, _, rules in boards[::6] for form in _forms(board, rules)]
    rules_seeds = [
        *RULES,
        "long_classic(block_check=turn)",
        "short(scoring=1/2/3/4)",
        "long(koks_zone=home_or_behind, koks_needs_none_off=False,last_turn=second_player)",
        "backgammon(opening_roll=kept,scoring=win_only)",
    ]
    return [
        Parser(name="position", read=_read_position, seeds=[*ids, *xgids, *rows, *drawn], mutations=ANY_JSON),
        Parser(name="dice", read=_read_dice, seeds=texts("64", "6:4", "[6,4]", "[[6,4],[1,2]]"), mutations=ANY_JSON),
        Parser(name="rules", read=lambda d: get_rules(text_of(d)), seeds=texts(*rules_seeds), mutations=ANY_TEXT),
        Parser(
            name="level",
            read=_read_level,
            seeds=texts("fast", "deep", "2ply", "gnubg:2ply", "xg:3ply", "8:0.16,4:0.08", "10:.25,5:.12,3"),
            mutations=ANY_TEXT,
        ),
    ]


def _read_position(data: bytes) -> None:
    text = text_of(data)
    for rules in BOTH:
        with contextlib.suppress(NardyError):
            parse_position(text, rules)
    with contextlib.suppress(NardyError):
        parse_position(_json_or_none(text), LONG)
    convert(text, BOTH[len(data) % 2])


def _read_dice(data: bytes) -> None:
    text = text_of(data)
    value = _json_or_none(text)
    for read in (as_dice, lambda given: as_dice_batch(given, 2)):
        with contextlib.suppress(NardyError):
            read(value)
    as_dice(text)


def _read_level(data: bytes) -> None:
    text = text_of(data)
    with contextlib.suppress(NardyError):
        parse_filters(text)
    as_level(text)


def _json_or_none(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _forms(board: Any, rules: Any) -> list[Any]:
    forms = convert(json.dumps(board.tolist()), rules).forms
    return [form for form in forms if form.name in ("counts", "board")]


def play_parsers(folder: Path) -> list[Parser]:
    """Plays as text, answers of programs, and lines for our own engine."""
    boards = some_boards(6)
    plays = texts("24/18 13/9*", "bar/20", "6/off", "8/5(2)", "24/18/13*", "13-7, 6-4", "pass", "25/22 6/0", "24/14")
    answers = [json.dumps({"afterstate": board.tolist()}).encode() for board, _, _ in boards]
    answers += texts('{"play": "24/18 13/9"}', "24/18 18/13", "24/18,13/9", "8/5 6/5", "bar/20 off/0")
    lines = [format_fibs(board, dice).encode() for board, dice, rules in boards if rules.can_hit]
    lines += [format_xgid(xgid_of(board, dice)).encode() for board, dice, rules in boards if rules.can_hit]
    engine = UbgiEngine(FakeJudge(SHORT), Level())
    asked = [
        kind(name="p", rules=rules, open_channel=_refuse)
        for kind, rules in (
            (JsonLinesPlayer, SHORT),
            (JsonLinesPlayer, LONG),
            (UbgiPlayer, SHORT),
            (GnubgPlayer, SHORT),
        )
    ]

    def play(data: bytes) -> None:
        text = text_of(data)
        board, dice, rules = boards[len(data) % len(boards)]
        with contextlib.suppress(NardyError):
            why_illegal(board, dice, parse_moves(text), rules)
        parse_play(text, board, dice, rules, are_stars_complete=bool(len(data) % 2))

    def answer(data: bytes) -> None:
        player = asked[sum(data[:40]) % len(asked)]
        board, dice, _ = next(row for row in boards if row[2] is player.rules)
        player.play_of(data.decode(errors="replace"), board, dice)

    def line(data: bytes) -> None:
        text = data.decode(errors="replace")
        engine.answer(text)
        parse_fibs(text, SHORT)

    return [
        Parser(name="play", read=play, seeds=plays, mutations=ANY_TEXT),
        Parser(name="answer", read=answer, seeds=answers, mutations=ANY_JSON),
        Parser(name="line", read=line, seeds=texts("ubgi", "quit") + lines, mutations=ANY_TEXT),
    ]


def _refuse(*arguments: object) -> Any:
    raise PlayerError("nothing outside is started while fuzzing")


def player_parsers(folder: Path) -> list[Parser]:
    """Players as text, and commands, of which none may write a file or start anything."""
    small = folder / "small.safetensors"
    save_net(small_net("short_backgammon"), small)
    seeds = texts(
        *("random", "pips", "heuristic", "net", "net@1ply", f"net:{small}@2ply", f"rollout:trials=36,net={small}"),
        *("pubeval", "py:points:choose", "cmd@2s:program --x", "ubgi:program", "gnubg:localhost:1"),
    )

    def read(data: bytes) -> None:
        with (
            mock.patch.object(protocols, "ProgramChannel", _refuse),
            mock.patch.object(protocols, "SocketChannel", _refuse),
            mock.patch.object(outside, "_load_module", _refuse),
        ):
            make_player(text_of(data), BOTH[len(data) % 2])

    return [Parser(name="player", read=read, seeds=seeds, mutations=ANY_TEXT), command_parser()]


def command_parser() -> Parser:
    """Command lines of the commands that only print: options one a line."""
    lines = (
        ("suggest", "--rules", "short", "--dice", "64", "--top", "3", "--json"),
        ("suggest", "-r", "long", "-p", "start", "-d", "31", "--filter", "8:0.1", "--scoring", "1/2/3"),
        ("board", "--rules", "short", "--position", "4HPwATDgc/ABMA"),
        ("why", "24/18 13/9", "--rules", "short", "--dice", "64", "--lang", "ru"),
        ("convert", "start", "--rules", "long_common"),
        ("info",),
    )
    allowed = {line[0] for line in lines}

    def read(data: bytes) -> None:
        words = text_of(data).split("\n")
        is_written = any(word.startswith(("--s", "--pl", "--le", "--to")) for word in words)  # --svg, or slow by right
        if words[0] not in allowed or (is_written and words not in [list(line) for line in lines]):
            return
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            assert command(words) in (0, 2)

    return Parser(name="command", read=read, seeds=["\n".join(line).encode() for line in lines], mutations=ANY_LINES)


def file_parsers(folder: Path) -> list[Parser]:
    """Match files, records, results, referee files, nets and bear-off tables."""
    mats = [RESIGNED_GAMMON.encode(), DOUBLED.encode(), (DATA / "gammonview.mat").read_bytes()[:1500]]
    long_mats = [match_text(played_match("long_classic", seed=seed)).encode()[:900] for seed in (1, 2)]
    records = [_record(folder, rules) for rules in ("short", "long_fnr2026")]
    place = folder / "input"

    def analysis(data: bytes) -> None:
        place.write_bytes(data)
        match = read_games([place])
        analyze(match, FakeJudge(match.rules), AnalysisConfig(level=Level()), threads=1)

    def of_file(read: Callable[[Path], object]) -> Callable[[bytes], object]:
        def written(data: bytes) -> object:
            place.write_bytes(data)
            return read(place)

        return written

    referee = (DATA / "referee_small.npz").read_bytes()
    return [
        Parser(name="mat", read=parse_match, seeds=mats, mutations=ANY_LINES),
        Parser(name="long mat", read=parse_match, seeds=long_mats, mutations=ANY_LINES),
        Parser(name="record", read=_read_record, seeds=records, mutations=ANY_LINES),
        Parser(name="analysis", read=analysis, seeds=[*mats, *long_mats, *records], mutations=ANY_LINES),
        Parser(
            name="results",
            read=of_file(lambda path: rate(read_matches(path))),
            seeds=[_results(folder)],
            mutations=ANY_LINES,
        ),
        Parser(
            name="referee",
            read=of_file(load_referee),
            seeds=[referee, _stored(referee)],
            mutations=[of_bytes],
        ),
        Parser(name="net", read=of_file(load_net), seeds=_nets(folder), mutations=ANY_TENSORS),
        Parser(name="bear-off", read=of_file(bearoff._read_or_none), seeds=[_tables()], mutations=ANY_TENSORS),
    ]


def _read_record(data: bytes) -> None:
    found = parse_record(data)
    found.replay()
    match_of_records([found])
    verify_dice(found)


def _record(folder: Path, rules: str) -> bytes:
    path = folder / f"{rules}.jsonl"
    path.unlink(missing_ok=True)
    table = Table.create(Header(rules=rules, players=("Анна", "Boris")), SeededDice(3), path, ticking())
    play_out(table, turns=5)
    return path.read_bytes()


def _results(folder: Path) -> bytes:
    """Chunks without their checksum, as older versions wrote them: so that what is inside is read."""
    from agent.lockstep import play_chunk

    players = [make_player(text, "short") for text in ("pips", "random")]
    lines = []
    for first in (0, 2):
        chunk = play_chunk(*players, 5, first, 2)
        key = MatchKey(a="pips", b="random", rules="short", seed=5, luck=None, nets=("", ""))
        lines.append(json.dumps(results_file._line(Entry(key=key, chunk=chunk, elapsed_s=0.5, info={}))))
    return "\n".join([*lines, ""]).encode()


def _stored(referee: bytes) -> bytes:
    """The same arrays without compression, so that changed bytes reach them."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(referee)) as old, zipfile.ZipFile(packed, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name)[:2000])
    return packed.getvalue()


def _nets(folder: Path) -> list[bytes]:
    found = []
    for rules in ("short", "long_classic"):
        save_net(small_net(rules, width=1), folder / "net")
        found.append(without_checksum((folder / "net").read_bytes()))
    return found


def without_checksum(data: bytes) -> bytes:
    """A net or checkpoint as older versions wrote it: so that what is inside is read."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header["__metadata__"].pop("checksum", None)
    content = json.dumps(header).encode()
    return len(content).to_bytes(8, "little") + content + data[8 + size :]


def _tables() -> bytes:
    """A file of the right sizes whose checksum is right too."""
    tables: dict[str, Any] = {name: np.zeros(shape, dtype=np.float32) for name, shape in bearoff._SHAPES.items()}
    tables["version"] = np.array([bearoff.VERSION], dtype=np.int32)
    tables["sha256"] = bearoff._digest(tables)
    return safetensors.numpy.save(tables)


def training_parsers(folder: Path) -> list[Parser]:
    """Training configs and checkpoints; these load torch."""
    import torch

    from training.checkpoint import CHECKPOINT_FILE, TENSORS, Checkpoint, load_checkpoint, save_checkpoint
    from training.config import config_from_json, config_json, preset_config

    configs = [preset_config(name, get_rules(rules)) for name in ("smoke", "strong") for rules in ("short", "long")]
    tensors = {name: torch.zeros(3) for name in TENSORS}
    saved = Checkpoint(config=configs[0], tensors=tensors, rounds=1, games=2, steps=3, seconds=0.5)
    save_checkpoint(saved, folder)
    path = folder / CHECKPOINT_FILE
    seed = without_checksum(path.read_bytes())

    def checkpoint(data: bytes) -> None:
        path.write_bytes(data)
        load_checkpoint(folder)

    def config(data: bytes) -> None:
        config_from_json(text_of(data))

    seeds = [config_json(one).encode() for one in configs]
    return [
        Parser(name="config", read=config, seeds=seeds, mutations=ANY_JSON),
        Parser(name="checkpoint", read=checkpoint, seeds=[seed], mutations=ANY_TENSORS),
    ]


def web_parsers(folder: Path) -> list[Parser]:
    """Every endpoint of the server: bodies, queries and paths, in process."""
    web = Web(folder)
    return [Parser(name="http", read=web.read, seeds=http_seeds(web), mutations=ANY_LINES)]


# Inputs per thousand of a run: more for what is read quickly.
SHARES: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("position", "dice", "rules"), 135),
        **dict.fromkeys(("level", "play", "answer", "line"), 90),
        **dict.fromkeys(("net", "record", "http", "config"), 30),
        **dict.fromkeys(("player", "mat", "long mat", "results"), 20),
        **dict.fromkeys(("referee", "checkpoint"), 12),
        **dict.fromkeys(("analysis", "command", "bear-off"), 3),
    }
)
_GROUPS: Mapping[Callable[[Path], list[Parser]], tuple[str, ...]] = MappingProxyType(
    {
        position_parsers: ("position", "dice", "rules", "level"),
        play_parsers: ("play", "answer", "line"),
        player_parsers: ("player", "command"),
        file_parsers: ("mat", "long mat", "record", "analysis", "results", "referee", "net", "bear-off"),
        web_parsers: ("http",),
        training_parsers: ("config", "checkpoint"),  # these load torch
    }
)


def parsers_with(name: str, folder: Path) -> dict[str, Parser]:
    """A parser by its name, with those that are made together with it.

    Args:
        name: a key of `SHARES`.
        folder: a folder for files to be read.
    """
    build = next(build for build, names in _GROUPS.items() if name in names)
    return {parser.name: parser for parser in build(folder)}
