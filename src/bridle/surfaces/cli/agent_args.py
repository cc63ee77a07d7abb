"""Arguments of `bridle agents`, `skills`, `hooks`, `comms`, `memory`, `mcp` and `lsp`; no behavior."""

from bridle.surfaces.cli.parser import (
    Commands,
    Parser,
    add_command,
    add_group,
    add_json_flag,
    add_rule_flags,
)

# ---------------------------------------------------------------------------- memory


MEMORY_EXAMPLES = """\
examples:
  bridle memory search "why did we drop the cache"
  bridle memory stats
  bridle memory forget 019a8536-2b7c
"""


def add_memory(commands: Commands) -> None:
    """Add the `bridle memory` commands."""
    group = add_group(commands, "memory", "search past sessions", epilog=MEMORY_EXAMPLES)
    search = add_command(group, "search", "memory:search", "search for passages")
    search.add_argument("query", metavar="QUERY", nargs="+", help="what to look for")
    search.add_argument(
        "--limit", metavar="N", type=int, default=5, help="number of results, up to 20 (default: 5)"
    )
    add_json_flag(search)
    stats = add_command(
        group, "stats", "memory:stats", "show what memory contains, and what is still pending"
    )
    add_json_flag(stats)
    add_command(
        group,
        "rebuild",
        "memory:rebuild",
        "rebuild memory from the stored sessions",
        description="Rebuild memory from the stored sessions. Forgotten sessions stay forgotten.",
    )
    forget = add_command(
        group,
        "forget",
        "memory:forget",
        "remove sessions from memory",
        description="Remove sessions from memory. The sessions themselves stay; session delete removes one.",
    )
    which = forget.add_mutually_exclusive_group(required=True)
    which.add_argument("session", metavar="SESSION", nargs="?", help="the beginning of an id is enough")
    which.add_argument("--project", action="store_true", help="every session of this project")
    which.add_argument("--all", action="store_true", help="every session")
    forget.add_argument("--yes", action="store_true", help="do not ask first")


# ---------------------------------------------------------------------------- comms


EXAMPLES = """\
examples:
  bridle comms id                                what your peers need to trust you
  bridle comms trust builder ed25519:… tcp://127.0.0.1:4200
  bridle comms send builder "the tests are red"
  bridle comms listen --allow 'peer_respond(builder)'
"""


def add_comms(commands: Commands) -> None:
    """Add the `bridle comms` commands."""
    group = add_group(commands, "comms", "exchange signed messages between agents", epilog=EXAMPLES)
    who = add_command(
        group,
        "id",
        "comms:show_id",
        "print your peer id and address",
        description="Print your peer id and address in the form that `bridle comms trust` takes.",
    )
    add_json_flag(who)
    trust = add_command(group, "trust", "comms:trust", "trust a peer")
    trust.add_argument("name", metavar="NAME", help="your name for the peer: letters, digits, - and _")
    trust.add_argument("peer_id", metavar="PEER_ID", help="ed25519:…, printed there by `bridle comms id`")
    trust.add_argument("address", metavar="ADDRESS", help="uds:///path or tcp://host:port")
    untrust = add_command(group, "untrust", "comms:untrust", "stop trusting a peer")
    untrust.add_argument("name", metavar="NAME", help="your name for the peer")
    add_json_flag(add_command(group, "peers", "comms:list_peers", "list the peers you trust"))
    send = add_command(group, "send", "comms:send", "send a message and wait for delivery")
    send.add_argument("name", metavar="NAME", help="your name for the peer")
    send.add_argument("text", metavar="TEXT", nargs="+", help="the message; several words are joined")
    _add_listen(group)


def _add_listen(group: Commands) -> None:
    listen = add_command(
        group,
        "listen",
        "comms:listen",
        "let an agent answer messages from peers",
        description=(
            "Let an agent answer peers: each message is printed and becomes a prompt, in a session"
            " for each peer. The message DISMISS, the limit or Ctrl-C ends it."
        ),
    )
    listen.add_argument("--session", metavar="ID", help="use this session for all peers")
    listen.add_argument("--agent", metavar="NAME", help="the agent of new sessions (default: default)")
    listen.add_argument("--model", metavar="PROVIDER/MODEL", help="use this model instead of the agent's")
    listen.add_argument(
        "--limit", metavar="N", type=int, default=100, help="stop after this many deliveries (default: 100)"
    )
    listen.add_argument("--no-run", action="store_true", help="only print messages")
    add_rule_flags(listen.add_argument_group("permissions"))


