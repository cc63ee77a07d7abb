"""Argument definitions of `bridle memory`; no behavior."""

from bridle.surfaces.cli.arguments import Commands, add_command, add_group, add_json_flag

EXAMPLES = """\
examples:
  bridle memory search "why did we drop the cache"
  bridle memory stats
  bridle memory forget 019a8536-2b7c
"""


def add_memory(commands: Commands) -> None:
    """Add the `bridle memory` commands."""
    group = add_group(commands, "memory", "search past sessions", epilog=EXAMPLES)
    search = add_command(group, "search", "memory:search", "find passages that fit some words")
    search.add_argument(
        "query", metavar="QUERY", nargs="+", help="what to look for; several words are joined"
    )
    search.add_argument(
        "--limit", metavar="N", type=int, default=5, help="at most so many, up to 20 (default: 5)"
    )
    add_json_flag(search)
    stats = add_command(
        group, "stats", "memory:stats", "show what memory holds, and what it does not hold yet"
    )
    add_json_flag(stats)
    add_command(
        group,
        "rebuild",
        "memory:rebuild",
        "make memory anew from the stored sessions",
        description="Make memory anew from the stored sessions. What was forgotten stays forgotten.",
    )
    forget = add_command(
        group,
        "forget",
        "memory:forget",
        "drop what memory holds of a session, or of many",
        description="Drop what memory holds. The sessions themselves stay; session delete removes one.",
    )
    which = forget.add_mutually_exclusive_group(required=True)
    which.add_argument("session", metavar="SESSION", nargs="?", help="the start of an id is enough")
    which.add_argument("--project", action="store_true", help="every session of this project")
    which.add_argument("--all", action="store_true", help="every session")
    forget.add_argument("--yes", action="store_true", help="do not ask first")
