"""Check whether a process exists, on any operating system."""

import os


def process_exists(pid: int) -> bool:
    """Return True if a process exists, even if it is another user's."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
