"""Files that the processes of a kernel hold open: no system call that Bridle sees reports later writes."""

import os
from collections.abc import Iterator, Sequence

from bridle.kernel.processes import walk_descendants

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
