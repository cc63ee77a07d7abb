"""Argument definitions of `bridle run`; no behavior."""

from typing import Any

from bridle.surfaces.cli.arguments import Commands, add_command, add_rule_flags

RUN_EXAMPLES = """\
examples:
  bridle run "what does this project do"
  git diff | bridle run -p "review this change" > review.md
  bridle run --accept-edits "add a test for the parser"
  bridle run --continue "now the documentation too"
  bridle run --continue                        go on with a run that was cut off
  bridle run --code "which module has the most functions"
  bridle run --output-schema invoice.json "what does invoice.txt say" | jq .total
  bridle run -p --output json --allow 'edit_file(src/**)' --max-cost 0.50 "fix the lint errors"

exit codes:
  0 completed   1 failed, or a limit was reached   2 budget used up
  64 wrong usage   77 denied   130 cancelled
"""


def add_run(commands: Commands) -> None:
    """Add `bridle run`."""
    run = add_command(
        commands,
        "run",
        "run:run",
        "run a prompt",
        description="Answer a prompt; text on stdin joins it. The answer goes to stdout, all else to stderr.",
        epilog=RUN_EXAMPLES,
    )
    run.add_argument("prompt", nargs="*", metavar="PROMPT", help="what to do; several words are joined")
    _add_conversation(run.add_argument_group("conversation"))
    _add_output(run.add_argument_group("output"))
    add_rule_flags(run.add_argument_group("permissions"))
    _add_limits(run.add_argument_group("limits of this run"))
    _add_hooks(run.add_argument_group("hooks of this run"))


def _add_conversation(group: Any) -> None:
    group.add_argument(
        "--model", metavar="PROVIDER/MODEL", help="the model to ask instead of the agent's own"
    )
    group.add_argument("--agent", metavar="NAME", help="the agent of a new session (default: default)")
    which = group.add_mutually_exclusive_group()
    which.add_argument("--session", metavar="ID", help="go on in this session; the start of an id is enough")
    which.add_argument(
        "--continue",
        dest="go_on",
        action="store_true",
        help="go on in the newest session of this directory; without a prompt, finish a run that was cut off",
    )
    group.add_argument("--cwd", metavar="DIR", help="work in this directory")
    style = group.add_mutually_exclusive_group()
    style.add_argument(
        "--code",
        action="store_const",
        const=True,
        help="let the model write Python that calls the tools, instead of calling them one by one",
    )
    style.add_argument(
        "--no-code",
        dest="code",
        action="store_const",
        const=False,
        help="the opposite, for an agent that works this way",
    )


def _add_output(group: Any) -> None:
    group.add_argument(
        "-p",
        "--print",
        dest="final_only",
        action="store_true",
        help="print only the final answer and never ask",
    )
    group.add_argument(
        "--output",
        choices=["text", "json", "stream-json"],
        default="text",
        help="text as it arrives, one JSON result at the end, or every event as a line of JSON",
    )
    group.add_argument(
        "--output-schema",
        metavar="FILE|{…}",
        help="print nothing but a JSON value that fits this JSON Schema",
    )
    group.add_argument(
        "--structured-output-retries",
        metavar="N",
        help="how often the model may try again when its value does not fit (default: 2)",
    )
    group.add_argument(
        "--output-schema-compat",
        choices=["lossy", "strict"],
        help="whether a part of the schema that the vendor cannot enforce is a warning or an error",
    )
    group.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="show tool calls and reasoning also when not on a terminal",
    )


def _add_limits(group: Any) -> None:
    for flag, metavar, meaning in (
        ("--max-turns", "N", "model requests"),
        ("--max-tokens", "N", "tokens, sent and received"),
        ("--max-cost", "USD", "dollars"),
        ("--max-duration", "TIME", "wall time, such as 90s or 30m"),
        ("--max-tool-calls", "N", "tool calls"),
    ):
        group.add_argument(
            flag, metavar=metavar, help=f"stop after this many {meaning}".replace("many wall", "much wall")
        )
    group.add_argument(
        "--until",
        default="",
        metavar="COMMAND",
        help="go on until this shell command exits with 0, or a limit is reached",
    )


def _add_hooks(group: Any) -> None:
    group.add_argument(
        "--hooks",
        metavar="FILE|{…}",
        help='hooks of this run alone, as JSON: {"entries": […], "disable": [ids]}',
    )
    group.add_argument(
        "--no-hook", action="append", default=[], metavar="ID", help="leave this hook out (repeatable)"
    )
