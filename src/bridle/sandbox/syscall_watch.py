"""Watches a program's system calls that change files, and saves the files before they change.

The kernel pauses such a call, reports it to us and waits (seccomp user notification). We find the path that
it means, save it, and let the call continue. A path that could not be saved is not changed. Forks are counted
in the same way, which also works for root, whom RLIMIT_NPROC does not limit.

A call continues with its own arguments, which another thread of the program may change at that moment. So
this makes undo complete for every well-behaved program, but it is no protection. Protection comes from the
mounts, the calls that the `connect_broker` makes itself, and the check of the disk after the program has
ended (`traps`).
"""

import errno
import fcntl
import os
import platform
import select
import stat
import struct
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from bridle.sandbox import metadata
from bridle.sandbox.connect_broker import ConnectBroker
from bridle.sandbox.process_paths import AT_FDCWD, get_descriptor_path, read_memory, read_path, resolve_path
from bridle.sandbox.syscalls import NUMBERS

_RECEIVE, _ANSWER, _IS_VALID, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082102, 0x40082104
_CALL = struct.Struct("=QIIiIQ6Q")
_REPLY = struct.Struct("=QqiI")
_CONTINUE = 1
_SYNC_WAKE_UP = 1
_AT_EMPTY_PATH = 0x1000
_AT_SYMLINK_FOLLOW = 0x400
_AT_SYMLINK_NOFOLLOW = 0x100
_TMPFILE = getattr(os, "O_TMPFILE", 0o20200000)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_RECOUNT_S = 0.05
_FORKS = ("fork", "vfork", "clone")
_SPARING = frozenset({"chmod", "fchmod", "fchmodat", "fchmodat2", "rmdir", "unlink", "unlinkat"})
"""Calls that change a folder but not its content."""
_OPENINGS = frozenset({"open", "openat"})
_TERMINAL = "/dev/tty"
_ALONE = "/."  # marks a path that is saved without its content


