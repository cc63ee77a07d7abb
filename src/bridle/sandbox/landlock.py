"""The Landlock sandbox, for systems on which bubblewrap does not work.

Landlock can only grant rights: a path is hidden by not granting it. So Bridle lists every folder on the way
to a hidden path, and grants the other entries there one by one. This has costs:

- the names in such a folder can be listed, including the hidden ones;
- inside a writable folder, beside a hidden path, new files can be created only in existing subfolders;
- fixed or pinned paths in a writable folder cannot be left out: only the watch refuses changes to them.
"""

import ctypes
import os
from collections.abc import Iterator, Sequence
from typing import Any

from bridle.core.errors import ToolError
from bridle.sandbox.protected_paths import ProtectedPaths

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_FIRST = (1 << 13) - 1
_MAKE_DEVICE = 1 << 6 | 1 << 11  # never granted: root could create a device for the disk
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_SCOPES = 0b11  # abstract sockets and signals stay inside
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_CLOSED = ("/tmp", "/var/tmp", "/run", "/dev/pts")
_MAX_RULES = 20_000
_CREATE_RULESET = 444


def version() -> int:
    """Return the kernel's Landlock version; 0 for none."""
    libc = ctypes.CDLL(None, use_errno=True)
    found = libc.syscall(ctypes.c_long(_CREATE_RULESET), None, ctypes.c_long(0), ctypes.c_long(1))
    return max(0, int(found))


def build_rules(
    shield: ProtectedPaths,
    writable: Sequence[str],
    cwd: str,
    abi: int,
    *,
    shown: Sequence[str] = (),
    system: str = "/",
) -> list[tuple[str, int]]:
    """Return the rights to grant, by path; folders are absolute and free of links. Raises ToolError.

    All of `system` may be read, except the paths that each cell has for itself.
    """
    handled = _handled(abi)
    hidden = {*shield.hidden_files, *shield.hidden_folders}
    closed = {*hidden, *(os.path.realpath(path) for path in _CLOSED)}
    found: list[tuple[str, int]] = []
    read = ((root, _READ) for root in (system, cwd, *shown))
    for root, rights in (*read, *((root, handled & ~_MAKE_DEVICE) for root in writable)):
        found += _given(root, rights & handled, closed if root == system else hidden)
    if len(found) > _MAX_RULES:
        raise ToolError(
            "too many files lie next to those that the deny rules hide", hint="install bubblewrap"
        )
    return [*found, *((f"/dev/{name}", _OF_FILES & handled) for name in _DEVICES)]


def build_request(given: Sequence[tuple[str, int]], scratch: str, abi: int) -> dict[str, Any]:
    """Return what the launcher must request from the kernel; `scratch` is a folder for this cell alone."""
    own = (scratch, _handled(abi) & ~_MAKE_DEVICE)
    return {
        "handled": _handled(abi),
        "scoped": _SCOPES if abi >= 6 else 0,
        "size": 24 if abi >= 6 else 16 if abi >= 4 else 8,
        "rules": [*given, own],
    }


def _handled(abi: int) -> int:
    """Return the rights that the kernel supports: to request others is an error."""
    later = ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV))
    return _FIRST | sum(right for since, right in later if abi >= since)


def _given(root: str, rights: int, closed: set[str]) -> Iterator[tuple[str, int]]:
    """Yield the paths to grant in a folder so that nothing closed is granted."""
    ways = {path for place in closed for path in _way(root, place)}
    todo = [root]
    while todo:
        path = todo.pop()
        if path in closed:
            continue
        if path not in ways:
            yield path, rights if os.path.isdir(path) else rights & _OF_FILES
            continue
        yield path, rights & ~_OF_FILES
        try:
            with os.scandir(path) as entries:
                todo += [entry.path for entry in entries if not entry.is_symlink()]
        except OSError:
            continue


def _way(root: str, place: str) -> Iterator[str]:
    path = os.path.dirname(place)
    while path == root or path.startswith(root.rstrip("/") + "/"):
        yield path
        if path in (root, "/"):
            return
        path = os.path.dirname(path)
