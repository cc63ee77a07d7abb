"""The HTTP service of the daemon: REST, its streams, the page, JSON-RPC over a WebSocket, and their end."""

import os
import time

from bridle.config.daemon_keys import HttpSettings
from bridle.core.errors import ConfigError
from bridle.sessions.service import SessionService
from bridle.surfaces.rest.app import make_app
from bridle.surfaces.rest.guard import Attempts, Guard
from bridle.surfaces.rest.news import NewsFeed
from bridle.surfaces.rest.server import HttpServer
from bridle.surfaces.rest.stream import Streams
from bridle.surfaces.rpc import Desk
from bridle.surfaces.rpc.websocket import rpc_route
from bridle.surfaces.web.login import Logins
from bridle.surfaces.web.serving import LOGIN, Web


class HttpSide:
    """A service that can listen; who made it closes it."""

    def __init__(self, service: SessionService, rpc: Desk, settings: HttpSettings, token: str) -> None:
        """Take the sessions; JSON-RPC is served with the same folders."""
        self._settings = settings
        self._token = token if settings.token else ""
        self._logins = Logins(token) if settings.token else None
        self._web = Web(self._logins, Attempts(time.monotonic))
        self._streams = Streams(service)
        self._news = NewsFeed(service)
        self._app = make_app(
            service,
            rpc.folders,
            self._streams,
            news=self._news,
            live=service.live,
            routes=[rpc_route(rpc), *self._web.routes()],
        )
        self._server: HttpServer | None = None

    @property
    def address(self) -> str:
        """Where it listens, also when port 0 was asked for."""
        assert self._server is not None
        host = f"[{self._server.host}]" if ":" in self._server.host else self._server.host
        return f"{host}:{self._server.port}"

    @property
    def page(self) -> str:
        """A link that opens the page, and logs in the first browser that follows it."""
        begin = f"http://{self.address}"
        return f"{begin}{LOGIN}?code={self._logins.new_code()}" if self._logins is not None else f"{begin}/"

    async def listen(self, address: tuple[str, int]) -> None:
        """Begin; raises ConfigError when that is not possible there."""
        host, port = address
        hosts = (host, *self._settings.hosts)
        guard = Guard(
            self._app,
            token=self._token,
            hosts=hosts,
            origins=self._settings.origins,
            page=self._web.rules(),
        )
        server = HttpServer(guard)
        try:
            await server.listen(host, port)
        except OSError as error:
            raise ConfigError(
                f'http.bind: cannot listen at "{host}:{port}": {os.strerror(error.errno or 0)}',
                hint="bridle config set http.bind 127.0.0.1:0 takes a port that is free",
            ) from error
        self._server = server

    def stop_listening(self) -> None:
        """Take no new requests; those that wait for a run, and streams, go on."""
        if self._server is not None:
            self._server.stop_listening()

    async def aclose(self) -> None:
        """Tell the streams that this is the end, and close everything within seconds."""
        self._streams.stop()
        self._news.stop()
        if self._server is not None:
            await self._server.aclose()
