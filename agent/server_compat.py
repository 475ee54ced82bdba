"""Endpoints in the shape of wildbg and bgweb (CONVENTIONS.md A.1 and A.2 of the project)."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from agent import service_compat
from agent.server_native import computed
from agent.service_asks import GetMovesAsk

router = APIRouter(tags=["compatible"])
Answer = dict[str, Any]

START = {24: 2, 19: -5, 17: -3, 13: 5, 12: -5, 8: 3, 6: 5, 1: -2}


def _parameter(name: str, about: str, example: int | None = None, is_required: bool = False) -> Answer:
    found: Answer = {
        "name": name,
        "in": "query",
        "required": is_required,
        "description": about,
        "schema": {"type": "integer"},
    }
    return found if example is None else found | {"example": example}


_PIPS = [
    _parameter(f"p{i}", "checkers on the point: x above zero, o below; 25 is x's bar, 0 is o's", START.get(i))
    for i in range(26)
]
_SCORE = [_parameter(name, "0: money; 1 for both: one-point match") for name in ("x_away", "o_away")]
_DICE = [_parameter("die1", "first die", 3, True), _parameter("die2", "second die", 1, True)]


@router.get("/move", summary="wildbg: legal plays, best first", openapi_extra={"parameters": _DICE + _SCORE + _PIPS})
async def move(request: Request) -> Answer:
    judges, query = request.app.state.service.judges, dict(request.query_params)
    is_slow = query.get("die1") == query.get("die2")  # doubles have up to 2,000 plays
    return await computed(request, is_slow, lambda flag: service_compat.wildbg_move(query, judges))


@router.get("/eval", summary="wildbg: a position before the roll", openapi_extra={"parameters": _PIPS})
async def evaluation(request: Request) -> Answer:
    judges, query = request.app.state.service.judges, dict(request.query_params)
    return await computed(request, False, lambda flag: service_compat.wildbg_eval(query, judges))


@router.post("/api/v1/getmoves", summary="bgweb: legal plays, best first", response_model_exclude_none=True)
async def getmoves(ask: GetMovesAsk, request: Request) -> list[Answer]:
    judges = request.app.state.service.judges
    is_slow = ask.dice[0] == ask.dice[1]
    found = await computed(request, is_slow, lambda flag: {"plays": service_compat.getmoves(ask, judges)})
    plays: list[Answer] = found["plays"]
    return plays
