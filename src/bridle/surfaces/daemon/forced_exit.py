"""Forces a node to exit: DBOS's threads wait forever for a database that is away."""

import os
import sys
import threading

LOST = 75
"""The exit status of a process that was declared gone, so that its supervisor restarts it."""
LINGER_S = 3.0  # for threads to end on their own


def exit_after(status: int, linger_s: float = LINGER_S) -> None:
    """End this process with a status after a delay, whatever still runs; all cleanup must be done."""
    timer = threading.Timer(linger_s, _end, (status,))
    timer.daemon = True
    timer.start()


def _end(status: int) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
