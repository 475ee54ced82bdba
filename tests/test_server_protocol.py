"""Connections below HTTP: what cannot be read, and what arrives too slowly."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn

from agent import server_guard, server_protocol
from agent.server import ServerConfig, make_app
from agent.server_protocol import Connection

START = b"POST /api/v1/suggest HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture
def port(tmp_path, monkeypatch) -> Iterator[int]:
    """A server on a real socket that waits for a tenth of the usual time."""
    monkeypatch.setattr(server_protocol, "REQUEST_S", 0.4)
    monkeypatch.setattr(server_guard, "BODY_S", 0.4)
    app = make_app(ServerConfig(folder=tmp_path, is_warmed=False))
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, http=Connection, ws="none", log_level="critical"))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[bound])))
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield bound.getsockname()[1]
    server.should_exit = True
    thread.join()
    bound.close()


def heard_until_closed(client: socket.socket) -> bytes:
    heard = b""
    with contextlib.suppress(ConnectionResetError):
        while got := client.recv(65536):
            heard += got
    return heard


def answer_to(port: int, *parts: bytes, pause: float = 0.0) -> tuple[int, dict, float]:
    """Status, body and seconds until the server closed the connection, after bytes sent with pauses between."""
    begin = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), 10) as client:
        for part in parts:
            try:
                client.sendall(part)
            except OSError:
                break
            time.sleep(pause)
        heard = heard_until_closed(client)
    head, _, body = heard.partition(b"\r\n\r\n")
    assert b"content-type: application/json" in head.lower(), heard
    return int(head.split()[1]), json.loads(body), time.monotonic() - begin


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\r\n\r\n",
        b"GET /health HTTP/1.1\r\n\r\n",
        START + b"Content-Length: abc\r\n\r\n",
        START + b"Content-Length: -5\r\n\r\n",
        START + b"X: " + b"a" * 70_000,
        b"GET /" + b"a" * 70_000,
    ],
    ids=["no HTTP", "no host", "a length in letters", "a negative length", "a long header", "a long line"],
)
def test_what_cannot_be_read_is_a_400_in_json(port, sent) -> None:
    status, body, _ = answer_to(port, sent)
    assert status == 400 and "malformed" in body["message"]


def test_headers_that_dribble_in_are_cut_off(port) -> None:
    status, body, seconds = answer_to(port, *[START[i : i + 1] for i in range(20)], pause=0.05)
    assert status == 400 and "did not arrive within 0.4 s" in body["message"]
    assert seconds < 5


def test_a_body_that_dribbles_in_is_cut_off(port) -> None:
    head = START + b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    status, body, seconds = answer_to(port, head, *[b"{"] * 20, pause=0.05)
    assert status == 400 and "body did not arrive within 0.4 s" in body["message"]
    assert seconds < 5


def test_a_silent_connection_is_cut_off_and_others_are_answered_meanwhile(port) -> None:
    with contextlib.ExitStack() as stack:
        silent = [stack.enter_context(socket.create_connection(("127.0.0.1", port), 10)) for _ in range(50)]
        request = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        assert answer_to(port, request)[0] == 200
        for each in silent:
            assert b"did not arrive" in heard_until_closed(each)


def test_a_quick_request_on_a_kept_connection_is_not_cut_off(port) -> None:
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    client.connect()
    own = client.sock
    for _ in range(4):
        client.request("GET", "/health")
        assert json.load(client.getresponse())["status"] == "ok"
        time.sleep(0.2)
    assert client.sock is own
    client.close()
