"""Talking in lines of text to a program or a socket, never waiting longer than a limit."""

from __future__ import annotations

import contextlib
import os
import queue
import select
import shlex
import signal
import socket
import subprocess
import threading
import time
from multiprocessing import util
from typing import Protocol

from engine.digits import whole_number
from engine.errors import PlayerError

MAX_LINE = 1 << 16
MAX_WAITING = 1000  # lines a program may send unasked before it is made to wait
SEND_S = 10.0  # for a line to be taken by a program that has not read those before it
CLOSE_S = 0.5

_running: set[subprocess.Popen[bytes]] = set()


class NoAnswerError(Exception):
    """No line came: `kind` is `crash` or `timeout`."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


class Channel(Protocol):
    """One line out, lines in."""

    def send(self, line: str) -> None:
        """Send a line; raises `NoAnswerError` when nobody is there, or nobody takes it within `SEND_S`."""

    def receive(self, limit_s: float) -> str:
        """The next line, without its end; raises `NoAnswerError` when none comes in time."""

    def close(self) -> None:
        """End it for good."""


class ProgramChannel:
    """A program of one's own, run without a shell; its stderr stays where ours is.

    Raises:
        PlayerError: the command is empty or cannot be started.
    """

    def __init__(self, command: str) -> None:
        try:
            words = shlex.split(command)
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        except (OSError, ValueError, IndexError) as error:
            raise PlayerError(f"cannot start the program {command!r}: {error}") from error
        _running.add(self._process)
        self._poll = _write_poll(self._process)
        self._lines: queue.Queue[bytes | None] = queue.Queue(MAX_WAITING)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        # A worker process ends without running finalizers of its objects, but it does run these.
        self._finalizer = util.Finalize(self, _end_group, args=(self._process,), exitpriority=10)

    def _read(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(ValueError, OSError):  # closed under us
            while line := self._process.stdout.readline(MAX_LINE):
                self._lines.put(line)
        self._lines.put(None)

    def send(self, line: str) -> None:
        """Send a line."""
        try:
            self._write(line.encode() + b"\n")
        except (OSError, ValueError) as error:
            raise NoAnswerError("crash", f"it has ended{self._exit_text()}") from error

    def _write(self, data: bytes) -> None:
        """Write past the buffer of `stdin`, without waiting for ever on a pipe that is full."""
        assert self._process.stdin is not None
        pipe, rest = self._process.stdin.fileno(), memoryview(data)
        end = time.monotonic() + SEND_S
        while rest:
            left = end - time.monotonic()
            if left <= 0 or (self._poll is not None and not self._poll.poll(1000 * left)):
                raise NoAnswerError("timeout", f"it has not read what it was sent for {SEND_S:g} s")
            with contextlib.suppress(BlockingIOError):  # room for a part only
                rest = rest[os.write(pipe, rest) :]

    def receive(self, limit_s: float) -> str:
        """The next line."""
        try:
            line = self._lines.get(timeout=limit_s)
        except queue.Empty:
            raise NoAnswerError("timeout", f"no answer within {limit_s:g} s") from None
        if line is None:
            self._lines.put(None)
            raise NoAnswerError("crash", f"it ended without an answer{self._exit_text()}")
        if not line.endswith(b"\n") and len(line) >= MAX_LINE:
            raise NoAnswerError("crash", f"its line is longer than {MAX_LINE} bytes")
        return line.decode(errors="replace").rstrip("\r\n")

    def _exit_text(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return f", exit code {self._process.wait(timeout=CLOSE_S)}"
        return ""

    def close(self) -> None:
        """Close its stdin, give it a moment, then end it with all it started."""
        self._finalizer()
        self._reader.join(CLOSE_S)


def _write_poll(process: subprocess.Popen[bytes]) -> select.poll | None:
    """What tells when its stdin takes more, which is made not to block; None where the system has no such thing."""
    assert process.stdin is not None
    if not hasattr(select, "poll"):
        return None
    os.set_blocking(process.stdin.fileno(), False)
    poll = select.poll()
    poll.register(process.stdin, select.POLLOUT)
    return poll


def end_programs() -> None:
    """Kill all running programs with what they have started: for a process that ends without clearing up."""
    for process in tuple(_running):
        _kill_group(process)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    try:
        with contextlib.suppress(OSError, ValueError):
            if process.stdin is not None:
                process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=CLOSE_S)
    finally:  # Ctrl-C may come while it is given its moment
        _kill_group(process)
        _running.discard(process)
    process.wait()
    if process.stdout is not None and process.poll() is not None:
        with contextlib.suppress(OSError, ValueError):
            process.stdout.close()


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):  # also what the program started and left behind
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


class SocketChannel:
    """A server that listens at `HOST:PORT` or at the path of a local socket.

    Raises:
        PlayerError: the address cannot be read, or nobody listens there.
    """

    def __init__(self, address: str, limit_s: float) -> None:
        self._rest = b""
        try:
            self._socket = _connected(address, limit_s)
        except (OSError, UnicodeError) as error:  # the latter for names that no host can have
            raise PlayerError(f"nobody answers at {address!r}: {error}") from error

    def send(self, line: str) -> None:
        """Send a line."""
        try:
            self._socket.settimeout(SEND_S)
            self._socket.sendall(line.encode() + b"\n")
        except TimeoutError:
            raise NoAnswerError("timeout", f"it has not read what it was sent for {SEND_S:g} s") from None
        except OSError as error:
            raise NoAnswerError("crash", f"the connection is gone: {error}") from error

    def receive(self, limit_s: float) -> str:
        """The next line."""
        end = time.monotonic() + limit_s
        while b"\n" not in self._rest:
            left = end - time.monotonic()
            try:
                if left <= 0:
                    raise TimeoutError
                self._socket.settimeout(left)
                part = self._socket.recv(4096)
            except TimeoutError:
                raise NoAnswerError("timeout", f"no answer within {limit_s:g} s") from None
            except OSError as error:
                raise NoAnswerError("crash", f"the connection is gone: {error}") from error
            if not part:
                raise NoAnswerError("crash", "it closed the connection without an answer")
            self._rest += part
            if len(self._rest) > MAX_LINE:
                raise NoAnswerError("crash", f"its line is longer than {MAX_LINE} bytes")
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode(errors="replace").rstrip("\r")

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()


def _connected(address: str, limit_s: float) -> socket.socket:
    if "/" not in address:
        host, colon, port = address.rpartition(":")
        number = whole_number(port) or 0
        if not colon or not 0 < number < 65536:
            raise PlayerError(f"write an address as HOST:PORT or /path/of/socket, got {address!r}")
        return socket.create_connection((host or "localhost", number), timeout=limit_s)
    local = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        local.settimeout(limit_s)
        local.connect(address)
    except OSError:
        local.close()
        raise
    return local
