"""Files that hold games: `.mat` match files and game records, told apart by what is in them."""

from __future__ import annotations

import warnings
from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agent.matfile import parse_match
from agent.played import PlayedMatch, match_of_records
from engine.bounded_file import read_bounded
from engine.errors import RecordError
from engine.records import MAX_BYTES as MAX_RECORD_BYTES
from engine.records import RecordWarning, parse_record
from engine.rules import Rules, get_rules


def read_games(paths: Sequence[str | Path], rules: str | Rules | None = None) -> PlayedMatch:
    """The games of one match file, or of one or more records of the same players.

    Args:
        paths: the files.
        rules: the exact variant of a match file; None: what it says, else backgammon. Records say theirs.
    Raises:
        RecordError: a file that cannot be read, is neither, or does not go with the others; rules other than those
            of a record.
        RulesError: unknown rules.
    """
    if not paths:
        raise RecordError("name a .mat file, or one or more game records")
    found = [_read(path) for path in paths]
    are_records = [data.lstrip().startswith(b"{") for data in found]
    if not any(are_records):
        if len(paths) > 1:
            raise RecordError(f"match files are read one at a time, got {len(paths)}")
        return parse_match(found[0], rules, name=str(paths[0]))
    if not all(are_records):
        raise RecordError(f"{paths[are_records.index(False)]} is no game record, and the others are")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RecordWarning)
        match = match_of_records([parse_record(data, str(path)) for data, path in zip(found, paths, strict=True)])
    if rules is not None and get_rules(rules) != match.rules:
        raise RecordError(f"the record is of {match.rules}, the rules asked for are {get_rules(rules)}; leave them out")
    return replace(match, notes=(*match.notes, *(str(warning.message) for warning in caught)))


def _read(path: str | Path) -> bytes:
    """A whole file, read once, for a pipe gives its bytes only once."""
    try:
        data = read_bounded(path, MAX_RECORD_BYTES)
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}") from error
    if len(data) > MAX_RECORD_BYTES:
        raise RecordError(f"{path} has more than {MAX_RECORD_BYTES} bytes")
    return data.removeprefix(BOM_UTF8)
