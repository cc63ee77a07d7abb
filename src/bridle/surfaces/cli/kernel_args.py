"""Argument definitions of `bridle kernel`; no behavior."""

from bridle.surfaces.cli.arguments import Commands, Parser, add_command, add_group, add_rule_flags

RUN_EXAMPLES = """\
examples:
  bridle kernel run count.py
  bridle kernel run count.py --arg src --arg tests
  echo 'print(await read_file("README.md"))' | bridle kernel run -
  bridle kernel run fix.py --accept-edits

exit codes:
  0 done   1 the code failed   2 budget used up   64 wrong usage   77 denied   130 cancelled
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
