"""Asking for a yes before something that cannot be taken back easily."""

import signal
import sys

from bridle.core.errors import UsageError
from bridle.surfaces.terminal import Console


def confirmed(console: Console, question: str, *, without: str, hint: str) -> bool:
    """Ask on the terminal; raises UsageError with the hint where there is none."""
    console.out.flush()  # what the question is about
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(without, hint=hint)
    # An event loop would take Ctrl-C as a wish to end soon, and the terminal would be read on.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        console.err.write(f"{question} [y/N] ")
        console.err.flush()
        return sys.stdin.readline().strip().lower() in ("y", "yes")
    finally:
        signal.signal(signal.SIGINT, before)
