"""Who may run a session: one process at a time, known by a lock that dies with the process."""

import fcntl
import os
from pathlib import Path

from bridle.core.ids import SessionId


class FileClaims:
    """Claims kept as advisory locks on one small file per session."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._held: dict[SessionId, int] = {}

    def claim(self, session: SessionId) -> bool:
        """Take a session for this process; False when it is taken, here or elsewhere."""
        if session in self._held:
            return False
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._path(session), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            still_there = os.fstat(descriptor).st_ino == os.stat(self._path(session)).st_ino
        except (BlockingIOError, FileNotFoundError):
            still_there = False  # taken, or removed by its last holder between our open and our lock
        if not still_there:
            os.close(descriptor)
            return False
        self._held[session] = descriptor
        return True

    def release(self, session: SessionId) -> None:
        """Give a claimed session back; one that is not held is left alone."""
        descriptor = self._held.pop(session, None)
        if descriptor is not None:
            self._path(session).unlink(missing_ok=True)
            os.close(descriptor)

    def _path(self, session: SessionId) -> Path:
        return self._directory / f"{session}.lock"


class LocalClaims:
    """Claims for a store that no other process can see."""

    def __init__(self) -> None:
        self._held: set[SessionId] = set()

    def claim(self, session: SessionId) -> bool:
        """Take a session; False when it is taken."""
        if session in self._held:
            return False
        self._held.add(session)
        return True

    def release(self, session: SessionId) -> None:
        """Give a claimed session back; one that is not held is left alone."""
        self._held.discard(session)
