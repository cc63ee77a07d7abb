"""Argument definitions of `bridle daemon`, `bridle ps` and `bridle attach`; no behavior."""

from bridle.surfaces.cli.arguments import (
    Commands,
    add_command,
    add_group,
    add_json_flag,
    add_session_argument,
)

ATTACH_EXAMPLES = """\
examples:
  bridle ps
  bridle attach 019a8536-2b7c            watch a run, and answer what it asks
  bridle attach 019a8536-2b7c --resume   go on with one that was cut off

Ctrl-C leaves; the run goes on.
"""


def add_daemon(commands: Commands) -> None:
    """Add the `bridle daemon`, `ps` and `attach` commands."""
    group = add_group(commands, "daemon", "manage the background process that runs sessions")
    add_command(group, "start", "daemon:start_daemon", "start it in the background")
    add_command(
        group,
        "stop",
        "daemon:stop_daemon",
        "end it",
        description="End it. Runs get some time to end; what is left of them can be resumed.",
    )
    add_command(group, "restart", "daemon:restart_daemon", "end it and start it again")
    add_json_flag(add_command(group, "status", "daemon:show_status", "show how it is"))
    logs = add_command(group, "logs", "daemon:show_log", "show its log")
    logs.add_argument("-f", "--follow", action="store_true", help="go on with what is added")
    logs.add_argument("-n", "--lines", type=int, default=40, metavar="N", help="how many lines (default 40)")
    run = add_command(
        group, "run", "daemon:run_daemon", "be the daemon, in the foreground", description="Be the daemon."
    )
    run.add_argument("--background", action="store_true", help="write to the log, not to the terminal")
    run.add_argument(
        "--config", metavar="FILE", help="the config.toml of Kontekst: go on with its agents and sessions"
    )
    unit = add_command(group, "install", "daemon:install", "print what makes the system start it by itself")
    unit.add_argument("kind", nargs="?", choices=("systemd", "launchd"), help="the usual one of the system")
    add_json_flag(
        add_command(commands, "ps", "daemon:list_live", "list the sessions that the daemon has open")
    )
    attach = add_command(
        commands,
        "attach",
        "attach:attach",
        "watch a run of the daemon and answer its questions",
        epilog=ATTACH_EXAMPLES,
    )
    add_session_argument(attach)
    attach.add_argument("--resume", action="store_true", help="go on with a run that was cut off")
    attach.add_argument("-v", "--verbose", action="store_true", help="show reasoning too")
