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
  bridle attach 019a8536-2b7c            watch a run and answer its questions
  bridle attach 019a8536-2b7c --resume   resume an interrupted run

Ctrl-C detaches; the run continues.
"""


def add_daemon(commands: Commands) -> None:
    """Add the `bridle daemon`, `ps` and `attach` commands."""
    group = add_group(commands, "daemon", "manage the background process that runs sessions")
    add_command(group, "start", "daemon:start_daemon", "start the daemon")
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
    run.add_argument("--config", metavar="FILE", help="Kontekst's config.toml: use its agents and sessions")
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
