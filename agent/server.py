"""The HTTP server: endpoints of `agent.service`, games, compatible endpoints, and the web board."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.openapi.utils import get_openapi
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from agent.bearoff import load_tables
from agent.jobs import Busy, Jobs, Limits
from agent.levels import Level
from agent.server_guard import LOCAL_HOSTS, Guard
from agent.service_compat import NoNet
from agent.service_games import GameRoom, UnknownGame
from agent.service_judges import Judges
from agent.terminal_match import default_folder
from engine.errors import ConfigError, IllegalPlayError, NardyError, SessionError
from engine.rules import RULES

WEB_FOLDER = Path(__file__).parent / "web"
ABOUT = """Suggestions, evaluations, rollouts and games of long nardy and short nardy (backgammon).

Positions are `start`, a GNUBG position ID, an XGID (short nardy) or rows `[[26],[26]]`, the player on roll first.
Every fault of a request is answered with status 400 and `{"message": ...}`; 404 is for a path that does not exist, 405
for a method that a path does not know, 429 while too much is being computed."""


@dataclass(frozen=True, kw_only=True)
class ServerConfig:
    """How the server runs."""

    nets: tuple[Path, ...] = field(default=(), metadata={"help": "Nets of your own, each in place of the shipped one."})
    folder: Path = field(default_factory=default_folder, metadata={"help": "Where games are kept."})
    hosts: tuple[str, ...] | None = field(default=LOCAL_HOSTS, metadata={"help": "Names it may be called by."})
    origins: tuple[str, ...] = field(default=(), metadata={"help": "Other origins that may send requests (CORS)."})
    limits: Limits = field(default_factory=Limits, metadata={"help": "What requests may ask for."})
    is_warmed: bool = field(default=True, metadata={"help": "Load nets and kernels before they are asked for."})


class Service:
    """What the endpoints share: nets, games and the threads that compute."""

    def __init__(self, config: ServerConfig) -> None:
        self.config = config
        self.limits = config.limits
        self.judges = Judges(config.nets)
        self.jobs = Jobs(config.limits)
        self.games = GameRoom(config.folder, self.judges, config.limits)
        self.is_warm = False
        self.watchers = 0

    def warm(self) -> None:
        """Load nets and compile kernels, so that the first request does not wait for them."""
        from agent.ranking import choose_plays, rank_plays

        for name in ("short", "long_classic"):
            with contextlib.suppress(NardyError):
                judge = self.judges.evaluator(name)
                boards, dice = judge.rules.start_board()[None], np.array([[3, 1]], dtype=np.int8)
                choose_plays(judge, boards, dice, Level())
                for plies in range(3):
                    rank_plays(judge, boards, dice, Level(plies=plies), threads=1)
        load_tables()
        self.is_warm = True


def make_app(config: ServerConfig | None = None) -> FastAPI:
    """The application, ready to serve.

    Args:
        config: net, folder of games, limits.
    Raises:
        NetError: the net cannot be read.
    """
    from agent import server_compat, server_games, server_native

    service = Service(config or ServerConfig())

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if service.config.is_warmed:
            threading.Thread(target=service.warm, name="nardy-warm", daemon=True).start()
        yield
        service.jobs.close()

    app = FastAPI(
        title="nardy",
        version=_version(),
        description=ABOUT,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.service = service
    for routes in (server_native, server_games, server_compat):
        app.include_router(routes.router)
    _add_errors(app)
    _add_pages(app, service)
    _describe(app)
    _add_guards(app, service)
    return app


def error_body(error: Exception) -> dict[str, Any]:
    """An error as JSON values: its message, and the code and reason where it has them."""
    body: dict[str, Any] = {"message": " ".join(str(error).split())}
    if isinstance(error, (SessionError, UnknownGame)):
        body["code"] = error.code
    reason = getattr(error, "reason", None)
    if isinstance(error, IllegalPlayError) and reason is not None:
        body |= {"code": reason.code, "reason": {"code": reason.code, "data": reason.data}}
    return body


def status_of(error: Exception) -> int:
    """The HTTP status of an error that a request can cause."""
    kinds: Iterable[tuple[type[Exception], int]] = ((Busy, 429), (NoNet, 500))
    return next((status for kind, status in kinds if isinstance(error, kind)), 400)


def _add_guards(app: FastAPI, service: Service) -> None:
    """What stands before every route: the last one added is asked first."""
    config = service.config
    if config.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(config.origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["content-type"],
        )
    app.add_middleware(Guard, body_bytes=service.limits.body_bytes, hosts=config.hosts, origins=config.origins)


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(NardyError)
    async def of_request(request: Request, error: NardyError) -> JSONResponse:
        return JSONResponse(_translated(request, error), status_code=status_of(error))

    @app.exception_handler(RequestValidationError)
    async def of_body(request: Request, error: RequestValidationError) -> JSONResponse:
        return JSONResponse({"message": validation_text(error.errors(), error.body)}, status_code=400)

    @app.exception_handler(HTTPException)
    async def of_http(request: Request, error: HTTPException) -> JSONResponse:
        path = str(request.scope["path"])[:100]  # request.url would read the query too, which may be no UTF-8
        allowed = (error.headers or {}).get("Allow", "another method")
        text = {
            400: "the body must be JSON in UTF-8, which it is not",  # all that the framework itself refuses so
            404: f"there is nothing at {path}; what there is stands at /docs",
            405: f"{request.method} is not allowed at {path}; allowed: {allowed}",
        }
        return JSONResponse(
            {"message": text.get(error.status_code, str(error.detail))},
            status_code=error.status_code,
            headers=error.headers,
        )

    @app.exception_handler(Exception)
    async def of_program(request: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"message": f"a fault of the server: {type(error).__name__}"}, status_code=500)


def _translated(request: Request, error: NardyError) -> dict[str, Any]:
    """The error's body, with its sentence in the language that the request asks for (`?lang=ru`)."""
    from agent.error_words import error_text
    from agent.lang import LANGS, reason_text

    body = error_body(error)
    wanted = request.query_params.get("lang", "en")
    lang = wanted if wanted in LANGS else "en"
    reason = getattr(error, "reason", None)
    if "reason" in body and reason is not None:
        body["reason"]["text"] = reason_text(reason, lang)
    if lang != "en":
        body["text"] = error_text(error, lang)
    return body


