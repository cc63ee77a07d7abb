"""Wiring for a cluster node: a worker or a gateway."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from bridle.app.backends import SessionBackend
from bridle.app.folders import agent_in, settings_in
from bridle.app.postgres import database_url, open_postgres
from bridle.app.service import NO_EXTENSIONS, Extensions, open_service
from bridle.app.tools import command_environment, open_sandbox
from bridle.config.settings import Settings
from bridle.core.errors import ConfigError

if TYPE_CHECKING:
    from bridle.core.ports import Tenants
    from bridle.providers.factory import Tell
    from bridle.scale.audit import AuditLog
    from bridle.scale.cluster_api import ClusterApi
    from bridle.scale.members import Member
    from bridle.scale.node import Node, NodeParts
    from bridle.scale.peer_connections import PeerApi
    from bridle.sessions.service import SessionService
    from bridle.stores.postgres.pool import Postgres

MODEL_SUFFIXES = (".gguf", ".json", ".toml")

ConnectPeer = Callable[[str, str], Awaitable["PeerApi"]]
"""Connect to another node, given its address and the cluster token."""


class OpenedNode(Struct, frozen=True):
    """A node that is built but has not started yet."""

    node: "Node"
    service: "SessionService"
    api: "ClusterApi"
    token: str
    """The token with which the nodes of the cluster authenticate to each other."""
    postgres: "Postgres"
    tenants: "Tenants"
    audit: "AuditLog"


async def open_node(
    settings: Settings,
    environ: Mapping[str, str],
    reaching: ConnectPeer,
    *,
    version: str,
    is_worker: bool,
    tell: "Tell | None" = None,
    extensions: Extensions = NO_EXTENSIONS,
) -> OpenedNode:
    """Build a node, and create missing database tables; raises ConfigError, StoreError."""
    postgres = open_postgres(settings)
    try:
        from bridle.scale.node import Node, cluster_token, prepare_tables
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"scale: the package {error.name} is not installed", hint="pip install 'bridle-agent[scale]'"
        ) from error
    from bridle.scale.audit import AuditLog
    from bridle.sessions.system_clock import SystemClock
    from bridle.stores.postgres.tenants import PostgresTenants

    me = _member(settings, version, is_worker=is_worker)
    await prepare_tables(postgres, database_url(settings), may_migrate=settings.scale.migrate)
    token = await cluster_token(postgres)
    tenants = PostgresTenants(postgres)
    foundation = await _foundation(settings, environ, postgres, tenants, me, is_worker=is_worker)
    node = Node(foundation, lambda address: reaching(address, token))
    backend = _open_backend(settings, node, foundation, tenants)
    service = open_service(settings, environ, tell, replace(extensions, backend=backend))
    audit = AuditLog(foundation.store, me.id, SystemClock().now_ms)
    return OpenedNode(node, service, node.give(service), token, postgres, tenants, audit)


def _member(settings: Settings, version: str, *, is_worker: bool) -> "Member":
    from bridle.scale.members import Member
    from bridle.sessions.system_clock import SystemChance

    scale = settings.scale
    host = scale.node or socket.gethostname()
    labels = () if not is_worker else (*scale.labels, *(() if scale.only_labels else ("",)))
    return Member(f"{host}-{SystemChance().entropy(6).hex()}", host, labels=labels, version=version)


async def _foundation(
    settings: Settings,
    environ: Mapping[str, str],
    postgres: "Postgres",
    tenants: "Tenants",
    me: "Member",
    *,
    is_worker: bool,
) -> "NodeParts":
    from bridle.core.ids import uuid7
    from bridle.scale.node import NodeParts
    from bridle.scale.tenant_folders import TenantFolders
    from bridle.sessions.system_clock import SystemChance, SystemClock
    from bridle.stores.postgres.budgets import PostgresBudgets
    from bridle.stores.postgres.claims import PostgresClaims
    from bridle.stores.postgres.store import PostgresStore

    clock, chance = SystemClock(), SystemChance()
    missing = await why_not_isolated(settings) if is_worker else ""
    return NodeParts(
        scale=settings.scale,
        postgres=postgres,
        url=database_url(settings),
        store=PostgresStore(postgres, clock, me.id),
        claims=PostgresClaims(postgres, me.id),
        me=me,
        is_worker=is_worker,
        new_id=lambda: uuid7(clock.now_ms(), chance.entropy(10)),
        model_of=lambda agent, cwd: agent_in(agent, settings_in(cwd, settings, environ), clock).model,
        tenant_budget=PostgresBudgets(postgres),
        folders=TenantFolders(tenants, settings.scale.tenant_folders, missing),
        keep_archived_s=settings.store.keep_archived,
        environ=command_environment(settings, environ),
    )


def _open_backend(
    settings: Settings, node: "Node", foundation: "NodeParts", tenants: "Tenants"
) -> SessionBackend:
    from bridle.scale.tenant_models import TenantModels

    return SessionBackend(
        foundation.store,
        foundation.claims,
        node.following.bus,
        node.executor,
        foundation.tenant_budget,
        workplaces=foundation.folders,
        bound=lambda models: TenantModels(
            models,
            tenants,
            own=lambda: _own_models(settings),
            is_file=lambda ref: _names_file(ref, settings),
        ),
    )


async def why_not_isolated(settings: Settings) -> str:
    """Return why programs of one run can see the files of another here; "" if they cannot."""
    if settings.sandbox.mode == "off":
        return "sandbox.mode is off"
    status = await asyncio.to_thread(lambda: open_sandbox(settings).status)
    return f"none is available: {status.why}" if status.kind == "none" else ""


def _own_models(settings: Settings) -> set[str]:
    """Return the models that the settings here name, for all agents or for one."""
    from bridle.config.agents import list_agents, load_agent

    found = {settings.model, settings.small_model, *settings.fallbacks}
    for name in list_agents(settings):
        with suppress(ConfigError):  # such an agent cannot be used
            agent = load_agent(name, settings).agent
            found |= {agent.model, agent.small_model, *agent.fallbacks}
    return found


def _names_file(ref: str, settings: Settings) -> bool:
    """Return True if a model reference is the path of a file."""
    name, _, model = ref.partition("/")
    provider = settings.providers.get(name)
    by_path = provider is not None and provider.kind in ("scripted", "embedded")
    return by_path and ("/" in model or model.endswith(MODEL_SUFFIXES))
