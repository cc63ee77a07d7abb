"""Argument definitions of `bridle stats`; no behavior."""

from bridle.surfaces.cli.arguments import Commands, add_command, add_json_flag, add_session_argument

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
