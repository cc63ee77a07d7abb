"""How one server is reached and what it may do: settings with every variable put in."""

from typing import Literal

from msgspec import Struct

from bridle.core.permission import Rule


class OAuth(Struct, frozen=True):
    """How to log in where the server cannot say it all by itself."""

    client_id: str = ""
    client_secret: str = ""
    scopes: tuple[str, ...] = ()
    callback_port: int = 0


class ServerSettings(Struct, frozen=True):
    """A server that lends tools; a program here, or an address elsewhere."""

    name: str
    transport: Literal["stdio", "http", "sse"]
    argv: tuple[str, ...] = ()
    env: dict[str, str] = {}
    """All that the program sees of the environment."""
    cwd: str = ""
    """Where the program works; empty for the folder of the session."""
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
    """Where it is confined: paths that it must not see or change, and hosts that it may reach."""
    open_network: bool = False
    """Where it is confined: whether it may reach every host."""
    project: str = ""
    """The project that brings it, which is all that it may change; empty for a server of the user's own."""
    oauth: OAuth = OAuth()


class FolderServers(Struct, frozen=True):
    """The servers of one folder."""

    servers: tuple[ServerSettings, ...] = ()
    inert: tuple[tuple[str, Literal["off", "untrusted", "failed"], str], ...] = ()
    """Those that are not to be started: each by name, with its state and the reason."""
    notes: tuple[str, ...] = ()
    """What the user should hear beside."""