class SyscallWatch:
    """Serves one program's watched calls in a thread, from `begin` until all its processes have ended."""

    def __init__(
        self,
        *,
        keep: Callable[[str], None] | None,
        refuses: Callable[[str], bool],
        roots: Sequence[str],
        max_processes: int | None,
        deputy: ConnectBroker | None = None,
        sees_changes: bool = True,
        own: Sequence[str] | None = None,
    ) -> None:
        """Set the functions that save files and refuse paths, and the deputy of a confined program.

        `sees_changes` is true if the filter watches the calls that change files. `own` are the folders whose
        files may get other modes, owners and times, where the sandbox does not restrict these.
        """
        self._own = own
        self._deputy = deputy
        self._sees_changes = sees_changes
        self.is_quiet = True
        """True if no call that changes something has come since the last mark."""
        self._is_over = False
        self._answering = threading.Lock()
        self._keep = keep
        self._refuses = refuses
        self._roots = tuple(roots)
        self._max_processes = max_processes
        self._warden = 0
        self._forks_left = 0
        self._counted_s = 0.0
        self._may_fork = True
        self._names = {number: name for name, number in NUMBERS[platform.machine()].items()}  # type: ignore[index]
        self.error = ""

    def begin(self, listener: int, pid: int) -> None:
        """Take over a listener; it is closed when the program and all its descendants have ended."""
        self._warden = pid
        threading.Thread(target=self._serve, args=(listener,), daemon=True, name="bridle-watch").start()

    def may_have_changed(self) -> bool:
        """True if the program may have changed a file since the last mark."""
        return not self.is_quiet or not self._sees_changes

    def mark(self) -> None:
        """Reset the record of changes."""
        self.is_quiet = True

    def refuse_forks(self) -> None:
        """Refuse all further forks: the program is being ended."""
        self._may_fork = False

    def _serve(self, listener: int) -> None:
        poll = select.poll()
        poll.register(listener, select.POLLIN)
        with suppress(OSError):  # kernels before 6.6 do not support it: slower, not worse
            fcntl.ioctl(listener, _SET_FLAGS, _SYNC_WAKE_UP)
        buffer = bytearray(_CALL.size)
        try:
            while not any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll()):
                buffer[:] = bytes(_CALL.size)  # the kernel insists on zeros
                try:
                    fcntl.ioctl(listener, _RECEIVE, buffer)
                except FileNotFoundError:
                    continue  # the caller was killed meanwhile
                number, pid, _, call, _, _, *args = _CALL.unpack(buffer)
                self._answer(listener, number, pid, self._names.get(call, ""), args)
        finally:
            with self._answering:
                self._is_over = True
                os.close(listener)

    def _answer(self, listener: int, number: int, pid: int, name: str, args: Sequence[int]) -> None:
        """Make a call on the program's behalf, let it continue, or refuse it."""

        def reply(error: int, flags: int = 0) -> None:
            with self._answering, suppress(OSError):  # the caller may have been killed meanwhile
                if self._is_over:
                    return  # the descriptor may belong to another file by now
                fcntl.ioctl(listener, _ANSWER, _REPLY.pack(number, 0, -error, 0 if error else flags))

        def is_valid() -> bool:
            """True if the caller still waits: otherwise another process may have its PID by now."""
            try:
                fcntl.ioctl(listener, _IS_VALID, struct.pack("=Q", number))
            except OSError:
                return False
            return True

        if name == "connect" and self._deputy is not None:
            self._deputy.connect(pid, args, is_valid, reply)
        elif name in _OPENINGS and _has_no_terminal(name, pid, args):
            reply(errno.ENXIO)
        elif self._own is not None and name in metadata.CALLS:
            self.is_quiet = False
            reply(metadata.change_metadata(name, pid, args, is_valid, self._allow_own))
        elif error := self._judge(pid, name, args, is_valid):
            reply(error)
        elif self._deputy is not None and metadata.sets_group(name, args):
            reply(metadata.change_metadata(name, pid, args, is_valid, lambda path: 0))
        else:
            reply(0, _CONTINUE)

    def _judge(self, pid: int, name: str, args: Sequence[int], is_valid: Callable[[], bool]) -> int:
        """Return 0 to let a call continue, or its error number."""
        if name in _FORKS:
            return self._judge_fork()
        self.is_quiet = False
        try:
            paths = find_changed_paths(name, pid, args, self._roots)
        except OSError as error:
            # An invalid path fails as it would have without us; any other error leaves the call's meaning
            # unknown.
            return error.errno if error.errno in (errno.EFAULT, errno.ENAMETOOLONG) else errno.EIO
        return self._allow_change(paths) if is_valid() else errno.EINTR

    def _allow_change(self, paths: Sequence[str]) -> int:
        for path in paths:
            place = path.removesuffix(_ALONE)
            if not any(place == root or place.startswith(root + "/") for root in self._roots):
                continue
            try:
                if self._refuses(place):
                    return errno.EACCES
                if self._keep is not None:
                    self._keep(path)
            except Exception as error:  # noqa: BLE001 - whatever it is, nothing is changed that was not kept
                self.error = self.error or f"{path}: {error}"
                return errno.EIO
        return 0

    def _allow_own(self, path: str) -> int:
        """Judge a change of a path's metadata; the path is free of links."""
        if not any(path == folder or path.startswith(f"{folder}/") for folder in self._own or ()):
            return errno.EROFS
        return self._allow_change([path + _ALONE if os.path.isdir(path) else path])

    def _judge_fork(self) -> int:
        if not self._may_fork:
            return errno.EAGAIN
        if self._max_processes is None:
            return 0
        if self._forks_left == 0:
            now = time.monotonic()
            if now - self._counted_s < _RECOUNT_S:
                return errno.EAGAIN
            self._forks_left = max(
                0, self._max_processes - count_descendants(self._warden, self._max_processes)
            )
            if self._forks_left == 0:
                self._counted_s = now
                return errno.EAGAIN
        self._forks_left -= 1
        return 0


def find_changed_paths(name: str, pid: int, args: Sequence[int], roots: Sequence[str]) -> list[str]:
    """Return the paths that a call would change, free of links; raises OSError if they cannot be read."""

    def at(descriptor: int, address: int, *, follow: bool = False) -> str | None:
        return resolve_path(pid, _int(descriptor), read_path(pid, address), roots, follow=follow)

    found: list[str | None]
    match name:
        case "open" | "openat" | "creat":
            found = [_opened(name, pid, args, roots)]
        case "truncate":
            found = [at(AT_FDCWD, args[0], follow=True)]
        case "chmod":
            found = [at(AT_FDCWD, args[0], follow=True)]
        case "unlink" | "rmdir":
            found = [at(AT_FDCWD, args[0])]
        case "mkdir" | "mknod":
            found = [_if_new(at(AT_FDCWD, args[0]), pid)]
        case "unlinkat":
            found = [at(args[0], args[1])]
        case "mkdirat" | "mknodat":
            found = [_if_new(at(args[0], args[1]), pid)]
        case "rename":
            found = [at(AT_FDCWD, args[0]), at(AT_FDCWD, args[1])]
        case "renameat" | "renameat2":
            found = [at(args[0], args[1]), at(args[2], args[3])]
        case "symlink":
            found = [_if_new(at(AT_FDCWD, args[1]), pid)]
        case "symlinkat":
            found = [_if_new(at(args[1], args[2]), pid)]
        case "link":  # writing through the new name changes the file of the old one
            found = [at(AT_FDCWD, args[0]), at(AT_FDCWD, args[1])]
        case "linkat":
            found = [_source(pid, args, roots), at(args[2], args[3])]
        case "fchmod":
            found = [get_descriptor_path(pid, _int(args[0]))]
        case "fchmodat" | "fchmodat2":
            found = [_changed_mode(name, pid, args, roots)]
        case "bind":
            found = [_socket_path(pid, args, roots)]
        case _:
            raise OSError(errno.ENOSYS, f"a call that is not watched: {name}")
    paths = [path for path in found if path is not None]
    if name not in _SPARING:
        return paths
    return [path + _ALONE if stat.S_ISDIR(_mode(path, pid) or 0) else path for path in paths]


