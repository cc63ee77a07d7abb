"""The daemon's HTTP service: REST, event streams, the web page and JSON-RPC over a WebSocket.

Workers serve only health and metrics.
"""

import asyncio
import hmac
import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bridle.config.daemon_keys import HttpSettings, TelemetrySettings
from bridle.core.errors import ConfigError
from bridle.core.session_api import LiveSession, SessionApi
from bridle.core.tenancy import Principal
from bridle.scale.token_auth import NODE, TokenGate
from bridle.surfaces.rest.app import make_app
from bridle.surfaces.rest.contexts import folders_for
from bridle.surfaces.rest.event_stream import Streams
from bridle.surfaces.rest.guard import Guard, WrongTokenCounter
from bridle.surfaces.rest.news_feed import NewsFeed
from bridle.surfaces.rest.operations.service import PROMETHEUS
from bridle.surfaces.rest.problem_document import NOT_READY, UNAUTHORIZED, ProblemResponse, document
from bridle.surfaces.rest.readiness import Checks, Readiness, store_check
from bridle.surfaces.rest.server import HttpServer
from bridle.surfaces.rpc import RpcContext
from bridle.surfaces.rpc.websocket import rpc_route
from bridle.surfaces.web.login import Logins
from bridle.surfaces.web.web_app import LOGIN, Web
from bridle.system.tls import server_context

if TYPE_CHECKING:
    from bridle.telemetry.exporter import Telemetry


class Operations(Struct, frozen=True):
    """Health checks and metrics for operators."""

    readiness: Readiness | None = None
    """Reports whether requests can be accepted; None checks only the store."""
    metrics: Callable[[], bytes] | None = None
    """Returns the metrics in Prometheus format; blocks."""
    open_metrics: bool = False
    """True if metrics are public, without a token."""


NO_OPERATIONS = Operations()


def operations(
    api: SessionApi,
    telemetry: "Telemetry | None",
    wanted: TelemetrySettings,
    is_draining: Callable[[], bool],
) -> Operations:
    """Return the enabled operations; ready means that the store answers and the process is not stopping."""
    return Operations(
        readiness=Checks({"store": store_check(api)}, is_draining=is_draining),
        metrics=telemetry.metrics_text if telemetry is not None and wanted.prometheus else None,
        open_metrics=wanted.prometheus_open,
    )


class HttpService:
    """An HTTP service; its creator closes it."""

    def __init__(
        self,
        api: SessionApi,
        rpc: RpcContext,
        settings: HttpSettings,
        token: str,
        *,
        live: Callable[[], Sequence[LiveSession]],
        operations: Operations = NO_OPERATIONS,
        gate: TokenGate | None = None,
    ) -> None:
        """Take the sessions; JSON-RPC uses the same folders.

        Clients with their own token, other than the daemon's, get the session API that `gate` returns.
        """
        self._tls = settings.tls.files("http.tls")
        self._rpc = rpc
        self._gate = gate
        self._settings = settings
        self._operations = operations
        self._token = token if settings.token else ""
        self._logins = Logins(token) if settings.token else None
        self._web = Web(self._logins, WrongTokenCounter(time.monotonic))
        self._streams = Streams(api)
        self._news = NewsFeed(api)
        self._app = make_app(
            api,
            rpc.folders,
            self._streams,
            news=self._news,
            live=live,
            routes=[rpc_route(rpc, context_for=self._rpc_context), *self._web.routes()],
            readiness=operations.readiness,
            metrics=operations.metrics,
            gate=gate,
        )
        self._server: HttpServer | None = None

    @property
    def address(self) -> str:
        """The address it listens at, with the actual port if 0 was requested."""
        assert self._server is not None
        host = f"[{self._server.host}]" if ":" in self._server.host else self._server.host
        return f"{host}:{self._server.port}"

    @property
    def page(self) -> str:
        """A link to the page that logs in the first browser to open it."""
        begin = f"{'https' if self._tls else 'http'}://{self.address}"
        return f"{begin}{LOGIN}?code={self._logins.new_code()}" if self._logins is not None else f"{begin}/"

    async def listen(self, address: tuple[str, int]) -> None:
        """Start to listen; raises ConfigError if that fails."""
        host, port = address
        hosts = (host, *self._settings.hosts)
        guard = Guard(
            self._app,
            token=self._token,
            hosts=hosts,
            origins=self._settings.origins,
            page=self._web.rules(),
            open_paths=("/metrics",) if self._operations.open_metrics else (),
            principals=self._gate.principal if self._gate is not None else None,
        )
        server = HttpServer(guard)
        try:
            await server.listen(host, port, server_context(self._tls) if self._tls else None)
        except OSError as error:
            raise ConfigError(
                f'http.bind: cannot listen at "{host}:{port}": {os.strerror(error.errno or 0)}',
                hint="bridle config set http.bind 127.0.0.1:0 picks a free port",
            ) from error
        self._server = server

    async def _rpc_context(self, principal: Principal) -> RpcContext:
        if self._gate is None or principal == NODE:
            return self._rpc
        gate = self._gate
        folders = await folders_for(gate, principal, self._rpc.folders)
        return replace(
            self._rpc,
            api=gate.api(principal),
            folders=folders,
            may_look=lambda target: gate.look(principal, target),
        )

    def stop_listening(self) -> None:
        """Accept no new requests; those that wait for a run, and streams, continue."""
        if self._server is not None:
            self._server.stop_listening()

    async def aclose(self) -> None:
        """End the streams and close everything within seconds."""
        self._streams.stop()
        self._news.stop()
        self._app.state.contexts.stop()
        if self._server is not None:
            await self._server.aclose()


# ---------------------------------------------------------------------------- worker


def worker_http(readiness: Readiness, metrics: Callable[[], bytes] | None, token: str) -> HttpServer:
    """Create the server; metrics require the token, or are public if it is empty."""

    async def health(request: Request) -> Response:
        return PlainTextResponse("ok")

    async def ready(request: Request) -> Response:
        failing = await readiness.failing()
        if failing:
            return ProblemResponse(document(NOT_READY, f"not in order: {', '.join(failing)}"))
        return PlainTextResponse("ready")

    async def show_metrics(request: Request) -> Response:
        shown = request.headers.get("authorization", "").encode()
        if token and not hmac.compare_digest(shown, f"Bearer {token}".encode()):
            return ProblemResponse(document(UNAUTHORIZED))
        assert metrics is not None
        return Response(await asyncio.to_thread(metrics), media_type=PROMETHEUS)

    routes = [Route("/health", health), Route("/ready", ready)]
    if metrics is not None:
        routes.append(Route("/metrics", show_metrics))
    return HttpServer(Starlette(routes=routes))
