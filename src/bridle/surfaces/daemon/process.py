"""The daemon: opens the engine once and serves it until it is told to stop.

```
lock ─▶ engine ─▶ socket (and TCP, HTTP, gRPC) ─▶ … ─▶ SIGTERM or shutdown ─▶ no new clients
                                           runs get time to end, unfinished ones are parked ─▶ exit
```
"""

import asyncio
import logging
import os
import resource
import signal
import socket
import ssl
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack, aclosing, suppress
from typing import TYPE_CHECKING

import bridle
from bridle.app import Extensions, comms_of, open_service, open_telemetry
from bridle.config.settings import Settings
from bridle.core.errors import ConfigError, UsageError
from bridle.core.ids import SessionId
from bridle.core.session_api import LiveSession, SessionApi
from bridle.sessions.service import SessionService
from bridle.surfaces.daemon.daemon_files import DaemonFiles
from bridle.surfaces.daemon.forced_exit import LOST
from bridle.surfaces.daemon.idle_sessions import resident_bytes, unload_idle_sessions
from bridle.surfaces.daemon.listen_address import parse_listen_address
from bridle.surfaces.remote.asks import DaemonStatus, WebAddress
from bridle.surfaces.remote.server import RemoteServer
from bridle.system.tls_files import TlsFiles
from bridle.system.unix_socket import short_path

if TYPE_CHECKING:
    from bridle.comms.hub import Comms
    from bridle.providers.embedded.weights import Progress, Weights
    from bridle.scale.token_auth import TokenGate
    from bridle.surfaces.daemon.cluster_service import ClusterService
    from bridle.surfaces.daemon.http_service import HttpService
    from bridle.telemetry.exporter import Telemetry
if TYPE_CHECKING:
    from bridle.surfaces.rpc import RpcContext, SocketServer


# ---------------------------------------------------------------------------- JSON-RPC socket


RPC_BACKLOG = 64


class RpcService:
    """Accepts the clients of one socket."""

    def __init__(self, api: SessionApi, environ: Mapping[str, str], place: DaemonFiles, usual: str) -> None:
        """Take the sessions; `usual` is the folder of sessions that name none."""
        self._api = api
        self._environ = environ
        self._usual = usual
        self._place = place
        self._listener: SocketServer | None = None

    async def open(self) -> asyncio.Server:
        """Listen on a socket that only the user can open; raises OSError."""
        api = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            self._place.rpc.unlink(missing_ok=True)  # we hold the lock: it is a dead daemon's
            with short_path(str(self._place.rpc)) as path:
                api.bind(path)
        finally:
            os.umask(before)
        return await asyncio.start_unix_server(self._take, sock=api, backlog=RPC_BACKLOG)

    def context(self) -> "RpcContext":
        """Return the state shared by all connections; runs continue after their client disconnects."""
        from bridle.surfaces.meerkat.contract import DEFAULT_CONTRACT, parse_contract
        from bridle.surfaces.rpc import RpcContext
        from bridle.surfaces.shared.folder_info import Folders

        return RpcContext(
            api=self._api,
            folders=Folders(self._environ, self._usual),
            contract=parse_contract(DEFAULT_CONTRACT),
            keeps_runs=True,
            version=bridle.__version__,
        )

    async def aclose(self) -> None:
        """End every connection."""
        with suppress(FileNotFoundError):
            os.unlink(self._place.rpc)
        if self._listener is not None:
            await self._listener.aclose()

    def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._listener is None:
            from bridle.surfaces.rpc import SocketServer

            self._listener = SocketServer(self.context())
        self._listener.take(reader, writer)


# ---------------------------------------------------------------------------- daemon

BACKLOG = 1024
WEB_HOST, WEB_PORT = "127.0.0.1", 7417  # the default of the page, if not configured and free
LINGER_S = 0.05  # for watchers of a run to get the last records
MAX_DESCRIPTORS = 8192  # wanted: one per client, some per kernel and per model

