"""Argument definitions of `bridle tui`; no behavior."""

from bridle.surfaces.cli.arguments import Commands, add_command


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
