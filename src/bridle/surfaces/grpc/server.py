"""The gRPC server: its address, authentication and limits."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from bridle.core.errors import UsageError
from bridle.core.protocol import MAX_PROMPT_BYTES
from bridle.core.session_api import SessionApi
from bridle.scale.token_auth import TokenGate
from bridle.surfaces.grpc.daemon import Daemon, DaemonRpc
from bridle.surfaces.grpc.generated.kontekst_pb2 import DESCRIPTOR
from bridle.surfaces.grpc.generated.kontekst_pb2_grpc import (
    add_AgentServiceServicer_to_server,
    add_DaemonServiceServicer_to_server,
)
from bridle.surfaces.grpc.guard import Callers, Certificates, RequireToken
from bridle.surfaces.grpc.run_starter import Approvals, RenderSkill, RunStarter, StarterLookup
from bridle.surfaces.grpc.stream import AgentRpc
from bridle.system.tls_files import NO_TLS, TlsFiles

MAX_CALLS = 1_024  # at once; further ones get RESOURCE_EXHAUSTED
MAX_COMMAND_BYTES = MAX_PROMPT_BYTES + 64 * 1024
MAX_EVENT_BYTES = 16 * 1024 * 1024
SOCKET_UMASK = 0o177

OPTIONS = (
    ("grpc.so_reuseport", 0),  # or a second daemon would get half of the clients, without an error
    ("grpc.max_receive_message_length", MAX_COMMAND_BYTES),
    ("grpc.max_send_message_length", MAX_EVENT_BYTES),
    # A run may wait for an answer for hours: check whether the client is still connected.
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.http2.max_pings_without_data", 0),
    # Clients may do the same, also between calls, but not more often than this.
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
)


class GrpcServer:
    """A listening server; its creator closes it."""

    def __init__(self, server: grpc.aio.Server, port: int, healthy: health.aio.HealthServicer) -> None:
        self.port = port
        """The actual TCP port, even if 0 was requested; meaningless for a socket file."""
        self._server = server
        self._healthy = healthy

    async def aclose(self, grace_s: float = 0.0) -> None:
        """Refuse new calls, give open ones `grace_s` seconds, then end them; the runs continue."""
        await self._healthy.enter_graceful_shutdown()
        await self._server.stop(grace_s)


async def serve_grpc(
    api: SessionApi,
    daemon: Daemon,
    *,
    address: str,
    cwd: str,
    approvals: Approvals = "each",
    render_skill: RenderSkill | None = None,
    token: str = "",
    gate: TokenGate | None = None,
    tls: TlsFiles = NO_TLS,
) -> GrpcServer:
    """Listen at HOST:PORT or unix:PATH and serve both services, reflection and health.

    `cwd` is the folder of runs that name none. With a token, each call must have the metadata `authorization:
    Bearer TOKEN`, with that token or one that `gate` accepts. A socket file gets mode 0600 and replaces an
    existing one.

    Raises UsageError if it cannot listen at the address, ConfigError if `tls` is unusable.
    """
    certificates = Certificates(tls) if tls else None
    callers = Callers(token, gate)
    server = grpc.aio.server(
        interceptors=(RequireToken(callers),) if token else (),
        options=OPTIONS,
        maximum_concurrent_rpcs=MAX_CALLS,
    )
    starts = RunStarter(api, cwd=cwd, approvals=approvals, render_skill=render_skill)
    add_AgentServiceServicer_to_server(AgentRpc(StarterLookup(starts, callers, gate).of), server)
    add_DaemonServiceServicer_to_server(DaemonRpc(daemon, callers.principal), server)
    names = [service.full_name for service in DESCRIPTOR.services_by_name.values()]
    healthy = health.aio.HealthServicer()
    for name in names:
        await healthy.set(name, health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
    reflection.enable_server_reflection((*names, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
    port = _listen(server, address, certificates)
    await server.start()
    return GrpcServer(server, port, healthy)


def _listen(server: grpc.aio.Server, address: str, certificates: Certificates | None) -> int:
    try:
        with _private_files():
            if certificates is not None:
                return server.add_secure_port(address, certificates.credentials())
            return server.add_insecure_port(address)
    except RuntimeError as error:
        raise UsageError(
            f"cannot listen at {address}: it is in use, or not an address of this machine",
            hint="stop the program that listens there, or choose another address",
        ) from error


@contextmanager
def _private_files() -> Iterator[None]:
    """Make a socket file private from its creation; no await may happen inside."""
    before = os.umask(SOCKET_UMASK)
    try:
        yield
    finally:
        os.umask(before)
