"""Soak a server and an arena side by side: memory must stay flat and no file descriptor may be left open.

The server answers suggestions, judges, plays games and loses the reader of most rollouts; the arena plays one match
after another in one process. Memory is the median of the resident set in a window, descriptors the fewest in it: the
last tenth of the samples is compared with those from a fifth to three tenths of them. Exit code 1 if memory grew by
more than --limit percent, a descriptor was left open, or an answer was wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np
from bench_server import DICE, ROOT, RULES, Load, many_connections, memory_mb, rollout, start_server, suggestion
from tqdm import tqdm

FIRST, LAST = (0.2, 0.3), (0.9, 1.0)  # windows that are compared, as shares of the samples
ARENA = """
import itertools, pathlib, sys, tempfile
sys.path.insert(0, sys.argv[1])
from agent.arena import round_robin, run_tournament
with tempfile.TemporaryDirectory() as folder:
    for seed in itertools.count():
        results = pathlib.Path(folder, "results.jsonl")
        for rules in ("short", "long_classic"):
            run_tournament(round_robin(["net", "heuristic", "random"], pairs=16), rules, seed, results=results)
        results.unlink()
        print(seed + 1, flush=True)
"""


@dataclass
class Samples:
    """What a process used: MB and descriptors, one entry a sample."""

    memory: list[float] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)

    def take(self, pid: int) -> None:
        """Measure now."""
        self.memory.append(memory_mb(pid))
        self.descriptors.append(len(list(Path(f"/proc/{pid}/fd").iterdir())))

    def growth(self) -> tuple[float, int]:
        """Percent of memory and number of descriptors that came between the two windows."""
        count = len(self.memory)
        first, last = (
            slice(int(low * count), max(int(low * count) + 1, int(high * count))) for low, high in (FIRST, LAST)
        )
        percent = 100.0 * float(np.median(self.memory[last]) / np.median(self.memory[first]) - 1.0)
        return percent, min(self.descriptors[last]) - min(self.descriptors[first])


async def game(client: httpx.AsyncClient, load: Load, rules: str, rng: np.random.Generator) -> None:
    """A game of two bots, looked at, judged and deleted; some are left in the middle."""
    start = time.perf_counter()
    ask = {"rules": rules, "players": ["net", "heuristic"], "seed": int(rng.integers(2**31))}
    state = (await client.post("/api/v1/games", json=ask)).json()
    path = f"/api/v1/games/{state['id']}"
    for _ in range(int(rng.integers(10, 400))):
        if state["state"] == "over":
            break
        act = "roll" if state["state"] == "toss" else "bot"
        answer = await client.post(f"{path}/{act}", json={"revision": state["revision"]})
        if answer.status_code != 200:
            load.faults.append(f"game: {answer.text[:200]}")
            break
        state = answer.json()
    await client.get(f"{path}/analysis")
    await client.delete(path)
    load.times["game"].append(time.perf_counter() - start)


async def lost_rollout(client: httpx.AsyncClient, load: Load, rules: str, dice: str) -> None:
    """A long rollout whose reader goes away after its first line."""
    start = time.perf_counter()
    ask = {"rules": rules, "dice": dice, "top": 2, "trials": 1296}
    async with client.stream("POST", "/api/v1/rollout", json=ask) as answer:
        async for line in answer.aiter_lines():
            if line and json.loads(line)["type"] != "waiting":
                break
    load.times["lost rollout"].append(time.perf_counter() - start)


async def watcher(client: httpx.AsyncClient, load: Load, rules: str) -> None:
    """Somebody who watches a game for a moment."""
    state = (await client.post("/api/v1/games", json={"rules": rules, "players": ["you:A", "you:B"]})).json()
    path = f"/api/v1/games/{state['id']}"
    async with client.stream("GET", f"{path}/watch") as answer:
        async for _ in answer.aiter_lines():
            break
    await client.delete(path)
    load.times["watch"].append(0.0)


async def one_client(client: httpx.AsyncClient, load: Load, seed: int) -> None:
    """Ask for one thing after another until cancelled."""
    rng = np.random.default_rng(seed)
    while True:
        rules, dice = str(rng.choice(RULES)), str(rng.choice(DICE))
        asks: list[Callable[[], Awaitable[None]]] = [
            lambda r=rules, d=dice: suggestion(client, load, r, d, 0),
            lambda r=rules, d=dice: suggestion(client, load, r, d, 1),
            lambda r=rules: game(client, load, r, rng),
            lambda r=rules, d=dice: rollout(client, load, r, d, 36),
            lambda r=rules, d=dice: lost_rollout(client, load, r, d),
            lambda r=rules: watcher(client, load, r),
        ]
        try:
            await asks[rng.choice(len(asks), p=(0.6, 0.15, 0.1, 0.05, 0.05, 0.05))]()
        except httpx.HTTPError as error:
            load.faults.append(repr(error))
        await asyncio.sleep(rng.exponential(0.05))


async def soak(url: str, clients: int, seconds: float, samples: dict[int, Samples]) -> Load:
    """Load the server for so long and measure the processes, every second or a hundred times."""
    load, began = Load(), time.monotonic()

    async def watch() -> None:
        with tqdm(total=round(seconds), unit="s") as bar:
            while (at := time.monotonic() - began) < seconds:
                for pid, taken in samples.items():
                    taken.take(pid)
                bar.update(round(at) - bar.n)
                await asyncio.sleep(min(1.0, seconds / 100))

    async with many_connections(url) as client:
        tasks = [asyncio.create_task(one_client(client, load, seed)) for seed in range(clients)]
        await watch()
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
    load.faults += [f"a client broke off: {end!r}" for end in ends if not isinstance(end, asyncio.CancelledError)]
    return load


def main() -> int:
    """Soak, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--limit", type=float, default=5.0, help="percent by which memory may grow")
    args = parser.parse_args()
    if args.minutes <= 0 or args.clients < 1:
        parser.error("--minutes must be above 0, --clients at least 1")
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        arena = subprocess.Popen([sys.executable, "-c", ARENA, str(ROOT)], stdout=subprocess.PIPE, text=True)
        stack.callback(stop, arena)
        assert arena.stdout is not None
        arena.stdout.readline()  # its kernels are compiled
        server, url = start_server(folder, [])
        stack.callback(stop, server)
        named = {"server": (server.pid, Samples()), "arena": (arena.pid, Samples())}
        load = asyncio.run(soak(url, args.clients, 60 * args.minutes, dict(named.values())))
        assert server.poll() is None and arena.poll() is None, "a process ended"
    for kind, times in sorted(load.times.items()):
        print(f"{kind}: {len(times)} requests")
    grown = {name: samples.growth() for name, (_, samples) in named.items()}
    for name, (percent, descriptors) in grown.items():
        peak = max(named[name][1].memory)
        print(f"{name}: memory {percent:+.1f} %, at most {peak:.0f} MB, descriptors {descriptors:+d}")
    for fault in load.faults[:5]:
        print(f"fault: {fault}")
    worst, left = max(percent for percent, _ in grown.values()), max(count for _, count in grown.values())
    print(f"faults {len(load.faults)}")
    print(f"memory growth {worst:.1f} % (limit {args.limit:g} %), descriptors {left:+d}")
    return 1 if load.faults or worst > args.limit or left > 0 else 0


def stop(process: subprocess.Popen[str]) -> None:
    """End a process that was started here."""
    process.terminate()
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


if __name__ == "__main__":
    sys.exit(main())
