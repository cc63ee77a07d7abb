"""Stops and removes a test PostgreSQL once given processes have ended; run as a program.

`python postgres_guard.py <folder> <pid>…` is how no server outlives its test run, however that ends.
"""

import ctypes
import os
import select
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

_IPC_RMID = 0
_PATIENCE_S = 20.0


def end(folder: Path) -> None:
    """Stop the server of a folder at once, and remove the folder and the server's shared memory."""
    lines = pid_lines(folder)
    if lines:
        with suppress(ProcessLookupError):
            os.kill(int(lines[0]), signal.SIGQUIT)  # it ends at once and cleans up behind itself
        if not is_gone(int(lines[0]), _PATIENCE_S):
            kill(int(lines[0]))
        remove_shared_memory(lines)
    shutil.rmtree(folder, ignore_errors=True)


def pid_lines(folder: Path) -> list[str]:
    """Return what the server of a folder says of itself, its process id first; nothing if it was stopped."""
    try:
        lines = (folder / "data/postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return []
    return lines if lines and lines[0].isdigit() and _is_server(int(lines[0]), folder) else []


def kill(pid: int) -> None:
    """End a server as a power cut would, and wait until nothing of it runs."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    family = [pid, *map(int, children.read_text().split())] if children.exists() else [pid]
    for each in family:
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)
    for each in family:
        assert is_gone(each, _PATIENCE_S), f"process {each} does not end"


def is_gone(pid: int, patience_s: float) -> bool:
    """Wait for the end of a process; a zombie counts as ended."""
    deadline = time.monotonic() + patience_s
    while _state(pid) not in ("", "Z"):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def remove_shared_memory(lines: list[str]) -> None:
    """Remove what a killed server leaves behind until its next start."""
    if len(lines) > 6:
        words = lines[6].split()
        if len(words) == 2:
            ctypes.CDLL(None).shmctl(int(words[1]), _IPC_RMID, None)


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _is_server(pid: int, folder: Path) -> bool:
    """A killed server's number may belong to another process by now."""
    try:
        return os.fsencode(folder) in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return True  # it is gone, and its shared memory may not be


def _guard(folder: Path, owners: list[int]) -> None:
    with suppress(ProcessLookupError):
        poll = select.poll()
        for owner in owners:
            poll.register(os.pidfd_open(owner), select.POLLIN)
        poll.poll()
    end(folder)


if __name__ == "__main__":
    _guard(Path(sys.argv[1]), [int(pid) for pid in sys.argv[2:]])
