"""A disk that counts its steps, and that fails or ends the process at a chosen step.

A step is what changes something below a folder: a file is made, written, cut, synced, renamed, linked or
removed, by Python (`os`, `open`) or by SQLite (a separate VFS). What was installed stays for the life of
the process, so this is for children that are forked for it.

| fault | from the chosen step on |
|---|---|
| `die` | the process ends before the step |
| `tear` | the process ends when half of the step's bytes are written |
| `full` | nothing can be made or written, what is there can be cut, renamed and removed |
| `broken` | every step fails with an input/output error |
| `glitch` | that one step fails with an input/output error |
| `slow` | every step takes a while |
"""

import errno
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any, Literal

import apsw

Fault = Literal["", "die", "tear", "full", "broken", "glitch", "slow"]

SLOW_S = 0.003
DEAD = 86
"""The exit status of a process that has ended at its step."""
_CHANGING = frozenset(
    f"os.{name}"
    for name in ("rename", "remove", "rmdir", "mkdir", "chmod", "symlink", "link", "truncate", "utime")
)
_GROWING = frozenset(("open", "write", "os.mkdir", "os.link", "os.symlink"))
_WRITING = os.O_CREAT | os.O_TRUNC
_write = os.write


class Disk:
    """Counts the steps below a folder, and does harm at one of them."""

    def __init__(self, root: Path, fault: Fault = "", at: int = 0) -> None:
        self.steps: list[str] = []
        self.failed = 0
        """How many steps were refused."""
        self._root = os.fspath(root)
        self._fault: Fault = fault
        self._at = at
        self._lock = threading.Lock()

    def install(self) -> None:
        """Stand between this process and the disk from now on."""
        os.write = self._os_write
        sys.addaudithook(self._hear)
        self._vfs = _Vfs(self)

    def mend(self) -> None:
        """Let everything succeed again."""
        self._fault = ""

    def step(self, kind: str, path: str, data: bytes = b"") -> int | None:
        """Take note of a step; returns how much of its data is to be written before the end, or None.

        Raises OSError where it fails.
        """
        if not path.startswith(self._root):
            return None
        with self._lock:
            self.steps.append(f"{kind} {path.removeprefix(self._root)}")
            number = len(self.steps)
        if not self._at or number < self._at:
            return None
        if number == self._at and self._fault == "die":
            os._exit(DEAD)
        if number == self._at and self._fault == "tear":
            return len(data) // 2
        if self._fault == "slow":
            time.sleep(SLOW_S)
        self._refuse(kind, is_first=number == self._at)
        return None

    def _refuse(self, kind: str, *, is_first: bool) -> None:
        if self._fault == "full" and kind in _GROWING:
            self.failed += 1
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self._fault == "broken" or (self._fault == "glitch" and is_first):
            self.failed += 1
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    def _os_write(self, descriptor: int, data: Any, /) -> int:
        part = self.step("write", _path_of(descriptor), data)
        if part is not None:
            _write(descriptor, bytes(data)[:part])
            os._exit(DEAD)
        return _write(descriptor, data)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        is_making = event == "open" and isinstance(args[2], int) and args[2] & _WRITING
        if is_making or event in _CHANGING:
            path = _path_of(args[1] if event == "os.rename" else args[0])
            if self.step(event, path) is not None:  # nothing of this kind can be half done
                os._exit(DEAD)


def _path_of(named: Any) -> str:
    """Return the absolute path of a name or a descriptor; nothing for what has none."""
    if isinstance(named, int):
        try:
            return os.readlink(f"/proc/self/fd/{named}")
        except OSError:
            return ""
    return os.path.abspath(os.fsdecode(named)) if isinstance(named, str | bytes | os.PathLike) else ""


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        self._disk = disk
        self._path = name if isinstance(name, str) else name.filename()

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802  SQLite's names
        part = self._step("write", data)
        if part is not None:
            super().xWrite(data[:part], offset)
            os._exit(DEAD)
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:  # noqa: N802
        self._step("os.truncate")
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._step("sync")
        super().xSync(flags)

    def _step(self, kind: str, data: bytes = b"") -> int | None:
        try:
            return self._disk.step(kind, self._path, data)
        except OSError as error:
            raise _as_sqlite(error) from error


class _Vfs(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        super().__init__("counting", "unix", makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        return _File(self._disk, name, flags)

    def xDelete(self, name: str, sync_folder: bool) -> None:  # noqa: N802
        try:
            self._disk.step("os.remove", name)
        except OSError as error:
            raise _as_sqlite(error) from error
        super().xDelete(name, sync_folder)


def _as_sqlite(error: OSError) -> apsw.Error:
    """Return what SQLite's own file layer makes of an error."""
    return apsw.FullError(str(error)) if error.errno == errno.ENOSPC else apsw.IOError(str(error))