log = logging.getLogger("bridle.daemon")


class Daemon:
    """One engine and its listeners."""

    def __init__(self, settings: Settings, environ: Mapping[str, str], *, is_gateway: bool = False) -> None:
        """Take the settings; a gateway runs no sessions of the cluster itself."""
        self._is_gateway = is_gateway
        self._cluster: ClusterService | None = None
        self._api: SessionApi | None = None
        self._gate: TokenGate | None = None
        self._live: dict[SessionId, LiveSession] = {}
        """The sessions in memory on all machines of the cluster."""
        self._settings = settings
        self._environ = environ
        self._place = DaemonFiles(settings.home)
        self._started_at = time.time_ns() // 1_000_000
        self._stop = asyncio.Event()
        self._is_lost = False
        self._service: SessionService | None = None
        self._telemetry: Telemetry | None = None
        self._comms: Comms | None = None
        self._server: RemoteServer | None = None
        self._rpc: RpcService | None = None
        self._http: HttpService | None = None
        self._opening_web = asyncio.Lock()  # so that it is opened once
        self._listening: list[str] = []
        self._pulled = ("", 0)

    # ------------------------------------------------------------------ for clients

    def status(self) -> DaemonStatus:
        """Return the status of the daemon."""
        assert self._service is not None
        assert self._server is not None
        return DaemonStatus(
            version=bridle.__version__,
            pid=os.getpid(),
            started_at=self._started_at,
            home=str(self._settings.home),
            socket=str(self._place.socket),
            listening=tuple(self._listening),
            memory_bytes=resident_bytes(),
            clients=self._server.clients,
            sessions=tuple(self._service.live() if self._cluster is None else self._live.values()),
            is_stopping=self._stop.is_set(),
            is_node=self._cluster is not None,
        )

    async def open_web(self) -> WebAddress:
        """Serve the page if it is not served yet; return a link that logs in one browser.

        Raises ConfigError if it can listen on no port.
        """
        async with self._opening_web:
            if self._stop.is_set():
                raise UsageError("the daemon is shutting down", hint="try again in a moment")
            http = self._http or await self._open_web()
            return WebAddress(http.page, http.address)

    def request_shutdown(self) -> None:
        """Start to shut down."""
        if not self._stop.is_set():
            log.info("shutting down")
            self._stop.set()

    # ------------------------------------------------------------------ life cycle

    async def run(self) -> int:
        """Serve until told to stop; return the exit status. Raises DaemonRuns, ConfigError, OSError."""
        with self._place.held():
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGHUP, lambda: None)  # a closing terminal must not end us
            self._place.load_token()  # before models exist, so that it is masked for them
            self._telemetry = open_telemetry(self._settings, self._environ)
            self._comms = comms_of(self._settings)
            brought = Extensions(telemetry=self._telemetry, comms=self._comms)
            self._service, self._api = await self._open(brought)
            for number in (signal.SIGTERM, signal.SIGINT):  # an earlier signal ends us at once
                loop.add_signal_handler(number, self.request_shutdown)
            try:
                await self._serve(self._service, self._api)
            finally:
                await self._service.aclose()
                if self._cluster is not None:
                    await self._cluster.aclose()
                with suppress(FileNotFoundError):
                    self._place.socket.unlink()
                log.info("ended")
            return LOST if self._is_lost else 0

    async def _open(self, brought: Extensions) -> tuple[SessionService, SessionApi]:
        """Open the sessions of this process, and the API that surfaces use."""
        if not (self._is_gateway or self._settings.scale.enabled):
            service = open_service(self._settings, self._environ, self._tell_weights, brought)
            return service, service
        from bridle.surfaces.daemon.cluster_service import ClusterService

        self._cluster = ClusterService(self._settings, self._environ, is_worker=not self._is_gateway)
        opened = await self._cluster.open(self._tell_weights, brought)
        return opened.service, opened.api

    async def _serve(self, service: SessionService, api: SessionApi) -> None:
        token = self._place.load_token()
        most = _open_descriptors() // 2
        keys = {
            self._settings.providers[name].api_key_env: key.reveal()
            for name, key in self._settings.api_keys.items()
        }
        self._gate = None if self._cluster is None else self._cluster.gate(token)
        self._server = RemoteServer(
            api, self, version=bridle.__version__, token=token, most=most, keys=keys, gate=self._gate
        )
        async with AsyncExitStack() as stack:
            listeners: list[asyncio.Server] = []
            stack.callback(_close, listeners)
            self._rpc = rpc = RpcService(api, self._environ, self._place, str(self._place.work))
            stack.push_async_callback(rpc.aclose)
            listeners.append(await rpc.open())
            if self._settings.serve.tcp:
                listeners.append(await self._open_tcp(self._server))
            stack.push_async_callback(self._close_http)
            if self._settings.http.bind:
                http = self._settings.http
                tls = http.tls.files("http.tls")
                await self._open_http(
                    parse_listen_address(http.bind, "http.bind", tls=tls, has_token=http.token)
                )
            else:
                await self._open_web_again()
            if self._settings.grpc.bind:
                await self._open_grpc(service, stack)
            if self._cluster is not None:
                await self._cluster.start(self)
                if self._cluster.address:
                    self._listening.append(f"cluster {self._cluster.address}")
            await self._open_comms()
            # Last: a client that reaches this socket may assume that everything else is served, too.
            listeners.append(await self._open_socket(self._server))
            log.info("Bridle %s serves %s, process %d", bridle.__version__, self._place.socket, os.getpid())
            sweeping = asyncio.create_task(unload_idle_sessions(service, self._settings.serve))
            watching = asyncio.create_task(self._watch_nodes(api))
            await self._until_end()
            sweeping.cancel()
            watching.cancel()
            _close(listeners)
            if self._http is not None:
                self._http.stop_listening()
            timeout_s = float(self._settings.serve.shutdown_timeout)
            if self._cluster is not None:
                self._cluster.stop_taking(timeout_s)
            await service.park(0.0 if self._is_lost else timeout_s)
            await asyncio.sleep(LINGER_S)
            await self._server.aclose()

    async def _watch_nodes(self, api: SessionApi) -> None:
        """Track the sessions in memory on all machines, if this is a cluster."""
        if self._cluster is None:
            return
        async with aclosing(api.watch(None)) as items:
            async for news in items:
                if news.live is None:
                    self._live.pop(news.session, None)
                else:
                    self._live[news.session] = news.live

    async def _until_end(self) -> None:
        """Wait until we are told to stop or other nodes have declared us gone."""
        if self._cluster is None:
            await self._stop.wait()
            return
        ends = [asyncio.create_task(self._stop.wait()), asyncio.create_task(self._cluster.until_lost())]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        self._is_lost = ends[1].done()
        for end in ends:
            end.cancel()
        self.request_shutdown()

    async def _open_socket(self, server: RemoteServer) -> asyncio.Server:
        with suppress(FileNotFoundError):  # we hold the lock: the file is left from a dead daemon
            self._place.socket.unlink()
        api = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with self._place.socket_path() as path:
            before = os.umask(0o177)
            try:
                api.bind(path)
            finally:
                os.umask(before)
        return await asyncio.start_unix_server(server.connected(needs_token=False), sock=api, backlog=BACKLOG)

    async def _open_comms(self) -> None:
        """Listen for messages from peers; if another process does, each run tries again."""
        if self._comms is None:
            return
        try:
            self._listening.append(f"comms {await self._comms.open()}")
        except ConfigError as error:
            log.warning("no messages from peers: %s", error)

    async def _open_tcp(self, server: RemoteServer) -> asyncio.Server:
        tls = self._settings.serve.tls.files("serve.tls")
        host, port = parse_listen_address(self._settings.serve.tcp, "serve.tcp", tls=tls)
        try:
            opened = await asyncio.start_server(
                server.connected(needs_token=True), host, port, backlog=BACKLOG, ssl=_server_tls(tls)
            )
        except OSError as error:
            raise ConfigError(
                f'serve.tcp: cannot listen at "{self._settings.serve.tcp}": {os.strerror(error.errno or 0)}',
                hint="bridle config set serve.tcp 127.0.0.1:0 picks a free port",
            ) from error
        address = opened.sockets[0].getsockname()
        self._listening.append(f"tcp {address[0]}:{address[1]}")
        return opened

    async def _open_http(self, address: tuple[str, int]) -> "HttpService":
        from bridle.surfaces.daemon.http_service import HttpService, operations  # 150 ms, only if used

        assert self._service is not None
        assert self._rpc is not None
        assert self._api is not None
        side = HttpService(
            self._api,
            self._rpc.context(),
            self._settings.http,
            self._place.load_token(),
            live=self._service.live,
            gate=self._gate,
            operations=operations(self._api, self._telemetry, self._settings.telemetry, self._stop.is_set),
        )
        await side.listen(address)
        self._http = side
        self._listening.append(f"http {side.address}")
        if not self._settings.http.token:
            log.warning("HTTP at %s asks for no token: every program on this machine can use it", address[0])
        return side

    async def _open_web(self) -> "HttpService":
        try:
            http = await self._open_http((WEB_HOST, WEB_PORT))
        except ConfigError:  # another program has the port
            http = await self._open_http((WEB_HOST, 0))
        self._place.keep_web(http.address)
        return http

    async def _open_web_again(self) -> None:
        """Serve the page at its previous address, for browsers that still have it open."""
        if not (kept := self._place.kept_web()):
            return
        try:
            await self._open_http(parse_listen_address(kept, "run/web"))
        except (ConfigError, ValueError) as error:
            log.warning("the page cannot be served as before: %s", error)
            self._place.forget_web()

    async def _close_http(self) -> None:
        if self._http is not None:
            await self._http.aclose()

    async def _open_grpc(self, service: SessionService, stack: AsyncExitStack) -> None:
        try:
            from bridle.surfaces.daemon.grpc_service import GrpcService  # 90 ms, only if used
        except ModuleNotFoundError as error:
            raise ConfigError(
                f"grpc.bind: the package {error.name} is not installed",
                hint="pip install 'bridle-agent[grpc]'",
            ) from error
        grpc = self._settings.grpc
        tls = grpc.tls.files("grpc.tls")
        address = parse_listen_address(grpc.bind, "grpc.bind", tls=tls, has_token=grpc.token)
        assert self._api is not None
        side = GrpcService(
            self._settings,
            self._environ,
            service,
            self._api,
            self._started_at,
            self.request_shutdown,
            self._gate,
        )
        server = await side.serve(address, self._place)
        stack.push_async_callback(server.aclose)
        self._listening.append(f"grpc {address[0]}:{server.port}")
        if not self._settings.grpc.token:
            log.warning("gRPC at %s asks for no token: every program on this machine can use it", address[0])

    def _tell_weights(self, weights: "Weights", progress: "Progress | None") -> None:
        """Notify watchers of a model download's progress, every ten percent."""
        if progress is None or self._service is None or not progress.total_bytes:
            return
        tenths = 10 * progress.done_bytes // progress.total_bytes
        if (progress.phase, tenths) != self._pulled:
            self._pulled = progress.phase, tenths
            self._service.notify(f"{weights.name}: {progress.phase} {tenths * 10} %")


def _close(listeners: list[asyncio.Server]) -> None:
    for listener in listeners:
        listener.close()


def _server_tls(files: TlsFiles) -> ssl.SSLContext | None:
    if not files:
        return None
    from bridle.system.tls import server_context

    return server_context(files)


def _open_descriptors() -> int:
    """Raise the limit of file descriptors as needed and allowed; return the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= MAX_DESCRIPTORS:
        return MAX_DESCRIPTORS
    wanted = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted
