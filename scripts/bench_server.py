"""How fast `nardy serve` answers: one client, many clients, and 0-ply suggestions beside 2-ply ones and rollouts.

Answers are checked before they count: the status, the number of plays, the level, the trials. Without --url a server of
its own is started on a free port, with its games in a temporary folder.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
DICE = ("31", "64", "55", "21", "62", "43")
RULES = ("short", "long_classic")
SHARES = {"0-ply": 0.90, "2-ply": 0.07, "rollout": 0.03}  # of requests; people look at plays far more often
THINK_S = 0.5  # mean pause of a client between two requests


@dataclass
class Load:
    """Times in seconds by kind of request, and what went wrong."""

    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    faults: list[str] = field(default_factory=list)
    memory_mb: list[float] = field(default_factory=list)

    def percentiles(self, kind: str) -> tuple[float, float, float]:
        """p50, p95 and p99 of a kind, in milliseconds."""
        return tuple(1000 * float(np.percentile(self.times[kind], p)) for p in (50, 95, 99))


async def suggestion(client: httpx.AsyncClient, load: Load, rules: str, dice: str, plies: int) -> None:
    """One suggestion, timed and checked."""
    start = time.perf_counter()
    answer = await client.post("/api/v1/suggest", json={"rules": rules, "dice": dice, "plies": plies, "top": 3})
    load.times[f"{plies}-ply"].append(time.perf_counter() - start)
    body = answer.json()
    if answer.status_code != 200 or body["suggestions"][0]["level"] != f"{plies}-ply":
        load.faults.append(f"{plies}-ply {rules} {dice}: {answer.text[:200]}")


async def rollout(client: httpx.AsyncClient, load: Load, rules: str, dice: str, trials: int = 72) -> None:
    """One short rollout, read to its end."""
    start = time.perf_counter()
    ask = {"rules": rules, "dice": dice, "top": 2, "trials": trials, "truncate": 4}
    async with client.stream("POST", "/api/v1/rollout", json=ask) as answer:
        lines = [json.loads(line) async for line in answer.aiter_lines() if line]
    load.times["rollout"].append(time.perf_counter() - start)
    if answer.status_code != 200 or lines[-1].get("type") != "result" or lines[-1]["rollout"]["trials"] != trials:
        load.faults.append(f"rollout {rules} {dice}: {lines[-1]}")


def many_connections(url: str) -> httpx.AsyncClient:
    """One client object for all: making one takes longer than an answer."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    return httpx.AsyncClient(base_url=url, timeout=300.0, limits=limits)


async def one_client(client: httpx.AsyncClient, load: Load, seed: int, end: float, think_s: float) -> None:
    """A client that asks, thinks and asks again until the end."""
    rng = np.random.default_rng(seed)
    while time.monotonic() < end:
        await asyncio.sleep(rng.exponential(think_s))
        kind = rng.choice(list(SHARES), p=list(SHARES.values()))
        rules, dice = str(rng.choice(RULES)), str(rng.choice(DICE))
        try:
            if kind == "rollout":
                await rollout(client, load, rules, dice)
            else:
                await suggestion(client, load, rules, dice, int(kind[0]))
        except httpx.HTTPError as error:
            load.faults.append(f"{kind}: {error!r}")


async def mixed_load(url: str, clients: int, seconds: float, pid: int | None = None, think_s: float = THINK_S) -> Load:
    """Many clients at once; with the server's pid its memory is read every second."""
    load, end = Load(), time.monotonic() + seconds

    async def watch() -> None:
        while pid is not None and time.monotonic() < end:
            load.memory_mb.append(memory_mb(pid))
            await asyncio.sleep(1.0)

    async with many_connections(url) as client:
        await asyncio.gather(watch(), *(one_client(client, load, seed, end, think_s) for seed in range(clients)))
    return load


async def closed_loop(url: str, clients: int, seconds: float) -> tuple[Load, float]:
    """0-ply suggestions as fast as they are answered; the load, and suggestions per second."""
    load, start = Load(), time.monotonic()

    async def ask(client: httpx.AsyncClient, number: int) -> None:
        while time.monotonic() < start + seconds:
            await suggestion(client, load, RULES[number % 2], DICE[number % len(DICE)], 0)
            number += 1

    async with many_connections(url) as client:
        await asyncio.gather(*(ask(client, seed) for seed in range(clients)))
    return load, len(load.times["0-ply"]) / (time.monotonic() - start)


def memory_mb(pid: int) -> float:
    """Resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise ValueError(f"process {pid} has no memory")


def start_server(folder: str, nets: list[str]) -> tuple[subprocess.Popen[str], str]:
    """A server of its own, warm, and its address."""
    words = [word for net in nets for word in ("--net", net)]
    command = [sys.executable, "-m", "agent.cli", "serve", "--port", "0", "--games", folder, *words]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = ""
    while "http://" not in line:
        line = process.stderr.readline()
        if not line:
            raise SystemExit("the server ended before it listened")
    url = line[line.index("http://") :].split("/  ")[0]
    while not httpx.get(f"{url}/health").json()["is_warm"]:
        time.sleep(0.2)
    return process, url


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", help="a server that runs already")
    parser.add_argument("--net", action="append", default=[], help="a net of your own; may be repeated")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=20.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        process, url = (None, options.url) if options.url else start_server(folder, options.net)
        try:
            for clients in (1, 8):
                load, rate = asyncio.run(closed_loop(url, clients, options.seconds / 2))
                shown = " / ".join(f"{ms:.1f}" for ms in load.percentiles("0-ply"))
                print(f"0-ply, {clients} clients without pauses: {rate:.0f} suggestions/s, p50/p95/p99 {shown} ms")
                assert not load.faults, load.faults[:3]
            load = asyncio.run(mixed_load(url, options.clients, options.seconds, process and process.pid))
            assert not load.faults, load.faults[:3]
            print(f"{options.clients} clients, {THINK_S} s of thought, shares {SHARES}, {options.seconds:g} s:")
            for kind in sorted(load.times):
                shown = " / ".join(f"{ms:.1f}" for ms in load.percentiles(kind))
                print(f"  {kind}: {len(load.times[kind])} requests, p50/p95/p99 {shown} ms")
            if load.memory_mb:
                print(f"  memory {load.memory_mb[0]:.0f} MB at first, {max(load.memory_mb):.0f} MB at most")
        finally:
            if process is not None:
                process.terminate()
                process.wait()


if __name__ == "__main__":
    main()
