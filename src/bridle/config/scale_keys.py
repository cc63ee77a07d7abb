"""The keys of `[store]` and `[scale]`: where sessions are stored, and how machines share them."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from bridle.config.daemon_keys import TlsSettings
from bridle.config.duration import Delay, Duration
from bridle.core.value_types import (
    Address,
    AgentName,
    BaseUrl,
    Count,
    ModelRef,
    Name,
    PathText,
    VariableName,
)

DatabaseUrl = Annotated[
    str,
    Meta(
        # No password in it: settings are shown, secrets are not.
        pattern=r"\A(?!.*password\s*=)(postgres(ql)?://([^\s:@/]+@)?[^\s@]*)?\Z",
        description="postgresql://USER@HOST:PORT/DATABASE without a password",
    ),
]


class BucketSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[store.s3]`: a bucket for blobs; its keys come from the standard AWS environment variables."""

    bucket: Annotated[str, Meta(pattern=r"\A[a-z0-9.-]{0,63}\Z", description="the name of a bucket")] = ""
    endpoint: BaseUrl = ""
    """Address of a service other than AWS."""
    region: Name = "us-east-1"
    prefix: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9._/-]{0,200}\Z", description="a path")] = "bridle"


class StoreSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[store]`: where sessions are stored."""

    backend: Literal["sqlite", "jsonl", "ephemeral", "postgres"] = "sqlite"
    directory: PathText = ""
    """The folder of sessions for `sqlite` and `jsonl`; empty for BRIDLE_HOME, which other paths start at."""
    sync: Literal["normal", "full"] = "normal"
    url: DatabaseUrl = ""
    """PostgreSQL URL; the variable named in `url_env` may hold it instead, with a password."""
    url_env: VariableName = "BRIDLE_DATABASE_URL"
    pool: Annotated[int, Meta(ge=1, le=1000, description="a whole number from 1 to 1000")] = 8
    """Connections per process."""
    patience: Duration = Duration(300)
    """How long runs wait for an unreachable database."""
    blobs: Literal["files", "database", "s3"] = "files"
    """Where long outputs and earlier file versions are stored; "files" are not shared between machines."""
    s3: BucketSettings = BucketSettings()
    keep_archived: Duration | None = None
    """Archived sessions unchanged for this long are deleted; without a value they stay."""


class ModelLimits(Struct, frozen=True, forbid_unknown_fields=True):
    """`[scale.models."provider/name"]`: how much of a model all machines together may use."""

    runs: Count | None = None
    """Concurrent runs."""
    starts: Count | None = None
    """Runs started per `period`."""
    period: Duration = Duration(60)


class TenantLimits(Struct, frozen=True, forbid_unknown_fields=True):
    """`[scale.tenants]`: how much each tenant may use on all machines together."""

    runs: Count | None = None
    """Concurrent runs per model and label."""
    starts: Count | None = None
    """Runs started per `period`."""
    period: Duration = Duration(60)


class Placement(Struct, frozen=True, forbid_unknown_fields=True):
    """`[[scale.placement]]`: sessions that need a worker with a label; the first match counts."""

    label: Name
    agent: AgentName = ""
    folder: Annotated[str, Meta(pattern=r"\A(/[^\x00-\x1f\x7f]*)?\Z", description="an absolute path")] = ""
    """The session's folder, or one above it."""
    tenant: Annotated[str, Meta(pattern=r"\A[a-z0-9-]{0,32}\Z", description="the name of a tenant")] = ""


class ScaleSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[scale]`: many machines that work on the sessions of one PostgreSQL database."""

    enabled: bool = False
    """Whether the daemon is a worker and a gateway."""
    node: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9._-]{0,64}\Z", description="the name of a machine")] = ""
    """Name of this machine; if empty, its host name."""
    listen: Address = "127.0.0.1:0"
    """The address at which gateways connect to this worker."""
    advertise: Address = ""
    """Its address for other machines, if that differs."""
    labels: tuple[Name, ...] = ()
    """Features that not every worker has: gpu, a repository, an operating system."""
    only_labels: bool = False
    """Whether it refuses sessions that need none of its labels."""
    runs: Annotated[int, Meta(ge=1, le=10_000, description="a whole number from 1 to 10000")] = 64
    """How many sessions it works on at the same time."""
    priority: Annotated[int, Meta(ge=1, le=1000, description="a whole number from 1 to 1000")] = 100
    """Priority of the prompts that this gateway accepts; the lowest number goes first."""
    workspaces: Literal["shared", "local"] = "shared"
    """Whether all workers see the same folders, or a session stays on the machine where it began."""
    tenant_folders: Annotated[
        str, Meta(pattern=r"\A(/[^\x00-\x1f\x7f]*)?\Z", description="an absolute path")
    ] = ""
    """The parent of the tenants' folders; a tenant's sessions work in its folder unless told otherwise."""
    fetch: tuple[PathText, ...] = ()
    """A program that copies or mounts a session's folder on this machine if it is missing."""
    fetch_timeout: Duration = Duration(600)
    rest_after: Duration = Duration(30)
    """A run that waits this long for a person releases its worker; the answer brings it back."""
    take_timeout: Duration = Duration(60)
    """How long a prompt waits for a worker before its sender gets an error."""
    beat: Delay = Delay(1)
    """How often a worker sends a heartbeat."""
    dead_after: Duration = Duration(15)
    """A worker without a heartbeat for this long counts as dead, and its sessions continue elsewhere."""
    poll: Delay = Delay(0.1)
    """How often a worker polls for work."""
    migrate: bool = True
    """Whether a node migrates the database when it starts."""
    tls: TlsSettings = TlsSettings()
    """For connections between nodes; `client_ca` has signed all their certificates."""
    tenants: TenantLimits = TenantLimits()
    models: dict[ModelRef, ModelLimits] = {}
    placement: tuple[Placement, ...] = ()
