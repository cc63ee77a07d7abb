"""`bridle mcp login` and `logout`: OAuth logins to remote MCP servers."""

import argparse
import asyncio
import webbrowser
from pathlib import Path

from bridle.app.mcp import server_settings
from bridle.config.mcp import FoundServer, url_problem
from bridle.config.settings import Settings, load_settings
from bridle.core.errors import ConfigError, UsageError
from bridle.mcp.settings import ServerSettings
from bridle.surfaces.cli.mcp import find_server, require_trust
from bridle.surfaces.cli.session_lookup import resolve_directory
from bridle.surfaces.terminal import Console, visible


def login(args: argparse.Namespace, console: Console) -> int:
    """Log in with a browser and store the credentials."""
    settings = load_settings(console.environ, Path(resolve_directory()))
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
    settings = load_settings(console.environ, Path(resolve_directory()))
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
