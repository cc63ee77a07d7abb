"""Everything that depends on a session's working directory: its settings, agent, skills and hooks."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from bridle.app.shared_programs import is_sandbox_off, shared_deny_rules, shared_domain_rules
from bridle.config.settings import Settings, load_settings
from bridle.core.ports import Clock

if TYPE_CHECKING:
    from bridle.core.agent import Agent
    from bridle.core.hook import HookOverride
    from bridle.core.ports import Hooks, Sandbox
    from bridle.core.skill import Skill
    from bridle.hooks.factory import HookEnvironment
    from bridle.hooks.function_hooks import Handler
    from bridle.hooks.sandboxed_programs import HookSandbox


def agent_in(name: str, settings: Settings, clock: Clock) -> "Agent":
    """Load an agent for a working directory, with its complete prompt."""
    from msgspec.structs import replace

    from bridle.config.agents import load_agent
    from bridle.config.context_files import read_context_files
    from bridle.config.skills import allow_skill_folders
    from bridle.config.system_prompt import list_skills, system_prompt
    from bridle.config.trust_policy import warn_own_keys, warn_untrusted_keys

    loaded = load_agent(name, settings)
    agent, left_out = loaded.agent, loaded.left_out
    context = read_context_files(settings.home, settings.root, settings.cwd)
    skills = skills_in(settings)
    catalogue = list_skills(skills) if agent.tools is None or "skill" in agent.tools else ""
    prompt = system_prompt(agent.prompt, context.text, settings.cwd, clock.now_ms(), skills=catalogue)
    notes = warn_untrusted_keys(
        (*settings.left_out, *left_out.keys), has_lapsed=settings.has_lapsed or left_out.has_lapsed
    )
    rules = (*agent.rules, *allow_skill_folders(skills, settings))
    return replace(agent, prompt=prompt, rules=rules, notes=(*notes, *warn_own_keys(settings.own_only)))


def skills_in(settings: Settings) -> "tuple[Skill, ...]":
    """Return the skills of a working directory, by name; broken ones are left out."""
    from bridle.config.skills import load_skills

    return load_skills(settings).skills


def hooks_in(
    settings: Settings,
    environ: Mapping[str, str],
    override: "HookOverride",
    sandbox: "Sandbox",
    handlers: Mapping[str, "Handler"] = {},
) -> "Hooks":
    """Create the hooks of one run in a working directory; raises ConfigError.

    It also raises if a guardrail lost its trust because the project changed: it must not disappear silently.
    """
    from bridle.core.errors import ConfigError
    from bridle.hooks.factory import create_hooks

    for hook in settings.hooks_found:
        if hook.has_lapsed and hook.entry.enabled and hook.entry.capability != "observe":
            raise ConfigError(
                f'{hook.place}: hook "{hook.entry.id}" is inactive: the project has changed since you '
                "trusted it",
                hint="review it: bridle trust",
            )
    return create_hooks(settings.hooks.entries, override, hook_site(settings, environ, sandbox, handlers))


def hook_site(
    settings: Settings,
    environ: Mapping[str, str],
    sandbox: "Sandbox",
    handlers: Mapping[str, "Handler"] = {},
) -> "HookEnvironment":
    """Return where hooks run and their limits; hooks of a project run in the sandbox."""
    from bridle.hooks.factory import HookEnvironment
    from bridle.sessions.system_clock import SystemClock

    return HookEnvironment(
        cwd=str(settings.cwd),
        environ=environ,
        clock=SystemClock(),
        handlers=handlers,
        default_timeout_ms=settings.hooks.default_timeout_ms,
        payload_max_bytes=settings.hooks.payload_max_bytes,
        background_max_concurrency=settings.hooks.background_max_concurrency,
        places={hook.entry.id: hook.place for hook in settings.hooks_found if hook.trusted},
        outside=session_folders(settings),
        walls=_hook_walls(settings, sandbox),
    )


def _hook_walls(settings: Settings, sandbox: "Sandbox") -> "HookSandbox | None":
    from bridle.hooks.sandboxed_programs import HookSandbox

    theirs = frozenset(hook.entry.id for hook in settings.hooks_found if hook.layer == "project")
    if not theirs or is_sandbox_off(settings):
        return None
    return HookSandbox(
        sandbox,
        theirs,
        writable=(str(settings.folder),),
        rules=(*shared_deny_rules(settings), *shared_domain_rules(settings)),
        open_network=settings.sandbox.network == "open",
    )


def writable_folders(settings: Settings) -> tuple[str, ...]:
    """Return the existing folders that programs may change in addition to the working directory."""
    folders = (settings.cwd / Path(folder).expanduser() for folder in settings.sandbox.writable)
    return tuple(str(folder) for folder in folders if folder.is_dir())


def session_folders(settings: Settings) -> tuple[str, ...]:
    """Return the folders from which Bridle must not start programs outside the sandbox."""
    return str(settings.cwd), str(settings.root), *writable_folders(settings)


def settings_in(cwd: str, settings: Settings, environ: Mapping[str, str]) -> Settings:
    """Return the settings of a folder: a session may work in another folder than the process."""
    return settings if Path(cwd) == settings.cwd else load_settings(environ, Path(cwd), settings.flags)
