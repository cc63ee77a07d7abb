"""Argument definitions of `bridle hooks`; no behavior."""

from bridle.surfaces.cli.arguments import Commands, add_command, add_group, add_json_flag

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
    bring = add_command(
        group,
        "import",
        "hooks:import_hooks",
        "import the command hooks from Claude Code's settings.json",
        epilog="example:\n  bridle hooks import ~/.claude/settings.json",
    )
    bring.add_argument("file", metavar="FILE", help="the settings.json")
    bring.add_argument("--project", action="store_true", help="for this project only")
    add_json_flag(bring)
