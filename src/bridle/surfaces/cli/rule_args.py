"""Argument definitions of `bridle rules`, `trust`, `sandbox` and `kernel`; no behavior."""

import argparse

from bridle.surfaces.cli.parser import (
    Commands,
    Parser,
    add_command,
    add_group,
    add_json_flag,
    add_rule_flags,
)

# ---------------------------------------------------------------------------- kernel


RUN_EXAMPLES = """\
examples:
  bridle kernel run count.py
  bridle kernel run count.py --arg src --arg tests
  echo 'print(await read_file("README.md"))' | bridle kernel run -
  bridle kernel run fix.py --accept-edits

exit codes:
  0 done   1 the code failed   2 a limit was reached   64 wrong usage   77 denied   130 cancelled
"""

REPL_EXAMPLES = """\
examples:
  bridle kernel repl
  bridle kernel repl --session 019a8536-2b7c      with the variables an agent left there

Ctrl-C interrupts the code, Ctrl-D exits.
"""


def add_kernel(commands: Commands) -> None:
    """Add the `bridle kernel` commands."""
    group = add_group(commands, "kernel", "run Python as agents do: sandboxed, with tools")
    run = add_command(
        group,
        "run",
        "kernel:run",
        "run a file",
        description="Run a Python file. Its output goes to stdout, everything else to stderr.",
        epilog=RUN_EXAMPLES,
    )
    run.add_argument("file", metavar="FILE", help="the file; - for stdin")
    run.add_argument(
        "--arg",
        dest="script_args",
        metavar="TEXT",
        action="append",
        default=[],
        help="added to sys.argv (repeatable)",
    )
    _add_shared(run)
    repl = add_command(
        group,
        "repl",
        "kernel:repl",
        "start an interactive Python prompt",
        description="Start an interactive Python prompt. Variables are kept.",
        epilog=REPL_EXAMPLES,
    )
    _add_shared(repl)


def _add_shared(parser: Parser) -> None:
    parser.add_argument(
        "--session",
        metavar="ID",
        help="continue in this session, with its variables; the beginning of an id is enough",
    )
    parser.add_argument("--cwd", metavar="DIR", help="work in this directory")
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="show tool calls even when not on a terminal"
    )
    add_rule_flags(parser.add_argument_group("permissions"))


# ---------------------------------------------------------------------------- rule


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
        "show whether a call would be allowed here, and which rule decides",
        epilog=CHECK_EXAMPLES,
    )
    check.add_argument("--tool", metavar="NAME", required=True, help="the tool")
    check.add_argument("--args", metavar="JSON", default="{}", help="its arguments as JSON")
    check.add_argument(
        "--agent", metavar="NAME", help="the agent whose rules apply (default: that of the settings)"
    )
    check.add_argument("--cwd", metavar="DIR", help="working directory (default: the current one)")
    modes = add_rule_flags(check)
    modes.add_argument("--mode", choices=MODES, help="the mode")
    add_json_flag(check)
    listing = add_command(
        group, "list", "rules:list_rules", "list the rules that apply here, and where they are set"
    )
    listing.add_argument(
        "--agent", metavar="NAME", help="the agent whose rules apply (default: that of the settings)"
    )
    add_json_flag(listing)
    for name, meaning in (
        ("add", "add a rule to your settings"),
        ("remove", "remove a rule from your settings"),
    ):
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
            "Show what trusting a project would allow, and ask. Trust ends when its settings files change."
        ),
    )
    trust.add_argument("folder", metavar="DIR", nargs="?", help="the project (default: the current one)")
    what = trust.add_mutually_exclusive_group()
    what.add_argument("--yes", action="store_true", help="do not ask")
    what.add_argument("--list", dest="listing", action="store_true", help="list the projects you trust")
    what.add_argument("--revoke", action="store_true", help="stop trusting the project")
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