# ---------------------------------------------------------------------------- hook


POINTS = """
run_started pre_llm_request post_llm_response pre_tool_execution post_tool_execution turn_boundary
run_completed run_failed
""".split()


def add_hooks(commands: Commands) -> None:
    """Add the `bridle hooks` commands."""
    group = add_group(commands, "hooks", "list, test and import hooks (your own code at points of a run)")
    add_json_flag(
        add_command(group, "list", "hooks:list_hooks", "list the hooks that apply here, and their state")
    )
    test = add_command(
        group,
        "test",
        "hooks:test",
        "call a hook with an example and show its answer",
        epilog=(
            "examples:\n"
            "  bridle hooks test guard\n"
            '  echo \'{"point": "turn_boundary", "session_id": "s"}\' | bridle hooks test watch --input -\n\n'
            "exit codes:\n"
            "  0 it answered   1 it failed"
        ),
    )
    test.add_argument("id", metavar="ID", help="its id")
    what = test.add_mutually_exclusive_group()
    what.add_argument("--point", choices=POINTS, metavar="POINT", help="use the example of another point")
    what.add_argument("--input", metavar="FILE", help="use the invocation in this file; - for stdin")
    add_json_flag(test)
    imports = add_command(
        group,
        "import",
        "hooks:import_hooks",
        "import the command hooks from Claude Code's settings.json",
        epilog="example:\n  bridle hooks import ~/.claude/settings.json",
    )
    imports.add_argument("file", metavar="FILE", help="the settings.json")
    imports.add_argument("--project", action="store_true", help="for this project only")
    add_json_flag(imports)


# ---------------------------------------------------------------------------- agent


def add_agents(commands: Commands) -> None:
    """Add the `bridle agents` commands."""
    group = add_group(commands, "agents", "list, create and edit agents")
    add_json_flag(add_command(group, "list", "agents:list_all", "list the agents available here"))
    show = add_command(
        group, "show", "agents:show", "show the settings of an agent, where each comes from, and its prompt"
    )
    _with_agent(show)
    add_json_flag(show)
    new = add_command(
        group,
        "new",
        "agents:new",
        "create an agent",
        epilog="example:\n  bridle agents new strict-reviewer --from reviewer",
    )
    _with_agent(new)
    new.add_argument("--from", dest="source", metavar="AGENT", help="start with a copy of this agent")
    _with_project(new)
    edit = add_command(
        group,
        "edit",
        "agents:edit",
        "edit the files of an agent in $EDITOR; a built-in agent is copied first",
        description="Edit the files of an agent in $VISUAL or $EDITOR. A built-in agent is copied first.",
    )
    _with_agent(edit)
    check = add_command(
        group, "check", "agents:check", "check agents for problems; exit code 1 if there are any"
    )
    check.add_argument("name", metavar="AGENT", nargs="?", help="(default: all)")
    add_json_flag(check)


def add_skills(commands: Commands) -> None:
    """Add the `bridle skills` commands."""
    group = add_group(commands, "skills", "list, check and create skills: prompts that run as /name")
    add_json_flag(add_command(group, "list", "skills:list_skills", "list the skills available here"))
    show = add_command(
        group,
        "show",
        "skills:show",
        "print a skill as the model reads it",
        epilog="example:\n  bridle skills show review src/parser.py",
    )
    show.add_argument("name", metavar="SKILL", help="its name")
    show.add_argument(
        "arguments",
        metavar="ARGUMENT",
        nargs="*",
        help="inserted where the skill expects arguments; quote one that contains spaces",
    )
    add_json_flag(show)
    check = add_command(
        group, "check", "skills:check", "check skills for problems; exit code 1 if there are any"
    )
    add_json_flag(check)
    new = add_command(
        group,
        "new",
        "skills:new",
        "create a skill",
        epilog="example:\n  bridle skills new release-notes --project",
    )
    new.add_argument("name", metavar="NAME", help="lowercase letters, digits and dashes")
    _with_project(new)


def _with_agent(parser: Parser) -> None:
    parser.add_argument("name", metavar="AGENT", help="its name")


def _with_project(parser: Parser, meaning: str = "in this project, not in your own settings") -> None:
    parser.add_argument("--project", action="store_true", help=meaning)


# ---------------------------------------------------------------------------- MCP and language servers


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
