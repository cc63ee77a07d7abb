"""Argument definitions of `bridle agents` and `bridle skills`; no behavior."""

from bridle.surfaces.cli.arguments import Commands, Parser, add_command, add_group, add_json_flag


def add_agents(commands: Commands) -> None:
    """Add the `bridle agents` commands."""
    group = add_group(commands, "agents", "list, create and edit agents")
    add_json_flag(add_command(group, "list", "agents:list_all", "list the agents that can be used here"))
    show = add_command(
        group, "show", "agents:show", "show what holds for an agent, where that is said, and its prompt"
    )
    _with_agent(show)
    add_json_flag(show)
    new = add_command(
        group,
        "new",
        "agents:new",
        "make an agent",
        epilog="example:\n  bridle agents new strict-reviewer --from reviewer",
    )
    _with_agent(new)
    new.add_argument("--from", dest="source", metavar="AGENT", help="begin with the files of this one")
    _with_project(new)
    edit = add_command(
        group,
        "edit",
        "agents:edit",
        "open the files of an agent in $EDITOR; a built-in one becomes one of yours",
        description="Open the files of an agent in $VISUAL or $EDITOR; a built-in one becomes one of yours.",
    )
    _with_agent(edit)
    check = add_command(
        group, "check", "agents:check", "say what is wrong with agents; exit code 1 if anything is"
    )
    check.add_argument("name", metavar="AGENT", nargs="?", help="(default: all of them)")
    add_json_flag(check)


def add_skills(commands: Commands) -> None:
    """Add the `bridle skills` commands."""
    group = add_group(commands, "skills", "list, check and create skills: prompts that run as /name")
    add_json_flag(add_command(group, "list", "skills:list_skills", "list the skills that can be used here"))
    show = add_command(
        group,
        "show",
        "skills:show",
        "print what a model reads of a skill",
        epilog="example:\n  bridle skills show review src/parser.py",
    )
    show.add_argument("name", metavar="SKILL", help="its name")
    show.add_argument("arguments", metavar="ARGUMENT", nargs="*", help="put in where it has a place for them")
    add_json_flag(show)
    check = add_command(
        group, "check", "skills:check", "say what is wrong with skills; exit code 1 if anything is"
    )
    add_json_flag(check)
    new = add_command(
        group,
        "new",
        "skills:new",
        "make a skill",
        epilog="example:\n  bridle skills new release-notes --project",
    )
    new.add_argument("name", metavar="NAME", help="small letters, digits and dashes")
    _with_project(new)


def _with_agent(parser: Parser) -> None:
    parser.add_argument("name", metavar="AGENT", help="its name")


def _with_project(parser: Parser) -> None:
    parser.add_argument("--project", action="store_true", help="in this project, not for all of yours")
