"""The `bridle` command: one module per group of commands, loaded only when one of them runs."""

from collections.abc import Sequence

from bridle.surfaces.cli import loading

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the process's exit code."""
    with loading.quickly():
        from bridle.surfaces.cli.outermost import run_command
    return run_command(argv)
