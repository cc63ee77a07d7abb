"""Run one command line and return its exit code; every error becomes a message and an exit code here."""

import importlib
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import suppress

from bridle.core.errors import BridleError, BudgetSpent, NotAllowed, UsageError
from bridle.surfaces.cli import parser, without_gc
from bridle.surfaces.shared.terminal import Console, Screen, open_console
from bridle.system.programs import SEARCHED, unsandboxed_environment, working_folders

_Command = Callable[[Namespace, Console], int]

EXIT_FAILED = 1
EXIT_BUDGET = 2
EXIT_USAGE = 64
EXIT_DENIED = 77
EXIT_CODES: dict[type[BaseException], int] = {
    KeyboardInterrupt: 130,
    BrokenPipeError: 141,  # what a shell reports for a program ended by SIGPIPE
    UsageError: EXIT_USAGE,
    BudgetSpent: EXIT_BUDGET,
    NotAllowed: EXIT_DENIED,
}


def run_command(argv: Sequence[str] | None) -> int:
    """Run a command line, by default that of this process, and return the exit code."""
    console = open_console(os.environ)
    if argv is None:
        _leave_project()
    try:
        code = _run(list(sys.argv[1:] if argv is None else argv), console)
        console.out.flush()
    except BaseException as wrapped:  # noqa: BLE001  the outermost frame: every end becomes an exit code
        error = _innermost(wrapped)
        code = next((code for kind, code in EXIT_CODES.items() if isinstance(error, kind)), EXIT_FAILED)
        with suppress(OSError):  # stderr may be closed too
            _explain(console, error)
        _flush_or_abandon(console.out, 1)
        _flush_or_abandon(console.err, 2)
    return code


def _leave_project() -> None:
    """Exclude the working directory from program lookups of this process and its libraries.

    Agents' commands get the console's environment, which does not change.
    """
    found = unsandboxed_environment(os.environ, working_folders())
    for name in SEARCHED:
        os.environ.pop(name, None)
    os.environ.update({name: found[name] for name in SEARCHED if name in found})


def _run(argv: list[str], console: Console) -> int:
    for word in argv:
        if not word.isascii() and any("\ud800" <= character <= "\udfff" for character in word):
            raise UsageError(f"an argument is not UTF-8 text: {word!a}")
    if not argv and console.out.is_terminal and console.err.is_terminal and sys.stdin and sys.stdin.isatty():
        argv = ["tui"]
    try:
        args = parser.parse(argv)
    except SystemExit:  # argparse has printed a help text or the version
        return 0
    if args.command is None:
        console.err.write(parser.build_parser().format_help())
        return EXIT_USAGE
    code: int = _load(args.command)(args, console)
    return code


def _load(command: str) -> _Command:
    module, _, function = command.partition(":")
    with without_gc():
        loaded: _Command = getattr(importlib.import_module(f"bridle.surfaces.cli.{module}"), function)
        from bridle.surfaces.cli.output.log import escape_last_resort  # not needed for a help text
    escape_last_resort()
    return loaded


def _innermost(error: BaseException) -> BaseException:
    """Return the error inside nested exception groups of task groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _explain(console: Console, error: BaseException) -> None:
    """Print a one-line explanation of an error, if it needs one."""
    match error:
        case KeyboardInterrupt() | BrokenPipeError():
            pass
        case BridleError():
            console.fail(error.message, error.hint)
        case OSError():
            reason = error.strerror or str(error)
            console.fail(f"{error.filename}: {reason}" if error.filename else reason)
        case _:
            from bridle.surfaces.cli.bug_report import report_bug  # needed only for a bug

            report_bug(console, error)


def _flush_or_abandon(screen: Screen, descriptor: int) -> None:
    """Flush buffered output; if that fails, redirect it so that exiting does not fail again."""
    try:
        screen.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, descriptor)
        os.close(nowhere)
