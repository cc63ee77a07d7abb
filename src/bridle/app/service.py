"""The engine that every surface drives."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bridle.app.comms import peer_tools
from bridle.app.folders import agent_in, hooks_in, settings_in
from bridle.app.lsp import open_languages
from bridle.app.mcp import open_tool_servers
from bridle.app.memory import memory_in
from bridle.app.models import open_models
from bridle.app.stores import open_blobs, open_claims, open_store, revisions_dir
from bridle.app.tools import command_environment, masker, open_sandbox, open_tools
from bridle.config.settings import Settings

TIMEOUT_GRACE_S = 10.0

if TYPE_CHECKING:
    from msgspec import Struct

    from bridle.hooks.handlers import Handler
    from bridle.providers.opening import Tell
    from bridle.sessions.family import ChildPolicy
    from bridle.sessions.service import SessionService


def open_service(
    settings: Settings,
    environ: Mapping[str, str],
    tell: "Tell | None" = None,
    handlers: Mapping[str, "Handler"] = {},
) -> "SessionService":
    """Build the engine that every surface drives; `tell` is that of `open_models`.

    `handlers` are functions that hooks with a runtime of type in_process name.
    """
    from bridle.core.compaction import CompactionPolicy
    from bridle.revisions.files import FileRevisions
    from bridle.sessions.engine import Engine
    from bridle.sessions.service import SessionService
    from bridle.sessions.world import SystemChance, SystemClock

    clock = SystemClock()
    blobs = open_blobs(settings)
    store = open_store(settings)
    memory = memory_in(settings, environ, store)
    sandbox = open_sandbox(settings)
    languages = open_languages(settings, environ, sandbox)
    is_kept = settings.store.backend != "ephemeral"
    return SessionService(
        Engine(
            store=store,
            claims=open_claims(settings),
            models=open_models(settings, tell),
            load_agent=lambda name, cwd: agent_in(name, settings_in(cwd, settings, environ), clock),
            tools=open_tools(settings, environ, blobs, sandbox, memory, languages),
            servers=open_tool_servers(settings, environ, sandbox),
            languages=languages,
            lent_share=settings.mcp.share,
            clock=clock,
            chance=SystemChance(),
            blobs=blobs,
            revisions=FileRevisions(revisions_dir(settings) if is_kept else None, blobs),
            remember=lambda rules: _remember(settings, rules),
            mask=masker(settings, environ).mask,
            open_hooks=lambda cwd, override: hooks_in(
                settings_in(cwd, settings, environ), environ, override, handlers
            ),
            memory=memory,
            compaction=CompactionPolicy(**_values(settings.compaction)),
            children=_child_policy(settings),
            warn_at=settings.warn_at,
            environ=command_environment(settings, environ),
            default_agent=settings.agent,
            retry=settings.retry.policy(),
            # A tool that ends by itself when its time is up can say more about it.
            tool_timeout_s=float(settings.tools.timeout) + TIMEOUT_GRACE_S,
            max_output_bytes=settings.tools.max_output_bytes,
            max_parallel=settings.tools.max_parallel,
        )
    )


def _values(section: "Struct") -> dict[str, Any]:
    from msgspec.structs import asdict

    return asdict(section)


def _child_policy(settings: Settings) -> "ChildPolicy":
    from bridle.sessions.family import ChildPolicy

    children = settings.children
    return ChildPolicy(
        max_depth=children.max_depth if children.enabled else 0,
        max_running=children.max_running,
        max_children=children.max_children,
        max_tokens=children.max_tokens,
        models=children.models,
        without_tools=tuple(tool.spec.name for tool in peer_tools(settings)),
        worktrees=str(settings.home / "worktrees"),
    )


def _remember(settings: Settings, rules: Sequence[str]) -> None:
    from bridle.config.edit import add_rules

    add_rules(settings.home / "config.toml", "allow", rules)
