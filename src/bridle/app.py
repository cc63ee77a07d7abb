"""Wiring: from Settings to a SessionService; the only module that knows every concrete room.

Rooms are imported where they are needed, so that a command which only lists sessions loads none of
the machinery of a run.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridle.config.settings import Settings, load_settings
from bridle.core.ports import Claims, Clock, Store

SCRIPTS = Path(__file__).parent / "providers" / "scripts"

if TYPE_CHECKING:
    from bridle.config.keys import ModelSettings, ProviderSettings
    from bridle.core.agent import Agent
    from bridle.core.ports import Tool
    from bridle.providers import ModelCatalog, ModelEntry, ProviderEntry
    from bridle.providers.opening import Tell
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


def open_models(settings: Settings, tell: "Tell | None" = None) -> "ModelCatalog":
    """Make every configured provider and model known by name.

    `tell` hears when weights are pulled or about to answer; without it nothing is pulled.
    """
    from bridle.providers import ModelCatalog

    return ModelCatalog(
        {name: _provider_entry(provider) for name, provider in settings.providers.items()},
        {settings.providers[name].api_key_env: key.reveal() for name, key in settings.api_keys.items()},
        models={ref: _model_entry(ref, model) for ref, model in settings.models.items()},
        script_dirs=[SCRIPTS],
        models_dir=models_dir(settings),
        today=_today,
        tell=tell,
    )


def models_dir(settings: Settings) -> Path:
    """Return the folder that pulled weights lie in."""
    chosen = settings.providers["embedded"].models_dir
    return Path(chosen).expanduser() if chosen else settings.home / "models"


def _provider_entry(provider: "ProviderSettings") -> "ProviderEntry":
    from bridle.providers import ProviderEntry
    from bridle.providers.llama import LlamaOptions

    options = LlamaOptions(
        **_given(
            model=provider.model_file,
            models_dir=provider.models_dir,
            program=(provider.executable,) if provider.executable else None,
            host=provider.host,
            port=provider.port,
            ctx_size=provider.ctx_size,
            n_gpu_layers=provider.n_gpu_layers,
            threads=provider.threads,
            slots=provider.slots,
            jinja=provider.jinja,
            extra_args=provider.extra_args,
            start_timeout_s=provider.start_timeout and float(provider.start_timeout),
        )
    )
    return ProviderEntry(
        kind=provider.kind,
        base_url=provider.base_url,
        api_key_env=provider.api_key_env,
        window_tokens=provider.window_tokens,
        max_output_tokens=provider.max_output_tokens,
        headers=provider.headers,
        params=provider.params,
        server=options,
        tool_role=provider.tool_role,
        **_given(
            tools=provider.tools,
            connect_timeout_s=provider.connect_timeout and float(provider.connect_timeout),
            idle_timeout_s=provider.idle_timeout and float(provider.idle_timeout),
        ),
    )


def _model_entry(ref: str, model: "ModelSettings") -> "ModelEntry":
    from bridle.providers import ModelEntry

    return ModelEntry(model.window_tokens, model.max_output_tokens, model.price.price(ref))


def _given(**values: Any) -> dict[str, Any]:
    """Leave out what nobody has set, so that the default of the room counts."""
    return {name: value for name, value in values.items() if value is not None}


def _today() -> str:
    from datetime import UTC, datetime

    from bridle.sessions.world import SystemClock

    return datetime.fromtimestamp(SystemClock().now_ms() / 1000, UTC).date().isoformat()


def open_tools(settings: Settings) -> "tuple[Tool, ...]":
    """Make the built-in tools."""
    from bridle.tools.files import file_tools

    return file_tools(settings.tools.max_file_bytes)


def open_service(
    settings: Settings, environ: Mapping[str, str], tell: "Tell | None" = None
) -> "SessionService":
    """Build the engine that every surface drives; `tell` is that of `open_models`."""
    from bridle.sessions.engine import Engine
    from bridle.sessions.service import SessionService
    from bridle.sessions.world import SystemChance, SystemClock

    clock = SystemClock()
    return SessionService(
        Engine(
            store=open_store(settings),
            claims=open_claims(settings),
            models=open_models(settings, tell),
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
