"""Wiring for MCP servers: from the settings of a folder to running servers."""

import asyncio
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from bridle.app.folders import session_folders
from bridle.app.shared_programs import SettingsCache, is_sandbox_off, shared_deny_rules, shared_domain_rules
from bridle.app.tools import command_environment
from bridle.config.settings import Settings
from bridle.core.server_views import ServerView
from bridle.mcp.offers import Offers

if TYPE_CHECKING:
    from bridle.config.mcp import FoundServer
    from bridle.core.mcp_servers import ToolServers
    from bridle.core.ports import Sandbox, Tool
    from bridle.mcp.settings import FolderServers, ServerSettings

Inert = tuple[str, Literal["off", "untrusted", "failed"], str]


def open_tool_servers(settings: Settings, environ: Mapping[str, str], sandbox: "Sandbox") -> "ToolServers":
    """Create the manager of the MCP servers of all folders; each server starts on first use."""
    from bridle.mcp.servers import McpServers
    from bridle.sessions.system_clock import SystemClock

    return McpServers(
        SettingsCache(environ, lambda here: folder_servers(here, environ), settings.flags),
        sandbox,
        wait_s=float(settings.mcp.wait),
        idle_s=float(settings.mcp.idle),
        home=settings.home,
        clock=SystemClock(),
    )


def folder_servers(settings: Settings, environ: Mapping[str, str]) -> "FolderServers":
    """Return the servers of one folder; one that cannot be used is listed as failed, with the reason."""
    from bridle.core.errors import ConfigError
    from bridle.mcp.settings import FolderServers

    servers: list[ServerSettings] = []
    inert: list[Inert] = []
    for found in settings.servers_found:
        if not found.trusted:
            if not any(other.name == found.name and other.trusted for other in settings.servers_found):
                inert.append(_untrusted(found))
        elif not found.settings.enabled:
            inert.append((found.name, "off", f"disabled in {found.place}"))
        else:
            try:
                servers.append(server_settings(found, settings, environ))
            except ConfigError as error:
                inert.append((found.name, "failed", str(error).removeprefix(f"server {found.name}: ")))
    return FolderServers(tuple(servers), tuple(inert), settings.server_files_broken)


def _untrusted(found: "FoundServer") -> Inert:
    if not found.settings.enabled:
        return found.name, "off", f"disabled in {found.place}"
    why = "the project has changed since you trusted it" if found.has_lapsed else "the project is not trusted"
    return found.name, "untrusted", f"{why} (hint: bridle trust)"


def server_settings(found: "FoundServer", settings: Settings, environ: Mapping[str, str]) -> "ServerSettings":
    """Return how to start or connect to one server, with all variables expanded; raises ConfigError."""
    from bridle.config.mcp import resolve
    from bridle.mcp.settings import OAuth, ServerSettings

    said = resolve(found, environ, settings.user_folder)
    is_program = found.transport == "stdio"
    is_confined = (said.sandbox or found.must_confine) and not is_sandbox_off(settings)
    denied = shared_deny_rules(settings, anywhere=said.scope == "user")
    oauth = said.oauth
    argv = (said.command, *said.args) if is_program else ()
    env = {**command_environment(settings, environ), **said.env} if is_program else {}
    if is_program and not is_confined:
        argv, env = resolve_unsandboxed_program(found.name, argv, said.env, settings, environ)
    return ServerSettings(
        name=found.name,
        transport=found.transport,
        argv=argv,
        env=env,
        cwd=said.cwd if is_program else "",
        url=said.url,
        headers=said.headers,
        tools=said.tools,
        without_tools=said.without_tools,
        reads=said.reads,
        scope=said.scope,
        start_timeout_s=float(said.start_timeout),
        timeout_s=float(said.timeout),
        sampling=said.sampling,
        confined=is_confined,
        rules=(*denied, *shared_domain_rules(settings)) if is_confined else (),
        open_network=is_confined and settings.sandbox.network == "open",
        project=str(settings.folder) if found.must_confine else "",
        oauth=OAuth(
            client_id=oauth.client_id,
            client_secret=environ.get(oauth.client_secret_env, "") if oauth.client_secret_env else "",
            scopes=oauth.scopes,
            callback_port=oauth.callback_port,
        ),
    )


