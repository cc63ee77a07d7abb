"""Exit statuses and process trees, as the system reports them."""

import os
import signal
from collections.abc import Iterator


def describe_status(status: int) -> str:
    """Describe an exit status, which is 128 + n after signal n."""
    try:
        name = signal.Signals(status - 128).name
    except ValueError:
        return f"exit status {status}"
    return f"killed by signal {status - 128} ({name})"


def walk_descendants(pid: int) -> Iterator[tuple[int, list[str]]]:
    """Yield a process and all its descendants, each with its threads."""
    found = [pid]
    for one in found:
        try:
            threads = os.listdir(f"/proc/{one}/task")
            for thread in threads:
                with open(f"/proc/{one}/task/{thread}/children", "rb", buffering=0) as file:
                    found += map(int, (file.read() or b"").split())
        except OSError:
            continue  # it ended meanwhile
        yield one, threads


def count_threads(pid: int) -> int:
    """Count the threads of a process and of all its descendants."""
    return sum(len(threads) for _, threads in walk_descendants(pid))
