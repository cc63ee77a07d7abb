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
