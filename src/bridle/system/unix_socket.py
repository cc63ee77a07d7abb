"""Paths of Unix sockets, which the kernel limits in length."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

MAX_SOCKET_PATH = 100  # bytes; Linux takes 107, macOS 103


@contextmanager
def short_path(path: str) -> Iterator[str]:
    """Yield a short enough path to the socket; raises OSError, also if the system offers none."""
    if len(os.fsencode(path)) <= MAX_SOCKET_PATH:
        yield path
        return
    if not hasattr(os, "O_PATH") or not os.path.isdir("/proc/self/fd"):
        reason = (
            f"the path of a socket can have at most {MAX_SOCKET_PATH} bytes (hint: use a shorter BRIDLE_HOME)"
        )
        raise OSError(errno.ENAMETOOLONG, reason, path)
    folder = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{os.path.basename(path)}"
    finally:
        os.close(folder)
