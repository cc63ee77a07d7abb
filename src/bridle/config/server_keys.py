"""The keys of `[mcp]` and `[lsp]`: MCP servers and language servers."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from bridle.config.duration import Delay, Duration
from bridle.core.value_types import HeaderName, HeaderText, Name, PathText, Port, Share, VariableName


class OAuthSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[mcp.servers.NAME.oauth]`: login details that the server cannot provide itself."""

    client_id: Annotated[str, Meta(max_length=500)] = ""
    """A client id registered with the server; empty to register one."""
    client_secret_env: VariableName = ""
    scopes: tuple[HeaderText, ...] = ()
    callback_port: Port = 0
    """Port of the browser's redirect; 0 for any free port."""


Command = Annotated[str, Meta(pattern=r"\A[^\x00-\x1f\x7f]+\Z", description="a program")]
ServerName = Annotated[
    str,
    Meta(
        # Two underscores separate server and tool in mcp__server__tool. A name that is too long keeps its
        # first 55 characters: they must include the whole server name, because rules refer to it.
        pattern=r"\A(?!.*__)(?!_)[A-Za-z0-9_-]{1,48}(?<!_)\Z",
        description="a name of at most 48 letters, digits, - and single _ inside",
    ),
]
McpUrl = Annotated[
    str, Meta(pattern=r"\A[^\x00-\x20\x7f]+\Z", max_length=4000, description="an http:// or https:// address")
]


class McpServerSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[mcp.servers.NAME]`: an MCP server; a local program, or a remote address.

    In command, args, env, cwd, url and headers `${VAR}` and `${VAR:-default}` stand for variables.
    """

    command: Command = ""
    args: tuple[str, ...] = ()
    env: dict[VariableName, str] = {}
    cwd: PathText = ""
    url: McpUrl = ""
    headers: dict[HeaderName, str] = {}
    transport: Literal["auto", "stdio", "http", "sse"] = "auto"
    """"auto" is stdio for a command and http for a url."""
    enabled: bool = True
    tools: tuple[HeaderText, ...] = ()
    """The only tools to use, by name or pattern (`git_*`); empty for all."""
    without_tools: tuple[HeaderText, ...] = ()
    reads: tuple[HeaderText, ...] = ()
    """Tools that the user declares read-only: they run without asking."""
    scope: Literal["project", "user", "session"] = "project"
    """What shares one server process: the sessions of a folder, all sessions, or a single session."""
    start_timeout: Duration = Duration(30)
    timeout: Duration = Duration(120)
    """For one call; each progress notification restarts it."""
    sampling: Literal["ask", "allow", "deny"] = "ask"
    """Whether it may request model completions, at the user's cost."""
    sandbox: bool = False
    """Run the program in the same sandbox as commands."""
    oauth: OAuthSettings = OAuthSettings()


class McpSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[mcp]`: servers that provide tools over the Model Context Protocol."""

    wait: Delay = Delay(5)
    """How long a prompt waits for servers that are starting."""
    share: Share = 0.05
    """If the servers' tools take more than this part of the window, the model finds them by search."""
    idle: Duration = Duration(900)
    """How long the servers of a folder without sessions keep running."""
    servers: dict[ServerName, McpServerSettings] = {}


class LanguageServerSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[lsp.servers.NAME]`: a language server; for a built-in one, only what differs."""

    command: tuple[Command, ...] = ()
    extensions: tuple[HeaderText, ...] = ()
    """Extensions of its files, such as `.py`."""
    language: HeaderText = ""
    """Its language id for these files; empty for the default."""
    root_markers: tuple[HeaderText, ...] = ()
    """Files that mark the root of a project."""
    env: dict[VariableName, str] = {}
    init_options: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    enabled: bool = True
    start_timeout: Duration = Duration(30)


class LspSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[lsp]`: language servers, which analyze code as a compiler does."""

    enabled: bool = True
    wait: Delay = Delay(3)
    """How long the result of an edit waits for the servers' diagnostics."""
    sandbox: bool = True
    """Run them in the same sandbox as commands; without a sandbox they run in trusted projects only."""
    idle: Duration = Duration(900)
    servers: dict[Name, LanguageServerSettings] = {}
