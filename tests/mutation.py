"""Mutation of valid inputs for fuzzing: of characters and bytes, of lines, of JSON values, and of safetensors files.

A mutation takes one input and some others of its kind to borrow from, and changes it in one to four places. The same
random numbers give the same mutation.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Sequence
from copy import deepcopy
from random import Random
from typing import Any

Mutation = Callable[[bytes, Sequence[bytes], Random], bytes]

MAX_BYTES = 200_000  # a mutation that grew beyond is cut
LARGEST = 1e300  # numbers beyond are not counted up
ODD_NUMBERS = (
    *("0", "-1", "1", "7", "15", "16", "25", "26", "127", "128", "-128", "255", "256", "32768", "1e3", "0.5", "-0"),
    *("2147483647", "2147483648", "4294967296", "9223372036854775807", "9223372036854775808", "18446744073709551616"),
    *("1e308", "1e999", "-1e999", "NaN", "nan", "inf", "Infinity", "1_000", "0x10", "٣", "²", "9" * 30, "9" * 5000),
)
ODD_TEXTS = (
    *("", " ", "\0", "\t", "\n", "\r\n", "\x1b[31m", "\ufeff", "\u2028", "\u202e", "é", "Ω", "я", "😀", "\ud800", "%s"),
    *("{}", "[]", "null", "true", '"', "\\", "'", "//", "../../etc/passwd", "bar", "off", "*", "(", ")", "(4)", ":"),
    *(",", "=", "@", "start", "pass", "XGID=", "board:", "a" * 300, "1" * 300, "(" * 300, "[" * 3000, '{"a":' * 2000),
)
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 6, 7, 15, 16, 26, 255, 2**31, 2**63 - 1, 2**63, 2**64, 10**40, -(2**63) - 1),
    *(0.5, -0.0, 1e308, float("nan"), float("inf"), "", " ", "0", "1", "64", "start", "x" * 2000, "\0", "\ud800"),
    *([], [[]], [1, 2], [[0] * 26] * 2, [["a"] * 26] * 2, [1] * 5000, {}, {"a": 1}, {"": {}}),
)


def mutated(data: bytes, others: Sequence[bytes], rng: Random, mutations: Sequence[Mutation]) -> bytes:
    """An input changed in one to four places by mutations drawn from those given.

    Args:
        data: a valid input.
        others: inputs of the same kind, to borrow pieces from.
        rng: where all chance comes from.
        mutations: what can be done to it.
    """
    most = max(MAX_BYTES, len(data) + 8)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        data = rng.choice(mutations)(data, others, rng)[:most]
    return data


def of_bytes(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """Bits, bytes and spans: flipped, set, inserted, removed, repeated, exchanged, borrowed."""
    length = len(data)
    start = rng.randrange(length + 1)
    end = min(length, start + rng.choice((1, 1, 2, 4, 8, 32, 200)))
    kind = rng.randrange(9)
    if kind == 0 and start < length:
        return data[:start] + bytes([data[start] ^ 1 << rng.randrange(8)]) + data[start + 1 :]
    if kind == 1:
        return data[:start] + bytes([rng.choice((0, 9, 10, 13, 32, 127, 128, 255, rng.randrange(256)))]) + data[end:]
    if kind == 2:
        return data[:start] + rng.randbytes(rng.choice((1, 2, 4, 16))) + data[start:]
    if kind == 3:
        return data[:start] + data[end:]
    if kind == 4:
        return data[:end] + data[start:end] * rng.choice((1, 2, 10, 200)) + data[end:]
    if kind == 5:
        return data[:start] if rng.random() < 0.5 else data[start:]
    if kind == 6:
        other = rng.choice(others) if others else data
        begin = rng.randrange(len(other) + 1)
        return data[:start] + other[begin : begin + rng.choice((1, 4, 16, 64, 1000))] + data[end:]
    if kind == 7:
        return data[:start] + rng.choice(ODD_TEXTS).encode("utf-8", "surrogatepass") + data[end:]
    return data[:start] + data[start:end][::-1] + data[end:]


_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_WORD = re.compile(rb"[A-Za-z_]+|\d+|[^\sA-Za-z_\d]")


def of_words(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """Numbers made odd; words exchanged, doubled, removed or borrowed."""
    pattern = _NUMBER if rng.random() < 0.5 else _WORD
    found = list(pattern.finditer(data[:20_000]))
    if not found:
        return of_bytes(data, others, rng)
    one, two = rng.choice(found), rng.choice(found)
    kind = rng.randrange(6)
    if kind == 0:
        put = str(rng.randrange(-3, 30)).encode()
    elif kind == 1:
        put = rng.choice(ODD_NUMBERS).encode()
    elif kind == 2:
        put = b""
    elif kind == 3:
        put = two[0]
    elif kind == 4:
        put = rng.choice(ODD_TEXTS).encode("utf-8", "surrogatepass")
    else:
        put = one[0] + b" " * rng.randrange(2) + one[0]
    return data[: one.start()] + put + data[one.end() :]


def of_lines(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """Lines removed, repeated, moved, borrowed, joined, or mutated as JSON where they are."""
    lines = data.split(b"\n")
    place, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(7)
    if kind == 0:
        del lines[place]
    elif kind == 1:
        lines[place:place] = [lines[place]] * rng.choice((1, 2, 50))
    elif kind == 2:
        lines[place], lines[other] = lines[other], lines[place]
    elif kind == 3 and others:
        lines[place:place] = rng.choice(rng.choice(others).split(b"\n")).splitlines()
    elif kind == 4:
        lines[place : place + 2] = [b"".join(lines[place : place + 2])]
    elif kind == 5:
        lines = lines[: place + 1]
    else:
        lines[place] = (
            of_json(lines[place], others, rng) if lines[place][:1] in b"{[" else of_words(lines[place], (), rng)
        )
    return b"\n".join(lines)


def of_json(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """One value, key or item of a JSON text exchanged, removed or added; other text is mutated as words."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return of_words(data, others, rng)
    if rng.random() < 0.02:
        return b'{"a":' * 3000 + data
    return json.dumps(json_changed(value, rng), ensure_ascii=rng.random() < 0.9).encode("utf-8", "surrogatepass")


