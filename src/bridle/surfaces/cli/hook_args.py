"""Argument definitions of `bridle hooks`; no behavior."""

from bridle.surfaces.cli.arguments import Commands, add_command, add_group, add_json_flag

POINTS = """
run_started pre_llm_request post_llm_response pre_tool_execution post_tool_execution turn_boundary
run_completed run_failed
""".split()


def add_hooks(commands: Commands) -> None:
    """Add the `bridle hooks` commands."""
    group = add_group(commands, "hooks", "list, test and import hooks: your own code at points of a run")
    add_json_flag(
        add_command(group, "list", "hooks:list_hooks", "list the hooks that hold here, and their state")
    )
    test = add_command(
        group,
        "test",
        "hooks:test",
        "ask one hook about an example and show what it says",
        epilog=(
            "examples:\n"
            "  bridle hooks test guard\n"
            '  echo \'{"point": "turn_boundary", "session_id": "s"}\' | bridle hooks test watch --input -\n\n'
            "exit codes:\n"
            "  0 it answered, whatever it said   1 it failed"
        ),
    )
    test.add_argument("id", metavar="ID", help="its id")
    what = test.add_mutually_exclusive_group()
    what.add_argument("--point", choices=POINTS, metavar="POINT", help="with the example of another point")
    what.add_argument("--input", metavar="FILE", help="with the invocation in this file; - for stdin")
    add_json_flag(test)
    bring = add_command(
        group,
        "import",
        "hooks:import_hooks",
        "take over the command hooks of a settings.json of Claude Code",
        epilog="example:\n  bridle hooks import ~/.claude/settings.json",
    )
    bring.add_argument("file", metavar="FILE", help="the settings.json")
    bring.add_argument("--project", action="store_true", help="for this project, not for all of yours")
    add_json_flag(bring)
