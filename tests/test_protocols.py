"""Players outside the process: JSON lines, UBGI and the GNUBG external protocol as client, programs that misbehave."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from agent.arena import play_match, round_robin, run_tournament
from agent.channels import NoAnswerError, ProgramChannel
from agent.fibs import parse_fibs
from agent.levels import Level
from agent.players import make_player
from agent.protocols import GnubgPlayer, JsonLinesPlayer, UbgiPlayer, ubgi_pairs
from agent.ubgi_server import UbgiEngine
from engine.errors import NardyError, PlayerError
from engine.movegen import legal_afterstates
from engine.notation import play_text
from engine.rules import RULES, get_rules
from fake_judge import FakeJudge
from random_positions import random_play

SHORT = RULES["short_backgammon"]
ROOT = Path(__file__).resolve().parent.parent

PREAMBLE = """
import json, os, sys, time
sys.path.insert(0, ROOT)
def lines():
    for line in sys.stdin:
        yield json.loads(line)
def say(answer):
    print(json.dumps(answer), flush=True)
"""
FIRST_LEGAL = """
from engine import get_rules, legal_afterstates
for ask in lines():
    plays = legal_afterstates(ask["board"], ask["dice"], get_rules(ask["rules"]))
    say({"afterstate": plays[0].tolist()})
