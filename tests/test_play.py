"""`nardy play` in a real pseudo-terminal, and the commands `play`, `replay` and `dice` in process."""

from __future__ import annotations

import json
import re
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest
import typer

from agent import play_cli
from agent.cli_run import run
from agent.players import make_player
from agent.terminal_match import PlayOptions, default_folder, distinct
from engine.dice import SeededDice
from engine.dice_proof import verify_dice
from engine.errors import ConfigError, PlayerError
from engine.events import State
from engine.records import Header, read_record
from engine.rules import get_rules
from engine.table import Table, secret_path

ROOT = Path(__file__).parent.parent
MAIN = (
    "import sys, typer; from agent import play_cli; from agent.cli_run import run; "
    "app = typer.Typer(); play_cli.mount(app)"
)
ANSI = re.compile(r"\x1b\[[0-9;]*m")


class Pty:
    """`nardy` in a pseudo-terminal of 80 columns."""

    def __init__(self, *arguments: str, term: str = "xterm") -> None:
        code = f"{MAIN}; sys.exit(run(app, 'nardy', {list(arguments)!r}))"
        env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "TERM": term, "LANG": "C.UTF-8", "PYTHONUTF8": "1"}
        self.child = pexpect.spawn(
            sys.executable, ["-c", code], cwd=str(ROOT), env=env, dimensions=(40, 80), encoding="utf-8", timeout=60
        )
        self.seen = ""

    def expect(self, pattern: str) -> str:
        """Wait for a pattern; what was written up to its end."""
        self.child.expect(pattern)
        text = self.child.before + self.child.after
        self.seen += text
        return text

    def type(self, line: str, pattern: str) -> str:
        """Type a line and wait for a pattern."""
        self.child.sendline(line)
        return self.expect(pattern)

    def end(self) -> int:
        """Wait for the end; the exit code."""
        self.child.expect(pexpect.EOF)
        self.seen += self.child.before
        self.child.close()
        return self.child.exitstatus if self.child.exitstatus is not None else -1


@pytest.fixture
def ptys() -> Iterator[list[Pty]]:
    started: list[Pty] = []
    yield started
    for pty in started:
        pty.child.close(force=True)


def test_the_seeds_example_in_a_pseudo_terminal(tmp_path: Path, ptys: list[Pty]) -> None:
    """White leaves 6:6 incomplete, black demands, white corrects it; typed dice, claims mode, two people."""
    path = tmp_path / "game.jsonl"
    pty = Pty("play", "you:Anna", "you:Boris", "--enforce", "claims", "--dice", "typed", "--record", str(path))
    ptys.append(pty)
    pty.expect("Dice of the toss")
    pty.type("33", "thrown again")
    pty.type("6 2", "Anna begins")
    pty.expect("your dice > ")
    pty.type("99", "two numbers from 1 to 6")
    pty.type("66", "Anna 6-6 > ")
    pty.type("24/18", "left: 6 6 6")
    pty.type("24/12", "Not possible: point 12 is held by the opponent")
    pty.type("", "Boris, the turn is wrong: accept or demand > ")
    assert "4 times" in pty.seen or "2 times" in pty.seen, "the reason is shown"
    pty.type("demand", "Boris demands a correct turn: Anna plays 6-6 again")
    pty.expect("Anna 6-6 > ")
    pty.type("place 24/18", "placed by hand only in claims mode")
    pty.type("24/18(2)", "left: nothing")
    pty.type("done", "Anna plays 6-6: 24/18")
    pty.expect("Boris: your dice > ")
    pty.type("53", "Boris 5-3 > ")
    pty.type("place 24/20", "Boris 5-3 > ")
    pty.type("done", "Anna, the turn is wrong: accept or demand > ")
    assert "placed by hand" in pty.seen
    pty.type("accept", "Anna accepts the turn")
    pty.expect("Anna: your dice > ")
    pty.type("resign koks", r"Boris: accept or decline > ")
    pty.type("no", "Boris declines")
    pty.expect("Anna: your dice > ")
    pty.type("41", "Anna 4-1 > ")
    pty.type("resign", r"accept or decline > ")
    pty.type("yes", "Boris wins by oyn: 1 point")
    assert pty.end() == 0
    lines = [line for line in ANSI.sub("", pty.seen).splitlines() if str(tmp_path) not in line]
    assert max(len(line) for line in lines) <= 80
    assert ANSI.search(pty.seen), "a terminal gets a coloured board"
    session = read_record(path).replay()
    assert session.state is State.OVER and session.result is not None and session.result.winner == 1
    names = [event["event"] for event in session.log]
    assert names.count("demand") == names.count("accept") == names.count("decline") == 1


