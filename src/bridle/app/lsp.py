"""Wiring for language servers: those that Bridle knows and those in the settings."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridle.app.folders import writable_folders
from bridle.app.shared_programs import SettingsCache, is_sandbox_off, shared_deny_rules
from bridle.app.tools import command_environment
from bridle.config.settings import Settings

if TYPE_CHECKING:
    from bridle.config.server_keys import LanguageServerSettings
    from bridle.core.language_servers import LanguageServers
    from bridle.core.ports import Sandbox
    from bridle.lsp.settings import FolderLanguages, LanguageServer


def open_languages(
    settings: Settings, environ: Mapping[str, str], sandbox: "Sandbox"
) -> "LanguageServers | None":
    """Create the manager of the language servers of all projects; None if the user turned them off."""
    if not settings.lsp.enabled and settings.source("lsp", "enabled")[-1].layer != "project":
        return None
    from bridle.lsp.languages import LocalLanguages

    return LocalLanguages(
        SettingsCache(environ, lambda here: folder_languages(here, environ), settings.flags), sandbox
    )


def folder_languages(settings: Settings, environ: Mapping[str, str]) -> "FolderLanguages":
    """Return the language servers for the files of one folder; raises ConfigError."""
    from bridle.config.trust_record import is_trusted
    from bridle.lsp.settings import FolderLanguages

    trusted = is_trusted(settings.home, settings.folder)
    return FolderLanguages(
        root=str(settings.root if trusted or not _holds_home(settings.root, environ) else settings.cwd),
        servers=language_servers(settings) if settings.lsp.enabled else (),
        environ=command_environment(settings, environ),
        confined=not (_is_freed(settings) or is_sandbox_off(settings)),
        writable=writable_folders(settings),
        denied=shared_deny_rules(settings),
        trusted=trusted,
        wait_s=float(settings.lsp.wait),
        idle_s=float(settings.lsp.idle),
    )


def _holds_home(root: Path, environ: Mapping[str, str]) -> bool:
    """Return True if a repository contains the user's home; no server may see it unless it is trusted."""
    return Path(os.path.realpath(environ.get("HOME", "/"))).is_relative_to(root)


def _is_freed(settings: Settings) -> bool:
    """Return True if the user's own settings let language servers run outside the sandbox."""
    return not settings.lsp.sandbox and settings.source("lsp", "sandbox")[-1].layer != "project"


def language_servers(settings: Settings) -> "tuple[LanguageServer, ...]":
    """Return the servers to use, first those that only the settings name."""
    from bridle.lsp.catalogue import KNOWN

    said, faults = settings.lsp.servers, language_faults(settings)
    known = {server.name for server in KNOWN}
    added = (_server(name, None, said[name]) for name in said if name not in known and name not in faults)
    usual = (_server(one.name, one, said[one.name]) if one.name in said else one for one in KNOWN)
    is_off = {name for name, one in said.items() if not one.enabled}
    return tuple(server for server in (*added, *usual) if server.name not in is_off)


def language_faults(settings: Settings) -> dict[str, str]:
    """Return the servers of the settings that cannot be used, each with the reason."""
    from bridle.lsp.catalogue import KNOWN

    known = {server.name for server in KNOWN}
    return {
        name: "Bridle does not know it, so it needs a command and extensions"
        for name, one in settings.lsp.servers.items()
        if name not in known and one.enabled and not (one.command and one.extensions)
    }


def _server(name: str, known: "LanguageServer | None", said: "LanguageServerSettings") -> "LanguageServer":
    from bridle.lsp.settings import LanguageServer

    usual = known or LanguageServer(name, (), ())
    return LanguageServer(
        name=name,
        command=said.command or usual.command,
        extensions=said.extensions or usual.extensions,
        language=said.language or usual.language,
        root_markers=said.root_markers or usual.root_markers,
        env={**usual.env, **said.env},
        init_options=_over(usual.init_options, said.init_options),
        settings=_over(usual.settings, said.settings),
        start_timeout_s=float(said.start_timeout),
        install=usual.install,
        family=usual.family,
        writes=usual.writes,
        reads=usual.reads,
    )


def _over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Merge two trees; values of `above` win."""
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        both = isinstance(value, dict) and isinstance(under, dict)
        merged[key] = _over(dict(under or {}), value) if both else value
    return merged
