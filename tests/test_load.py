"""The server under load and under nonsense: 50 clients at once, and requests made from its own description."""

from __future__ import annotations

import asyncio
import importlib.util
from pathlib import Path

import pytest

from web_server import ServerProcess, client_of

ROOT = Path(__file__).resolve().parent.parent


def bench_server():
    spec = importlib.util.spec_from_file_location("bench_server", ROOT / "scripts" / "bench_server.py")
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["bench_server"] = module
    spec.loader.exec_module(module)
    return module


def test_50_clients_are_answered_while_slow_jobs_run(tmp_path, is_long) -> None:
    """0-ply answers stay quick: p95 of 150 ms with `--long`, on a machine that does nothing else."""
    bench = bench_server()
    server = ServerProcess(tmp_path)
    try:
        load = asyncio.run(
            bench.mixed_load(server.url, 50, *((60.0, server.process.pid) if is_long else (6.0, None, 3.0)))
        )
    finally:
        server.stop()
    assert load.faults == []
    assert len(load.times["0-ply"]) > 40 and load.times["2-ply"]
    _, p95, _ = load.percentiles("0-ply")
    assert p95 <= (150 if is_long else 4000)
    if is_long:
        settled = load.memory_mb[len(load.memory_mb) // 3 :]
        assert max(settled) - min(settled) < 60


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    """The application's description for schemathesis, with slow endpoints kept short by its limits."""
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    with client_of(tmp_path_factory.mktemp("fuzz")) as client:
        yield schemathesis.openapi.from_asgi("/openapi.json", client.app), client


def test_requests_made_from_the_description_are_never_a_fault_of_the_server(described, is_long) -> None:
    from hypothesis import HealthCheck, Phase, Verbosity, given, settings

    schema, _ = described
    asked = 0
    for operation in schema.get_all_operations():
        found = operation.ok()
        if found.path.endswith(("/rollout", "/watch")):
            continue  # streams of their own tests; a random request could run for minutes

        @settings(
            max_examples=200 if is_long else 12,
            deadline=None,
            derandomize=True,
            database=None,
            verbosity=Verbosity.quiet,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.explicit, Phase.generate),
        )
        @given(case=found.as_strategy())
        def asks(case) -> None:
            nonlocal asked
            asked += 1
            answer = case.call(timeout=120)
            assert answer.status_code < 500, f"{case.method} {case.path}: {answer.text[:300]}"
            if answer.status_code >= 400:
                assert set(answer.json()) >= {"message"}
                assert answer.status_code in (400, 404, 405, 429)

        asks()
    assert asked >= 150
