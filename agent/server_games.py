"""Endpoints of games: create, look at, act, watch, load and save."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response, StreamingResponse

from agent.jobs import LOOK_S, Busy, StopFlag
from agent.server_native import computed
from agent.service_asks import ActionAsk, GameAsk, LoadAsk
from agent.service_games import OpenGame

router = APIRouter(prefix="/api/v1/games", tags=["games"])
Answer = dict[str, Any]
GameId = Annotated[str, Path(pattern="^[0-9a-f]{12}$", description="Number of the game.")]
Lang = Annotated[Literal["en", "ru"], Query(description="Language of sentences.")]
Action = Literal[  # those of service_games.ACTIONS
    "roll", "step", "move", "place", "undo", "reset", "commit", "accept", "demand",
    "resign", "accept_resignation", "decline", "bot", "nonce",
]  # fmt: skip

HEARTBEAT_S = 10.0


@router.post("", summary="Begin a game")
async def create(ask: GameAsk, request: Request, lang: Lang = "en") -> Answer:
    games = request.app.state.service.games
    return await computed(request, False, lambda flag: games.create(ask).view(lang))


@router.get("", summary="The games last played")
async def listing(request: Request, limit: Annotated[int, Query(ge=1, le=100)] = 20) -> Answer:
    games = request.app.state.service.games
    return await computed(request, False, lambda flag: {"games": games.listing(limit)})


@router.post("/load", summary="Take up a game from the text of its record")
async def load(ask: LoadAsk, request: Request, lang: Lang = "en") -> Answer:
    games = request.app.state.service.games
    return await computed(request, True, lambda flag: games.load(ask).view(lang))


@router.get("/{game}", summary="A game as a board shows it")
async def view(game: GameId, request: Request, lang: Lang = "en") -> Answer:
    games = request.app.state.service.games
    return await computed(request, False, lambda flag: games.game(game).view(lang))


@router.delete("/{game}", summary="Forget a game and remove its record")
async def delete(game: GameId, request: Request) -> Answer:
    games = request.app.state.service.games

    def work(flag: StopFlag | None) -> Answer:
        games.delete(game)
        return {"id": game, "is_deleted": True}

    return await computed(request, False, work)


@router.get("/{game}/turns", summary="The move list, with the boards")
async def turns(game: GameId, request: Request) -> Answer:
    games = request.app.state.service.games
    return await computed(request, False, lambda flag: games.game(game).turns_answer())


@router.get("/{game}/analysis", summary="The move list judged at 0-ply: equities, errors, luck")
async def analysis(game: GameId, request: Request) -> Answer:
    service = request.app.state.service
    return await computed(request, True, lambda flag: service.games.game(game).analysis_answer(service.judges))


@router.get(
    "/{game}/record",
    summary="The record of a game",
    response_class=Response,
    responses={200: {"content": {"application/x-ndjson": {"schema": {"type": "string"}}}}},
)
async def record(game: GameId, request: Request) -> Response:
    service = request.app.state.service
    data = await service.jobs.quick(lambda: service.games.record(game))
    named = {"content-disposition": f'attachment; filename="nardy-{game}.jsonl"'}
    return Response(data, media_type="application/x-ndjson", headers=named)


@router.get(
    "/{game}/watch",
    summary="The game, and again after every change: lines of JSON",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/x-ndjson": {"schema": {"type": "object"}}}}},
)
async def watch(
    game: GameId,
    request: Request,
    lang: Lang = "en",
    seconds: Annotated[float, Query(gt=0, le=3600, description="How long to watch.")] = 600.0,
) -> StreamingResponse:
    service = request.app.state.service
    if service.watchers >= service.limits.watchers:
        raise Busy(f"{service.watchers} connections watch games already; try again later")
    found = await service.jobs.quick(lambda: service.games.game(game))
    return StreamingResponse(_changes(found, request, lang, seconds), media_type="application/x-ndjson")


async def _changes(game: OpenGame, request: Request, lang: str, seconds: float) -> AsyncIterator[bytes]:
    service = request.app.state.service
    loop, changed = asyncio.get_running_loop(), asyncio.Event()
    end, beat = loop.time() + seconds, loop.time() + HEARTBEAT_S

    def listener() -> None:
        loop.call_soon_threadsafe(changed.set)

    game.listeners.add(listener)
    service.watchers += 1
    try:
        while not service.jobs.is_stopping:
            changed.clear()
            view = await service.jobs.quick(lambda: game.view(lang))
            yield json.dumps(view, ensure_ascii=False).encode() + b"\n"
            while not changed.is_set() and not service.jobs.is_stopping:
                if loop.time() >= end:
                    return
                try:
                    await asyncio.wait_for(changed.wait(), LOOK_S)
                except TimeoutError:
                    if loop.time() >= beat:
                        beat = loop.time() + HEARTBEAT_S
                        yield b"\n"
    finally:
        service.watchers -= 1
        game.listeners.discard(listener)


@router.post("/{game}/{action}", summary="Let something happen in a game")
async def act(game: GameId, action: Action, request: Request, ask: ActionAsk, lang: Lang = "en") -> Answer:
    games = request.app.state.service.games
    found: OpenGame = await request.app.state.service.jobs.quick(lambda: games.game(game))
    seat = found.bot_seat if action == "bot" else None

    def work(flag: StopFlag | None) -> Answer:
        found.act(action, ask)
        return found.view(lang)

    return await computed(request, seat is not None and seat.is_slow, work)
