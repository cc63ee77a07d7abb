"""What a client can ask of the process itself: how it is, and that it ends."""

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
    """How the daemon and the model server below it are."""

    bind: str
    """Where the gRPC service listens."""
    started_at: int
    """Milliseconds since 1970."""
    uptime_s: int
    data_dir: str
    endpoint: str = ""
    """Where the model server answers; empty when there is none."""
    model_dir: str = ""
    llama_healthy: bool = False
    llama_running: bool = False
    llama_pid: int = 0


class Daemon(Protocol):
    """The process that serves."""

    async def status(self) -> DaemonStatus:
        """Say how things are, within a second or two."""
        ...

    def request_shutdown(self) -> None:
        """Begin to end; returns at once."""
        ...


class DaemonRpc(DaemonServiceServicer):
    """Answers the calls of DaemonService."""

    def __init__(self, daemon: Daemon, caller: Callable[[Any], Awaitable[Principal | None]]) -> None:
        """Take the process, and what knows who calls by the metadata of a call."""
        self._daemon = daemon
        self._caller = caller

    async def GetStatus(self, request: GetStatusRequest, context: Context) -> GetStatusResponse:  # noqa: N802
        """Tell how the daemon is."""
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
        """Begin the end and say so."""
        await self._require_admin(context)
        self._daemon.request_shutdown()
        return ShutdownResponse(message=SHUTTING_DOWN)

    async def _require_admin(self, context: Context) -> None:
        """Refuse who may not know about, or end, what all tenants use."""
        caller = await self._caller(context.invocation_metadata())
        if caller is None or not caller.is_cluster_admin:
            await context.abort(
                grpc.StatusCode.PERMISSION_DENIED, "this is for an administrator of the cluster"
            )


def _rfc3339(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