"""
HANGS = "for ask in lines():\n    time.sleep(60)\n"
DIES = "for ask in lines():\n    sys.exit(3)\n"
PASSES = 'for ask in lines():\n    say({"afterstate": ask["board"]})\n'


@pytest.fixture
def program(tmp_path):
    """Writes a Python program and gives the command that runs it."""

    def write(body: str, name: str = "bot") -> str:
        path = tmp_path / f"{name}.py"
        path.write_text(PREAMBLE.replace("ROOT", repr(str(ROOT))) + textwrap.dedent(body))
        return f"'{sys.executable}' '{path}'"

    return write


@pytest.fixture
def player(program):
    """Makes cmd players of small programs and closes them after the test."""
    with contextlib.ExitStack() as stack:

        def make(body: str, rules=SHORT, limit: str = "@10s", name: str = "bot"):
            made = make_player(f"cmd{limit}:{program(body, name)}", rules)
            stack.callback(made.close)
            return made

        yield make


# cmd:


@pytest.mark.parametrize("preset", ["short", "long_classic"])
def test_a_program_plays_both_games_by_json_lines(player, preset, rng):
    rules = RULES[preset]
    boards, dice = random_play(rules, 20, rng)
    chosen = player(FIRST_LEGAL, rules).choose(boards, dice, rng)
    wanted = [legal_afterstates(b, d, rules)[0] for b, d in zip(boards, dice, strict=True)]
    assert (chosen == np.array(wanted)).all()


def test_a_program_may_answer_with_the_text_of_a_play(player, rng):
    bot = player('for ask in lines():\n    say({"play": "8/5 6/5"})\n')
    chosen = bot.choose(SHORT.start_board()[None], np.array([[3, 1]], dtype=np.int8), rng)
    assert chosen[0, 0, 5] == 2 and bot.name.startswith("cmd:")


@pytest.mark.parametrize(
    ("body", "kind", "detail"),
    [
        (DIES, "crash", "exit code 3"),
        (PASSES, "illegal", "it answered a pass, but the roll can be played"),
        ("for ask in lines():\n    print('hello', flush=True)\n", "illegal", "no JSON"),
        ("for ask in lines():\n    say([1, 2])\n", "illegal", "write {"),
        ('for ask in lines():\n    say({"afterstate": [[1], [2]]})\n', "illegal", "a board must have shape"),
        ('for ask in lines():\n    say({"afterstate": [[1] * 26, [99] * 26]})\n', "illegal", "a point holds 0 to 15"),
        ('for ask in lines():\n    say({"play": "24/1"})\n', "illegal", "is not a legal play of 3-1"),
        (
            "for ask in lines():\n    sys.stdout.write('x' * 200000 + chr(10)); sys.stdout.flush()\n",
            "crash",
            "longer than",
        ),
        ("sys.exit(0)\n", "crash", "ended"),
    ],
)
def test_a_bad_answer_is_a_fault_with_its_kind_and_reason(player, body, kind, detail, rng):
    _, faults = player(body).answers(SHORT.start_board()[None], np.array([[3, 1]], dtype=np.int8), rng)
    assert faults[0].kind == kind and detail in faults[0].detail
    assert len(faults[0].detail) <= 300


def test_a_program_that_hangs_is_stopped_after_its_limit_and_given_up(player, rng, monkeypatch):
    monkeypatch.setattr("agent.protocols.START_S", 0.0)
    bot = player(HANGS, limit="@0.3s")
    boards = np.repeat(SHORT.start_board()[None], 30, axis=0)
    dice = np.tile(np.array([3, 1], dtype=np.int8), (30, 1))
    start = time.monotonic()
    _, faults = bot.answers(boards, dice, rng)
    assert [faults[row].kind for row in range(4)] == ["timeout", "timeout", "timeout", "crash"]
    assert "no answer within 0.3 s" in faults[0].detail and "given up after 3 failures" in faults[29].detail
    assert time.monotonic() - start < 20


def test_a_program_that_talks_and_never_reads_holds_nobody_up(player, rng, monkeypatch):
    monkeypatch.setattr("agent.channels.SEND_S", 0.3)
    bot = player("while True:\n    print('y', flush=True)\n")
    boards = np.repeat(SHORT.start_board()[None], 600, axis=0)  # more than a pipe holds
    _, faults = bot.answers(boards, np.tile(np.array([3, 1], dtype=np.int8), (600, 1)), rng)
    late = [fault for fault in faults.values() if fault.kind == "timeout"]
    assert len(faults) == 600 and late and "it has not read what it was sent for 0.3 s" in late[0].detail


def test_a_program_that_crashes_now_and_then_is_started_anew(player, rng):
    bot = player("""
        from engine import get_rules, legal_afterstates
        for ask in lines():
            if ask["dice"] == [6, 6]:
                os._exit(1)
            say({"afterstate": legal_afterstates(ask["board"], ask["dice"], get_rules(ask["rules"]))[0].tolist()})
    """)
    boards = np.repeat(SHORT.start_board()[None], 3, axis=0)
    dice = np.array([[3, 1], [6, 6], [2, 1]], dtype=np.int8)
    _, faults = bot.answers(boards, dice, rng)
    assert set(faults) == {1} and faults[1].kind == "crash"


def test_a_program_gets_time_to_start_but_only_once_when_it_never_answers():
    limits: list[float] = []
    waiting: list[str] = []

    class Slow:
        def send(self, line):
            pass

        def receive(self, limit_s):
            limits.append(limit_s)
            if not waiting:
                raise NoAnswerError("timeout", "none")
            return waiting.pop(0)

        def close(self):
            pass

    player = JsonLinesPlayer(name="slow", rules=SHORT, open_channel=Slow, limit_s=2.0)
    boards, dice = SHORT.start_board()[None], np.array([[3, 1]], dtype=np.int8)
    said = [player.answers(boards, dice, None)[1][0].detail for _ in range(2)]
    assert limits == [32.0, 2.0]
    assert said == ["no answer within 2 s and the 30 s that a start may take", "none"]
    waiting += ['{"play": "8/5 6/5"}'] * 2
    assert not player.answers(boards, dice, None)[1] and not player.answers(boards, dice, None)[1]
    player.close()
    player.answers(boards, dice, None)  # started anew after it has answered: loading is allowed again
    assert limits[2:] == [2.0, 2.0, 32.0]


def test_nothing_that_a_program_started_is_left_behind(program, tmp_path):
    body = f"""
        import subprocess
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
        open({str(tmp_path / "pid")!r}, "w").write(str(child.pid))
        for ask in lines():
            pass
    """
    channel = ProgramChannel(program(body))
    path = tmp_path / "pid"
    deadline = time.monotonic() + 20
    while not (path.exists() and path.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    pid = int(path.read_text())
    channel.close()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and _is_running(pid):
        time.sleep(0.05)
    assert not _is_running(pid)


def _is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def test_a_tournament_with_players_that_hang_cheat_and_die_ends_with_a_full_table(program, monkeypatch):
    monkeypatch.setattr("agent.protocols.START_S", 0.0)
    bad = {
        kind: f"cmd@0.3s:{program(body, kind)}" for kind, body in (("hangs", HANGS), ("cheats", PASSES), ("dies", DIES))
    }
    result = run_tournament(round_robin(["pips", *bad.values()], pairs=3), "long_classic", seed=1, workers=1)
    assert len(result.matches) == 6 and len(result.ratings.players) == 4
    assert result.ratings.players[0].player == "pips"
    for match in result.matches[:3]:
        assert match.outcome_counts["forfeit_won"] == 6 and match.ppg == 2.0
    kinds = {fault.player: fault.kind for match in result.matches[:3] for fault in match.faults if fault.turn < 3}
    assert any("hangs" in name and kind in ("timeout", "crash") for name, kind in kinds.items())
    assert any("cheats" in name and kind == "illegal" for name, kind in kinds.items())
    assert any("dies" in name and kind == "crash" for name, kind in kinds.items())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cmd:/no/such/program", "cannot start the program '/no/such/program'"),
        ("cmd:'unclosed", "cannot start the program"),
        ("cmd@fast:bot", "a time limit is written cmd@2s:..., got cmd@fast:bot"),
        ("cmd@0s:bot", "a time limit is written cmd@2s:..., got cmd@0s:bot"),
        ("gnubg:nowhere", "write an address as HOST:PORT or /path/of/socket, got 'nowhere'"),
        ("gnubg:localhost:99999", "write an address as HOST:PORT or /path/of/socket"),
        ("gnubg:/no/such/socket", "nobody answers at '/no/such/socket'"),
        ("gnubg:localhost:1", "nobody answers at 'localhost:1'"),
    ],
)
def test_a_wrong_command_or_address_is_found_before_the_first_game(text, message):
    with pytest.raises(PlayerError) as error:
        make_player(text, SHORT)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("kind", ["ubgi", "gnubg"])
def test_protocols_of_backgammon_refuse_long_nardy(kind):
    with pytest.raises(PlayerError, match=f"the protocol of {kind}: knows short nardy only, not long_classic"):
        make_player(f"{kind}:x", "long")


# UBGI


class EngineChannel:
    """A UBGI engine in this process, spoken to as if it were a program."""

    def __init__(self, engine: UbgiEngine) -> None:
        self.engine = engine
        self.waiting: list[str] = []

    def send(self, line: str) -> None:
        self.waiting += self.engine.answer(line)

    def receive(self, limit_s: float) -> str:
        if not self.waiting:
            raise NoAnswerError("timeout", "nothing")
        return self.waiting.pop(0)

    def close(self) -> None:
        self.waiting.clear()


def test_a_ubgi_player_plays_whole_games_as_its_engine_does():
    judge = FakeJudge(SHORT)
    ubgi = UbgiPlayer(name="ubgi", rules=SHORT, open_channel=lambda: EngineChannel(UbgiEngine(judge, Level())))
    ubgi.check()
    assert ubgi.info["engine"] == "nardy fake 0-ply"

    class Direct:
        name, rules, is_trusted = "direct", SHORT, True

        def choose(self, boards, dice, rng):
            return judge.choose(boards, dice)

    match = play_match(ubgi, Direct(), SHORT, pairs=4, seed=2)
    assert not match.faults and (match.pair_points == 0.0).all()


@pytest.mark.parametrize("text", ["24/18 18/13", "24-18 18-13", "24 18 18 13", " 24/18  18/13 "])
def test_ubgi_moves_are_read_with_every_separator(text):
    assert ubgi_pairs(text) == "24/18 18/13"


@pytest.mark.parametrize("text", ["", "24/18 13", "24/18*", "Bar/20", "26/20", "1/0 1/0 1/0 1/0 1/0", "sorry"])
def test_ubgi_moves_that_are_none_are_refused(text):
    with pytest.raises(PlayerError):
        ubgi_pairs(text)


# GNUBG external


class FakeGnubg:
    """Listens as GNU Backgammon's `external` does: a board line in, a move out, for one client after another."""

    def __init__(self) -> None:
        self.server = socket.create_server(("localhost", 0))
        self.address = f"localhost:{self.server.getsockname()[1]}"
        self.judge = FakeJudge(SHORT)
        self.asked: list[str] = []
        self.mode = "play"
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.server.accept()
                with client, client.makefile("rw") as stream:
                    for line in stream:
                        self.asked.append(line.strip())
                        if self.mode == "die":
                            break
                        stream.write(self.reply(line))
                        stream.flush()

    def reply(self, line: str) -> str:
        if self.mode == "error":
            return "Error: badly formed board ('x')\n"
        position = parse_fibs(line, SHORT)
        chosen = self.judge.choose(position.board[None], np.array([position.dice]))[0]
        return play_text(position.board, position.dice, chosen, SHORT) + "\n"


