"""The keys of `[serve]`, `[http]`, `[grpc]`, `[comms]` and `[telemetry]`: access and telemetry."""

from pathlib import Path
from typing import Literal

from msgspec import Struct

from bridle.config.duration import Duration
from bridle.core.value_types import Address, BaseUrl, Count, HostName, Name, Origin, PathText
from bridle.system.tls_files import TlsFiles

# ---------------------------------------------------------------------------- telemetry keys
# The keys of `[telemetry]`: what is sent to a collector of traces, metrics and logs.


class TelemetrySettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[telemetry]`: OpenTelemetry with the conventions for generative AI; all of it is off by default."""

    traces: bool = False
    metrics: bool = False
    logs: bool = False
    endpoint: BaseUrl = ""
    """The collector's address; empty means OTEL_EXPORTER_OTLP_ENDPOINT, or else this machine."""
    content: bool = False
    """Whether prompts, answers, arguments and results are sent too."""
    prometheus: bool = False
    """Whether `GET /metrics` of the HTTP service serves the metrics."""
    prometheus_open: bool = False
    """Whether `GET /metrics` works without a token."""


# ---------------------------------------------------------------------------- tls keys
# The keys of `[http.tls]`, `[serve.tls]`, `[grpc.tls]` and `[scale.tls]`: a listener's certificates.


class TlsSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """The certificate files of a listener; without a certificate there is no TLS."""

    cert: PathText | None = None
    """The certificate in PEM, followed by the chain to its authority."""
    key: PathText | None = None
    """The private key in PEM, readable only by the user."""
    client_ca: PathText | None = None
    """The authority that must have signed every client's certificate."""

    def files(self, where: str) -> TlsFiles:
        """Return the files; `where` is the settings table that names them."""
        return TlsFiles(_path(self.cert), _path(self.key), _path(self.client_ca), where)


def _path(text: str | None) -> str:
    return str(Path(text).expanduser()) if text else ""


# ---------------------------------------------------------------------------- daemon keys


class ServeSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[serve]`: the daemon, which other processes can use."""

    tcp: Address = ""
    """TCP address in addition to its socket, on this machine only unless it has TLS; empty for none."""
    tls: TlsSettings = TlsSettings()
    idle: Duration = Duration(1800)
    """A session that is not used or watched for this long is unloaded; it is loaded again on demand."""
    max_sessions: Count = 200
    """How many sessions stay in memory besides those that run."""
    memory_bytes: Count = 1024**3
    """Above this memory use, all sessions that are not used or watched are unloaded."""
    shutdown_timeout: Duration = Duration(10)
    """How long active runs may take to end at shutdown; after that they are suspended, to be resumed."""


class HttpSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[http]`: the daemon's REST service, with JSON-RPC over WebSocket."""

    bind: Address = ""
    """Listening address, on this machine only unless it has TLS and a token; empty for none."""
    tls: TlsSettings = TlsSettings()
    token: bool = True
    """Whether a client must send the daemon's token."""
    hosts: tuple[HostName, ...] = ()
    """Host names that requests may use, besides those of this machine."""
    origins: tuple[Origin, ...] = ()
    """Web origins that may use the service."""


class GrpcSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[grpc]`: the daemon's gRPC service."""

    bind: Address = ""
    """Listening address, on this machine only unless it has TLS and a token; empty for none."""
    tls: TlsSettings = TlsSettings()
    approvals: Literal["each", "rules"] = "each"
    """Whether a client must approve each call of a run that it started, or only where rules say "ask"."""
    token: bool = True
    """Whether a client must send the daemon's token."""


class CommsSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[comms]`: signed messages between agents of different processes and machines."""

    mode: Literal["off", "unix", "tcp"] = "off"
    """Whether agents can message peers, and where to listen: at a socket of the user, or at `address`."""
    name: Name = "bridle"
    """Name of the socket; two processes that listen need two names."""
    address: Address = ""
    """Listening address for mode "tcp", on this machine only unless `other_machines` is true."""
    other_machines: bool = False
    """Whether other machines may connect; messages are signed but not encrypted."""
