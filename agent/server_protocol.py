"""How connections are read: faults below HTTP are answered as JSON too, and a request must arrive in time.

uvicorn answers what is no HTTP with plain text, and lets a client send its headers a byte an hour.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_S = 20.0  # from the first byte of a request, or the connection, to the end of its headers
MALFORMED = "this is no HTTP request that can be read: the request line, a header or the body's length is malformed"


class Connection(H11Protocol):
    """A connection of the server."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request."""
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Bytes of a request; the clock runs until its headers are there."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
            self._stop_clock()
        elif self._late is None:
            self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._stop_clock()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what cannot be read, and close."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):  # an answer is under way already
            self.transport.close()
            return
        is_late = msg.startswith("the request")
        body = json.dumps({"message": msg if is_late else MALFORMED}).encode()
        headers = [("content-type", "application/json"), ("content-length", str(len(body))), ("connection", "close")]
        events: tuple[Any, ...] = (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=body),
            h11.EndOfMessage(),
        )
        for event in events:
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _expect(self) -> None:
        self._late = self.loop.call_later(REQUEST_S, self._is_late)

    def _stop_clock(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _is_late(self) -> None:
        self._late = None
        if not self.transport.is_closing():
            self.send_400_response(f"the request did not arrive within {REQUEST_S:g} s")
