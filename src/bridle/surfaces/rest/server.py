"""The HTTP server: uvicorn's protocols on a socket of the running event loop.

Uvicorn's own server class is not used: it installs signal handlers and wakes up ten times a second.
"""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.server import ServerState

from bridle.surfaces.rest.connection import (
    KEEP_ALIVE_S,
    MAX_HEAD_BYTES,
    MAX_LINE_BYTES,
    ConnectionLimits,
    RestConnection,
    UnauthenticatedConnections,
)
from bridle.surfaces.rest.problem_document import STOPPING, ProblemResponse, document, document_of

BACKLOG = 1024
GRACE_S = 2.0
FORCE_S = 1.0
HANDSHAKE_S = 10.0
AGAIN = "started work continues; with an idempotency-key the request can be sent again"

log = logging.getLogger("bridle.rest")


class HttpServer:
    """An HTTP server."""

    def __init__(self, app: ASGIApp, bounds: ConnectionLimits | None = None) -> None:
        self.host = ""
        self.port = 0
        """The actual port, also if 0 was requested."""
        self._app = app
        self._bounds = bounds or ConnectionLimits()
        self._state = ServerState()
        self._strangers = UnauthenticatedConnections(self._bounds.strangers)
        self._is_closing = False
        self._listener: asyncio.Server | None = None

    @property
    def connections(self) -> int:
        """The number of connected clients."""
        return len(self._state.connections)

    @property
    def requests(self) -> int:
        """The number of requests in progress."""
        return len(self._state.tasks)

    async def listen(self, host: str, port: int, tls: ssl.SSLContext | None = None) -> None:
        """Start to listen, with TLS if a context is given; raises OSError if that fails."""
        config = Config(
            self._answer,
            log_config=None,
            log_level="critical",  # or refused clients could fill the log; failures are logged here
            access_log=False,
            lifespan="off",
            interface="asgi3",
            ws="websockets-sansio",
            ws_max_size=MAX_LINE_BYTES,
            ws_per_message_deflate=False,  # a few bytes could expand to millions
            proxy_headers=False,
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_S,
            h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        )
        config.load()
        self._listener = await asyncio.get_running_loop().create_server(
            lambda: RestConnection(config, self._state, self._bounds, self._strangers),
            host,
            port,
            backlog=BACKLOG,
            ssl=tls,
            ssl_handshake_timeout=HANDSHAKE_S if tls is not None else None,
        )
        self.host, self.port = self._listener.sockets[0].getsockname()[:2]

    def stop_listening(self) -> None:
        """Accept no new connections and requests; requests in progress continue."""
        if self._listener is not None:
            self._listener.close()
        for connection in list(self._state.connections):
            if isinstance(connection, RestConnection):
                connection.shutdown()

    async def aclose(self, grace_s: float = GRACE_S) -> None:
        """Stop the server; responses get `grace_s` seconds to finish."""
        self.stop_listening()
        self._is_closing = True
        for connection in list(self._state.connections):
            connection.shutdown()
        tasks = set(self._state.tasks)
        if tasks:
            await asyncio.wait(tasks, timeout=grace_s)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=FORCE_S)  # time to send the reason
        for connection in list(self._state.connections):
            connection.transport.abort()
        with suppress(TimeoutError):
            async with asyncio.timeout(FORCE_S):
                while self._state.connections or self._state.tasks:  # noqa: ASYNC110  they are about to end
                    await asyncio.sleep(0)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; log errors, and respond without their details."""
        has_begun = False

        async def begin(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, begin)
        except ClientDisconnect:
            pass
        except asyncio.CancelledError:
            if not self._is_closing:
                raise
            # This is the outermost frame, and uvicorn would log it as a failure.
            if not has_begun:
                await ProblemResponse(document(STOPPING, hint=AGAIN))(scope, receive, send)
        except Exception as error:
            log.exception("a request failed")
            if not has_begun:
                await ProblemResponse(document_of(error))(scope, receive, send)


@asynccontextmanager
async def serve_http(
    app: ASGIApp, host: str = "127.0.0.1", port: int = 0, *, bounds: ConnectionLimits | None = None
) -> AsyncIterator[HttpServer]:
    """Serve an app at a local address while the context is open; raises OSError."""
    server = HttpServer(app, bounds)
    await server.listen(host, port)
    try:
        yield server
    finally:
        await server.aclose()
