"""Requests to the application itself, byte by byte: no network, no client that would tidy them up."""

from __future__ import annotations

import asyncio
import contextlib
import json
import weakref
from pathlib import Path
from typing import Any

from agent.jobs import Limits
from agent.server import ServerConfig, make_app
from agent.service_games import ACTIONS
from engine.errors import NardyError
from web_server import small_nets

LONGEST_S = 20.0


class FaultyAnswerError(Exception):
    """The server answered with a fault of its own, or with an error that says nothing."""


class RefusedError(NardyError):
    """The server refused a request, as it should."""


class Web:
    """The application with small nets; a request is a line `METHOD TARGET`, an empty line, and a body.

    Args:
        folder: where nets and games are kept.
    """

    def __init__(self, folder: Path) -> None:
        limits = Limits(games=60, slow_s=0.3, slow_jobs=1, open_games=8, events=300)
        config = ServerConfig(
            nets=small_nets(folder), folder=folder / "games", hosts=None, is_warmed=False, limits=limits
        )
        self.app = make_app(config)
        self.loop = asyncio.new_event_loop()
        weakref.finalize(self, self.loop.close)

    def read(self, data: bytes) -> None:
        """Send a request.

        Raises:
            RefusedError: a status from 400 on, with a message.
            FaultyAnswerError: status 500 or more, or an error without a message.
        """
        status, body = self.loop.run_until_complete(asyncio.wait_for(self.call(data), LONGEST_S))
        if status >= 500:
            raise FaultyAnswerError(f"status {status}: {body[:200]!r}")
        if status >= 400:
            try:
                has_message = isinstance(json.loads(body)["message"], str)
            except (ValueError, KeyError, TypeError):
                has_message = False
            if not has_message:
                raise FaultyAnswerError(f"status {status} without a message: {body[:200]!r}")
            raise RefusedError(f"status {status}")

    async def call(self, data: bytes) -> tuple[int, bytes]:
        """Status and body of the answer to a request."""
        head, _, body = data.partition(b"\n\n")
        method, _, target = head.split(b"\n")[0].partition(b" ")
        path, _, query = target.partition(b"?")
        requests = [{"type": "http.request", "body": body, "more_body": False}]
        status, parts, has_begun = 0, [], asyncio.Event()

        async def receive() -> Any:
            if requests:
                return requests.pop()
            await has_begun.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                parts.append(message.get("body", b""))
                if parts[-1] and path.endswith(b"/watch"):
                    has_begun.set()  # who watches leaves after the first look

        await self.app(_scope(method, path, query), receive, send)
        return status, b"".join(parts)


def _scope(method: bytes, path: bytes, query: bytes) -> dict[str, Any]:
    raw = path if path.startswith(b"/") else b"/" + path
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method.decode("latin-1").strip().upper() or "GET",
        "scheme": "http",
        "path": raw.decode("utf-8", "replace"),
        "raw_path": raw,
        "query_string": query,
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }


def http_seeds(web: Web) -> list[bytes]:
    """A request for every endpoint: bodies from the examples of the description, games that exist."""
    described = web.app.openapi()
    games = [_new_game(web, rules) for rules in ("short", "long_classic")]
    found = []
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            target = path.replace("{game}", games[len(path) % 2])
            query = "&".join(
                f"{p['name']}={p.get('example', 1)}" for p in operation.get("parameters", ()) if "example" in p
            )
            targets = [target.replace("{action}", action) for action in ACTIONS] if "{action}" in target else [target]
            for each in targets:
                head = f"{method.upper()} {each}{'?' + query if query else ''}".encode()
                found += [head + b"\n\n" + json.dumps(body).encode() for body in _bodies(operation, described)]
    move = b"GET /move?die1=3&die2=1&p24=2&p19=-5&p17=-3&p13=5&p12=-5&p8=3&p6=5&p1=-2&x_away=1&o_away=1\n\n"
    return [
        *found,
        move,
        b"GET /web/index.html\n\n",
        b"GET /\n\n",
        b"GET /health\n\n",
        b"POST /api/v1/games/load\n\n{}",
    ]


def _new_game(web: Web, rules: str) -> str:
    body = json.dumps({"rules": rules, "players": ["you", "you"], "dice": "typed", "enforce": "claims"}).encode()
    _, answer = web.loop.run_until_complete(web.call(b"POST /api/v1/games\n\n" + body))
    name = str(json.loads(answer)["id"])
    for action in (b"roll", b"roll"):
        with contextlib.suppress(RefusedError):
            web.read(b"POST /api/v1/games/" + name.encode() + b"/" + action + b'\n\n{"dice": "64"}')
    return name


def _bodies(operation: dict[str, Any], described: dict[str, Any]) -> list[Any]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    schema = described["components"]["schemas"].get(name, {})
    return [*schema.get("examples", ()), {}] if name else [None]
