"""The keys of `[mcp]` and `[lsp]`: servers that lend tools, and servers that know code."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from bridle.config.duration import Delay, Duration
from bridle.config.kinds import HeaderName, HeaderText, Name, PathText, Port, Share, VariableName


class OAuthSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[mcp.servers.NAME.oauth]`: how to log in where the server cannot say it all by itself."""

    client_id: Annotated[str, Meta(max_length=500)] = ""
    """An application that is known there; empty to register one."""
    client_secret_env: VariableName = ""
    scopes: tuple[HeaderText, ...] = ()
    callback_port: Port = 0
    """Where the browser comes back to; 0 for any that is free."""


Command = Annotated[str, Meta(pattern=r"\A[^\x00-\x1f\x7f]+\Z", description="a program")]
ServerName = Annotated[
    str,
    Meta(
        # Two underscores part the names of a server and its tool in mcp__server__tool. Of a name that is too
        # long the first 55 characters stay: all of the server must be among them, for rules speak of it.
        pattern=r"\A(?!.*__)(?!_)[A-Za-z0-9_-]{1,48}(?<!_)\Z",
        description="a name of at most 48 letters, digits, - and single _ inside",
    ),
]
McpUrl = Annotated[
    str, Meta(pattern=r"\A[^\x00-\x20\x7f]+\Z", max_length=4000, description="an http:// or https:// address")
]


class McpServerSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[mcp.servers.NAME]`: a server that lends tools; a program here, or an address elsewhere.

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
    """The only tools to use, by name or pattern (`git_*`); none for all."""
    without_tools: tuple[HeaderText, ...] = ()
    reads: tuple[HeaderText, ...] = ()
    """Tools that you know to change nothing: they run without asking."""
    scope: Literal["project", "user", "session"] = "project"
    """Who shares one: the sessions of a folder, all sessions, or nobody."""
    start_timeout: Duration = Duration(30)
    timeout: Duration = Duration(120)
    """For one call; each sign of progress begins it anew."""
    sampling: Literal["ask", "allow", "deny"] = "ask"
    """Whether it may have the model answer something, on your account."""
    sandbox: bool = False
    """Run the program behind the same walls as commands."""
    oauth: OAuthSettings = OAuthSettings()


class McpSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[mcp]`: servers that lend tools by the Model Context Protocol."""

    wait: Delay = Delay(5)
    """How long a prompt waits for servers that are starting."""
    share: Share = 0.05
    """When the tools of servers would take more than this part of the window, they are found by search."""
    idle: Duration = Duration(900)
    """After this time servers of a folder without sessions are ended."""
    servers: dict[ServerName, McpServerSettings] = {}


class LanguageServerSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[lsp.servers.NAME]`: a language server; for one that Bridle knows, only what is different."""

    command: tuple[Command, ...] = ()
    extensions: tuple[HeaderText, ...] = ()
    """Endings of the files it is for, as `.py`."""
    language: HeaderText = ""
    """What it calls their language; empty for what is usual."""
    root_markers: tuple[HeaderText, ...] = ()
    """Files that say where a project begins."""
    env: dict[VariableName, str] = {}
    init_options: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    enabled: bool = True
    start_timeout: Duration = Duration(30)


class LspSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """`[lsp]`: language servers, which see code as a compiler does."""

    enabled: bool = True
    wait: Delay = Delay(3)
    """How long the result of an edit waits for what servers say of it."""
    sandbox: bool = True
    """Run them behind the same walls as commands; where there are none, they run in trusted projects only."""
    idle: Duration = Duration(900)
    servers: dict[Name, LanguageServerSettings] = {}
