"""The argument parser: every command, its flags and its help; no behavior.

A command names its function as `module:function` under `bridle.surfaces.cli`; that module is imported
only when the command runs, so that `--help` stays fast.
"""

import argparse
import importlib
from contextlib import suppress
from typing import Any, NoReturn

from bridle import __version__
from bridle.core.errors import UsageError

# ---------------------------------------------------------------------------- building blocks


Commands = Any  # argparse keeps the type of add_subparsers() private


class Parser(argparse.ArgumentParser):
    """An argument parser that reports wrong usage as a `UsageError`, like every other error."""

    _width = 78

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def format_help(self) -> str:
        """Return the help text, as wide as the terminal."""
        import shutil  # needed only for a help text

        self._width = shutil.get_terminal_size().columns - 2
        return super().format_help()

    def _get_formatter(self) -> argparse.HelpFormatter:
        return _Formatter(self.prog, max_help_position=30, width=self._width)

    def _print_message(self, message: str, file: Any = None) -> None:
        with suppress(AttributeError):  # a stream closed before the start; newer Pythons handle it
            super()._print_message(message, file)

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing a usage block."""
        raise UsageError(message, hint=f"{self.prog} --help")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            import difflib  # needed only for a typo

            choices = [str(choice) for choice in action.choices]
            near = difflib.get_close_matches(str(value), choices, 1)
            hint = f"did you mean {near[0]}" if near else f"{self.prog} --help"
            what = str(action.metavar or action.dest).lower()
            raise UsageError(f'{what} "{value}" is not one of {", ".join(choices)}', hint=hint)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Lists subcommands without a separate COMMAND line."""

    def _format_action(self, action: argparse.Action) -> str:
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001  argparse has no public name for it
            return "".join(map(self._format_action, action._get_subactions()))  # noqa: SLF001  nor for these
        return super()._format_action(action)


def add_command(commands: Commands, name: str, command: str, summary: str, **options: Any) -> Parser:
    """Add a command that `module:function` performs."""
    options.setdefault("description", f"{summary[0].upper()}{summary[1:]}.")
    parser: Parser = commands.add_parser(name, help=summary, **options)
    parser.set_defaults(command=command, prog=parser.prog)
    return parser


def add_group(commands: Commands, name: str, summary: str, **options: Any) -> Commands:
    """Add a command that only contains other commands."""
    parser = add_command(commands, name, "", summary, **options)
    return parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Parser, required=True)


def add_session_argument(parser: Parser, **options: Any) -> None:
    """Add the session argument to a command."""
    options.setdefault("help", "the session id; its beginning is enough")
    parser.add_argument("session", metavar="SESSION", **options)


def add_json_flag(parser: Parser) -> None:
    """Add `--json` to a command."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def add_rule_flags(group: Any) -> Any:
    """Add the rule and mode flags to a command; return the group of mode flags."""
    for action, meaning in (
        ("allow", "allow these calls without asking"),
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
        ("--plan", "plan", "only read, change nothing"),
        ("--accept-edits", "accept-edits", "allow file edits, ask about everything else"),
        ("--yolo", "yolo", "allow everything that no rule denies"),
    ):
        mode.add_argument(flag, dest="mode", action="store_const", const=value, help=meaning)
    return mode


# ---------------------------------------------------------------------------- commands


MAIN_EXAMPLES = """\
examples:
  bridle init
  bridle
  bridle run "what does this project do"
  bridle run --continue "and how is it tested"
  bridle session list
  bridle session export 019a8536-2b7c --html -o talk.html
  bridle doctor

`bridle COMMAND --help` describes a command.
"""

COMMAND_ADDERS = {
    "init": "basic_args:add_init",
    "tui": "daemon_args:add_tui",
    "run": "run_args:add_run",
    "session": "session_args:add_session",
    "context": "basic_args:add_context",
    "stats": "session_args:add_stats",
    "config": "basic_args:add_config",
    "agents": "agent_args:add_agents",
    "skills": "agent_args:add_skills",
    "hooks": "agent_args:add_hooks",
    "mcp": "agent_args:add_mcp",
    "lsp": "agent_args:add_lsp",
    "rules": "rule_args:add_rules",
    "trust": "rule_args:add_trust",
    "sandbox": "rule_args:add_sandbox",
    "kernel": "rule_args:add_kernel",
    "memory": "agent_args:add_memory",
    "comms": "agent_args:add_comms",
    "daemon": "daemon_args:add_daemon",
    "ps": "daemon_args:add_daemon",
    "attach": "daemon_args:add_daemon",
    "worker": "scale_args:add_worker",
    "gateway": "scale_args:add_gateway",
    "scale": "scale_args:add_scale",
    "tenant": "scale_args:add_tenant",
    "token": "scale_args:add_token",
    "audit": "scale_args:add_audit",
    "web": "daemon_args:add_web",
    "rpc": "daemon_args:add_rpc",
    "acp": "daemon_args:add_acp",
    "import": "basic_args:add_import",
    "models": "basic_args:add_models",
    "doctor": "basic_args:add_doctor",
    "schema": "basic_args:add_schema",
    "completion": "basic_args:add_completion",
}
"""The function that adds each command, in help-text order; imported on demand."""


def parse(argv: list[str]) -> argparse.Namespace:
    """Parse a command line; raises UsageError, or SystemExit after printing a help text."""
    parser = build_parser(argv[0] if argv else "")
    args, rest = parser.parse_known_args(argv)
    if rest and getattr(args, "prompt", None) is not None:
        args.prompt += _late_words(rest, f"{args.prog} --help; quote a prompt with dashes")
    elif rest and getattr(args, "words", None) is not None:
        args.words += _late_words(rest, f"{args.prog} --help; put the program after --")
    elif rest:
        raise UsageError(f"unknown argument {rest[0]}", hint=f"{args.prog} --help")
    return args


def _late_words(rest: list[str], hint: str) -> list[str]:
    """Return positional words after a flag, which argparse does not collect."""
    words = rest[: rest.index("--")] if "--" in rest else rest
    for word in words:
        if word.startswith("-") and " " not in word:
            raise UsageError(f"unknown flag {word}", hint=hint)
    return words + rest[len(words) + 1 :]


def build_parser(wanted: str = "") -> Parser:
    """Build the parser for one command, or for all; building all takes longer than many commands run."""
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
    for place in (
        [COMMAND_ADDERS[wanted]] if wanted in COMMAND_ADDERS else dict.fromkeys(COMMAND_ADDERS.values())
    ):
        module, _, add = place.partition(":")
        getattr(importlib.import_module(f"bridle.surfaces.cli.{module}"), add)(commands)
    return parser
