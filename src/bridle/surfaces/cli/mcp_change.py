"""`bridle mcp add`, `remove`, `enable`, `disable` and `login`: change MCP servers and their logins."""

import argparse
import asyncio
import os
import re
import webbrowser
from pathlib import Path
from typing import Any

from bridle.app.mcp import server_settings
from bridle.config.edit import set_in_file
from bridle.config.edit_tables import add_table, remove_table
from bridle.config.file_names import CONFIG_FILE, PROJECT_FOLDER
from bridle.config.keys import ConfigFile
from bridle.config.layers import SERVERS, read_layer
from bridle.config.mcp import FoundServer, entry_fault, redact_server, url_problem
from bridle.config.server_keys import McpServerSettings, McpSettings
from bridle.config.settings import Settings
from bridle.config.toml_document import key_text
from bridle.config.validation import build, problems
from bridle.core.errors import ConfigError, UsageError
from bridle.mcp.settings import ServerSettings
from bridle.surfaces.cli.mcp import find_server, list_server_states, require_trust
from bridle.surfaces.cli.session_lookup import load_settings_here
from bridle.surfaces.shared.terminal import Console, visible

# ---------------------------------------------------------------------------- mcp login
# `bridle mcp login` and `logout`: OAuth logins to remote MCP servers.


def login(args: argparse.Namespace, console: Console) -> int:
    """Log in with a browser and store the credentials."""
    settings = load_settings_here(console)
    found = find_server(args.name, settings)
    require_trust(found)
    chosen = _remote(found, settings, console)
    if problem := url_problem(chosen.url, is_secret=True):
        why = problem[0].replace("headers", "the login")
        raise ConfigError(f"the address of {found.name} {why}", hint=problem[1])
    from bridle.mcp.login import login as log_in  # imports the MCP SDK, which is slow

    asyncio.run(log_in(chosen, settings.home, _open_browser, lambda line: console.err.line(visible(line))))
    console.done(f"logged in to {found.name}")
    return 0


def logout(args: argparse.Namespace, console: Console) -> int:
    """Delete a stored login."""
    settings = load_settings_here(console)
    found = find_server(args.name, settings)
    from bridle.mcp.login import logout as log_out  # imports the MCP SDK, which is slow

    if not log_out(_remote(found, settings, console), settings.home):
        raise ConfigError(f"not logged in to {found.name}", hint=f"bridle mcp login {found.name}")
    console.done(f"logged out of {found.name}")
    return 0


def _remote(found: FoundServer, settings: Settings, console: Console) -> ServerSettings:
    if found.transport == "stdio" and not found.fault:
        raise UsageError(f"{found.name} is a local program and needs no login")
    return server_settings(found, settings, console.environ)


def _open_browser(address: str) -> bool:
    return webbrowser.open(address)


# ---------------------------------------------------------------------------- mcp change


_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_BARE_ADDRESS = re.compile(r"(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::[0-9]+)?(?:/\S*)?")


def add(args: argparse.Namespace, console: Console) -> int:
    """Add a server to the user's or the project's settings."""
    settings = load_settings_here(console)
    name, *rest = args.words or [""]
    entry = _entry(args, rest)
    _judge(name, entry)
    if not args.project:
        _make_absolute(entry)
    file = _file(settings, is_project=args.project)
    if name in _written(file):
        raise ConfigError(f"{file}: already has a server {name}", hint=f"bridle mcp remove {name}")
    add_table(file, (*SERVERS, name), entry)
    console.done(f"added {name} to {file}")
    if _has_open_secret(entry):
        console.warn(f"{file} now contains what may be a secret in plain text")
        console.hint("write '${NAME}' for a variable of your environment instead")
    if not args.project:
        _warn_about(name, console)
    console.hint("run bridle trust to activate it" if args.project else f"bridle mcp test {name}")
    return 0


def remove(args: argparse.Namespace, console: Console) -> int:
    """Remove a server from the user's or the project's settings."""
    settings = load_settings_here(console)
    file = _file(settings, is_project=args.project)
    if not remove_table(file, (*SERVERS, args.name)):
        found = find_server(args.name, settings)
        is_ours = (
            found.layer == "project"
            and not args.project
            and found.place.startswith(f"{_file(settings, is_project=True)}:")
        )
        raise ConfigError(
            f"{args.name} is not in {file}, but in {found.place}",
            hint=f"bridle mcp remove {args.name} --project" if is_ours else "edit that file, or disable it",
        )
    console.done(f"removed {args.name} from {file}")
    return 0


def enable(args: argparse.Namespace, console: Console) -> int:
    """Enable a server."""
    return _switch(args, console, is_on=True)


def disable(args: argparse.Namespace, console: Console) -> int:
    """Disable a server."""
    return _switch(args, console, is_on=False)


