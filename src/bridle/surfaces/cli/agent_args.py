"""Argument definitions of `bridle agents` and `bridle skills`; no behavior."""

from bridle.surfaces.cli.arguments import Commands, Parser, add_command, add_group, add_json_flag


def add_agents(commands: Commands) -> None:
    """Add the `bridle agents` commands."""
    group = add_group(commands, "agents", "list, create and edit agents")
    add_json_flag(add_command(group, "list", "agents:list_all", "list the agents available here"))
    show = add_command(
        group, "show", "agents:show", "show the settings of an agent, where each comes from, and its prompt"
    )
    _with_agent(show)
    add_json_flag(show)
    new = add_command(
        group,
        "new",
        "agents:new",
        "create an agent",
        epilog="example:\n  bridle agents new strict-reviewer --from reviewer",
    )
    _with_agent(new)
    new.add_argument("--from", dest="source", metavar="AGENT", help="start with a copy of this agent")
    _with_project(new)
    edit = add_command(
        group,
        "edit",
        "agents:edit",
        "edit the files of an agent in $EDITOR; a built-in agent is copied first",
        description="Edit the files of an agent in $VISUAL or $EDITOR. A built-in agent is copied first.",
    )
    _with_agent(edit)
    check = add_command(
        group, "check", "agents:check", "check agents for problems; exit code 1 if there are any"
    )
    check.add_argument("name", metavar="AGENT", nargs="?", help="(default: all)")
    add_json_flag(check)


def add_skills(commands: Commands) -> None:
    """Add the `bridle skills` commands."""
    group = add_group(commands, "skills", "list, check and create skills: prompts that run as /name")
    add_json_flag(add_command(group, "list", "skills:list_skills", "list the skills available here"))
    show = add_command(
        group,
        "show",
        "skills:show",
        "print a skill as the model reads it",
        epilog="example:\n  bridle skills show review src/parser.py",
    )
    show.add_argument("name", metavar="SKILL", help="its name")
    show.add_argument(
        "arguments", metavar="ARGUMENT", nargs="*", help="inserted where the skill expects arguments"
    )
    add_json_flag(show)
    check = add_command(
        group, "check", "skills:check", "check skills for problems; exit code 1 if there are any"
    )
    add_json_flag(check)
    new = add_command(
        group,
        "new",
        "skills:new",
        "create a skill",
        epilog="example:\n  bridle skills new release-notes --project",
    )
    new.add_argument("name", metavar="NAME", help="lowercase letters, digits and dashes")
    _with_project(new)


def _with_agent(parser: Parser) -> None:
    parser.add_argument("name", metavar="AGENT", help="its name")


def _with_project(parser: Parser) -> None:
    parser.add_argument("--project", action="store_true", help="in this project, not in your own settings")