def resolve_unsandboxed_program(
    name: str, argv: tuple[str, ...], own: Mapping[str, str], settings: Settings, environ: Mapping[str, str]
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return command and environment of a server that runs outside the sandbox; raises ConfigError.

    Neither its program nor the programs it finds on PATH may lie in folders that agents can write to. A
    program that does not exist at all fails later, when it is started.
    """
    from bridle.core.errors import ConfigError
    from bridle.system.programs import find_program, unsandboxed_environment, why_not_found

    outside = session_folders(settings)
    inherited = command_environment(settings, environ)
    path = {**inherited, **own}["PATH"]
    env = {**unsandboxed_environment(inherited, outside), **own}
    command, *args = argv
    if "/" in command:
        return (os.path.join(settings.cwd, command), *args), env
    found = find_program(command, path, outside=outside)
    if found is None and find_program(command, path, outside=()):
        raise ConfigError(
            f"server {name}: {command} {why_not_found(command, path)}",
            hint="use the absolute path of another program, or run the server with sandbox = true",
        )
    return (found or command, *args), env


def find_mcp_tool(name: str, settings: Settings, sandbox: "Sandbox") -> "Tool | None":
    """Return the MCP tool of this name for the rules to judge, not to run; starts no server.

    The server may not have such a tool. None if no server here could have one.
    """
    from bridle.core.ids import SessionId
    from bridle.mcp.names import full_name
    from bridle.mcp.offers import OfferedTool
    from bridle.mcp.server import Server, ServerContext
    from bridle.mcp.settings import ServerSettings
    from bridle.mcp.tools import McpTool, select_tools
    from bridle.sessions.system_clock import SystemClock

    for found in settings.servers_found:
        own = name.removeprefix(full_name(found.name, ""))
        if not (found.trusted and found.settings.enabled) or own in ("", name):
            continue
        said = found.settings
        chosen = ServerSettings(
            found.name, found.transport, tools=said.tools, without_tools=said.without_tools, reads=said.reads
        )
        world = ServerContext(sandbox, settings.home, SystemClock())
        server = Server(chosen, str(settings.cwd), SessionId("mcp"), world)
        server.listing = Offers((OfferedTool(own, "", {"type": "object"}),))
        return next((McpTool(server, tool) for tool in select_tools(server)), None)
    return None


class ServerCheck(Struct, frozen=True):
    """The result of starting a server to test it."""

    view: ServerView
    offered: Offers
    duration_ms: int
    unused: tuple[str, ...] = ()
    """Tools that the settings exclude."""


async def check_server(chosen: "ServerSettings", settings: Settings, sandbox: "Sandbox") -> ServerCheck:
    """Start one server, list what it offers, and stop it."""
    from bridle.core.ids import SessionId
    from bridle.mcp.server import Server, ServerContext, Timing
    from bridle.mcp.tools import select_tools
    from bridle.sessions.system_clock import SystemClock

    clock = SystemClock()
    # The second attempt is for servers that support only older protocol revisions.
    world = ServerContext(sandbox, settings.home, clock, Timing(delays_s=(0.0,)))
    room = SessionId("mcp")
    server = Server(chosen, str(settings.cwd), room, world)
    began_s = clock.monotonic_s()
    try:
        server.request()
        while server.state in ("starting", "waiting"):
            await server.settled()
            await asyncio.sleep(0)
        duration_ms = round((clock.monotonic_s() - began_s) * 1000)
        wanted = select_tools(server)
        unused = tuple(tool.name for tool in server.listing.tools if tool not in wanted)
        return ServerCheck(server.view(), server.listing, duration_ms, unused)
    finally:
        await server.aclose()
        await sandbox.end_session(room)