def test_a_claims_game_against_a_bot_with_verifiable_dice(tmp_path: Path, ptys: list[Pty], is_long: bool) -> None:
    """A person who plays the first legal turn, sometimes a wrong one first; the whole game with --long."""
    path = tmp_path / "game.jsonl"
    pty = Pty("play", "you:Anna", "random", "--enforce", "claims", "--dice", "verifiable", "--record", str(path))
    ptys.append(pty)
    pty.expect("word of your own")
    pty.type("my own word", "random adds to the dice")
    wrong, turns = 0, 0
    while pty.child.expect(["throws the dice > ", r"Anna \d-\d > ", "wins by"]) != 2:
        session = read_record(path).replay()
        if session.state is State.TO_ROLL:
            pty.child.sendline("resign mars" if turns >= 4 and not is_long else "")
            continue
        assert session.turn is not None
        turns += 1
        if turns % 3 == 1 and not session.is_strict:
            wrong += 1
            pty.type("done", "random demands a correct turn")
            pty.expect(r"Anna \d-\d > ")
        for step in session.turn.route(session.turn.legal[0]):
            pty.type(f"{step.start}/{step.end}".replace("25/", "bar/").replace("/0", "/off"), r"Anna \d-\d > ")
        pty.child.sendline("")
    assert pty.end() == 0 and wrong > 0
    record = read_record(path)
    assert record.replay().state is State.OVER
    assert verify_dice(record).kind == "verifiable"


def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path: Path, ptys: list[Pty]) -> None:
    path = tmp_path / "my game.jsonl"
    pty = Pty("play", "you", "random", "--rules", "short", "--seed", "2", "--record", str(path), "--no-color")
    ptys.append(pty)
    pty.expect("throws the dice > ")
    pty.type("", r"\d-\d > ")
    time.sleep(0.5)  # Python itself misses a signal between writing a prompt and waiting for the answer
    pty.child.kill(signal.SIGINT)
    pty.expect("Go on with:\r\n" + re.escape(f"nardy play --resume '{path}'"))
    assert pty.end() == 130
    assert not ANSI.search(pty.seen)
    before = read_record(path).replay().to_dict()
    again = Pty("play", "--resume", str(path), "--lang", "ru", term="dumb")
    ptys.append(again)
    again.expect("Продолжаем")
    again.expect(r"Игрок \d-\d > ")
    assert read_record(path).replay().to_dict() == before
    again.type("выход", "Продолжить:\r\nnardy play --resume")
    assert again.end() == 0
    assert not ANSI.search(again.seen), "a dumb terminal gets no colours"


# In process


def command(*arguments: str) -> int:
    app = typer.Typer(pretty_exceptions_enable=False)
    play_cli.mount(app)
    return run(app, "nardy", arguments)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path


