"""Changes modes, owners and times of files on behalf of a program, where letting a call continue is not safe.

A call that continues reads its path again, which may lead elsewhere by then. Here the file is opened once,
judged by its location, and changed through that descriptor:

| sandbox | call | is made if |
|---|---|---|
| bubblewrap | `chmod` with the set-group-ID bit | it is a folder: the bit only gives new files its group |
| Landlock, which restricts none | all of `CALLS` | the file lies in a folder that the program may change |
"""

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Callable, Sequence

from msgspec import Struct

from bridle.sandbox.process_paths import AT_FDCWD, open_descriptor, open_inside, read_memory, read_path

_AT_EMPTY_PATH, _AT_SYMLINK_NOFOLLOW = 0x1000, 0x100
_SET_GROUP_ID = 0o2000
_SAME = 0xFFFFFFFF  # an owner that must not change
_libc = ctypes.CDLL(None, use_errno=True)

Allow = Callable[[str], int]
"""Takes a path to change, and returns the error number for that, 0 to allow it."""


class _Call(Struct, frozen=True):
    """The positions of a call's arguments."""

    value: int
    """The value to set: the mode, the owner followed by the group, or the address of the times."""
    path: int | None = None
    """None if there is only a descriptor."""
    descriptor: int | None = None
    """None if a path starts at the working directory."""
    flags: int | None = None
    follows: bool = True
    times: str = ""
    """The memory layout of the times; `unit_ns` is the unit of each one's second number, in nanoseconds."""
    unit_ns: int = 1


_MODES = {
    "chmod": _Call(1, path=0),
    "fchmod": _Call(1, descriptor=0),
    "fchmodat": _Call(2, path=1, descriptor=0),
    "fchmodat2": _Call(2, path=1, descriptor=0, flags=3),
}
_OWNERS = {
    "chown": _Call(1, path=0),
    "lchown": _Call(1, path=0, follows=False),
    "fchown": _Call(1, descriptor=0),
    "fchownat": _Call(2, path=1, descriptor=0, flags=4),
}
_TIMES = {
    "utime": _Call(1, path=0, times="=qq", unit_ns=0),
    "utimes": _Call(1, path=0, times="=qqqq", unit_ns=1000),
    "futimesat": _Call(2, path=1, descriptor=0, times="=qqqq", unit_ns=1000),
    "utimensat": _Call(2, path=1, descriptor=0, flags=3, times="=qqqq"),
}
_ALL = {**_MODES, **_OWNERS, **_TIMES}
CALLS = frozenset(_ALL)


def sets_group(name: str, args: Sequence[int]) -> bool:
    """True if a call sets a mode with the set-group-ID bit."""
    return name in _MODES and bool(args[_MODES[name].value] & _SET_GROUP_ID)


def change_metadata(
    name: str, pid: int, args: Sequence[int], is_valid: Callable[[], bool], allow: Allow
) -> int:
    """Make one of `CALLS` for a process; return its error number, 0 for success."""
    try:
        times = _times(pid, _TIMES[name], args) if name in _TIMES else None
        place = _open(pid, _ALL[name], args)
    except OSError as error:
        return error.errno or errno.EIO
    try:
        if refused := allow(os.readlink(f"/proc/self/fd/{place}")):
            return refused
        if not is_valid():
            return errno.EINTR
        if name in _MODES:
            _set_mode(place, args[_MODES[name].value])
        elif name in _OWNERS:
            _set_owner(place, *args[_OWNERS[name].value :][:2])
        else:
            _set_times(place, times)
    except OSError as error:
        return error.errno or errno.EIO
    finally:
        os.close(place)
    return 0


def _open(pid: int, call: _Call, args: Sequence[int]) -> int:
    """Open the file that a call refers to, without access to its content."""
    flags = 0 if call.flags is None else args[call.flags]
    descriptor = AT_FDCWD if call.descriptor is None else _int(args[call.descriptor])
    is_open = call.path is None or (args[call.path] == 0 and bool(call.times))
    path = "" if is_open or call.path is None else read_path(pid, args[call.path])
    if is_open or (not path and flags & _AT_EMPTY_PATH):
        return open_descriptor(pid, descriptor)
    return open_inside(pid, descriptor, path, follow=call.follows and not flags & _AT_SYMLINK_NOFOLLOW)


def _set_mode(place: int, mode: int) -> None:
    found = os.fstat(place)
    is_folder = stat.S_ISDIR(found.st_mode)
    if found.st_uid != os.geteuid() or (mode & _SET_GROUP_ID and not is_folder):
        raise OSError(errno.EPERM, "mode")
    os.chmod(f"/proc/self/fd/{place}", mode & 0o3777)


def _set_owner(place: int, owner: int, group: int) -> None:
    """Change a file's group as its owner may; a call that keeps the owner succeeds."""
    found = os.fstat(place)
    owner, group = owner & _SAME, group & _SAME
    ours = {_SAME, found.st_gid, os.getegid(), *os.getgroups()}
    if found.st_uid != os.geteuid() or owner not in (_SAME, found.st_uid) or group not in ours:
        raise OSError(errno.EPERM, "owner")
    os.chown(f"/proc/self/fd/{place}", -1, -1 if group == _SAME else group)


def _times(pid: int, call: _Call, args: Sequence[int]) -> bytes | None:
    """Return the times of a call, in the format of `utimensat`; None for the current time."""
    address = args[call.value]
    if address == 0:
        return None
    size = struct.calcsize(call.times)
    raw = read_memory(pid, address, size)
    if len(raw) != size:
        raise OSError(errno.EFAULT, "times")
    numbers = struct.unpack(call.times, raw)
    if call.unit_ns == 0:
        numbers = (numbers[0], 0, numbers[1], 0)
    elif call.unit_ns != 1:
        if not all(0 <= part < 1_000_000 for part in numbers[1::2]):
            raise OSError(errno.EINVAL, "times")
        numbers = (numbers[0], numbers[1] * call.unit_ns, numbers[2], numbers[3] * call.unit_ns)
    return struct.pack("=qqqq", *numbers)


def _set_times(place: int, times: bytes | None) -> None:
    if _libc.utimensat(AT_FDCWD, f"/proc/self/fd/{place}".encode(), times, 0) != 0:
        raise OSError(ctypes.get_errno(), "times")


def _int(value: int) -> int:
    """Return an argument as the kernel reads an int."""
    return (value & 0xFFFFFFFF ^ 0x80000000) - 0x80000000