@pytest.fixture
def gnubg():
    server = FakeGnubg()
    yield server
    server.server.close()


def test_a_gnubg_external_player_answers_board_lines(gnubg, rng):
    player = make_player(f"gnubg:{gnubg.address}", SHORT)
    boards, dice = random_play(SHORT, 60, rng)
    chosen = player.choose(boards, dice, rng)
    assert (chosen == gnubg.judge.choose(boards, dice)).all()
    assert gnubg.asked[0].startswith("board:nardy:opponent:0:0:0:")
    player.close()


@pytest.mark.parametrize(("mode", "kind"), [("error", "illegal"), ("die", "crash")])
def test_a_gnubg_external_player_that_fails_is_a_fault(gnubg, mode, kind, rng):
    player = make_player(f"gnubg@2s:{gnubg.address}", SHORT)
    assert isinstance(player, GnubgPlayer)
    gnubg.mode = mode
    _, faults = player.answers(SHORT.start_board()[None], np.array([[3, 1]], dtype=np.int8), rng)
    assert faults[0].kind == kind
    player.close()


def test_questions_of_a_cmd_player_name_rules_board_and_dice():
    rules = get_rules("long_classic(block_check=turn)")
    player = JsonLinesPlayer(name="cmd:x", rules=rules, open_channel=None)
    question = json.loads(player.question(rules.start_board(), (6, 4)))
    assert question["rules"] == "long_classic(block_check=turn)" and question["dice"] == [6, 4]
    assert question["board"] == rules.start_board().tolist()
    with pytest.raises(NardyError):
        player.play_of('{"afterstate": "x"}', rules.start_board(), (6, 4))


@pytest.mark.parametrize("point", ["9" * 5000, "²", "26"])
def test_a_ubgi_point_that_is_none_is_refused_in_a_line(point: str) -> None:
    with pytest.raises(PlayerError, match="UBGI"):
        ubgi_pairs(f"24/{point}")
    assert ubgi_pairs("bar/20 6-off") == "bar/20 6/off"


@pytest.mark.parametrize("port", ["9" * 5000, "0", "65536", "²"])
def test_an_address_without_a_port_is_refused_in_a_line(port: str) -> None:
    with pytest.raises(NardyError, match="HOST:PORT"):
        make_player(f"gnubg:localhost:{port}"[:4096], RULES["short_backgammon"])
