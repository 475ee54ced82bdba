"""What `--json` prints is what `nardy schema` says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.cli import main
from agent.command_schemas import COMMAND_SCHEMAS
from agent.net import save_net
from schema_check import assert_fits
from small_net import small_net

LONG = ["--rules", "long_classic"]
ASKED = [
    ("suggest", ["--dice", "64", *LONG, "--net", "NET"]),
    ("evaluate", [*LONG, "--net", "NET"]),
    ("why", ["24/18 24/20", "--dice", "64", *LONG]),
    ("why", ["24/14", "--dice", "64", *LONG]),
    ("why", ["", "--dice", "64", *LONG]),
    ("rollout", ["--dice", "33", "--trials", "4", "--truncate", "1", *LONG, "--net", "NET"]),
    ("rollout", ["--dice", "33", "--trials", "1", "--truncate", "1", *LONG, "--net", "NET"]),
    ("openings", ["--trials", "1", "--truncate", "1", "--plays", "1", *LONG, "--net", "NET"]),
    ("board", LONG),
    ("board", ["--dice", "64", *LONG]),
    ("info", []),
    ("dice stats", ["--rolls", "1000"]),
]


def printed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict:
    assert main(arguments) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("command", "arguments"), ASKED, ids=lambda value: value if isinstance(value, str) else "")
def test_json_on_the_command_line_fits_the_schema_that_is_printed(
    command: str, arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    net = tmp_path / "small.safetensors"
    save_net(small_net("long_classic"), net)
    words = [str(net) if word == "NET" else word for word in arguments]
    answer = printed([*command.split(), *words, "--json"], capsys)
    schema = printed(["schema", command], capsys)
    assert schema == json.loads(json.dumps(COMMAND_SCHEMAS[command]))
    assert_fits(answer, schema)


def test_a_command_without_a_schema_is_refused_with_those_that_have_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "serve"]) == 2
    line = capsys.readouterr().err
    assert "'serve'" in line and all(command in line for command in COMMAND_SCHEMAS)
