"""Argument definitions of `bridle run`; no behavior."""

from typing import Any

from bridle.surfaces.cli.parser import Commands, add_command, add_rule_flags

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")  # core.model has them, but loads more

RUN_EXAMPLES = """\
examples:
  bridle run "what does this project do"
  git diff | bridle run -p "review this change" > review.md
  bridle run --accept-edits "add a test for the parser"
  bridle run --continue "now the documentation too"
  bridle run --continue                        resume an interrupted run
  bridle run "make the page look like @sketch.png"
  bridle run --code "which module has the most functions"
  bridle run --output-schema invoice.json "what does invoice.txt say" | jq .total
  bridle run -p --output json --allow 'edit_file(src/**)' --max-cost 0.50 "fix the lint errors"

exit codes:
  0 completed   1 failed, or made no progress   2 a limit was reached
  64 wrong usage   77 denied   130 cancelled
"""


def add_run(commands: Commands) -> None:
    """Add `bridle run`."""
    run = add_command(
        commands,
        "run",
        "run:run",
        "run a prompt",
        description=(
            "Run a prompt; stdin is appended to it. The answer goes to stdout, the rest to stderr. A new "
            "session keeps its model, instructions, mode, rules, limits, hooks and which tools are off."
        ),
        epilog=RUN_EXAMPLES,
    )
    run.add_argument("prompt", nargs="*", metavar="PROMPT", help="what to do")
    run.add_argument(
        "--image",
        action="append",
        default=[],
        metavar="FILE",
        help="send this image with the prompt (repeatable); @FILE in the prompt does the same",
    )
    _add_conversation(run.add_argument_group("conversation"))
    _add_output(run.add_argument_group("output"))
    add_rule_flags(run.add_argument_group("permissions"))
    limits = run.add_argument_group("limits of each run")
    add_limits(limits)
    limits.add_argument(
        "--until",
        default="",
        metavar="COMMAND",
        help="continue until this shell command exits with 0, or a limit is reached",
    )
    add_hooks(run.add_argument_group("hooks"))


def _add_conversation(group: Any) -> None:
    group.add_argument("--model", metavar="PROVIDER/MODEL", help="use this model instead of the agent's")
    group.add_argument("--agent", metavar="NAME", help="the agent of a new session (default: default)")
    which = group.add_mutually_exclusive_group()
    which.add_argument(
        "--session", metavar="ID", help="continue this session; the beginning of an id is enough"
    )
    which.add_argument(
        "--continue",
        dest="go_on",
        action="store_true",
        help="continue the newest session of this directory; without a prompt, resume an interrupted run",
    )
    group.add_argument("--cwd", metavar="DIR", help="work in this directory")
    add_label_flag(group, "give a new session this label (repeatable)")
    add_style(group)


def add_label_flag(group: Any, meaning: str) -> None:
    """Add the flag `--label`, which may be repeated."""
    group.add_argument("--label", action="append", default=[], metavar="NAME=VALUE", help=meaning)


def add_style(group: Any) -> None:
    """Add the flags for the instructions and tools of a session."""
    group.add_argument("--system", metavar="TEXT", help="instructions instead of the agent's")
    group.add_argument(
        "--effort",
        choices=EFFORTS,
        metavar="LEVEL",
        help=f"how much the model reasons: {', '.join(EFFORTS)}",
    )
    group.add_argument("--no-shell", action="store_true", help="turn off the tools that run commands")
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
        help="the opposite, for an agent with code mode on",
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
        help="text as it arrives, one JSON result at the end, or one JSON line per event",
    )
    group.add_argument(
        "--output-schema",
        metavar="FILE|{…}",
        help="print only a JSON value that matches this JSON Schema",
    )
    group.add_argument(
        "--structured-output-retries",
        metavar="N",
        help="retries when the value does not match (default: 2)",
    )
    group.add_argument(
        "--output-schema-compat",
        choices=["lossy", "strict"],
        help="whether a schema part that the provider cannot enforce is a warning or an error",
    )
    group.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="show tool calls and reasoning even when not on a terminal",
    )


def add_limits(group: Any) -> None:
    """Add the flags for the limits of a run."""
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


def add_hooks(group: Any) -> None:
    """Add the flags for hooks."""
    group.add_argument(
        "--hooks",
        metavar="FILE|{…}",
        help='hooks besides those of the settings, as JSON: {"entries": […], "disable": [ids]}',
    )
    group.add_argument(
        "--no-hook", action="append", default=[], metavar="ID", help="disable this hook (repeatable)"
    )
