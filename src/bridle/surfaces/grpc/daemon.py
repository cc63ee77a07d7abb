"""The gRPC DaemonService: status and shutdown of the process."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Protocol

import grpc
from msgspec import Struct

from bridle.core.tenancy import Principal
from bridle.surfaces.grpc.generated.kontekst_pb2 import (
    GetStatusRequest,
    GetStatusResponse,
    ShutdownRequest,
    ShutdownResponse,
)
from bridle.surfaces.grpc.generated.kontekst_pb2_grpc import DaemonServiceServicer

SHUTTING_DOWN = "shutting down"

Context = grpc.aio.ServicerContext[Any, Any]


class DaemonStatus(Struct, frozen=True):
    """The status of the daemon and its model server."""

    bind: str
    """The address of the gRPC service."""
    started_at: int
    """Milliseconds since 1970."""
    uptime_s: int
    data_dir: str
    endpoint: str = ""
    """The address of the model server; empty when there is none."""
    model_dir: str = ""
    llama_healthy: bool = False
    llama_running: bool = False
    llama_pid: int = 0


class Daemon(Protocol):
    """The process that serves."""

    async def status(self) -> DaemonStatus:
        """Return the status, within a second or two."""
        ...

    def request_shutdown(self) -> None:
        """Start to shut down; returns at once."""
        ...


class DaemonRpc(DaemonServiceServicer):
    """Implements DaemonService."""

    def __init__(self, daemon: Daemon, caller: Callable[[Any], Awaitable[Principal | None]]) -> None:
        """Take the process, and a function that returns the caller for a call's metadata."""
        self._daemon = daemon
        self._caller = caller

    async def GetStatus(self, request: GetStatusRequest, context: Context) -> GetStatusResponse:  # noqa: N802
        """Return the status of the daemon."""
        await self._require_admin(context)
        status = await self._daemon.status()
        return GetStatusResponse(
            bind=status.bind,
            endpoint=status.endpoint,
            model_dir=status.model_dir,
            llama_server_healthy=status.llama_healthy,
            llama_server_running=status.llama_running,
            llama_server_pid=status.llama_pid,
            uptime_seconds=status.uptime_s,
            started_at_rfc3339=_rfc3339(status.started_at),
            data_dir=status.data_dir,
        )

    async def Shutdown(self, request: ShutdownRequest, context: Context) -> ShutdownResponse:  # noqa: N802
        """Start to shut down, and confirm it."""
        await self._require_admin(context)
        self._daemon.request_shutdown()
        return ShutdownResponse(message=SHUTTING_DOWN)

    async def _require_admin(self, context: Context) -> None:
        """Abort unless the caller is a cluster administrator: this concerns all tenants."""
        caller = await self._caller(context.invocation_metadata())
        if caller is None or not caller.is_cluster_admin:
            await context.abort(
                grpc.StatusCode.PERMISSION_DENIED, "this is for an administrator of the cluster"
            )


def _rfc3339(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
