"""Files are read no further than allowed, and every name that cannot be opened is an error of the one kind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.game_files import read_games
from agent.matfile import read_match
from agent.net import load_net
from agent.players import make_player
from agent.results_file import read_matches
from engine.bounded_file import read_bounded
from engine.errors import NardyError
from engine.records import read_record

ODD_NAMES = ("a\0b", "\ud800", "a" * 5000)


def test_no_more_is_read_than_one_byte_over_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    assert read_bounded(path, 10) == b"0123456789"
    assert read_bounded(path, 4) == b"01234"
    assert len(read_bounded("/dev/zero", 1000)) == 1001


@pytest.mark.parametrize("name", [*ODD_NAMES, "", "/nowhere/at/all"])
def test_a_name_that_cannot_be_opened_is_an_os_error_that_says_why(name: str) -> None:
    with pytest.raises(OSError) as caught:
        read_bounded(name, 10)
    assert caught.value.strerror


@pytest.mark.parametrize("name", ODD_NAMES)
@pytest.mark.parametrize("read", [load_net, read_record, read_match, read_matches, lambda name: read_games([name])])
def test_readers_of_files_refuse_names_that_no_file_can_have(read, name: str) -> None:
    with pytest.raises(NardyError):
        read(name)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_players_with_such_names_are_refused(name: str) -> None:
    for text in (f"net:{name}", f"gnubg:{name}:80", f"cmd:{name}", f"ubgi:{name}", f"rollout:net={name}"):
        with pytest.raises(NardyError):
            make_player(text, "short")


def test_a_folder_is_no_file() -> None:
    with pytest.raises(OSError):
        read_bounded(os.curdir, 10)
