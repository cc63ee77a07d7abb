"""Argument definitions of `bridle session` and `bridle stats`; no behavior."""

from bridle.surfaces.cli.parser import (
    Commands,
    add_command,
    add_group,
    add_json_flag,
    add_rule_flags,
    add_session_argument,
)
from bridle.surfaces.cli.run_args import add_hooks, add_label_flag, add_limits, add_style

# ---------------------------------------------------------------------------- stats


STATS_EXAMPLES = """\
examples:
  bridle stats --since 7d
  bridle stats 019a8536-2b7c                   one session and its sub-agents
"""


def add_stats(commands: Commands) -> None:
    """Add `bridle stats`."""
    stats = add_command(
        commands,
        "stats",
        "stats:stats",
        "show usage by model, agent, tool, hook and day",
        description="Show usage by model, agent, tool, hook and day.",
        epilog=STATS_EXAMPLES,
    )
    add_session_argument(
        stats, nargs="?", default=None, help="only this session and its sub-agents (default: all sessions)"
    )
    stats.add_argument("--all", action="store_true", help="include archived sessions")
    stats.add_argument("--since", metavar="TIME", help="only the last period, such as 7d or 12h")
    add_json_flag(stats)


# ---------------------------------------------------------------------------- session


REWIND_EXAMPLES = """\
examples:
  bridle session turns 019a8536-2b7c
  bridle session rewind 019a8536-2b7c --to 3 --dry-run
  bridle session rewind 019a8536-2b7c --to 3
  bridle session rewind 019a8536-2b7c --undo
"""

COMPACT_EXAMPLES = """\
examples:
  bridle session compact 019a8536-2b7c
  bridle session compact 019a8536-2b7c --keep "the decisions about the API"
"""

PIN_EXAMPLES = """\
examples:
  bridle session pin 019a8536-2b7c "never push to main"
  bridle session pin 019a8536-2b7c --list
  bridle session pin 019a8536-2b7c --remove "never push"
"""

CONFIGURE_EXAMPLES = """\
examples:
  bridle session configure 019a8536-2b7c
  bridle session configure 019a8536-2b7c --plan --no-shell
  bridle session configure 019a8536-2b7c --reset mode --reset without_builtins
"""

LABEL_EXAMPLES = """\
examples:
  bridle session label 019a8536-2b7c team=red size=big
  bridle session label 019a8536-2b7c --remove size
  bridle session list --label team=red
"""

DECIDE_EXAMPLES = """\
examples:
  bridle ps
  bridle session decide 019a8536-2b7c once
  bridle session decide 019a8536-2b7c deny --reason "not in this folder"
"""


def add_session(commands: Commands) -> None:
    """Add the `bridle session` commands."""
    group = add_group(commands, "session", "list, show, rewind and manage sessions")
    _add_reading(group)
    _add_undo(group)
    _add_commanding(group)
    _add_context(group)
    _add_changing(group)
    _add_checking(group)


def _add_reading(group: Commands) -> None:
    listing = add_command(group, "list", "session_list:list_sessions", "list sessions, newest first")
    listing.add_argument("--all", action="store_true", help="include archived sessions")
    add_label_flag(listing, "only sessions with this label (repeatable: with all of them)")
    add_json_flag(listing)

    show = add_command(group, "show", "session_list:show", "show a session as text")
    add_session_argument(show)
    add_json_flag(show)

    export = add_command(
        group,
        "export",
        "session_commands:export",
        "export a session as a document",
        epilog="example:\n  bridle session export 019a8536-2b7c --html -o talk.html",
    )
    add_session_argument(export)
    form = export.add_mutually_exclusive_group()
    form.add_argument(
        "--format",
        choices=["md", "json", "html", "files"],
        default="md",
        help="(default: md; files: a folder with events, transcript and summary, kept up to date)",
    )
    form.add_argument(
        "--html",
        dest="format",
        action="store_const",
        const="html",
        help="a self-contained page; same as --format html",
    )
    export.add_argument(
        "-o", "--out", metavar="FILE", help="write to this file (or folder, for files) instead of stdout"
    )


def _add_undo(group: Commands) -> None:
    turns = add_command(group, "turns", "session_rewind:turns", "list the turns that you can rewind to")
    add_session_argument(turns)
    add_json_flag(turns)

    diff = add_command(group, "diff", "session_rewind:diff", "show the files that a session changed")
    add_session_argument(diff)
    diff.add_argument("--turn", metavar="N", type=int, help="only this turn (default: all)")
    diff.add_argument("--stat", action="store_true", help="only file names")
    add_json_flag(diff)

    rewind = add_command(
        group,
        "rewind",
        "session_rewind:rewind",
        "restore conversation and files to an earlier turn",
        description=(
            "Restore conversation and files to how they were after a turn, including what shell commands "
            "changed, created, deleted or renamed. Shows the changes first and asks. Can itself be undone."
        ),
        epilog=REWIND_EXAMPLES,
    )
    add_session_argument(rewind)
    target = rewind.add_mutually_exclusive_group()
    target.add_argument("--to", metavar="TURN", type=int, help="the last turn to keep; 0 for none")
    target.add_argument("--undo", action="store_true", help="undo the last rewind")
    rewind.add_argument("--only", choices=["files", "conversation"], help="rewind only this")
    rewind.add_argument("--dry-run", action="store_true", help="show what would change, but change nothing")
    rewind.add_argument(
        "--force", action="store_true", help="also restore files that were changed outside the session"
    )
    rewind.add_argument("--yes", action="store_true", help="do not ask")
    add_json_flag(rewind)


