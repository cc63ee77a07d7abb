"""Finds out which listening Unix sockets belong to a cell, from the kernel's own list.

A socket has two identities: the file that it was bound to, which may have been renamed since, and its own
number, which shows in the descriptors of the processes that hold it.

```
sock_diag, queried in the cell's network:   number, name, device and inode of its file
private network        every listed socket was created inside
the system's network   a process of the cell must hold it
```
"""

import os
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import suppress

from msgspec import Struct

_ASK_BY_FAMILY = 20
_DUMP = 0x301
_DONE, _ERROR = 3, 2
_LISTENING = 1 << 10
_SHOW_NAME_AND_FILE = 3
_HEADER = struct.Struct("=IHHII")
_ASKED = struct.Struct("=BBHIIIII")
_FOUND = struct.Struct("=BBBBIII")
_ATTRIBUTE = struct.Struct("=HH")
_FILE = struct.Struct("=II")
_NAME, _VFS = 0, 1
_UNIX = 1
_MAX_BYTES = 1 << 18
_TIMEOUT_S = 2.0


class _Listener(Struct, frozen=True):
    number: int
    name: bytes = b""
    inode: int = -1
    device: int = -1


class Listeners:
    """Queries the kernel through a socket that was created in the cell."""

    def __init__(self, channel: int, *, is_shared: bool) -> None:
        """Take the descriptor of a `sock_diag` socket; `is_shared` means that its network is the system's.

        If the kernel does not support such sockets, the descriptor is something else, and no socket counts as
        the cell's.
        """
        self._is_shared = is_shared
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        try:
            self._socket = socket.socket(fileno=channel)
            self._socket.settimeout(_TIMEOUT_S)
        except OSError:
            os.close(channel)

    def has_file(self, place: int, pid: int) -> bool:
        """True if a descriptor refers to the file of a socket in the cell of that process."""
        inode, device = os.fstat(place).st_ino & 0xFFFFFFFF, _device(place, pid)
        found = (one for one in self._all() if (one.inode, one.device) == (inode, device))
        return any(self._is_ours(one, pid) for one in found)

    def has_name(self, name: bytes, pid: int) -> bool:
        """True if an abstract name belongs to a socket in the cell of that process."""
        return any(self._is_ours(one, pid) for one in self._all() if one.name == name)

    def close(self) -> None:
        """Close the channel."""
        if self._socket is not None:
            self._socket.close()

    def _is_ours(self, listener: _Listener, pid: int) -> bool:
        return not self._is_shared or _holds(pid, f"socket:[{listener.number}]")

    def _all(self) -> list[_Listener]:
        """Return all listening sockets; none if the kernel does not report them."""
        if self._socket is None:
            return []
        with self._lock, suppress(OSError):
            request = _ASKED.pack(_UNIX, 0, 0, _LISTENING, 0, _SHOW_NAME_AND_FILE, 0, 0)
            header = _HEADER.pack(_HEADER.size + len(request), _ASK_BY_FAMILY, _DUMP, 1, 0)
            self._socket.send(header + request)
            return list(self._answers(self._socket))
        return []

    def _answers(self, channel: socket.socket) -> Iterator[_Listener]:
        while True:
            data = channel.recv(_MAX_BYTES)
            at = 0
            while at + _HEADER.size <= len(data):
                size, kind, *_ = _HEADER.unpack_from(data, at)
                if kind in (_DONE, _ERROR) or size < _HEADER.size:
                    return
                yield _read(data[at + _HEADER.size : at + size])
                at += size + 3 & ~3


def _read(body: bytes) -> _Listener:
    number = _FOUND.unpack_from(body)[4]
    name, inode, device = b"", -1, -1
    at = _FOUND.size
    while at + _ATTRIBUTE.size <= len(body):
        size, kind = _ATTRIBUTE.unpack_from(body, at)
        value = body[at + _ATTRIBUTE.size : at + size]
        if kind == _NAME:
            name = value
        elif kind == _VFS:
            inode, device = _FILE.unpack(value)
        at += max(size, _ATTRIBUTE.size) + 3 & ~3
    return _Listener(number, name, inode, device)


def _device(place: int, pid: int) -> int:
    """Return the kernel's device number of a descriptor's mount: `stat` may show another one."""
    with open(f"/proc/self/fdinfo/{place}", "rb") as file:
        mount = next((line.split()[1] for line in file if line.startswith(b"mnt_id:")), b"")
    with open(f"/proc/{pid}/mountinfo", "rb") as file:
        for line in file:
            number, _, device, *_ = line.split(b" ", 3)
            if number == mount:
                major, _, minor = device.partition(b":")
                return int(major) << 20 | int(minor)
    return -2


def _holds(pid: int, what: str) -> bool:
    """True if a process in the cell of `pid` has `what` open."""
    cell = os.readlink(f"/proc/{pid}/ns/pid")
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if os.readlink(f"/proc/{name}/ns/pid") == cell:
                for number in os.listdir(f"/proc/{name}/fd"):
                    with suppress(OSError):
                        if os.readlink(f"/proc/{name}/fd/{number}") == what:
                            return True
    return False