def test_a_match_writes_one_record_a_game_and_ends_at_its_length(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = home / "m.jsonl"
    options = ["--rules", "short", "--match", "2", "--seed", "5", "--record", str(path), "--next-first", "winner"]
    assert command("play", "pips", "pips", *options) == 0
    out = capsys.readouterr().out
    assert "wins the match" in out
    files = sorted(home.glob("m*.jsonl"))
    records = [read_record(file) for file in files]
    points = [0.0, 0.0]
    for record in sorted(records, key=lambda r: r.header.match["game_number"]):  # type: ignore[index]
        assert record.header.match is not None and record.header.match["score"] == points
        verify_dice(record)
        result = record.replay().result
        assert result is not None and result.winner is not None
        points[result.winner] += result.points
    assert max(points) >= 2 and len(records) > 1


def test_a_record_gets_a_name_of_its_own_when_none_is_given(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("play", "pips", "pips", "--rules", "short", "--seed", "1") == 0
    assert default_folder() == home / "data" / "nardy" / "games"
    (file,) = default_folder().glob("*-short.jsonl")
    assert str(file).replace("\n", "") in capsys.readouterr().out.replace("\n", "")
    assert read_record(file).replay().state is State.OVER


def test_the_same_seed_plays_the_same_game(home: Path) -> None:
    logs = []
    for name in ("a", "b"):
        options = ["--rules", "short", "--seed", "9", "--record", str(home / name)]
        assert command("play", "pips", "pips", *options) == 0
        logs.append(read_record(home / name).replay().log)
    assert logs[0] == logs[1]


@pytest.fixture(scope="module")
def bots_game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The record of a finished game of two bots with verifiable dice."""
    path = tmp_path_factory.mktemp("games") / "game"
    command("play", "pips", "pips", "--rules", "short_backgammon", "--dice", "verifiable", "--record", str(path))
    return path


@pytest.fixture
def path(bots_game: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A copy of that record, to spoil."""
    capsys.readouterr()
    return Path(shutil.copy(bots_game, tmp_path / "game"))


def test_replay_shows_every_event_and_the_result(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("replay", str(path)) == 0
    out = capsys.readouterr().out
    record = read_record(path)
    for number, event in enumerate(record.events, 1):
        assert f"\n{number}. " in out and event["event"] in out
    assert "wins by" in out and "End of the record" in out
    assert max(map(len, out.splitlines())) <= 80


def test_verify_accepts_a_game_and_names_the_first_wrong_roll(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("dice", "verify", str(path)) == 0
    assert "all hold" in capsys.readouterr().out
    assert command("dice", "verify", str(path), "--json") == 0
    assert '"kind": "verifiable"' in capsys.readouterr().out
    lines = path.read_bytes().splitlines(keepends=True)
    place = [i for i, line in enumerate(lines) if b'"roll"' in line][4]
    lines[place] = re.sub(rb'"dice":\[(\d)', lambda m: b'"dice":[%d' % (int(m[1]) % 6 + 1), lines[place])
    path.write_bytes(b"".join(lines))
    assert command("dice", "verify", str(path)) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and f"(line {place + 1}, roll) is wrong" in error


def test_a_torn_record_is_read_with_one_line_of_warning(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = path.read_bytes()
    last = whole.splitlines(keepends=True)[-1]
    secret_path(path).write_text(json.loads(last)["secret"])
    path.write_bytes(whole[:-7])
    for arguments, code in ((["replay"], 0), (["dice", "verify"], 2), (["dice", "stats", "--record"], 0)):
        assert command(*arguments, str(path)) == code
        assert capsys.readouterr().err.count("not completely written") == 1
    assert command("play", "--resume", str(path), "--lang", "ru") == 0
    assert "не до конца" in capsys.readouterr().err
    assert read_record(path).torn_bytes == 0 and path.read_bytes().startswith(whole[: -len(last)])
    assert command("dice", "verify", str(path)) == 0, "the secret that was torn off is written again"


def test_stats_count_the_generators_rolls_for_each_player(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("dice", "stats", "--rolls", "6000", "--seed", "1") == 0
    out = capsys.readouterr().out
    assert "player 1" in out and "player 2" in out and "chi-square" in out and "doubles" in out
    assert command("dice", "stats", "--rolls", "6000", "--json") == 0
    assert '"rolls": 3000' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["play", "--rules", "chess"], "unknown rules"),
        (["play", "you", "nobody"], "unknown player"),
        (["play", "you", "random", "--enforce", "lax"], "strict or claims"),
        (["play", "you", "random", "--dice", "loaded"], "seed, typed, verifiable"),
        (["play", "you", "random", "--lang", "fr"], "en or ru"),
        (["play", "you", "random", "--next-first", "loser"], "toss, winner, alternate"),
        (["play", "--resume", "/nonexistent"], "cannot be read"),
        (["replay", "/nonexistent"], "cannot be read"),
        (["dice", "verify", "/nonexistent"], "cannot be read"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    home: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(*arguments) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_options_are_checked_before_anything_is_written() -> None:
    with pytest.raises(ConfigError, match="seed must lie"):
        PlayOptions(rules=get_rules("short"), players=("you", "random"), seed=2**64)
    with pytest.raises(PlayerError):
        make_player("you", "short")
    assert distinct("a", "a") == ("a 1", "a 2") and distinct("a", "b") == ("a", "b")


def test_a_record_cannot_start_programs_unless_it_is_trusted(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, mark = home / "game", home / "mark"
    Table.create(Header(rules="short", players=(f"cmd:touch {mark}", "you"), first=0), SeededDice(1), path)
    assert command("play", "--resume", str(path)) == 2
    assert "--trust" in capsys.readouterr().err and not mark.exists()
