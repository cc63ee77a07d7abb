"""Wiring: from Settings to a SessionService; the only module that knows every concrete room.

Rooms are imported where they are needed, so that a command which only lists sessions loads none of
the machinery of a run.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridle.config.settings import Settings, load_settings
from bridle.core.ports import Claims, Clock, Store

TIMEOUT_GRACE_S = 10.0
SCRIPTS = Path(__file__).parent / "providers" / "scripts"

if TYPE_CHECKING:
    from bridle.config.keys import ModelSettings, ProviderSettings
    from bridle.core.agent import Agent
    from bridle.core.ports import Blobs, Sandbox, Tool
    from bridle.core.skill import Skill
    from bridle.kernel.settings import KernelSettings
    from bridle.providers import ModelCatalog, ModelEntry, ProviderEntry
    from bridle.providers.opening import Tell
    from bridle.sessions.service import SessionService
    from bridle.stores.kontekst_store import Journal
    from bridle.tools.secrets import Masker


def open_store(settings: Settings) -> Store:
    """Open the journal alone, for commands that only look."""
    journal = _open_journal(settings)
    if (kontekst := settings.kontekst) is None:
        return journal
    from bridle.stores.kontekst_files import KontekstFiles
    from bridle.stores.kontekst_store import KontekstStore

    files = KontekstFiles(
        sessions=kontekst.sessions,
        marks=settings.home / "kontekst-marks",
        active=kontekst.data_dir / "active_session",
    )
    return KontekstStore(journal, files, open_claims(settings), cwd=str(kontekst.data_dir))


def _open_journal(settings: Settings) -> "Journal":
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


def open_blobs(settings: Settings) -> "Blobs":
    """Open the place for long outputs and earlier file contents."""
    from bridle.stores.blobs import FileBlobs, MemoryBlobs

    return MemoryBlobs() if settings.store.backend == "ephemeral" else FileBlobs(settings.home / "blobs")


def revisions_dir(settings: Settings) -> Path:
    """Return the folder for what was kept and is not recorded yet."""
    return settings.home / "run" / "revisions"


def open_sandbox(settings: Settings) -> "Sandbox":
    """Make what programs run in; Bridle's own files are not seen from inside."""
    from bridle.sandbox import LocalSandbox

    return LocalSandbox(home=str(settings.user_folder or "/"), hidden=(str(settings.home),))


def writable_folders(settings: Settings) -> tuple[str, ...]:
    """Return the folders that programs may change beside the working directory, as far as they exist."""
    folders = (settings.cwd / Path(folder).expanduser() for folder in settings.sandbox.writable)
    return tuple(str(folder) for folder in folders if folder.is_dir())


def open_tools(
    settings: Settings, environ: Mapping[str, str], blobs: "Blobs", sandbox: "Sandbox"
) -> "tuple[Tool, ...]":
    """Make the built-in tools, the most useful first: a small window has no room for all of them."""
    from bridle.kernel.tool import python_tool
    from bridle.sessions.world import SystemClock
    from bridle.tools.files import file_tools
    from bridle.tools.glob import Glob
    from bridle.tools.grep import Grep
    from bridle.tools.meta import meta_tools
    from bridle.tools.shell import ShellSettings, shell_tools
    from bridle.tools.skill import SkillTool
    from bridle.tools.web.download import Download
    from bridle.tools.web.fetch import WebFetch

    tools, guard = settings.tools, settings.sandbox
    shell = ShellSettings(
        environ=environ,
        pass_env=guard.pass_env,
        secret_env=_secret_env(settings),
        writable=writable_folders(settings),
        wants_sandbox=guard.mode == "on",
        open_network=guard.network == "open",
        timeout_s=float(tools.bash_timeout),
        background_after_s=float(tools.background_after),
        memory_bytes=guard.memory_bytes,
        max_processes=guard.max_processes,
        max_file_bytes=guard.max_file_bytes,
    )
    masker = _masker(settings, environ)
    bash, *jobs = shell_tools(
        sandbox,
        settings.home / "run" / "shells",
        settings=shell,
        masker=masker,
        blobs=blobs,
    )
    return (
        *file_tools(tools.max_file_bytes, blobs),
        bash,
        python_tool(
            sandbox,
            kernel_settings(settings, environ),
            blobs=blobs,
            key_file=settings.home / "kernel.key",
            spares=settings.kernel.spares,
            max_kernels=settings.kernel.max_kernels,
            idle_s=float(settings.kernel.idle),
            mask=masker.stream,
        ),
        Grep(),
        Glob(),
        WebFetch(max_body_bytes=tools.web_max_bytes, timeout_s=float(tools.web_timeout)),
        *jobs,
        SkillTool(lambda cwd: skills_in(_settings_in(cwd, settings, environ))),
        *meta_tools(SystemClock()),
        Download(),
    )


