"""`nardy-train` from outside: options, output, errors."""

import os
import signal
import subprocess
import sys
import time

import pytest

from agent.suggest import suggest
from engine.rules import get_rules
from training.cli import main
from training.curves import read_metrics


def nardy_train(*arguments, **options):
    command = [sys.executable, "-m", "training.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)


@pytest.fixture(scope="module")
def smoke_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("smoke") / "run"
    done = nardy_train("run", "--rules", "short", "--preset", "smoke", "--games", 250, "--out", folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{folder / 'net.safetensors'}\n"
    return folder


def test_smoke_net_is_exported_and_suggests_plays(smoke_run, tmp_path):
    net = tmp_path / "mine.safetensors"
    done = nardy_train("export", smoke_run, net)
    assert (done.returncode, done.stdout) == (0, f"{net}\n")
    rules = get_rules("short")
    suggestions = suggest(rules.start_board(), (3, 1), rules=rules, net=str(net), top=3)
    assert len(suggestions) == 3


def test_killed_run_goes_on_from_its_last_checkpoint(smoke_run, tmp_path):
    folder = tmp_path / "run"
    arguments = ("run", "--rules", "short", "--preset", "smoke", "--games", 250, "--out", folder)
    process = subprocess.Popen(
        [sys.executable, "-m", "training.cli", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None and not (folder / "metrics.jsonl").exists():
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = nardy_train("run", "--rules", "short", "--out", folder, "--resume")
    assert done.returncode == 0, done.stderr
    assert (folder / "net.safetensors").read_bytes()[-500:] == (smoke_run / "net.safetensors").read_bytes()[-500:]
    rounds = [metric["round"] for metric in read_metrics(folder) if metric["kind"] == "round"]
    assert rounds == sorted(set(rounds))


def test_interrupted_run_says_how_to_go_on(tmp_path):
    folder = tmp_path / "run"
    rules = "long(block_check=turn)"
    arguments = ("run", "--rules", rules, "--preset", "smoke", "--games", 1_000_000, "--out", folder)
    process = subprocess.Popen([sys.executable, "-m", "training.cli", *map(str, arguments)], stderr=subprocess.PIPE)
    while not (folder / "metrics.jsonl").exists():
        assert process.poll() is None
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 0
    assert f"nardy-train run --rules '{rules}' --out {folder} --resume" in stderr.decode().splitlines()[-1]
    done = nardy_train("run", "--rules", rules, "--out", folder, "--resume", "--games", 250)
    assert done.returncode == 2 and "trains 1000000 games, which --resume keeps; --games says 250" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rules", "chess"), "unknown rules 'chess'; allowed: short"),
        (("--rules", "short", "--preset", "huge"), "unknown preset 'huge'; allowed: smoke, laptop"),
        (("--rules", "short", "--resume"), "holds no checkpoint.safetensors"),
        (("--rules", "short", "--resume", "--init", "x"), "give one of them"),
        (("--rules", "short", "--init", "none.safetensors"), "cannot read net none.safetensors"),
        (("--rules", "short", "--referee", "none.npz"), "none.npz is no referee file"),
        (("--rules", "short", "--games", "5"), "games must be"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tmp_path, capsys, arguments, message):
    folder = tmp_path / "run"
    assert main(["run", *arguments, "--out", str(folder)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1
    assert not folder.exists()


def test_a_full_folder_is_not_overwritten(smoke_run, capsys):
    assert main(["run", "--rules", "short", "--preset", "smoke", "--out", str(smoke_run)]) == 2
    assert "--resume" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("before", "message"),
    [
        (
            "sys.modules['torch'] = None",
            "torch is not installed; it comes with the extra train: pip install 'nardy[train]'",
        ),
        ("pass", "unknown rules 'no'"),
    ],
)
def test_without_torch_the_installed_command_names_the_extra(before, message):
    code = (
        f"import sys; {before}; from training.entry import main; sys.exit(main(['run', '--rules', 'no', '--out', 'x']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith(f"nardy-train: {message}")
    assert done.stderr.count("\n") == 1
