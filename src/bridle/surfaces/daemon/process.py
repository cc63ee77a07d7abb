"""The daemon itself: opens the engine once and serves it until it is told to end.

```
lock ─▶ engine ─▶ socket (and TCP, HTTP, gRPC) ─▶ … ─▶ SIGTERM or shutdown ─▶ no new clients
                                                 runs get a time to end, the rest is put aside ─▶ gone
```
"""

import asyncio
import ipaddress
import logging
import os
import resource
import signal
import socket
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import bridle
from bridle.app import open_service
from bridle.config.settings import Settings
from bridle.core.errors import BridleError, ConfigError, UsageError
from bridle.sessions.service import SessionService
from bridle.surfaces.daemon.place import Place
from bridle.surfaces.daemon.rpc_side import RpcSide
from bridle.surfaces.remote.asks import DaemonStatus, WebAddress
from bridle.surfaces.remote.server import RemoteServer

if TYPE_CHECKING:
    from bridle.providers.embedded.weights import Progress, Weights
    from bridle.surfaces.daemon.http_side import HttpSide

BACKLOG = 1024
WEB_HOST, WEB_PORT = "127.0.0.1", 7417  # where the page is, unless the settings say it or the port is taken
MAX_PORT = 65535
LINGER_S = 0.05  # in which the watchers of a run get the last that was recorded
MIN_SWEEP_S, MAX_SWEEP_S = 0.5, 30.0
MAX_DESCRIPTORS = 8192  # wanted: one for each client, some for each kernel and each model

log = logging.getLogger("bridle.daemon")


