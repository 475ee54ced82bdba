"""The command line from outside: exit codes, one-line errors, JSON only on stdout, clean interrupts."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from agent.cli import main

ROOT = Path(__file__).resolve().parent.parent
NARDY = [sys.executable, "-c", "import sys; from agent.cli import main; sys.exit(main())"]


def environment(**changes: str) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT)} | changes


def nardy(*arguments: str, cwd: Path | None = None, **changes: str) -> subprocess.CompletedProcess[str]:
    """`nardy` as its own process, away from the repository."""
    return subprocess.run(
        [*NARDY, *arguments],
        capture_output=True,
        encoding="utf-8",
        cwd=cwd or "/",
        env=environment(**changes),
        timeout=300,
    )


def text_of(*arguments: str) -> str:
    """What `nardy` prints, run in this process, which is quicker."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr):
        code = main(arguments)
    assert code == 0, stderr.getvalue()
    return stdout.getvalue()


def answer(*arguments: str) -> Any:
    return json.loads(text_of(*arguments))


def test_without_a_command_the_help_names_every_command() -> None:
    done = nardy()
    assert done.returncode == 0
    for command in ("suggest", "evaluate", "arena", "board", "info"):
        assert f"  {command} " in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], ["nonsense"]),
        (["info", "--nonsense"], ["--nonsense"]),
        (["suggest", "--rules", "short", "--top", "many"], ["--top", "integer"]),
        (["suggest", "--dice", "31"], ["--rules"]),
        (["suggest", "--rules", "chess", "--dice", "31"], ["chess", "long_classic"]),
        (["suggest", "--rules", "short(koks_zone=home)", "--dice", "31"], ["koks_zone", "scoring"]),
        (
            ["suggest", "--rules", "short", "--dice", "31", "--net", "/nowhere/at all"],
            ["/nowhere/at all", "No such file"],
        ),
        (["suggest", "--rules", "short", "--dice", "37", "--net", "NET"], ["37", "1 to 6"]),
        (["suggest", "--rules", "short", "--net", "NET"], ["--dice", "missing"]),
        (["suggest", "--rules", "short", "--dice", "31", "--net", "NET", "--position", "here"], ["here", "start"]),
        (["suggest", "--rules", "short", "--dice", "31", "--net", "NET", "--plies", "9"], ["9", "0 to 3"]),
        (["suggest", "--rules", "long", "--dice", "31", "--net", "NET"], ["short", "long"]),
        (["suggest", "--rules", "short", "--dice", "31", "--net", "NET", "--scoring", "1/2"], ["1/2", "4 numbers"]),
        (["arena", "random", "--rules", "short"], ["two players"]),
        (["arena", "random", "pips", "--rules", "short", "--games", "7"], ["7", "even"]),
        (["arena", "random", "nobody", "--rules", "short"], ["nobody", "heuristic"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_bad_input_is_one_line_on_stderr_and_exit_code_2(
    arguments: list[str], words: list[str], nets: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([nets["short"] if word == "NET" else word for word in arguments])
    printed = capsys.readouterr()
    assert (code, printed.out) == (2, "")
    (line,) = [line for line in printed.err.splitlines() if "compiling its kernels" not in line]
    assert line.startswith("nardy: ")
    assert [word for word in words if word not in line] == []


@pytest.mark.parametrize(("rules", "dice", "first"), [("short", "31", None), ("long_classic", "64", "24/14")])
def test_a_suggestion_as_json_names_rules_net_and_play(
    rules: str, dice: str, first: str | None, nets: dict[str, str]
) -> None:
    game = rules.partition("_")[0]
    found = answer("suggest", "--rules", rules, "--dice", dice, "--net", nets[game], "--json")
    assert (found["rules"], found["net"]) == (rules, game)
    assert found["dice"] == [int(die) for die in dice]
    assert first is None or found["suggestions"][0]["play"] == first
    equities = [play["equity"] for play in found["suggestions"]]
    assert equities == sorted(equities, reverse=True)


def test_a_suggestion_as_text_names_rules_net_position_and_level(nets: dict[str, str]) -> None:
    printed = text_of("suggest", "--rules", "short", "-p", "4HPwATDgc/ABMA", "--dice", "31", "--net", nets["short"])
    for word in ("rules short", "net short", "4HPwATDgc/ABMA", "0-ply", "3:1"):
        assert word in printed


def test_the_dice_of_an_xgid_count_and_a_disagreement_is_an_error(
    nets: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    position = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
    common = ["suggest", "--rules", "short", "--position", position, "--net", nets["short"], "--json"]
    assert answer(*common)["dice"] == [3, 1]
    assert answer(*common, "--dice", "13")["suggestions"] == answer(*common)["suggestions"]
    assert main([*common, "--dice", "52"]) == 2
    refusal = capsys.readouterr().err
    assert "52" in refusal and "31" in refusal


def test_reasons_and_a_picture_come_with_a_suggestion(tmp_path: Path, nets: dict[str, str]) -> None:
    picture = tmp_path / "board.svg"
    options = ["--net", nets["long"], "--reasons", "--lang", "ru", "--svg", str(picture)]
    printed = text_of("suggest", "--rules", "long", "--dice", "64", *options)
    assert "правила long_classic" in printed and "Пипсы" in printed
    assert picture.read_text(encoding="utf-8").startswith("<svg")


def test_why_names_the_rule_that_a_play_breaks() -> None:
    common = ["--rules", "long", "--dice", "64", "--json"]
    assert answer("why", "24/14", *common)["is_legal"] is True
    refused = answer("why", "24/18 24/20", *common)
    assert (refused["is_legal"], refused["reason"]["code"]) == (False, "head_used")


def test_a_rollout_is_the_same_for_one_and_two_threads(nets: dict[str, str]) -> None:
    common = ["rollout", "--rules", "short", "--dice", "31", "--play", "8/5 6/5", "--trials", "36", "--truncate", "2"]
    one, two = (answer(*common, "--net", nets["short"], "--json", "--threads", count) for count in ("1", "2"))
    assert one["candidates"] == two["candidates"]
    assert (one["candidates"][0]["play"], one["trials"]) == ("8/5 6/5", 36)


def test_info_lists_versions_nets_and_presets() -> None:
    found = answer("info", "--json")
    assert {"python", "numpy", "numba"} <= set(found["versions"])
    assert set(found["presets"]) == {"short", "short_backgammon", "long_classic", "long_common", "long_fnr2026"}
    assert "long_fnr2026" in text_of("info")


def test_an_arena_match_is_the_same_for_one_and_two_workers() -> None:
    common = ["arena", "random", "pips", "--rules", "short", "--games", "40", "--seed", "5", "--json"]
    one, two = (answer(*common, "--workers", workers) for workers in ("1", "2"))
    assert one["pair_results"] == two["pair_results"]
    assert (one["games"], one["pairs"], one["rules"]) == (40, 20, "short")


def test_a_tournament_of_three_prints_ratings() -> None:
    printed = text_of("arena", "random", "pips", "heuristic", "--rules", "long_common", "--games", "8")
    assert "ratings, long_common, seed 1" in printed
    assert printed.count("against") == 3


def test_a_reader_that_goes_away_is_no_error() -> None:
    shell = ["bash", "-c", '"$@" | head -n 1; echo "${PIPESTATUS[0]}"', "-", *NARDY, "info"]
    done = subprocess.run(shell, capture_output=True, text=True, env=environment(PYTHONUNBUFFERED="1"), timeout=60)
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] in ("141", "0")


def test_a_table_that_nobody_reads_ends_with_141() -> None:
    shell = ["bash", "-c", '"$@" | true; echo "${PIPESTATUS[0]}"', "-", *NARDY, "info"]
    done = subprocess.run(shell, capture_output=True, text=True, env=environment(), timeout=60)
    assert (done.stdout, done.stderr) == ("141\n", "")


def test_an_interrupt_ends_quietly_with_130_and_keeps_what_was_played(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    command = [*NARDY, "arena", "random", "pips", "--rules", "short", "--games", "2000000", "--workers", "1"]
    command += ["--results", str(results)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    try:
        end = time.monotonic() + 120
        while time.monotonic() < end and process.poll() is None and not (results.exists() and results.stat().st_size):
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert results.stat().st_size


@pytest.mark.parametrize("locale", ["C", "de_DE.ISO-8859-1"])
def test_a_poor_locale_still_gets_an_answer(locale: str, nets: dict[str, str]) -> None:
    encoding = {"PYTHONIOENCODING": "ascii:strict", "PYTHONUTF8": "0", "LC_ALL": locale}
    done = nardy("suggest", "--rules", "short", "--dice", "31", "--net", nets["short"], **encoding)
    assert done.returncode == 0, done.stderr
    assert "8/5" in done.stdout


def test_a_suggestion_loads_neither_torch_nor_a_server(nets: dict[str, str]) -> None:
    code = (
        "import sys; from agent.cli import main; code = main(sys.argv[1:]); "
        "heavy = {'torch', 'fastapi', 'matplotlib', 'training'} & set(sys.modules); print(heavy, file=sys.stderr); "
        "sys.exit(code)"
    )
    command = [
        sys.executable,
        "-c",
        code,
        "suggest",
        "--rules",
        "short",
        "--dice",
        "31",
        "--net",
        nets["short"],
        "--json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=120, check=True)
    assert done.stderr.splitlines()[-1] == "set()"


def test_the_first_compile_is_announced_only_where_no_kernel_is_cached(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from agent.cli_options import note_first_compile; "
        "from engine import _movegen_kernels as kernels; "
        "note_first_compile(); folder = Path(kernels.generate_batch.stats.cache_path); "
        "folder.mkdir(parents=True, exist_ok=True); (folder / '_movegen_kernels.x.nbi').touch(); note_first_compile()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment(NUMBA_CACHE_DIR=str(tmp_path)),
        check=True,
    )
    assert done.stderr.count("compiling its kernels") == 1
    assert done.stdout == ""


def test_a_process_ends_with_code_2_and_one_line_for_bad_input() -> None:
    done = nardy("board", "--rules", "chess")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_megabytes_of_bad_input_do_not_come_back(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suggest", "--rules", "short", "--dice", "31", "--net", "a" * 1_000_000]) == 2
    line = capsys.readouterr().err
    assert len(line) < 1100
    assert line.endswith("File name too long\n")


@pytest.mark.parametrize(
    ("closed", "arguments", "code"),
    [
        ("<&-", "convert - --rules short", 2),
        (">&-", "info", 0),
        ("2>&-", "board --rules chess", 2),
        ("<&- >&- 2>&-", "board --rules short", 0),
    ],
)
def test_closed_streams_are_empty_ones(closed: str, arguments: str, code: int) -> None:
    command = f'exec "$0" -m agent.cli {arguments} {closed}'
    done = subprocess.run(
        ["bash", "-c", command, sys.executable], capture_output=True, text=True, cwd=ROOT, timeout=120
    )
    assert done.returncode == code
    assert "Traceback" not in done.stderr