def _has_no_terminal(name: str, pid: int, args: Sequence[int]) -> bool:
    """True if a call opens the terminal of a process that has none: every bash does so when it starts."""
    at = 0 if name == "open" else 1
    try:
        if args[at + 1] & os.O_CREAT or read_path(pid, args[at]) != _TERMINAL:
            return False
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[4] == b"0"
    except OSError:
        return False


def _opened(name: str, pid: int, args: Sequence[int], roots: Sequence[str]) -> str | None:
    match name:
        case "creat":
            descriptor, address, flags = AT_FDCWD, args[0], os.O_CREAT
        case "open":
            descriptor, address, flags = AT_FDCWD, args[0], _int(args[1])
        case _:
            descriptor, address, flags = _int(args[0]), args[1], _int(args[2])
    if not flags & _WRITING or flags & _TMPFILE == _TMPFILE:
        return None  # a nameless file gets its name by linkat
    exclusive = flags & os.O_CREAT and flags & os.O_EXCL
    follow = not (flags & os.O_NOFOLLOW or exclusive)
    place = resolve_path(pid, descriptor, read_path(pid, address), roots, follow=follow)
    mode = _mode(place, pid)
    # An existing file cannot be created again and a folder cannot be written to: the call will fail.
    return None if (mode is not None and exclusive) or stat.S_ISDIR(mode or 0) else place


def _source(pid: int, args: Sequence[int], roots: Sequence[str]) -> str | None:
    path = read_path(pid, args[1])
    if not path and args[4] & _AT_EMPTY_PATH:
        return _if_named(get_descriptor_path(pid, _int(args[0])), pid)
    follow = bool(args[4] & _AT_SYMLINK_FOLLOW)
    return _if_named(resolve_path(pid, _int(args[0]), path, roots, follow=follow), pid)


def _changed_mode(name: str, pid: int, args: Sequence[int], roots: Sequence[str]) -> str | None:
    flags = args[3] if name == "fchmodat2" else 0
    path = read_path(pid, args[1])
    if not path and flags & _AT_EMPTY_PATH:
        return get_descriptor_path(pid, _int(args[0]))
    return resolve_path(pid, _int(args[0]), path, roots, follow=not flags & _AT_SYMLINK_NOFOLLOW)


def _socket_path(pid: int, args: Sequence[int], roots: Sequence[str]) -> str | None:
    address = read_memory(pid, args[1], min(_int(args[2]), 110)) if 2 < _int(args[2]) <= 128 else b""
    family, path = address[:2], address[2:].partition(b"\0")[0]
    if family != b"\1\0" or not path:
        return None
    return _if_new(resolve_path(pid, AT_FDCWD, os.fsdecode(path), roots, follow=False), pid)


def _if_new(place: str | None, pid: int) -> str | None:
    """Return None for an existing path: it cannot be created again, and to save a folder is expensive."""
    return place if _mode(place, pid) is None else None


def _if_named(place: str | None, pid: int) -> str | None:
    return place if _mode(place, pid) is not None else None


def _mode(place: str | None, pid: int) -> int | None:
    if place is None:
        return None
    try:
        return os.lstat(f"/proc/{pid}/root{place}").st_mode
    except OSError:
        return None


def count_descendants(pid: int, limit: int) -> int:
    """Count the descendants of a process; stops above the limit."""
    found = [pid]
    for one in found:
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{one}/task"):
                with open(f"/proc/{one}/task/{thread}/children", "rb") as file:
                    found += map(int, file.read().split())
        if len(found) > limit:
            break
    return len(found) - 1


def _int(value: int) -> int:
    """Return an argument as the kernel reads an int."""
    return (value & 0xFFFFFFFF ^ 0x80000000) - 0x80000000
