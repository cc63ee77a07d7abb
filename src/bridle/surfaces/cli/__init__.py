"""The `bridle` command line: one module per group of commands, imported only when one of them runs."""

import gc
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from bridle.core.errors import UsageError
from bridle.system.platform import require_posix

__all__ = ["main", "serve_rpc", "without_gc"]

EXIT_UNSUPPORTED = 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the process's exit code."""
    try:
        require_posix()
    except UsageError as error:
        print(f"error: {error.message}\nhint: {error.hint}", file=sys.stderr)
        return EXIT_UNSUPPORTED
    with without_gc():
        from bridle.surfaces.cli.entry_point import run_command
    return run_command(argv)


def serve_rpc() -> int:
    """Serve a Meerkat SDK on stdin and stdout; every argument but `--contract` is ignored."""
    given = sys.argv[1:]
    named = given[given.index("--contract") + 1] if "--contract" in given[:-1] else ""
    contract = named or os.environ.get("BRIDLE_RPC_CONTRACT")
    return main(["rpc", *(["--contract", contract] if contract else [])])


@contextmanager
def without_gc() -> Iterator[None]:
    """Disable garbage collection during imports, and exempt what they load: modules are never garbage."""
    gc.disable()  # it would take a tenth of the startup time
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