def _add_context(group: Commands) -> None:
    compact = add_command(
        group,
        "compact",
        "session_commands:compact",
        "replace old messages with a summary",
        description=(
            "Replace old messages with a summary, to make room for the next turns. The newest "
            "turns stay as they are, and so does what is pinned. Nothing is deleted: going back to before "
            "it brings the messages back."
        ),
        epilog=COMPACT_EXAMPLES,
    )
    add_session_argument(compact)
    compact.add_argument(
        "--keep", metavar="TEXT", default="", help="what the summary must keep; it is also pinned"
    )

    pin = add_command(
        group,
        "pin",
        "session_commands:pin",
        "keep a text verbatim through every compaction",
        epilog=PIN_EXAMPLES,
    )
    add_session_argument(pin)
    pin.add_argument("text", metavar="TEXT", nargs="?", help="the text to keep")
    pin.add_argument("--list", action="store_true", help="list pinned texts")
    pin.add_argument("--remove", metavar="TEXT", help="unpin it; the beginning of the text is enough")
    add_json_flag(pin)


def _add_commanding(group: Commands) -> None:
    for name, summary in (
        ("steer", "add a message to the active run"),
        ("queue", "queue a prompt until the run ends"),
    ):
        command = add_command(group, name, f"session_commands:{name}", summary)
        add_session_argument(command)
        command.add_argument("text", metavar="TEXT", nargs="+", help="the text")

    push = add_command(
        group,
        "push",
        "session_commands:push",
        "add a message without starting a run",
        description="Add a message that the model reads with the next prompt. Starts no run.",
    )
    add_session_argument(push)
    push.add_argument("text", metavar="TEXT", nargs="+", help="the text")
    push.add_argument(
        "--role", choices=["user", "assistant"], default="user", help="whose message it is (default: user)"
    )

    decide = add_command(
        group,
        "decide",
        "session_commands:decide",
        "answer an approval that a run waits for",
        epilog=DECIDE_EXAMPLES,
    )
    add_session_argument(decide)
    decide.add_argument(
        "answer",
        choices=["once", "session", "always", "deny", "stop"],
        help="allow the call once, allow it with a rule, deny it, or deny it and stop the run",
    )
    decide.add_argument("--call", metavar="ID", help="the call, if several wait")
    decide.add_argument("--reason", metavar="TEXT", default="", help="what to tell the model when denying")

    cancel = add_command(group, "cancel", "session_commands:cancel", "stop the active run")
    add_session_argument(cancel)


def _add_changing(group: Commands) -> None:
    fork = add_command(
        group, "fork", "session_commands:fork", "start a new session with the messages of another"
    )
    add_session_argument(fork)
    end = fork.add_mutually_exclusive_group()
    end.add_argument("--at", metavar="SEQ", type=int, help="only up to this event (default: all)")
    end.add_argument(
        "--messages", metavar="N", type=int, help="only the first N messages, as the model gets them"
    )

    _add_configure(group)
    _add_label(group)

    rename = add_command(group, "rename", "session_commands:rename", "rename a session")
    add_session_argument(rename)
    rename.add_argument("title", metavar="TITLE", help="the new title")

    archive = add_command(group, "archive", "session_commands:archive", "archive a session")
    add_session_argument(archive)
    archive.add_argument("--undo", action="store_true", help="restore it")

    delete = add_command(group, "delete", "session_commands:delete", "permanently delete a session")
    add_session_argument(delete)
    delete.add_argument("--yes", action="store_true", help="do not ask")


def _add_configure(group: Commands) -> None:
    configure = add_command(
        group,
        "configure",
        "session_commands:configure",
        "change or show the options that a session keeps",
        description=(
            "Change the options that a session keeps, for runs that start afterwards: each one given "
            "replaces that of the session. Without any, print them."
        ),
        epilog=CONFIGURE_EXAMPLES,
    )
    add_session_argument(configure)
    configure.add_argument("--model", metavar="PROVIDER/MODEL", help="the model")
    add_style(configure)
    add_rule_flags(configure.add_argument_group("permissions"))
    add_limits(configure.add_argument_group("limits of each run"))
    add_hooks(configure.add_argument_group("hooks"))
    configure.add_argument(
        "--reset",
        action="append",
        default=[],
        metavar="OPTION",
        help="leave this option to the agent again, such as mode or without_builtins (repeatable)",
    )
    add_json_flag(configure)


def _add_label(group: Commands) -> None:
    label = add_command(
        group,
        "label",
        "session_commands:label",
        "set, remove or show the labels of a session",
        description="Set or remove labels of a session. Without any, print them.",
        epilog=LABEL_EXAMPLES,
    )
    add_session_argument(label)
    label.add_argument("labels", metavar="NAME=VALUE", nargs="*", help="a label to set")
    label.add_argument(
        "--remove", action="append", default=[], metavar="NAME", help="remove this label (repeatable)"
    )
    add_json_flag(label)


def _add_checking(group: Commands) -> None:
    fsck = add_command(group, "fsck", "session_check:fsck", "check the store for damage")
    fsck.add_argument("--repair", action="store_true", help="repair what can be repaired")
    add_json_flag(fsck)

    verify = add_command(group, "verify", "session_check:verify", "verify that no stored event was edited")
    add_session_argument(verify, nargs="?", default=None, help="only this session (default: all)")
    add_json_flag(verify)
