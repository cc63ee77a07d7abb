"""Argument definitions of `bridle daemon`, `ps`, `attach`, `web`, `tui`, `rpc` and `acp`; no behavior."""

import argparse

from bridle.surfaces.cli.parser import (
    Commands,
    add_command,
    add_group,
    add_json_flag,
    add_session_argument,
)

# ---------------------------------------------------------------------------- protocol


RPC_EXAMPLES = """\
examples:
  bridle rpc                            requests on stdin, answers and events on stdout
  bridle rpc --listen unix:/tmp/b.sock  the same for every connection to a socket
  MEERKAT_BIN_PATH=$(which bridle-rpc) python your_script_with_meerkat_sdk.py
"""


def add_rpc(commands: Commands) -> None:
    """Add `bridle rpc`."""
    rpc = add_command(
        commands, "rpc", "rpc:rpc", "serve JSON-RPC to the program that starts it", epilog=RPC_EXAMPLES
    )
    rpc.add_argument(
        "--contract",
        metavar="VERSION",
        default="0.5.2",
        help="the version of Meerkat's contract (default: 0.5.2)",
    )
    rpc.add_argument("--listen", metavar="unix:PATH", help="accept connections there instead of stdin")
    rpc.add_argument("--cwd", metavar="DIR", help="default working directory of sessions")


def add_acp(commands: Commands) -> None:
    """Add `bridle acp`."""
    add_command(
        commands,
        "acp",
        "acp:acp",
        "serve editors over ACP (Agent Client Protocol)",
        epilog="An editor starts it and talks to it over stdin and stdout: add it there as a custom agent.",
    )


# ---------------------------------------------------------------------------- tui


def add_tui(commands: Commands) -> None:
    """Add `bridle tui`."""
    tui = add_command(
        commands,
        "tui",
        "tui:tui",
        "open the terminal interface (the default command)",
        epilog="examples:\n  bridle\n  bridle tui --continue\n  bridle tui --session 019a8536-2b7c",
    )
    which = tui.add_mutually_exclusive_group()
    which.add_argument("--session", metavar="ID", help="open this session")
    which.add_argument(
        "--continue", dest="go_on", action="store_true", help="open the newest session of this directory"
    )
    tui.add_argument("--cwd", metavar="DIR", help="where new sessions work (default: the current directory)")


# ---------------------------------------------------------------------------- web


EXAMPLES = """\
examples:
  bridle web                            open the page
  bridle web --print                    only print a link, for another browser
  ssh -L 7417:127.0.0.1:7417 HOST       the page of another machine, with its own bridle web --print

The link works once, within five minutes; the browser that opens it stays logged in for a week.
"""


def add_web(commands: Commands) -> None:
    """Add `bridle web`."""
    web = add_command(commands, "web", "web:web", "open the web page in a browser", epilog=EXAMPLES)
    web.add_argument(
        "--print",
        "--no-open",
        dest="only_print",
        action="store_true",
        help="print the link without opening it",
    )


# ---------------------------------------------------------------------------- daemon


ATTACH_EXAMPLES = """\
examples:
  bridle ps
  bridle attach 019a8536-2b7c            watch a run and answer its questions
  bridle attach 019a8536-2b7c --resume   resume an interrupted run

Ctrl-C detaches; the run continues.
"""


def _add_config_flag(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--config",
        metavar="FILE",
        help="Kontekst's config.toml: use its agents and sessions; created if it does not exist",
    )


def add_daemon(commands: Commands) -> None:
    """Add the `bridle daemon`, `ps` and `attach` commands."""
    group = add_group(commands, "daemon", "manage the background process that runs sessions")
    _add_config_flag(add_command(group, "start", "daemon:start_daemon", "start the daemon"))
    add_command(
        group,
        "stop",
        "daemon:stop_daemon",
        "stop the daemon",
        description="Stop the daemon. Active runs get some time to finish; unfinished ones can be resumed.",
    )
    add_command(group, "restart", "daemon:restart_daemon", "restart the daemon")
    add_json_flag(add_command(group, "status", "daemon:show_status", "show the status of the daemon"))
    logs = add_command(group, "logs", "daemon:show_log", "show the daemon's log")
    logs.add_argument("-f", "--follow", action="store_true", help="follow new lines")
    logs.add_argument(
        "-n", "--lines", type=int, default=40, metavar="N", help="number of lines (default: 40)"
    )
    run = add_command(
        group,
        "run",
        "daemon:run_daemon",
        "run the daemon in the foreground",
        description="Run the daemon in the foreground.",
    )
    run.add_argument("--background", action="store_true", help="log to the file, not to the terminal")
    _add_config_flag(run)
    unit = add_command(
        group, "install", "daemon:install", "print a service file that starts the daemon at login"
    )
    unit.add_argument("kind", nargs="?", choices=("systemd", "launchd"), help="the system's default")
    add_json_flag(add_command(commands, "ps", "daemon:list_live", "list the sessions open in the daemon"))
    attach = add_command(
        commands,
        "attach",
        "attach:attach",
        "watch a run in the daemon and answer its questions",
        epilog=ATTACH_EXAMPLES,
    )
    add_session_argument(attach)
    attach.add_argument("--resume", action="store_true", help="resume an interrupted run")
    attach.add_argument("-v", "--verbose", action="store_true", help="show reasoning")
