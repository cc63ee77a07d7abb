"""Makes system calls on behalf of a program, where checking a call and letting it continue is not safe.

A call that continues reads its arguments again, and another thread may have changed them. So the arguments
that matter here are read once, and Bridle makes the call with them:

| call | is made if |
|---|---|
| `connect` of a Unix socket | the target socket was bound inside the cell |
| `connect` of an internet socket | always: the network it reaches is the cell's |

The kernel reports which sockets belong to the cell (`sock_diag`), by device and inode, so a renamed socket is
still recognized.
"""

import ctypes
import errno
import fcntl
import os
import struct
import threading
from collections.abc import Callable, Sequence

from bridle.sandbox.process_paths import AT_FDCWD, open_inside, read_memory
from bridle.sandbox.unix_sockets import Listeners

_PIDFD_GETFD = 438  # the same on both machines
_SOL_SOCKET, _SO_DOMAIN = 1, 39
_UNIX, _INET, _INET6 = 1, 2, 10
_MAX_ADDRESS = 128
_MAX_WAITING = 64

_libc = ctypes.CDLL(None, use_errno=True)

Answer = Callable[[int], None]
"""Takes the error number for a call, 0 for success."""


class ConnectBroker:
    """Makes the calls of one program."""

    def __init__(self, listeners: Listeners) -> None:
        self._listeners = listeners
        self._waiting = threading.Semaphore(_MAX_WAITING)

    def connect(self, pid: int, args: Sequence[int], is_valid: Callable[[], bool], answer: Answer) -> None:
        """Connect a process's socket, and report the result: at once, or later from a thread."""
        try:
            size = args[2] & 0xFFFFFFFF
            if size > _MAX_ADDRESS:
                raise OSError(errno.EINVAL, "address")
            address = read_memory(pid, args[1], size) if size else b""
            socket = _borrow(pid, args[0] & 0xFFFFFFFF)
        except OSError as error:
            answer(error.errno or errno.EIO)
            return
        try:
            target = self._allow(pid, socket, address)
            if not is_valid():
                target.close()
                raise OSError(errno.EINTR, "it was killed")
        except OSError as error:
            os.close(socket)
            answer(error.errno or errno.EIO)
            return
        self._make(socket, target, answer)

    def _allow(self, pid: int, socket: int, address: bytes) -> "_Target":
        """Return where a socket may connect to; raises OSError if it may not."""
        domain = _domain(socket)
        if domain in (_INET, _INET6):
            return _Target(address)
        if domain != _UNIX:
            raise OSError(errno.EACCES, "family")
        family, name = address[:2], address[2:]
        if family != struct.pack("=H", _UNIX) or not name:
            return _Target(address)  # which the kernel refuses
        if name.startswith(b"\0"):
            if not self._listeners.has_name(name, pid):
                raise OSError(errno.ECONNREFUSED, "no socket of this cell")
            return _Target(address)
        path = os.fsdecode(name.partition(b"\0")[0])
        place = open_inside(pid, AT_FDCWD, path, follow=True)
        try:
            if not self._listeners.has_file(place, pid):
                raise OSError(errno.ECONNREFUSED, "no socket of this cell")
        except OSError:
            os.close(place)
            raise
        return _Target(struct.pack("=H", _UNIX) + f"/proc/self/fd/{place}".encode() + b"\0", place)

    def _make(self, socket: int, target: "_Target", answer: Answer) -> None:
        def make() -> None:
            try:
                done = _libc.connect(socket, target.address, len(target.address))
                error = 0 if done == 0 else ctypes.get_errno()
            finally:
                os.close(socket)
                target.close()
            answer(error)

        def make_and_leave() -> None:
            try:
                make()
            finally:
                self._waiting.release()

        if fcntl.fcntl(socket, fcntl.F_GETFL) & os.O_NONBLOCK:
            make()
        elif self._waiting.acquire(blocking=False):
            threading.Thread(target=make_and_leave, daemon=True, name="bridle-connect").start()
        else:
            os.close(socket)
            target.close()
            answer(errno.EAGAIN)


class _Target:
    def __init__(self, address: bytes, anchor: int = -1) -> None:
        self.address = address
        self._anchor = anchor

    def close(self) -> None:
        if self._anchor >= 0:
            os.close(self._anchor)


def _borrow(pid: int, descriptor: int) -> int:
    """Return our own descriptor for a file that a process has open."""
    owner = pid
    with open(f"/proc/{pid}/status", "rb") as file:
        for line in file:
            if line.startswith(b"Tgid:"):
                owner = int(line.split()[1])
                break
    process = os.pidfd_open(owner)
    try:
        return _checked(_syscall(_PIDFD_GETFD, process, descriptor, 0))
    finally:
        os.close(process)


def _domain(socket: int) -> int:
    value, size = ctypes.c_int(), ctypes.c_uint(4)
    done = _libc.getsockopt(socket, _SOL_SOCKET, _SO_DOMAIN, ctypes.byref(value), ctypes.byref(size))
    _checked(done)
    return value.value


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), "system call")
    return result


def _syscall(*arguments: int | bytes) -> int:
    return int(_libc.syscall(*(ctypes.c_long(one) if isinstance(one, int) else one for one in arguments)))
