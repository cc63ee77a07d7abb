"""The settings of an MCP server: how it is reached and what it may do, with all variables expanded."""

from typing import Literal

from msgspec import Struct

from bridle.core.permission import Rule


class OAuth(Struct, frozen=True):
    """Login settings that the server does not supply itself."""

    client_id: str = ""
    client_secret: str = ""
    scopes: tuple[str, ...] = ()
    callback_port: int = 0


class ServerSettings(Struct, frozen=True):
    """An MCP server: a local program, or a remote address."""

    name: str
    transport: Literal["stdio", "http", "sse"]
    argv: tuple[str, ...] = ()
    env: dict[str, str] = {}
    """The complete environment of the program."""
    cwd: str = ""
    """The program's working directory; empty for the session's folder."""
    url: str = ""
    headers: dict[str, str] = {}
    tools: tuple[str, ...] = ()
    without_tools: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    scope: Literal["project", "user", "session"] = "project"
    start_timeout_s: float = 30.0
    timeout_s: float = 120.0
    sampling: Literal["ask", "allow", "deny"] = "ask"
    confined: bool = False
    rules: tuple[Rule, ...] = ()
    """If it is confined: paths that it must not see or change, and hosts that it may connect to."""
    open_network: bool = False
    """If it is confined: True if it may connect to every host."""
    project: str = ""
    """The project that configures it, and all that it may change; empty for a server of the user's own."""
    oauth: OAuth = OAuth()


class FolderServers(Struct, frozen=True):
    """The servers of one folder."""

    servers: tuple[ServerSettings, ...] = ()
    inert: tuple[tuple[str, Literal["off", "untrusted", "failed"], str], ...] = ()
    """Servers that must not be started: each by name, with its state and the reason."""
    notes: tuple[str, ...] = ()
    """Further notes for the user."""