def validation_text(errors: Iterable[Any], body: Any = None) -> str:
    """Faults of a request in one line: where, what is wanted, and what was given.

    Args:
        errors: as the framework lists them.
        body: the body as it came, which is shown where it is no JSON.
    """
    parts = []
    for one in list(errors)[:3]:
        kind, place = one.get("type"), tuple(one.get("loc", ()))
        where = ".".join(str(part) for part in place if part not in ("body", "query", "path"))
        given = "" if kind == "missing" else f", got {str(one.get('input'))[:60]!r}"
        if kind == "json_invalid":
            fault = one.get("ctx", {}).get("error", "not valid")
            parts.append(f"the body must be JSON, got {str(body)[:60]!r}: {fault} at character {place[-1]}")
        elif place == ("body",):
            parts.append(f"the body must be a JSON object, sent as content-type application/json{given}")
        else:
            parts.append(f"{where}: {one.get('msg', 'not valid')}{given}")
    return " ".join("; ".join(parts).split()) or "the request is not valid"


def _add_pages(app: FastAPI, service: Service) -> None:
    @app.get("/health", tags=["server"], summary="Whether the server works")
    async def health() -> dict[str, Any]:
        return {"status": "ok", "version": _version(), "is_warm": service.is_warm, "presets": list(RULES)}

    @app.get("/docs", include_in_schema=False)
    async def docs() -> FileResponse:
        return FileResponse(WEB_FOLDER / "docs.html")

    for path in ("/swagger-ui", "/swagger-ui/", "/swagger", "/swagger/"):
        app.add_api_route(
            path, lambda: RedirectResponse("/docs"), include_in_schema=False, response_class=RedirectResponse
        )
    app.add_api_route("/api-docs/openapi.json", lambda: RedirectResponse("/openapi.json"), include_in_schema=False)

    @app.get("/", include_in_schema=False)
    async def board() -> FileResponse:
        return FileResponse(WEB_FOLDER / "index.html")

    app.mount("/web", StaticFiles(directory=WEB_FOLDER), name="web")


def _describe(app: FastAPI) -> None:
    """The OpenAPI description, with status 400 in place of the framework's 422."""
    fault = {
        "description": "What was wrong with the request",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Fault"}}},
    }

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
            schemas = schema.setdefault("components", {}).setdefault("schemas", {})
            for name in ("HTTPValidationError", "ValidationError"):
                schemas.pop(name, None)
            schemas["Fault"] = {
                "type": "object",
                "properties": {
                    **{name: {"type": "string"} for name in ("message", "text", "code")},
                    "reason": {"type": "object"},
                },
                "required": ["message"],
            }
            for path in schema["paths"].values():
                for operation in path.values():
                    operation["responses"].pop("422", None)
                    for status in ("400", "404", "405", "429"):
                        operation["responses"][status] = fault
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("nardy")
    except metadata.PackageNotFoundError:
        return "0"


def _listening(host: str, port: int) -> socket.socket:
    """A socket that takes connections from now on."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # asyncio sends at once only if TCP is named
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen(1024)
    except OSError as error:
        bound.close()
        reason = f"{host}, port {port}, cannot be listened on: {error.strerror}"
        raise ConfigError(f"{reason}; choose another with --host and --port") from error
    return bound


def serve(config: ServerConfig, host: str, port: int) -> None:
    """Serve until interrupted; slow jobs end first, then open connections.

    Raises:
        NetError: the net cannot be read.
        ConfigError: the address cannot be used.
    """
    import uvicorn

    from agent.server_protocol import Connection

    app = make_app(config)
    bound = _listening(host, port)
    sys.setswitchinterval(0.001)  # slow jobs hand the interpreter over sooner, so quick answers stay quick
    settings = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        log_level="error",
        access_log=False,
        timeout_graceful_shutdown=5,
        server_header=False,
    )

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: Any) -> None:
            app.state.service.jobs.stop()
            super().handle_exit(sig, frame)

    shown = f"[{host}]" if ":" in host else host
    print(
        f"nardy: the board is at http://{shown}:{bound.getsockname()[1]}/  (Ctrl-C ends)", file=sys.stderr, flush=True
    )
    with contextlib.suppress(KeyboardInterrupt):  # uvicorn has ended cleanly by then
        Server(settings).run(sockets=[bound])