def kernel_settings(settings: Settings, environ: Mapping[str, str]) -> "KernelSettings":
    """Say how kernels run; their code sees what commands see of the environment."""
    from bridle.kernel.settings import KernelSettings
    from bridle.tools.shell.environment import command_environment

    kernel, guard = settings.kernel, settings.sandbox
    return KernelSettings(
        environ=command_environment(environ, secret=_secret_env(settings), kept=guard.pass_env),
        python=kernel.python,
        uv_python=kernel.uv_python,
        syd_config=kernel.syd_config,
        writable=writable_folders(settings),
        confined=guard.mode == "on",
        open_network=guard.network == "open",
        memory_bytes=guard.memory_bytes,
        max_processes=guard.max_processes,
        max_file_bytes=guard.max_file_bytes,
        cell_timeout_s=float(kernel.timeout),
        snapshot_codec=kernel.snapshots,
    )


def _secret_env(settings: Settings) -> tuple[str, ...]:
    return tuple(provider.api_key_env for provider in settings.providers.values())


def _masker(settings: Settings, environ: Mapping[str, str]) -> "Masker":
    from bridle.tools.secrets import Masker, find_secrets

    keys = {settings.providers[name].api_key_env: key.reveal() for name, key in settings.api_keys.items()}
    return Masker({**find_secrets(environ), **keys})


def open_service(
    settings: Settings, environ: Mapping[str, str], tell: "Tell | None" = None
) -> "SessionService":
    """Build the engine that every surface drives; `tell` is that of `open_models`."""
    from bridle.revisions.files import FileRevisions
    from bridle.sessions.engine import Engine
    from bridle.sessions.service import SessionService
    from bridle.sessions.world import SystemChance, SystemClock

    clock = SystemClock()
    blobs = open_blobs(settings)
    is_kept = settings.store.backend != "ephemeral"
    return SessionService(
        Engine(
            store=open_store(settings),
            claims=open_claims(settings),
            models=open_models(settings, tell),
            load_agent=lambda name, cwd: agent_in(name, _settings_in(cwd, settings, environ), clock),
            tools=open_tools(settings, environ, blobs, open_sandbox(settings)),
            clock=clock,
            chance=SystemChance(),
            blobs=blobs,
            revisions=FileRevisions(revisions_dir(settings) if is_kept else None, blobs),
            remember=lambda rules: _remember(settings, rules),
            mask=_masker(settings, environ).mask,
            default_agent=settings.agent,
            retry=settings.retry.policy(),
            # A tool that ends by itself when its time is up can say more about it.
            tool_timeout_s=float(settings.tools.timeout) + TIMEOUT_GRACE_S,
            max_output_bytes=settings.tools.max_output_bytes,
            max_parallel=settings.tools.max_parallel,
        )
    )


def _remember(settings: Settings, rules: Sequence[str]) -> None:
    from bridle.config.edit import add_rules

    add_rules(settings.home / "config.toml", "allow", rules)


def agent_in(name: str, settings: Settings, clock: Clock) -> "Agent":
    """Load an agent as it is in one working directory, its prompt complete."""
    from msgspec.structs import replace

    from bridle.config.agents import load_agent
    from bridle.config.context_files import read_context_files
    from bridle.config.prompt import skill_catalogue, system_prompt
    from bridle.config.skills import opening_rules

    agent = load_agent(name, settings).agent
    context = read_context_files(settings.home, settings.root, settings.cwd)
    skills = skills_in(settings)
    catalogue = skill_catalogue(skills) if agent.tools is None or "skill" in agent.tools else ""
    prompt = system_prompt(agent.prompt, context.text, settings.cwd, clock.now_ms(), skills=catalogue)
    return replace(agent, prompt=prompt, rules=(*agent.rules, *opening_rules(skills, settings)))


def skills_in(settings: Settings) -> "tuple[Skill, ...]":
    """Return the skills of one working directory, by name; those that are broken are left out."""
    from bridle.config.skills import load_skills

    return load_skills(settings).skills


def _settings_in(cwd: str, settings: Settings, environ: Mapping[str, str]) -> Settings:
    """A session may live in another folder than the process, and that folder has settings of its own."""
    return settings if Path(cwd) == settings.cwd else load_settings(environ, Path(cwd))
