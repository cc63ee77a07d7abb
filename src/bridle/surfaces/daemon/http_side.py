"""The HTTP service of the daemon: REST, its streams, JSON-RPC over a WebSocket, and how they end."""

import os

from bridle.config.daemon_keys import HttpSettings
from bridle.core.errors import ConfigError
from bridle.sessions.service import SessionService
from bridle.surfaces.rest.app import make_app
from bridle.surfaces.rest.guard import Guard
from bridle.surfaces.rest.server import HttpServer
from bridle.surfaces.rest.stream import Streams
from bridle.surfaces.rpc import Desk
from bridle.surfaces.rpc.websocket import rpc_route


class HttpSide:
    """A service that can listen; who made it closes it."""

    def __init__(self, service: SessionService, rpc: Desk, settings: HttpSettings, token: str) -> None:
        """Take the sessions; JSON-RPC is served with the same folders."""
        self._settings = settings
        self._token = token if settings.token else ""
        self._streams = Streams(service)
        self._app = make_app(service, rpc.folders, self._streams, live=service.live, routes=[rpc_route(rpc)])
        self._server: HttpServer | None = None

    @property
    def address(self) -> str:
        """Where it listens, also when port 0 was asked for."""
        assert self._server is not None
        host = f"[{self._server.host}]" if ":" in self._server.host else self._server.host
        return f"{host}:{self._server.port}"

    async def listen(self, address: tuple[str, int]) -> None:
        """Begin; raises ConfigError when that is not possible there."""
        host, port = address
        hosts = (host, *self._settings.hosts)
        server = HttpServer(Guard(self._app, token=self._token, hosts=hosts, origins=self._settings.origins))
        try:
            await server.listen(host, port)
        except OSError as error:
            raise ConfigError(
                f'http.bind: cannot listen at "{self._settings.bind}": {os.strerror(error.errno or 0)}',
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
        if self._server is not None:
            await self._server.aclose()
