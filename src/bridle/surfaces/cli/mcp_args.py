"""Argument definitions of `bridle mcp` and `bridle lsp`; no behavior."""

from bridle.surfaces.cli.arguments import Commands, Parser, add_command, add_group, add_json_flag

ADD_EXAMPLES = """\
examples:
  bridle mcp add time -- uvx mcp-server-time
  bridle mcp add db -e 'DB_URL=${DB_URL}' -- npx -y some-server --read-only
  bridle mcp add issues https://example.com/mcp -H 'Authorization: Bearer ${ISSUES_TOKEN}'
  bridle mcp add old https://example.com/sse -t sse --project

${VAR} and ${VAR:-default} stand for variables of your environment; quote them for the shell.
"""


def add_mcp(commands: Commands) -> None:
    """Add the `bridle mcp` commands."""
    group = add_group(commands, "mcp", "list, add, test and remove MCP servers")
    _add_add(group)
    add_json_flag(
        add_command(
            group, "list", "mcp:list_servers", "list the servers of this directory without starting them"
        )
    )
    get = add_command(group, "get", "mcp:get", "show the settings of a server, and where they come from")
    _with_name(get)
    add_json_flag(get)
    remove = add_command(group, "remove", "mcp_change:remove", "remove a server from your settings")
    _with_name(remove)
    _with_project(remove, "from the settings of this project")
    test = add_command(
        group,
        "test",
        "mcp:test",
        "start a server and show what it offers",
        epilog="exit codes:\n  0 it works   1 it does not",
    )
    _with_name(test)
    add_json_flag(test)
    serve = add_command(
        group,
        "serve",
        "mcp_serve:serve",
        "serve Bridle to MCP clients: runs, sessions, settings",
        epilog="examples:\n  bridle mcp serve\n  bridle mcp serve --http 127.0.0.1:8931",
    )
    serve.add_argument(
        "--http",
        metavar="HOST:PORT",
        help="serve streamable HTTP on this machine instead of stdin and stdout",
    )
    serve.add_argument(
        "--trust-caller",
        action="store_true",
        help="let the caller's model allow and approve calls, loosen the mode and change settings",
    )
    login = add_command(group, "login", "mcp_change:login", "log in to a remote server with your browser")
    _with_name(login)
    logout = add_command(group, "logout", "mcp_change:logout", "log out of a server")
    _with_name(logout)
    for name, meaning in (("enable", "enable a server"), ("disable", "disable a server")):
        change = add_command(group, name, f"mcp_change:{name}", meaning)
        _with_name(change)
        _with_project(change, "in this project")


def add_lsp(commands: Commands) -> None:
    """Add the `bridle lsp` command."""
    group = add_group(commands, "lsp", "list the language servers of this project")
    add_json_flag(
        add_command(
            group,
            "list",
            "lsp:list_servers",
            "list the language servers for the files here, and how to install missing ones",
        )
    )


def _add_add(group: Commands) -> None:
    add = add_command(
        group,
        "add",
        "mcp_change:add",
        "add a server to your settings",
        usage="bridle mcp add NAME [OPTION ...] (URL | -- COMMAND [ARG ...])",
        epilog=ADD_EXAMPLES,
    )
    add.add_argument(
        "words",
        metavar="NAME URL | NAME -- COMMAND [ARG ...]",
        nargs="*",
        help="its name, and its address or command",
    )
    add.add_argument("-u", "--url", metavar="URL", help="the address, instead of after the name")
    add.add_argument(
        "-t",
        "--transport",
        choices=["stdio", "http", "sse"],
        help="the transport (default: stdio for a command, http for an address)",
    )
    add.add_argument(
        "-e",
        "--env",
        metavar="K=V",
        action="append",
        default=[],
        help="an environment variable for it (repeatable)",
    )
    add.add_argument(
        "-H", "--header", metavar="K: V", action="append", default=[], help="a header to send (repeatable)"
    )
    add.add_argument(
        "--scope",
        choices=["project", "user", "session"],
        help="which sessions share one process: those of a folder (default), all, or none",
    )
    add.add_argument(
        "--cwd", metavar="DIR", help="working directory of the program (default: that of the session)"
    )
    add.add_argument("--sandbox", action="store_true", help="run the program in the sandbox")
    where = add.add_mutually_exclusive_group()
    where.add_argument("--project", action="store_true", help="for this project only")
    where.add_argument("--user", action="store_true", help="for all your projects (the default)")


def _with_name(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="its name")


def _with_project(parser: Parser, meaning: str) -> None:
    parser.add_argument("--project", action="store_true", help=meaning)
