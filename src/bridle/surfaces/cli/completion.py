"""`bridle completion`: print a shell completion script for commands, flags and files."""

import argparse

import shtab

from bridle.surfaces.cli.parser import build_parser
from bridle.surfaces.shared.terminal import Console

COMPLETED_AS = {"cwd": shtab.DIRECTORY, "out": shtab.FILE, "file": shtab.FILE}


def completion(args: argparse.Namespace, console: Console) -> int:
    """Print a completion script."""
    parser = build_parser()
    _mark_files(parser)
    console.out.line(shtab.complete(parser, args.shell))
    return 0


def _mark_files(parser: argparse.ArgumentParser) -> None:
    for action in parser._actions:  # noqa: SLF001  argparse has no public way to walk its arguments
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001  the same
            for command in action.choices.values():
                _mark_files(command)
        elif action.dest in COMPLETED_AS:
            action.complete = COMPLETED_AS[action.dest]  # type: ignore[attr-defined]
