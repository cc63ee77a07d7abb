"""Wiring for the session service: build the engine that every surface uses."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from bridle.app.backends import SessionBackend, open_backend
from bridle.app.comms import comms_of
from bridle.app.folders import agent_in, hooks_in, settings_in, writable_folders
from bridle.app.lsp import open_languages
from bridle.app.mcp import open_tool_servers
from bridle.app.memory import memory_in
from bridle.app.models import open_models, with_custom_providers
from bridle.app.stores import open_blobs, revisions_dir
from bridle.app.telemetry import open_telemetry, with_telemetry
from bridle.app.tools import command_environment, masker, open_sandbox, open_tools, open_traps
from bridle.config.settings import Settings
from bridle.core.tool import PEER_TOOLS

if TYPE_CHECKING:
    from bridle.comms.hub import Comms
    from bridle.core.agent import Agent
    from bridle.core.hook import HookEntry, HookOverride
    from bridle.core.ports import Compactor, Hooks, Memory, Models, Provider, Sandbox, Store, Tool
    from bridle.hooks.function_hooks import Handler
    from bridle.providers.factory import Tell
    from bridle.sessions.agent_tree import ChildPolicy
    from bridle.sessions.engine import Engine
    from bridle.sessions.service import SessionService
    from bridle.telemetry.exporter import Telemetry


class Extensions(Struct, frozen=True):
    """What an embedding program adds to the engine; the engine closes it at its end."""

    tools: "Sequence[Tool]" = ()
    """Tools for every agent, listed first; one replaces a built-in tool of the same name."""
    providers: "Mapping[str, Provider]" = {}
    """Providers, by the first part of their models' references."""
    store: "Store | None" = None
    compactor: "Compactor | None" = None
    memory: "Memory | None" = None
    """Replaces the memory of the settings."""
    hooks: "Sequence[HookEntry]" = ()
    """Hooks for every run, in any folder."""
    handlers: "Mapping[str, Handler]" = {}
    """Functions for hooks with a runtime of type in_process, by name."""
    telemetry: "Telemetry | None" = None
    """Replaces the telemetry of the settings."""
    backend: "SessionBackend | None" = None
    """The shared storage of a cluster."""
    comms: "Comms | None" = None
    """Replaces the endpoint of the settings, for a program that also uses it itself."""


NO_EXTENSIONS = Extensions()


def open_service(
    settings: Settings,
    environ: Mapping[str, str],
    tell: "Tell | None" = None,
    extensions: Extensions = NO_EXTENSIONS,
) -> "SessionService":
    """Build the session service that every surface uses; for `tell` see `open_models`."""
    from bridle.sessions.service import SessionService

    backend = extensions.backend or open_backend(settings, extensions.store)
    models = with_custom_providers(open_models(settings, tell), extensions.providers, settings)
    if backend.bound is not None:
        models = backend.bound(models)
    telemetry = extensions.telemetry or open_telemetry(settings, environ)
    service = SessionService(_engine(settings, environ, extensions, backend, models, telemetry), backend.bus)
    if telemetry is not None:
        telemetry.count(service.live)
    return service


def _engine(
    settings: Settings,
    environ: Mapping[str, str],
    extensions: Extensions,
    backend: SessionBackend,
    models: "Models",
    telemetry: "Telemetry | None",
) -> "Engine":
    from bridle.revisions.file_revisions import FileRevisions
    from bridle.sessions.engine import Engine
    from bridle.sessions.system_clock import SystemChance, SystemClock

    clock, sandbox, blobs = SystemClock(), open_sandbox(settings), open_blobs(settings)
    # The memory index is on the user's machine: index only what is stored there too.
    memory = extensions.memory
    if memory is None and backend.is_users:
        memory = memory_in(settings, environ, backend.store)
    languages = open_languages(settings, environ, sandbox)
    comms = extensions.comms or comms_of(settings)
    is_kept = settings.store.backend != "ephemeral"
    return Engine(
        store=with_telemetry(backend.store, telemetry),
        observer=telemetry,
        claims=backend.claims,
        steps=backend.steps,
        tenant_budget=backend.tenant_budget,
        workplaces=backend.workplaces,
        models=models,
        load_agent=lambda name, cwd: _with_tools(
            agent_in(name, settings_in(cwd, settings, environ), clock), extensions
        ),
        tools=_beside(extensions, open_tools(settings, environ, blobs, sandbox, memory, languages, comms)),
        servers=open_tool_servers(settings, environ, sandbox),
        languages=languages,
        peers=comms,
        settings=settings,
        clock=clock,
        chance=SystemChance(),
        blobs=blobs,
        revisions=FileRevisions(revisions_dir(settings) if is_kept else None, blobs),
        remember=lambda rules: _remember(settings, rules),
        mask=masker(settings, environ).mask,
        find_trap=open_traps(settings).place_of,
        open_hooks=lambda cwd, override: _hooks(
            settings_in(cwd, settings, environ), environ, extensions, override, sandbox
        ),
        compactor=extensions.compactor,
        memory=memory,
        children=_child_policy(settings, comms),
        environ=command_environment(settings, environ),
        retry=settings.retry.policy(),
        embedded=frozenset(tool.spec.name for tool in extensions.tools),
        tool_timeout_s=float(settings.tools.timeout),
    )


def _hooks(
    settings: Settings,
    environ: Mapping[str, str],
    extensions: Extensions,
    override: "HookOverride",
    sandbox: "Sandbox",
) -> "Hooks":
    override = replace(override, entries=(*extensions.hooks, *override.entries))
    return hooks_in(settings, environ, override, sandbox, extensions.handlers)


def _beside(extensions: Extensions, tools: "Sequence[Tool]") -> "tuple[Tool, ...]":
    names = {tool.spec.name for tool in extensions.tools}
    return (*extensions.tools, *(tool for tool in tools if tool.spec.name not in names))


def _with_tools(agent: "Agent", extensions: Extensions) -> "Agent":
    """Add the embedding program's tools to an agent that lists its tools."""
    if agent.tools is None or not extensions.tools:
        return agent
    return replace(agent, tools=(*agent.tools, *(tool.spec.name for tool in extensions.tools)))


def _child_policy(settings: Settings, comms: "Comms | None") -> "ChildPolicy":
    from bridle.sessions.agent_tree import ChildPolicy

    children = settings.children
    return ChildPolicy(
        max_depth=children.max_depth if children.enabled else 0,
        max_running=children.max_running,
        max_children=children.max_children,
        max_tokens=children.max_tokens,
        models=children.models,
        without_tools=() if comms is None else PEER_TOOLS,
        worktrees=str(settings.home / "worktrees"),
        writable=writable_folders(settings),
    )


def _remember(settings: Settings, rules: Sequence[str]) -> None:
    from bridle.config.edit import add_rules

    add_rules(settings.home / "config.toml", "allow", rules)
