"""The keys of `[serve]`, `[http]`, `[grpc]` and `[comms]`: how Bridle is reached by others."""

from typing import Literal

from msgspec import Struct

from bridle.config.duration import Duration
from bridle.config.kinds import Address, Count, HostName, Name, Origin
from bridle.config.tls_keys import TlsSettings


class ServeSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[serve]`: the daemon, which other processes can use."""

    tcp: Address = ""
    """Where it is reached beside its socket, on this machine only unless it has TLS; empty for nowhere."""
    tls: TlsSettings = TlsSettings()
    idle: Duration = Duration(1800)
    """After this time a session that nobody uses or watches is put away; it comes back when it is needed."""
    max_sessions: Count = 200
    """How many sessions are kept in memory beside those that run."""
    memory_bytes: Count = 1024**3
    """With more memory in use every session is put away that nobody uses or watches."""
    shutdown_timeout: Duration = Duration(10)
    """What active runs get to end before they are put aside, to be resumed."""


class HttpSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[http]`: the daemon's REST service, with JSON-RPC over WebSocket beside it."""

    bind: Address = ""
    """Where it listens, on this machine only unless it has TLS and a token; empty for nowhere."""
    tls: TlsSettings = TlsSettings()
    token: bool = True
    """Whether a client must show the token of the daemon."""
    hosts: tuple[HostName, ...] = ()
    """Names it may be called by, beside those of this machine."""
    origins: tuple[Origin, ...] = ()
    """Pages of other origins that may use it."""


class GrpcSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[grpc]`: the daemon's gRPC service."""

    bind: Address = ""
    """Where it listens, on this machine only unless it has TLS and a token; empty for nowhere."""
    tls: TlsSettings = TlsSettings()
    approvals: Literal["each", "rules"] = "each"
    """Whether a client is asked about each call of a run that it started, or only where rules say so."""
    token: bool = True
    """Whether a client must show the token of the daemon."""


class CommsSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[comms]`: signed messages between agents of different processes and machines."""

    mode: Literal["off", "unix", "tcp"] = "off"
    """Whether agents can talk to peers, and what is listened at: a socket of the user, or `address`."""
    name: Name = "bridle"
    """What the socket is called: two processes that listen need two names."""
    address: Address = ""
    """Where to listen with mode "tcp", on this machine only unless `other_machines` says otherwise."""
    other_machines: bool = False
    """Whether they may connect; what they send is signed, and can be read by everybody on the way."""
