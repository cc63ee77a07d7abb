"""Ask for confirmation before an action that is hard to undo."""

import signal
import sys

from bridle.core.errors import UsageError
from bridle.surfaces.shared.terminal import Console


def ask_confirmation(console: Console, question: str, *, without: str, hint: str) -> bool:
    """Ask for a yes on the terminal; without one, raises UsageError with `without` and `hint`."""
    console.out.flush()  # shows what the question is about
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(without, hint=hint)
    # With the event loop's handler, Ctrl-C would only request a cancel, and the read would go on.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        console.err.write(f"{question} [y/N] ")
        console.err.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")
    finally:
        signal.signal(signal.SIGINT, before)
