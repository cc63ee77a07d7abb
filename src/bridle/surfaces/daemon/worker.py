"""`bridle worker`: a process that runs sessions of a cluster, reachable only by other nodes."""

import asyncio
import logging
import os
import signal
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

import bridle
from bridle.app import Extensions, open_telemetry
from bridle.config.settings import Settings
from bridle.core.errors import ConfigError, UsageError
from bridle.sessions.service import SessionService
from bridle.surfaces.daemon.cluster_service import ClusterService
from bridle.surfaces.daemon.daemon_files import DaemonFiles
from bridle.surfaces.daemon.forced_exit import LOST
from bridle.surfaces.daemon.idle_sessions import resident_bytes, unload_idle_sessions
from bridle.surfaces.daemon.listen_address import parse_listen_address
from bridle.surfaces.remote.asks import DaemonStatus, WebAddress

if TYPE_CHECKING:
    from bridle.surfaces.rest.server import HttpServer
    from bridle.telemetry.exporter import Telemetry

log = logging.getLogger("bridle.daemon")


class Worker:
    """An engine that other nodes send work to."""

    def __init__(self, settings: Settings, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._environ = environ
        self._stop = asyncio.Event()
        self._started_at = time.time_ns() // 1_000_000
        self._side = ClusterService(settings, environ, is_worker=True)
        self._http: HttpServer | None = None

    def status(self) -> DaemonStatus:
        """Return the status of the worker."""
        return DaemonStatus(
            version=bridle.__version__,
            pid=os.getpid(),
            started_at=self._started_at,
            home=str(self._settings.home),
            socket="",
            listening=(f"cluster {self._side.address}",),
            memory_bytes=resident_bytes(),
            sessions=tuple(self._side.opened.service.live()),
            is_stopping=self._stop.is_set(),
        )

    def request_shutdown(self) -> None:
        """Start to shut down."""
        self._stop.set()

    async def open_web(self) -> WebAddress:
        """Raise UsageError: a worker does not serve the page."""
        raise UsageError("a worker does not serve the page", hint="ask a gateway")

    async def run(self) -> int:
        """Work until told to stop; return the exit status. Raises ConfigError, StoreError."""
        telemetry = open_telemetry(self._settings, self._environ)
        service = (await self._side.open(None, Extensions(telemetry=telemetry))).service
        loop = asyncio.get_running_loop()  # an earlier signal ends us at once
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        loop.add_signal_handler(signal.SIGHUP, lambda: None)
        timeout_s = float(self._settings.serve.shutdown_timeout)
        try:
            await self._side.start(self)
            await self._open_http(service, telemetry)
            log.info("Bridle %s works, process %d", bridle.__version__, os.getpid())
            sweeping = asyncio.create_task(unload_idle_sessions(service, self._settings.serve))
            is_lost = await self._until_end()
            sweeping.cancel()
            self._side.stop_taking(timeout_s)
            await service.park(0.0 if is_lost else timeout_s)
        finally:
            if self._http is not None:
                await self._http.aclose()
            await service.aclose()
            await self._side.aclose()
            log.info("ended")
        return LOST if is_lost else 0

    async def _open_http(self, service: SessionService, telemetry: "Telemetry | None") -> None:
        """Serve health and metrics over HTTP, if the settings name an address; raises ConfigError."""
        http, wanted = self._settings.http, self._settings.telemetry
        if not http.bind:
            return
        from bridle.surfaces.daemon.http_service import worker_http
        from bridle.surfaces.rest.readiness import Checks, store_check
        from bridle.system.tls import server_context

        tls = http.tls.files("http.tls")
        address = parse_listen_address(http.bind, "http.bind", tls=tls, has_token=http.token)
        metrics = telemetry.metrics_text if telemetry is not None and wanted.prometheus else None
        token = "" if wanted.prometheus_open else DaemonFiles(self._settings.home).load_token()
        checks = Checks({"store": store_check(service)}, is_draining=self._stop.is_set)
        self._http = worker_http(checks, metrics, token)
        try:
            await self._http.listen(*address, server_context(tls) if tls else None)
        except OSError as error:
            raise ConfigError(f'http.bind: cannot listen at "{http.bind}": {error.strerror}') from error
        log.info("health checks at %s:%d", self._http.host, self._http.port)

    async def _until_end(self) -> bool:
        stop, lost = asyncio.create_task(self._stop.wait()), asyncio.create_task(self._side.until_lost())
        await asyncio.wait([stop, lost], return_when=asyncio.FIRST_COMPLETED)
        is_lost = lost.done()
        for task in (stop, lost):
            task.cancel()
        return is_lost
