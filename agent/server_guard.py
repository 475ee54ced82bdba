"""What stands in front of every endpoint: allowed hosts, body size, security headers, errors as JSON.

Pure ASGI, so that a closed connection is seen by the endpoints.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from engine.digits import whole_number

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# Everything comes from this server: no script, style, image or request leaves it.
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)
BODY_S = 30.0  # for a whole body
LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")


class Guard:
    """Refuses what no endpoint should see, and adds the headers of every answer.

    Args:
        app: what is guarded.
        body_bytes: longest body.
        hosts: names this server may be called by; None: any. A server of this machine only names itself, so that no
            web page can reach it under a name of its own.
        origins: other origins that may send requests.
    """

    def __init__(self, app: App, *, body_bytes: int, hosts: Iterable[str] | None, origins: Iterable[str]) -> None:
        self._app, self._body_bytes = app, body_bytes
        self._hosts = None if hosts is None else frozenset(hosts)
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        fault = self._fault(
            {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}, scope
        )
        guarded = _with_headers(send)
        if fault is not None:
            await _refuse(guarded, fault)
            return
        try:
            async with asyncio.timeout(BODY_S):
                first = await _read_body(receive, self._body_bytes)
        except TimeoutError:
            await _refuse(guarded, f"the body did not arrive within {BODY_S:g} s")
            return
        if first is None:
            await _refuse(guarded, f"the body is longer than {self._body_bytes} bytes")
            return
        await self._app(scope, _replaying(first, receive), guarded)

    def _fault(self, headers: dict[str, str], scope: Scope) -> str | None:
        host = headers.get("host", "")
        if self._hosts is not None and _host_name(host) not in self._hosts:
            return f"this server is not called {host[:60]!r}; allowed: {', '.join(sorted(self._hosts))}"
        length = headers.get("content-length", "0")
        size = whole_number(length)
        if size is None or size > self._body_bytes:
            return f"the body has {length[:20]} bytes, at most {self._body_bytes} are allowed"
        origin = headers.get("origin")
        if scope["method"] not in ("GET", "HEAD", "OPTIONS") and origin is not None and not self._knows(origin, host):
            return f"requests from {origin[:60]!r} are not allowed; start the server with --cors {origin[:60]}"
        return None

    def _knows(self, origin: str, host: str) -> bool:
        return "*" in self._origins or origin in self._origins or urlsplit(origin).netloc == host


async def _read_body(receive: Receive, most: int) -> Message | None:
    """The whole body as one message; None when it is longer than allowed, whatever length it announced."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return message
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            return None
        if not message.get("more_body", False):
            return {"type": "http.request", "body": b"".join(parts), "more_body": False}


def _replaying(first: Message, receive: Receive) -> Receive:
    waiting = [first]

    async def receiving() -> Message:
        return waiting.pop() if waiting else await receive()

    return receiving


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", []))
            names = {name for name, _ in headers}
            message["headers"] = headers + [pair for pair in HEADERS if pair[0] not in names]
            if b"cache-control" not in names:
                message["headers"].append((b"cache-control", b"no-cache"))
        await send(message)

    return sending


async def _refuse(send: Send, text: str) -> None:
    """Status 400; the connection is closed, for what is left of the request was not read."""
    body = json.dumps({"message": text}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _host_name(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()
