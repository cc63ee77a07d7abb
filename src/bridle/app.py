"""Wiring: from Settings to a SessionService; the only module that knows every concrete room.

Rooms are imported where they are needed, so that a command which only lists sessions loads none of
the machinery of a run.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from bridle.config.settings import Settings, load_settings
from bridle.core.ports import Claims, Clock, Store

DEFAULT_WINDOW_TOKENS = 128_000
DEFAULT_OUTPUT_TOKENS = 8_192
SCRIPTS = Path(__file__).parent / "providers" / "scripts"

if TYPE_CHECKING:
    from bridle.core.agent import Agent
    from bridle.core.ports import Models, Tool
    from bridle.sessions.service import SessionService


def open_store(settings: Settings) -> Store:
    """Open the journal alone, for commands that only look."""
    from bridle.sessions.world import SystemClock

    clock = SystemClock()
    match settings.store.backend:
        case "sqlite":
            from bridle.stores.sqlite import SqliteStore

            return SqliteStore(settings.home / "bridle.db", clock, sync=settings.store.sync)
        case "jsonl":
            from bridle.stores.jsonl import JsonlStore

            return JsonlStore(settings.home / "sessions", clock, sync=settings.store.sync)
        case "ephemeral":
            from bridle.stores.ephemeral import EphemeralStore

            return EphemeralStore(clock)


def open_claims(settings: Settings) -> Claims:
    """Open what keeps two processes from running one session."""
    from bridle.stores.claims import FileClaims, LocalClaims

    if settings.store.backend == "ephemeral":
        return LocalClaims()
    return FileClaims(settings.home / "run" / "claims")


def open_models(settings: Settings) -> "Models":
    """Make every configured provider known by name."""
    from bridle.providers.catalog import ModelCatalog, ProviderEntry

    entries = {
        name: ProviderEntry(
            kind=provider.kind,
            base_url=provider.base_url,
            api_key_env=provider.api_key_env,
            window_tokens=provider.window_tokens or DEFAULT_WINDOW_TOKENS,
            max_output_tokens=provider.max_output_tokens or DEFAULT_OUTPUT_TOKENS,
            headers=provider.headers,
            params=provider.params,
        )
        for name, provider in settings.providers.items()
    }
    keys = {settings.providers[name].api_key_env: key.reveal() for name, key in settings.api_keys.items()}
    return ModelCatalog(entries, keys, script_dirs=[SCRIPTS])


def open_tools(settings: Settings) -> "tuple[Tool, ...]":
    """Make the built-in tools."""
    from bridle.tools.files import file_tools

    return file_tools(settings.tools.max_file_bytes)


def open_service(settings: Settings, environ: Mapping[str, str]) -> "SessionService":
    """Build the engine that every surface drives."""
    from bridle.sessions.engine import Engine
    from bridle.sessions.service import SessionService
    from bridle.sessions.world import SystemChance, SystemClock

    clock = SystemClock()
    return SessionService(
        Engine(
            store=open_store(settings),
            claims=open_claims(settings),
            models=open_models(settings),
            load_agent=lambda name, cwd: agent_in(name, _settings_in(cwd, settings, environ), clock),
            tools=open_tools(settings),
            clock=clock,
            chance=SystemChance(),
            default_agent=settings.agent,
            retry=settings.retry.policy(),
            tool_timeout_s=float(settings.tools.timeout),
            max_output_bytes=settings.tools.max_output_bytes,
            max_parallel=settings.tools.max_parallel,
        )
    )


def agent_in(name: str, settings: Settings, clock: Clock) -> "Agent":
    """Load an agent as it is in one working directory, its prompt complete."""
    from msgspec.structs import replace

    from bridle.config.agents import load_agent
    from bridle.config.context_files import read_context_files
    from bridle.config.prompt import system_prompt

    agent = load_agent(name, settings).agent
    context = read_context_files(settings.home, settings.root, settings.cwd)
    return replace(agent, prompt=system_prompt(agent.prompt, context.text, settings.cwd, clock.now_ms()))


def _settings_in(cwd: str, settings: Settings, environ: Mapping[str, str]) -> Settings:
    """A session may live in another folder than the process, and that folder has settings of its own."""
    return settings if Path(cwd) == settings.cwd else load_settings(environ, Path(cwd))
