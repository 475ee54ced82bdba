"""The HTTP service with small random nets: in this process, or in one of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import httpx

from agent.jobs import Limits
from agent.net import save_net
from agent.server import ServerConfig, make_app
from small_net import small_net

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # starlette would rather have the package httpx2
    from fastapi.testclient import TestClient

ROOT = Path(__file__).resolve().parent.parent


def small_nets(folder: Path) -> tuple[Path, ...]:
    """Files of a random net for each game."""
    paths = []
    for rules in ("short", "long_classic"):
        path = folder / f"{rules}.safetensors"
        if not path.exists():
            save_net(small_net(rules), path)
        paths.append(path)
    return tuple(paths)


def client_of(folder: Path, **settings: object) -> TestClient:
    """A client of the application itself, without a network; games are kept in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    limits = settings.pop("limits", Limits())
    config = ServerConfig(
        nets=small_nets(folder), folder=folder / "games", hosts=None, is_warmed=False, limits=limits, **settings
    )
    return TestClient(make_app(config), raise_server_exceptions=False)


class ServerProcess:
    """`nardy serve` as a process of its own on a free port."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        nets = [word for path in small_nets(folder) for word in ("--net", str(path))]
        command = [sys.executable, "-m", "agent.cli", "serve", "--port", str(port), "--games", str(folder / "games")]
        self.process = subprocess.Popen(
            [*command, *nets],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert self.process.stderr is not None
        line = ""
        while "http://" not in line:
            line = self.process.stderr.readline()
            assert line, "the server ended before it listened"
        self.url = line[line.index("http://") :].split("/  ")[0]
        self.port = int(self.url.rpartition(":")[2])
        end = time.monotonic() + 400
        while not httpx.get(f"{self.url}/health").json()["is_warm"]:
            assert time.monotonic() < end, "the server did not load its kernels"
            time.sleep(0.2)

    def stop(self) -> int:
        """Interrupt it, as Ctrl-C does; its exit code."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=20)
        if self.process.stderr is not None:
            self.process.stderr.close()
        return code
