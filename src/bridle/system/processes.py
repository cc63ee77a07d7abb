"""Whether a process is there, on any system."""

import os


def exists(pid: int) -> bool:
    """Say whether a process is there, also when it is another user's."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
