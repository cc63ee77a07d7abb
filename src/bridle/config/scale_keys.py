"""The keys of `[store]` and `[scale]`: where sessions are kept, and how many machines work on them."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from bridle.config.duration import Delay, Duration
from bridle.config.kinds import Address, AgentName, BaseUrl, Count, ModelRef, Name, PathText, VariableName
from bridle.config.tls_keys import TlsSettings

DatabaseUrl = Annotated[
    str,
    Meta(
        # No password in it: the settings are shown, a secret is not.
        pattern=r"\A(?!.*password\s*=)(postgres(ql)?://([^\s:@/]+@)?[^\s@]*)?\Z",
        description="postgresql://USER@HOST:PORT/DATABASE without a password",
    ),
]


class BucketSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[store.s3]`: a bucket for blobs; its keys come from the environment, by AWS's usual names."""

    bucket: Annotated[str, Meta(pattern=r"\A[a-z0-9.-]{0,63}\Z", description="the name of a bucket")] = ""
    endpoint: BaseUrl = ""
    """Of a service that is not AWS's own."""
    region: Name = "us-east-1"
    prefix: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9._/-]{0,200}\Z", description="a path")] = "bridle"


class StoreSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[store]`: where sessions are kept."""

    backend: Literal["sqlite", "jsonl", "ephemeral", "postgres"] = "sqlite"
    sync: Literal["normal", "full"] = "normal"
    url: DatabaseUrl = ""
    """Of the PostgreSQL; the whole of it, with a password, may come in the variable of `url_env` instead."""
    url_env: VariableName = "BRIDLE_DATABASE_URL"
    pool: Annotated[int, Meta(ge=1, le=1000, description="a whole number from 1 to 1000")] = 8
    """Connections that one process has to it."""
    patience: Duration = Duration(300)
    """How long runs wait for a database that is away."""
    blobs: Literal["files", "database", "s3"] = "files"
    """Where long outputs and earlier files are kept; many machines do not share files."""
    s3: BucketSettings = BucketSettings()
    keep_archived: Duration | None = None
    """Archived sessions that nobody has touched for so long are removed; without a value they stay."""


class ModelLimits(Struct, frozen=True, forbid_unknown_fields=True):
    """`[scale.models."provider/name"]`: how much of a model all machines together may use."""

    runs: Count | None = None
    """At the same time."""
    starts: Count | None = None
    """Runs begun in each `period`."""
    period: Duration = Duration(60)


class TenantLimits(Struct, frozen=True, forbid_unknown_fields=True):
    """`[scale.tenants]`: how much each tenant may use on all machines together."""

    runs: Count | None = None
    """At the same time, of one model and label."""
    starts: Count | None = None
    """Runs begun in each `period`."""
    period: Duration = Duration(60)


class Placement(Struct, frozen=True, forbid_unknown_fields=True):
    """`[[scale.placement]]`: sessions that need a worker with a label; the first that fits counts."""

    label: Name
    agent: AgentName = ""
    folder: Annotated[str, Meta(pattern=r"\A(/[^\x00-\x1f\x7f]*)?\Z", description="an absolute path")] = ""
    """Their folder, or one above it."""
    tenant: Annotated[str, Meta(pattern=r"\A[a-z0-9-]{0,32}\Z", description="the name of a tenant")] = ""


class ScaleSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[scale]`: many machines that work on the sessions of one PostgreSQL."""

    enabled: bool = False
    """Whether the daemon is a worker and a gateway of them."""
    node: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9._-]{0,64}\Z", description="the name of a machine")] = ""
    """What this machine is called; the name of the host if it is empty."""
    listen: Address = "127.0.0.1:0"
    """Where a worker is reached by gateways."""
    advertise: Address = ""
    """How it is reached from other machines, if that is another address."""
    labels: tuple[Name, ...] = ()
    """What this worker has that not all have: gpu, a repository, an operating system."""
    only_labels: bool = False
    """Whether it leaves sessions alone that need none of its labels."""
    runs: Annotated[int, Meta(ge=1, le=10_000, description="a whole number from 1 to 10000")] = 64
    """How many sessions it works on at the same time."""
    priority: Annotated[int, Meta(ge=1, le=1000, description="a whole number from 1 to 1000")] = 100
    """That of the prompts which this gateway takes; the lowest number goes first."""
    workspaces: Literal["shared", "local"] = "shared"
    """Whether every worker sees the same folders, or a session stays with the machine it began on."""
    tenant_folders: Annotated[
        str, Meta(pattern=r"\A(/[^\x00-\x1f\x7f]*)?\Z", description="an absolute path")
    ] = ""
    """Where each tenant has a folder of its own, in which its sessions work unless it is told otherwise."""
    fetch: tuple[PathText, ...] = ()
    """A program that brings a session's folder to this machine, or mounts it, where it is missing."""
    fetch_timeout: Duration = Duration(600)
    rest_after: Duration = Duration(30)
    """A run that waits so long for a person lets its worker go; the answer brings it back."""
    take_timeout: Duration = Duration(60)
    """How long a prompt waits for a worker before its sender is told that there is none."""
    beat: Delay = Delay(1)
    """How often a worker says that it lives."""
    dead_after: Duration = Duration(15)
    """A worker that has said nothing for so long is given up, and its sessions go on elsewhere."""
    poll: Delay = Delay(0.1)
    """How often a worker looks for work."""
    migrate: bool = True
    """Whether a node brings the tables of the database up to date when it starts."""
    tls: TlsSettings = TlsSettings()
    """Of what nodes say to each other; `client_ca` has signed the certificates of all of them."""
    tenants: TenantLimits = TenantLimits()
    models: dict[ModelRef, ModelLimits] = {}
    placement: tuple[Placement, ...] = ()
