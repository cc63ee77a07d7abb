"""Check whether a process exists, and kill children of asyncio, on any operating system."""

import os
import signal
from asyncio.subprocess import Process
from contextlib import suppress


def process_exists(pid: int) -> bool:
    """Return True if a process exists, even if it is another user's."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def kill_child(process: Process) -> None:
    """Kill a process that asyncio started, unless it has ended.

    `Process.kill` may take the exit status from asyncio, which then warns about an unknown child process.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
