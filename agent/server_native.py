"""Native endpoints under `/api/v1`: suggestions, evaluations, legal plays, reasons, rollouts, batches."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from agent import service as answers
from agent.jobs import Jobs, StopFlag
from agent.schema import EVALUATION, ROLLOUT, SUGGESTION, SUGGESTIONS
from agent.service_asks import (
    BatchAsk,
    Depth,
    DescribeAsk,
    EvaluateAsk,
    LegalAsk,
    RolloutAsk,
    SuggestAsk,
    WhyAsk,
)
from agent.service_turns import VERDICTS
from engine.errors import NardyError

router = APIRouter(prefix="/api/v1", tags=["judging"])
Answer = dict[str, Any]

_TEXT = {"type": "string"}
_ECHO = {"position": _TEXT, "notes": {"type": "array", "items": _TEXT}}


def _widened(schema: Answer, fields: Answer) -> Answer:
    return schema | {"properties": schema["properties"] | fields}


def _documented(schema: Answer, kind: str = "application/json") -> dict[int | str, Any]:
    return {200: {"content": {kind: {"schema": schema}}}}


_SUGGESTION = _widened(
    SUGGESTION,
    {"verdict": {"enum": list(VERDICTS)}, "words": {"type": "array", "items": _TEXT, "description": "if asked for"}},
)
_SUGGESTIONS = _widened(SUGGESTIONS, _ECHO | {"suggestions": {"type": "array", "items": _SUGGESTION}})


async def computed(request: Request, is_slow: bool, work: Callable[[StopFlag | None], Answer]) -> Answer:
    """An answer computed among the quick or the slow jobs."""
    jobs = request.app.state.service.jobs
    if is_slow:
        found: Answer = await jobs.slow(work, request.is_disconnected)
    else:
        found = await jobs.quick(lambda: work(None))
    return found


def _plies(ask: Depth) -> int:
    return answers.depth_of(ask).plies


@router.get("/rules", summary="Presets, their options, and the geometry of their boards")
async def rules() -> Answer:
    return answers.rules_answer()


@router.get("/nets", summary="Nets by game")
async def nets(request: Request) -> dict[str, str]:
    service = request.app.state.service
    found: dict[str, str] = await service.jobs.quick(service.judges.names)
    return found


@router.post("/position", summary="What a position text means, with its IDs")
async def position(ask: DescribeAsk, request: Request) -> Answer:
    return await computed(request, False, lambda flag: answers.describe_answer(ask))


@router.post("/suggest", summary="The best plays of a roll", responses=_documented(_SUGGESTIONS))
async def suggest(ask: SuggestAsk, request: Request) -> Answer:
    judges = request.app.state.service.judges
    is_slow = _plies(ask) >= answers.SLOW_PLIES or ask.top > answers.QUICK_TOP
    return await computed(request, is_slow, lambda flag: answers.suggest_answer(ask, judges, flag))


@router.post(
    "/evaluate", summary="What a position is worth before the roll", responses=_documented(_widened(EVALUATION, _ECHO))
)
async def evaluate(ask: EvaluateAsk, request: Request) -> Answer:
    judges = request.app.state.service.judges
    return await computed(request, _plies(ask) >= 1, lambda flag: answers.evaluate_answer(ask, judges, flag))


@router.post("/legal", summary="The legal plays of a roll")
async def legal(ask: LegalAsk, request: Request) -> Answer:
    return await computed(request, ask.limit > 50, lambda flag: answers.legal_answer(ask))


@router.post("/why", summary="Whether a play is legal and, if not, which rule it breaks")
async def why(ask: WhyAsk, request: Request) -> Answer:
    return await computed(request, False, lambda flag: answers.why_answer(ask))


@router.post("/batch", summary="The best plays of many positions at once")
async def batch(ask: BatchAsk, request: Request) -> Answer:
    judges = request.app.state.service.judges
    is_slow = _plies(ask) >= 1 or len(ask.items) > answers.SLOW_BATCH
    return await computed(request, is_slow, lambda flag: answers.batch_answer(ask, judges, flag))


@router.post(
    "/rollout",
    summary="Plays played out: lines of JSON, the results so far and at last the whole",
    description='Each line is `{"type": "progress" | "result", "rollout": ...}`, `{"type": "waiting"}`, or '
    '`{"type": "error", "message": ...}`. Closing the connection ends the rollout.',
    response_class=StreamingResponse,
    responses=_documented(
        {
            "type": "object",
            "properties": {"type": _TEXT, "message": _TEXT, "rollout": _widened(ROLLOUT, _ECHO)},
            "required": ["type"],
        },
        "application/x-ndjson",
    ),
)
async def rollout(ask: RolloutAsk, request: Request) -> StreamingResponse:
    service = request.app.state.service
    flag = service.jobs.reserve()
    try:
        job = await service.jobs.quick(lambda: answers.RolloutJob(ask, service.judges, flag))
    except BaseException:
        service.jobs.release(flag)
        raise
    return StreamingResponse(_lines(*_started(job, flag, service.jobs), flag), media_type="application/x-ndjson")


def _started(job: answers.RolloutJob, flag: StopFlag, jobs: Jobs) -> tuple[asyncio.Task[None], asyncio.Queue[Answer]]:
    """The rollout as a task, and the queue of what it tells."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[Answer] = asyncio.Queue()

    def tell(kind: str, rollout: Answer) -> None:
        loop.call_soon_threadsafe(lines.put_nowait, {"type": kind, "rollout": rollout})

    async def is_gone() -> bool:
        return False  # a closed connection cancels the generator of lines

    def run(_: StopFlag) -> None:
        tell("result", job.run(lambda so_far: tell("progress", so_far)))

    return loop.create_task(jobs.slow(run, is_gone, flag)), lines


async def _lines(work: asyncio.Task[None], lines: asyncio.Queue[Answer], flag: StopFlag) -> AsyncIterator[bytes]:
    try:
        yield _line({"type": "waiting"})
        while not work.done() or not lines.empty():
            waiting = asyncio.ensure_future(lines.get())
            await asyncio.wait({waiting, work}, timeout=10, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                yield _line(waiting.result())
            else:
                waiting.cancel()
                if not work.done():
                    yield _line({"type": "waiting"})
        await work
    except NardyError as error:
        yield _line({"type": "error", "message": str(error)})
    finally:
        flag.stop("the connection was closed")
        work.cancel()


def _line(values: Answer) -> bytes:
    return json.dumps(values, ensure_ascii=False, allow_nan=False).encode() + b"\n"