def json_changed(value: Any, rng: Random) -> Any:
    """A JSON value with one node of it changed."""
    holders = _holders(value)
    if not holders or rng.random() < 0.03:
        return deepcopy(rng.choice(ODD_VALUES))
    holder = rng.choice(holders)
    keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
    key = rng.choice(keys)
    kind = rng.randrange(7)
    if kind <= 1:
        holder[key] = deepcopy(rng.choice(ODD_VALUES))
    elif kind == 2:
        del holder[key]
    elif kind == 3 and isinstance(holder, dict):
        holder[rng.choice(("x", "", "revision", "dice", "__class__", str(key) + "s"))] = deepcopy(
            rng.choice(ODD_VALUES)
        )
    elif kind == 4:
        holder[key] = rng.choice([holder[k] for k in keys])
    elif kind == 5 and _can_step(holder[key]):
        holder[key] += rng.choice((-1, 1, 10, 0.5))
    elif isinstance(holder[key], str):
        text = of_words(holder[key].encode("utf-8", "surrogatepass"), (), rng)
        holder[key] = text.decode("utf-8", "replace")
    else:
        holder[key] = [holder[key]]
    return value


def _can_step(value: Any) -> bool:
    """Whether a value is a number to which a half can be added: no integer beyond the range of floats."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST


def _holders(value: Any) -> list[Any]:
    found, waiting = [], [value]
    while waiting and len(found) < 200:
        one = waiting.pop()
        if isinstance(one, dict | list) and one:
            found.append(one)
            waiting += one.values() if isinstance(one, dict) else one
    return found


def of_tensors(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """A safetensors file with its header, one of its numbers, or the length of its header changed."""
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > len(data) - 8:
        return of_bytes(data, others, rng)
    header, body = data[8 : 8 + size], data[8 + size :]
    kind = rng.randrange(4)
    if kind == 0:
        return struct.pack("<Q", rng.choice((0, 1, size - 1, size + 1, 2**31, 2**63, -1)) % 2**64) + data[8:]
    if kind == 1 and len(body) >= 4:
        place = rng.randrange(len(body) // 4) * 4
        odd = rng.choice((float("nan"), float("inf"), -float("inf"), 3e38, -3e38, 1e-40, 0.0))
        return data[: 8 + size + place] + struct.pack("<f", odd) + body[place + 4 :]
    header = (of_json if rng.random() < 0.8 else of_words)(header, (), rng)
    return struct.pack("<Q", len(header)) + header + body


ANY_TEXT: tuple[Mutation, ...] = (of_bytes, of_words, of_words)
ANY_JSON: tuple[Mutation, ...] = (of_bytes, of_words, of_json, of_json, of_json)
ANY_LINES: tuple[Mutation, ...] = (of_bytes, of_words, of_lines, of_lines)
ANY_TENSORS: tuple[Mutation, ...] = (of_bytes, of_tensors, of_tensors)
