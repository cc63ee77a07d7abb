"""Files that the programs of a kernel hold open: what is written there later, no call tells of."""

import os
from collections.abc import Iterator, Sequence

from bridle.kernel.processes import descend

MAX_LOOKED_AT = 4096
_DELETED = " (deleted)"


def holds_files(pid: int, folders: Sequence[str]) -> bool:
    """Tell whether a process, or one that descends from it, may still write into a file below the folders.

    By a descriptor or a mapping that it keeps. True as well when there is too much to look at.
    """
    left = MAX_LOOKED_AT
    below = tuple(f"{folder.rstrip('/')}/" for folder in folders)
    for one, _ in descend(pid):
        for path in _written(one):
            left -= 1
            if not left or (path.startswith(below) and not path.endswith(_DELETED)):
                return True
    return False


def _written(pid: int) -> Iterator[str]:
    """Yield what a process can write to, or an empty text for what it can only read."""
    try:
        for number in os.listdir(f"/proc/{pid}/fd"):
            yield _target(pid, number)
        with open(f"/proc/{pid}/maps", errors="surrogateescape") as file:
            for line in file:
                _, rights, _, _, _, *path = line.rstrip("\n").split(maxsplit=5)
                yield path[0] if path and rights.endswith("s") else ""
    except OSError:
        return  # it ended while we looked, or it is none of ours to look into


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
