"""Authentication and TLS of the gRPC server."""

import hmac
import logging
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import grpc

from bridle.core.errors import BridleError, ConfigError
from bridle.core.tenancy import Principal
from bridle.scale.token_auth import NODE, TokenGate
from bridle.system.tls import load_pems, server_context, stamp_files
from bridle.system.tls_files import TlsFiles

UNAUTHENTICATED = "the token is missing or wrong (hint: authorization: Bearer TOKEN)"

log = logging.getLogger("bridle.grpc")

_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any] | None"  # a generic class for types only
_Metadata: TypeAlias = Any  # pairs of a name and a value, or nothing


class Callers:
    """Authenticates the token of a call."""

    def __init__(self, token: str, gate: TokenGate | None) -> None:
        """Take the owner's token, and the gate for all other tokens."""
        self._token = token
        self._gate = gate

    async def principal(self, metadata: _Metadata) -> Principal | None:
        """Return the caller; None without a valid token; raises StoreError."""
        if not self._token:
            return NODE
        found = [value for name, value in metadata or () if name == "authorization"]
        given = found[0] if len(found) == 1 else ""
        sent = given.encode() if isinstance(given, str) else given
        if hmac.compare_digest(sent, f"Bearer {self._token}".encode()):
            return NODE
        if self._gate is None or not sent.startswith(b"Bearer "):
            return None
        return await self._gate.principal(sent[7:].decode(errors="replace"))


class RequireToken(grpc.aio.ServerInterceptor):
    """Rejects calls without a valid token."""

    def __init__(self, callers: Callers) -> None:
        self._callers = callers

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[_Handler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> _Handler:
        """Pass a call on, or reject it before any of it is read."""
        try:
            caller = await self._callers.principal(handler_call_details.invocation_metadata)
        except BridleError:
            return grpc.stream_stream_rpc_method_handler(_nobody_knows)
        if caller is not None:
            return await continuation(handler_call_details)
        return grpc.stream_stream_rpc_method_handler(_refuse)


async def _refuse(requests: object, context: grpc.aio.ServicerContext[Any, Any]) -> None:
    await context.abort(grpc.StatusCode.UNAUTHENTICATED, UNAUTHENTICATED)


async def _nobody_knows(requests: object, context: grpc.aio.ServicerContext[Any, Any]) -> None:
    await context.abort(grpc.StatusCode.UNAVAILABLE, "the tokens cannot be looked up now")


class Certificates:
    """A server's certificate, reloaded when its files change."""

    def __init__(self, files: TlsFiles) -> None:
        """Load it; raises ConfigError."""
        server_context(files)  # checks everything that gRPC would only log
        self._files = files
        self._seen = stamp_files(files)
        self._lock = threading.Lock()  # gRPC calls from its own threads
        self._newest = _configuration(files)

    def credentials(self) -> grpc.ServerCredentials:
        """Return the credentials for a port."""
        return grpc.dynamic_ssl_server_credentials(
            self._newest,
            self._renewed,  # type: ignore[arg-type]  # None means unchanged, which the stubs do not allow
            require_client_authentication=bool(self._files.client_ca),
        )

    def _renewed(self) -> grpc.ServerCertificateConfiguration | None:
        """Return a newer certificate; None if there is none."""
        with self._lock:
            found = stamp_files(self._files)
            if found == self._seen:
                return None
            self._seen = found
            try:
                server_context(self._files)
                self._newest = _configuration(self._files)
            except ConfigError as error:
                log.warning("still using the old certificate: %s", error)
                return None
            return self._newest


def _configuration(files: TlsFiles) -> grpc.ServerCertificateConfiguration:
    pems = load_pems(files)
    return grpc.ssl_server_certificate_configuration([(pems.key, pems.cert)], pems.client_ca or None)
