"""Exit statuses and process trees, as the system reports them."""

import os
import signal
from collections.abc import Iterator, Sequence


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


# ---------------------------------------------------------------------------- open files
# Files that the processes of a kernel hold open: no system call that Bridle sees reports later writes.


MAX_LOOKED_AT = 4096
_DELETED = " (deleted)"


def may_write_files(pid: int, folders: Sequence[str]) -> bool:
    """True if a process or one of its descendants may still write to a file below the folders.

    It may do so through an open descriptor or a mapping. Also true if there are too many to check.
    """
    left = MAX_LOOKED_AT
    below = tuple(f"{folder.rstrip('/')}/" for folder in folders)
    for one, _ in walk_descendants(pid):
        for path in _written(one):
            left -= 1
            if not left or (path.startswith(below) and not path.endswith(_DELETED)):
                return True
    return False


def _written(pid: int) -> Iterator[str]:
    """Yield each path that a process can write to, or "" for one that it can only read."""
    try:
        for number in os.listdir(f"/proc/{pid}/fd"):
            yield _target(pid, number)
        with open(f"/proc/{pid}/maps", errors="surrogateescape") as file:
            for line in file:
                _, rights, _, _, _, *path = line.rstrip("\n").split(maxsplit=5)
                yield path[0] if path and rights.endswith("s") else ""
    except OSError:
        return  # it ended meanwhile, or we may not inspect it


def _target(pid: int, number: str) -> str:
    try:
        path = os.readlink(f"/proc/{pid}/fd/{number}")
        if not path.startswith("/"):
            return ""
        with open(f"/proc/{pid}/fdinfo/{number}") as file:
            flags = next(line for line in file if line.startswith("flags:"))
    except (OSError, StopIteration):
        return ""
    return path if int(flags.split()[1], 8) & os.O_ACCMODE != os.O_RDONLY else ""
