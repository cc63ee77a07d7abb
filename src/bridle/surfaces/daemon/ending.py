"""The last moment of a node: the engine's threads wait for a database that is away, and never give up."""

import os
import sys
import threading

LOST = 75
"""The exit status of a process that others have declared gone: whoever watches over it starts it again."""
LINGER_S = 3.0  # for threads to end by themselves


def end_soon(status: int, linger_s: float = LINGER_S) -> None:
    """End this process with a status after a moment, whatever still waits: all that had to be done is."""
    timer = threading.Timer(linger_s, _end, (status,))
    timer.daemon = True
    timer.start()


def _end(status: int) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