class Daemon:
    """One engine and the ways to reach it."""

    def __init__(self, settings: Settings, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._environ = environ
        self._place = Place(settings.home)
        self._started_at = time.time_ns() // 1_000_000
        self._stop = asyncio.Event()
        self._service: SessionService | None = None
        self._server: RemoteServer | None = None
        self._rpc: RpcSide | None = None
        self._http: HttpSide | None = None
        self._opening_web = asyncio.Lock()  # so that it is opened once
        self._listening: list[str] = []
        self._pulled = ("", 0)

    # ------------------------------------------------------------------ for clients

    def status(self) -> DaemonStatus:
        """Return how it is."""
        assert self._service is not None
        assert self._server is not None
        return DaemonStatus(
            version=bridle.__version__,
            pid=os.getpid(),
            started_at=self._started_at,
            home=str(self._settings.home),
            socket=str(self._place.socket),
            listening=tuple(self._listening),
            memory_bytes=_resident_bytes(),
            clients=self._server.clients,
            sessions=tuple(self._service.live()),
            is_stopping=self._stop.is_set(),
        )

    async def open_web(self) -> WebAddress:
        """Serve the page unless that is done already; returns a link that logs a browser in, once.

        Raises ConfigError when what serves it is not installed.
        """
        async with self._opening_web:
            if self._stop.is_set():
                raise UsageError("the daemon is about to end", hint="try again in a moment")
            http = self._http or await self._open_web()
            return WebAddress(http.page, http.address)

    def request_shutdown(self) -> None:
        """Begin to end."""
        if not self._stop.is_set():
            log.info("shutting down")
            self._stop.set()

    # ------------------------------------------------------------------ its life

    async def run(self) -> None:
        """Serve until told to end; raises DaemonRuns, ConfigError, OSError."""
        with self._place.held():
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self.request_shutdown)
            loop.add_signal_handler(signal.SIGHUP, lambda: None)  # a terminal that closes is not ours
            self._place.load_token()  # before there are models, to whom it is masked
            self._service = open_service(self._settings, self._environ, self._tell_weights)
            try:
                await self._serve(self._service)
            finally:
                await self._service.aclose()
                with suppress(FileNotFoundError):
                    self._place.socket.unlink()
                log.info("ended")

    async def _serve(self, service: SessionService) -> None:
        token = self._place.load_token()
        most = _open_descriptors() // 2
        keys = {
            self._settings.providers[name].api_key_env: key.reveal()
            for name, key in self._settings.api_keys.items()
        }
        self._server = RemoteServer(
            service, self, version=bridle.__version__, token=token, most=most, keys=keys
        )
        async with AsyncExitStack() as stack:
            listeners: list[asyncio.Server] = []
            stack.callback(_close, listeners)
            self._rpc = rpc = RpcSide(service, self._environ, self._place, str(self._place.work))
            stack.push_async_callback(rpc.aclose)
            listeners.append(await rpc.open())
            if self._settings.serve.tcp:
                listeners.append(await self._open_tcp(self._server))
            stack.push_async_callback(self._close_http)
            if self._settings.http.bind:
                await self._open_http(loopback(self._settings.http.bind, "http.bind"))
            else:
                await self._open_web_again()
            if self._settings.grpc.bind:
                await self._open_grpc(service, stack)
            # The last one: who reaches us there takes it that everything else is served, too.
            listeners.append(await self._open_socket(self._server))
            log.info("Bridle %s serves %s, process %d", bridle.__version__, self._place.socket, os.getpid())
            sweeping = asyncio.create_task(self._sweep(service))
            await self._stop.wait()
            sweeping.cancel()
            _close(listeners)
            if self._http is not None:
                self._http.stop_listening()
            await service.park(float(self._settings.serve.shutdown_timeout))
            await asyncio.sleep(LINGER_S)
            await self._server.aclose()

    async def _open_socket(self, server: RemoteServer) -> asyncio.Server:
        with suppress(FileNotFoundError):  # we have the lock: what lies there is of a daemon that died
            self._place.socket.unlink()
        door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with self._place.socket_path() as path:
            before = os.umask(0o177)
            try:
                door.bind(path)
            finally:
                os.umask(before)
        return await asyncio.start_unix_server(
            server.connected(needs_token=False), sock=door, backlog=BACKLOG
        )

    async def _open_tcp(self, server: RemoteServer) -> asyncio.Server:
        host, port = loopback(self._settings.serve.tcp, "serve.tcp")
        try:
            opened = await asyncio.start_server(
                server.connected(needs_token=True), host, port, backlog=BACKLOG
            )
        except OSError as error:
            raise ConfigError(
                f'serve.tcp: cannot listen at "{self._settings.serve.tcp}": {os.strerror(error.errno or 0)}',
                hint="bridle config set serve.tcp 127.0.0.1:0 takes a port that is free",
            ) from error
        address = opened.sockets[0].getsockname()
        self._listening.append(f"tcp {address[0]}:{address[1]}")
        return opened

    async def _open_http(self, address: tuple[str, int]) -> "HttpSide":
        try:
            from bridle.surfaces.daemon.http_side import HttpSide  # 150 ms, for those who want it
        except ModuleNotFoundError as error:
            raise ConfigError(
                f"http: the package {error.name} is not installed", hint="pip install 'bridle[http]'"
            ) from error
        assert self._service is not None
        assert self._rpc is not None
        side = HttpSide(self._service, self._rpc.desk(), self._settings.http, self._place.load_token())
        await side.listen(address)
        self._http = side
        self._listening.append(f"http {side.address}")
        if not self._settings.http.token:
            log.warning("HTTP at %s asks for no token: every program on this machine can use it", address[0])
        return side

    async def _open_web(self) -> "HttpSide":
        try:
            http = await self._open_http((WEB_HOST, WEB_PORT))
        except ConfigError:  # somebody else has the port
            http = await self._open_http((WEB_HOST, 0))
        self._place.keep_web(http.address)
        return http

    async def _open_web_again(self) -> None:
        """Serve the page where it was served before we ended, for the browsers that have it open."""
        if not (kept := self._place.kept_web()):
            return
        try:
            await self._open_http(loopback(kept, "run/web"))
        except (ConfigError, ValueError) as error:
            log.warning("the page cannot be served as before: %s", error)
            self._place.forget_web()

    async def _close_http(self) -> None:
        if self._http is not None:
            await self._http.aclose()

    async def _open_grpc(self, service: SessionService, stack: AsyncExitStack) -> None:
        try:
            from bridle.surfaces.daemon.grpc_side import GrpcSide  # 90 ms, for those who want it
        except ModuleNotFoundError as error:
            raise ConfigError(
                f"grpc.bind: the package {error.name} is not installed", hint="pip install 'bridle[grpc]'"
            ) from error
        address = loopback(self._settings.grpc.bind, "grpc.bind")
        side = GrpcSide(self._settings, self._environ, service, self._started_at, self.request_shutdown)
        server = await side.serve(address, self._place)
        stack.push_async_callback(server.aclose)
        self._listening.append(f"grpc {address[0]}:{server.port}")
        if not self._settings.grpc.token:
            log.warning("gRPC at %s asks for no token: every program on this machine can use it", address[0])

    async def _sweep(self, service: SessionService) -> None:
        idle_s, most = float(self._settings.serve.idle), self._settings.serve.max_sessions
        while True:
            await asyncio.sleep(max(MIN_SWEEP_S, min(MAX_SWEEP_S, idle_s / 2)))
            is_full = _resident_bytes() > self._settings.serve.memory_bytes
            try:
                await service.drop_idle(0.0 if is_full else idle_s, most)
            except (BridleError, OSError) as error:
                log.warning("an idle session could not be put away: %s", error)

    def _tell_weights(self, weights: "Weights", progress: "Progress | None") -> None:
        """Let those who watch see how far a pull is, at every tenth."""
        if progress is None or self._service is None or not progress.total_bytes:
            return
        tenths = 10 * progress.done_bytes // progress.total_bytes
        if (progress.phase, tenths) != self._pulled:
            self._pulled = progress.phase, tenths
            self._service.notify(f"{weights.name}: {progress.phase} {tenths * 10} %")


def _close(listeners: list[asyncio.Server]) -> None:
    for listener in listeners:
        listener.close()


def loopback(address: str, key: str) -> tuple[str, int]:
    """Split an address; raises ConfigError unless it can be reached from this machine only."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    name = "127.0.0.1" if host == "localhost" else host
    try:
        is_ours = ipaddress.ip_address(name).is_loopback
    except ValueError:
        is_ours = False
    if not is_ours:
        raise ConfigError(
            f'{key}: "{address}" can be reached from other machines', hint=f'use "127.0.0.1:{port}"'
        )
    if int(port) > MAX_PORT:
        raise ConfigError(f"{key}: {port} is not a port")
    return name, int(port)


def _open_descriptors() -> int:
    """Let the process have as many descriptors as it may and needs; return how many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= MAX_DESCRIPTORS:
        return MAX_DESCRIPTORS
    wanted = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted


def _resident_bytes() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
