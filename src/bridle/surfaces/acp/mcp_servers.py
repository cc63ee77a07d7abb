"""MCP servers that the editor configures for a session."""

import os
from collections.abc import Sequence
from typing import Any

import msgspec
from acp.schema import AcpMcpServer, EnvVariable, HttpHeader, HttpMcpServer, McpServerStdio, SseMcpServer
from msgspec import Struct

from bridle.core.errors import UsageError
from bridle.mcp.settings import ServerSettings
from bridle.surfaces.shared.validation_error import format_validation_error

NamedServer = HttpMcpServer | SseMcpServer | AcpMcpServer | McpServerStdio

MAX_SERVERS = 32
MAX_NAME_CHARS = 64


class _Pair(Struct):
    name: str
    value: str


class _Program(Struct):
    name: str
    command: str
    args: list[str]
    env: list[_Pair]


class _Address(Struct):
    name: str
    url: str
    headers: list[_Pair]


def check_servers(params: dict[str, Any]) -> None:
    """Reject what the official package would silently ignore; raises UsageError."""
    servers = params.get("mcpServers")
    for number, server in enumerate(servers if isinstance(servers, list) else []):
        kind = server.get("type", "stdio") if isinstance(server, dict) else "stdio"
        shape = _Address if kind in ("http", "sse") else _Program if kind == "stdio" else dict[str, Any]
        try:
            msgspec.convert(server, shape)
        except msgspec.ValidationError as error:
            raise UsageError(format_validation_error(error, f"mcpServers.{number}")) from None
    if params.get("additionalDirectories"):
        raise UsageError("additionalDirectories: a session works in one folder")


def server_settings(servers: Sequence[NamedServer]) -> list[ServerSettings]:
    """Convert the editor's servers to settings; raises UsageError for an invalid one."""
    if len(servers) > MAX_SERVERS:
        raise UsageError(f"a session may have {MAX_SERVERS} MCP servers, and not {len(servers)}")
    found = [_settings(server) for server in servers]
    names = [one.name for one in found]
    for name in names:
        if not name or len(name) > MAX_NAME_CHARS or not name.isprintable():
            raise UsageError(f"{name[:MAX_NAME_CHARS]!r} cannot name an MCP server")
        if names.count(name) > 1:
            raise UsageError(f"two MCP servers are called {name!r}")
    return found


def _settings(server: NamedServer) -> ServerSettings:
    match server:
        case McpServerStdio():
            if not server.command or "\0" in "".join([server.command, *server.args]):
                raise UsageError(f"MCP server {server.name[:MAX_NAME_CHARS]}: its command is invalid")
            argv = (os.path.expanduser(server.command), *server.args)
            return ServerSettings(server.name, "stdio", argv, _pairs(server.env))
        case HttpMcpServer():
            return ServerSettings(server.name, "http", url=server.url, headers=_pairs(server.headers))
        case SseMcpServer():
            return ServerSettings(server.name, "sse", url=server.url, headers=_pairs(server.headers))
        case AcpMcpServer():
            raise UsageError(
                f"MCP server {server.name[:MAX_NAME_CHARS]}: servers inside the editor are not supported",
                hint="initialize lists the supported transports",
            )


def _pairs(pairs: Sequence[EnvVariable | HttpHeader]) -> dict[str, str]:
    return {pair.name: pair.value for pair in pairs}