def _switch(args: argparse.Namespace, console: Console, *, is_on: bool) -> int:
    settings = load_settings_here(console)
    found = find_server(args.name, settings)
    is_project = args.project or found.layer == "project"
    file = _file(settings, is_project=is_project)
    set_in_file(file, key_text((*SERVERS, args.name, "enabled")), "true" if is_on else "false")
    console.done(f"{args.name} is {'on' if is_on else 'off'} in {file}")
    if is_project and (is_on or _takes_trust(found)):
        console.hint("the project has changed: run bridle trust to activate its servers")
    return 0


def _takes_trust(found: FoundServer) -> bool:
    return found.layer == "project" and found.trusted


def _entry(args: argparse.Namespace, rest: list[str]) -> dict[str, Any]:
    """Return the new entry with its keys in a natural order; raises UsageError."""
    if args.url and rest:
        raise UsageError("give an address or a command, not both", hint="bridle mcp add --help")
    is_address = bool(args.url) or (len(rest) == 1 and bool(_ADDRESS.match(rest[0])))
    entry: dict[str, Any] = {}
    if is_address:
        entry["url"] = args.url or rest[0]
        entry["headers"] = dict(_pair(text, ":", "-H", "'NAME: VALUE'") for text in args.header)
        programs = (("-e", args.env), ("--cwd", args.cwd), ("--sandbox", args.sandbox))
        needless = [flag for flag, given in programs if given]
    else:
        command, *arguments = rest or [""]
        _refuse_bare_address(command, arguments)
        entry |= {"command": command, "args": arguments}
        entry["env"] = dict(_pair(text, "=", "-e", "NAME=VALUE") for text in args.env)
        entry["cwd"] = args.cwd
        needless = ["-H"] if args.header else []
    if needless:
        kind = "a program" if is_address else "an address"
        raise UsageError(f"{needless[0]} applies to {kind} only", hint="bridle mcp add --help")
    usual = "http" if is_address else "stdio"
    entry["transport"] = None if args.transport == usual else args.transport
    entry["scope"] = args.scope
    entry["sandbox"] = args.sandbox
    return {key: value for key, value in entry.items() if value}


def _refuse_bare_address(command: str, arguments: list[str]) -> None:
    """Raise UsageError for a command that can only be a URL without its scheme."""
    is_meant = not arguments and ("/" in command or ":" in command) and _BARE_ADDRESS.fullmatch(command)
    if is_meant and not os.path.lexists(command):
        raise UsageError(
            f"program not found: {command}; an address starts with https:// or http://",
            hint="bridle mcp add --help",
        )


def _pair(text: str, mark: str, flag: str, shape: str) -> tuple[str, str]:
    name, found, value = text.partition(mark)
    if not found or not name.strip():
        raise UsageError(f"{flag} needs {shape}", hint="bridle mcp add --help")
    return name.strip(), value.strip() if mark == ":" else value


def _judge(name: str, entry: dict[str, Any]) -> None:
    """Raise UsageError for an entry that could not be used."""
    if not name or not (entry.get("command") or entry.get("url")):
        raise UsageError(
            "a server needs a name and a command or an address",
            hint="bridle mcp add NAME -- COMMAND [ARG ...], or bridle mcp add NAME URL",
        )
    if problem := next(problems({"servers": {name: entry}}, McpSettings), None):
        raise UsageError(problem.message, hint=problem.hint)
    said = build(entry, McpServerSettings)
    if fault := entry_fault(said):
        raise UsageError(fault, hint="bridle mcp add --help")
    if said.url and "${" not in said.url:
        wrong = url_problem(said.url, is_secret=bool(said.headers))
        if wrong:
            raise UsageError(f"the address {wrong[0]}", hint=wrong[1])


def _make_absolute(entry: dict[str, Any]) -> None:
    """Make paths absolute: user settings apply in every directory."""
    if "/" in (command := entry.get("command", "")) and os.path.exists(command):
        entry["command"] = os.path.abspath(command)
    if (cwd := entry.get("cwd", "")) and not cwd.startswith(("~/", "${")):
        entry["cwd"] = os.path.abspath(cwd)


def _warn_about(name: str, console: Console) -> None:
    """Warn about what keeps a new server from working."""
    settings = load_settings_here(console)
    for one in list_server_states(settings, console.environ):
        if one.name == name and one.layer != "project" and one.problem:
            console.warn(one.problem + (f" (hint: {one.hint})" if one.hint else ""))


def _has_open_secret(entry: dict[str, Any]) -> bool:
    """Return True if the entry holds, in plain text, a value that listings would hide."""
    shown = redact_server(entry, for_trust=True)
    return any(shown.get(key) != entry.get(key) for key in ("env", "headers"))


def _file(settings: Settings, *, is_project: bool) -> Path:
    return settings.folder / PROJECT_FOLDER / CONFIG_FILE if is_project else settings.user_file


def _written(file: Path) -> dict[str, Any]:
    layer = read_layer("user", file, ConfigFile)
    servers: dict[str, Any] = layer.tree.get("mcp", {}).get("servers", {}) if layer else {}
    return servers
