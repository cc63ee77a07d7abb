"""Building blocks of the argument parser: the parser class, commands, groups and shared flags."""

import argparse
from contextlib import suppress
from typing import Any, NoReturn

from bridle.core.errors import UsageError

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
