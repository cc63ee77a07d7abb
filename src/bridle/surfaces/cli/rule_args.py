"""Argument definitions of `bridle rules`, `bridle trust` and `bridle sandbox`; no behavior."""

import argparse

from bridle.surfaces.cli.arguments import Commands, add_command, add_group, add_json_flag, add_rule_flags

CHECK_EXAMPLES = """\
examples:
  bridle rules check --tool edit_file --args '{"path": "src/a.py", "old_str": "a", "new_str": "b"}'
  bridle rules check --deny 'bash(rm:*)' --tool bash --args '{"command": "ls && rm -rf x"}'

exit codes:
  0 allow   1 ask   77 deny   64 wrong usage
"""

MODES = ("ask", "plan", "accept-edits", "yolo")


def add_rules(commands: Commands) -> None:
    """Add the `bridle rules` commands."""
    group = add_group(commands, "rules", "list and change permission rules, and test a call")
    check = add_command(
        group,
        "check",
        "rules:check",
        "say what would happen to a call here, which rule decides, and why",
        epilog=CHECK_EXAMPLES,
    )
    check.add_argument("--tool", metavar="NAME", required=True, help="the tool that is called")
    check.add_argument("--args", metavar="JSON", default="{}", help="its arguments, as the model sends them")
    check.add_argument("--agent", metavar="NAME", help="whose rules (default: the agent of the settings)")
    check.add_argument("--cwd", metavar="DIR", help="where (default: here)")
    modes = add_rule_flags(check)
    modes.add_argument("--mode", choices=MODES, help="the mode by its name")
    add_json_flag(check)
    listing = add_command(group, "list", "rules:list_rules", "list the rules that hold here and their places")
    listing.add_argument("--agent", metavar="NAME", help="whose rules (default: the agent of the settings)")
    add_json_flag(listing)
    for name, meaning in (("add", "add a rule to your settings"), ("remove", "take a rule out of them")):
        change = add_command(
            group,
            name,
            f"rules:{name}",
            meaning,
            epilog=f"example:\n  bridle rules {name} --deny 'bash(rm:*)'",
        )
        change.add_argument("rule", metavar="RULE", help="for example 'edit_file(src/**)'")
        action = change.add_mutually_exclusive_group(required=True)
        for flag in ("allow", "ask", "deny"):
            action.add_argument(f"--{flag}", dest="action", action="store_const", const=flag)


def add_trust(commands: Commands) -> None:
    """Add `bridle trust`."""
    trust = add_command(
        commands,
        "trust",
        "trust:trust",
        "trust this project's settings",
        description=(
            "Show what a project's files would change if you trusted them, and ask. Trust ends with the next "
            "change of these files."
        ),
    )
    trust.add_argument("folder", metavar="DIR", nargs="?", help="the project (default: the one here)")
    what = trust.add_mutually_exclusive_group()
    what.add_argument("--yes", action="store_true", help="do not ask")
    what.add_argument("--list", dest="listing", action="store_true", help="list the projects you trust")
    what.add_argument("--revoke", action="store_true", help="do not trust it any more")
    add_json_flag(trust)


def add_sandbox(commands: Commands) -> None:
    """Add the `bridle sandbox` commands."""
    group = add_group(commands, "sandbox", "run a program in the agent's sandbox, or show its status")
    run = add_command(
        group,
        "run",
        "sandbox:run",
        "run a program in the sandbox; its exit status is passed on",
        epilog="example:\n  bridle sandbox run -- make test",
    )
    for action, meaning in (("allow", "a domain to open"), ("deny", "paths to hide or protect")):
        run.add_argument(
            f"--{action}",
            metavar="RULE",
            action="append",
            default=[],
            help=f"{meaning} (repeatable)",
        )
    run.add_argument("argv", metavar="PROGRAM", nargs=argparse.REMAINDER, help="what to run, after --")
    status = add_command(group, "status", "sandbox:status", "show which protections are active here")
    add_json_flag(status)
