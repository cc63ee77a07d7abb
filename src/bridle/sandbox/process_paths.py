"""Resolves a path as another process sees it: from its folder, its root, its links, its descriptors.

```
/proc/<pid>/cwd, fd/N      where it starts       (read as a link: already free of links)
/proc/<pid>/root/<path>    the same tree that it sees, also behind other mounts
/proc/self, thread-self    that process, not ours
```

The path is followed step by step, as the kernel does it. A change that another thread makes between our check
and the call is missed: that can hide a change from undo, but never bypass the sandbox.
"""

import ctypes
import errno
import os
import struct
from collections.abc import Sequence

AT_FDCWD = -100
_MAX_PATH = 4096
_MAX_HOPS = 40
_PAGE = 4096
_OPENAT2 = 437  # the same on both machines
_NO_LINKS = 0x04 | 0x02  # nor those in /proc

_libc = ctypes.CDLL(None, use_errno=True)


class _Span(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def read_memory(pid: int, address: int, size: int) -> bytes:
    """Return up to `size` bytes of a process's memory; raises OSError if the first one cannot be read."""
    buffer = ctypes.create_string_buffer(size)
    local = _Span(ctypes.addressof(buffer), size)
    remote = _Span(address, size)
    got = _libc.process_vm_readv(
        ctypes.c_long(pid),
        ctypes.byref(local),
        ctypes.c_ulong(1),
        ctypes.byref(remote),
        ctypes.c_ulong(1),
        ctypes.c_ulong(0),
    )
    if got < 0:
        raise OSError(ctypes.get_errno(), f"memory of process {pid}")
    return buffer.raw[:got]


def read_path(pid: int, address: int) -> str:
    """Return the path at an address of a process; raises OSError, also if it is too long for a path."""
    text = b""
    while len(text) < _MAX_PATH:
        # Never read past the end of a page, because the next one may be missing: a read must not fail for
        # bytes after the text.
        piece = read_memory(pid, address + len(text), min(256, _PAGE - (address + len(text)) % _PAGE))
        end = piece.find(b"\0")
        if end >= 0:
            return os.fsdecode(text + piece[:end])
        text += piece
    raise OSError(36, "path too long")


def get_descriptor_path(pid: int, descriptor: int) -> str | None:
    """Return the path that a descriptor of a process is open on; None if it has no path."""
    name = "cwd" if descriptor == AT_FDCWD else f"fd/{descriptor}"
    return _linked(f"/proc/{pid}/{name}")


def resolve_path(pid: int, descriptor: int, path: str, roots: Sequence[str], *, follow: bool) -> str | None:
    """Return the absolute path, free of links, that a path leads to; None if it leads to nothing with a name.

    Relative paths start at the descriptor. A link in the last step is followed only with `follow`. The roots
    are known to be free of links: below them only the rest is checked.
    """
    done, rest = _entry(pid, descriptor, path, roots)
    if done is None:
        return None
    todo = [part for part in reversed(rest.split("/")) if part not in ("", ".")]
    follow = follow or rest.endswith("/")
    hops = 0
    while todo:
        part = todo.pop()
        if part == "..":
            done = done.rpartition("/")[0]
            continue
        if done == "/proc" and part in ("self", "thread-self"):
            part = _own_number(pid)
        step = f"{done}/{part}"
        target = _readlink(f"/proc/{pid}/root{step}") if todo or follow else None
        if target is None:
            done = step
            continue
        hops += 1
        if hops > _MAX_HOPS or (step.startswith("/proc/") and not target.startswith("/")):
            return None
        todo += [one for one in reversed(target.split("/")) if one not in ("", ".")]
        done = "" if target.startswith("/") else done
    return done or "/"


def open_descriptor(pid: int, descriptor: int) -> int:
    """Open a process's open file or its working directory, without access to its content."""
    name = "cwd" if descriptor == AT_FDCWD else f"fd/{descriptor}"
    return os.open(f"/proc/{pid}/{name}", os.O_PATH | os.O_CLOEXEC)


def open_inside(pid: int, descriptor: int, path: str, *, follow: bool) -> int:
    """Open what a path leads to as a process sees it, and nothing that was swapped in meanwhile."""
    place = resolve_path(pid, descriptor, path, (), follow=follow)
    if not path or place is None:
        raise OSError(errno.ENOENT, "no such path")
    root = os.open(f"/proc/{pid}/root", os.O_PATH | os.O_CLOEXEC)
    try:
        how = struct.pack("=QQQ", os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW, 0, _NO_LINKS)
        name = os.fsencode(place.lstrip("/") or ".")
        size = ctypes.c_size_t(len(how))
        found = _libc.syscall(ctypes.c_long(_OPENAT2), ctypes.c_long(root), name, how, size)
        if found < 0:
            raise OSError(ctypes.get_errno(), "no such path")
        return int(found)
    finally:
        os.close(root)


def _entry(pid: int, descriptor: int, path: str, roots: Sequence[str]) -> tuple[str | None, str]:
    """Return the part of the path that needs no check, and the rest."""
    if path.startswith("/"):
        for root in roots:
            if path.startswith(root + "/"):
                return root, path[len(root) :]
        return "", path
    start = get_descriptor_path(pid, descriptor)
    return (None if start is None else start.rstrip("/")), path


def _own_number(pid: int) -> str:
    """Return the PID of a process in its own namespace."""
    with open(f"/proc/{pid}/status", "rb") as file:
        for line in file:
            if line.startswith(b"NSpid:"):
                return line.split()[-1].decode()
    return str(pid)


def _linked(path: str) -> str | None:
    target = _readlink(path)
    return target if target is not None and target.startswith("/") else None


def _readlink(path: str) -> str | None:
    try:
        return os.readlink(path)
    except OSError:
        return None  # not a link, or missing: the call itself will find out
