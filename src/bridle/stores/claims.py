"""Who may run a session: one process at a time, known by a lock that dies with the process."""

import os
from contextlib import suppress
from pathlib import Path

from bridle.core.ids import SessionId
from bridle.stores.appendfile import lock_file
from bridle.stores.lines import from_os_error


class FileClaims:
    """Claims kept as advisory locks on one small file per session."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._held: dict[SessionId, int] = {}

    async def claim(self, session: SessionId) -> bool:
        """Take a session for this process; False when it is taken, here or elsewhere; raises StoreError."""
        if session in self._held:
            return False
        path = self._path(session)
        try:
            descriptor = lock_file(path, make=True)
        except BlockingIOError:
            return False
        except OSError as error:
            raise from_os_error(path, error) from error
        assert descriptor is not None
        self._held[session] = descriptor
        return True

    async def release(self, session: SessionId) -> None:
        """Give a claimed session back; one that is not held is left alone."""
        descriptor = self._held.pop(session, None)
        if descriptor is not None:
            with suppress(OSError):  # the file is only a name for the lock, which ends with the descriptor
                self._path(session).unlink(missing_ok=True)
            os.close(descriptor)

    async def is_taken(self, session: SessionId) -> bool:
        """Tell whether somebody has a session, this process or another."""
        if not await self.claim(session):
            return True
        await self.release(session)
        return False

    def _path(self, session: SessionId) -> Path:
        return self._directory / f"{session}.lock"


class LocalClaims:
    """Claims for a store that no other process can see."""

    def __init__(self) -> None:
        self._held: set[SessionId] = set()

    async def claim(self, session: SessionId) -> bool:
        """Take a session; False when it is taken."""
        if session in self._held:
            return False
        self._held.add(session)
        return True

    async def release(self, session: SessionId) -> None:
        """Give a claimed session back; one that is not held is left alone."""
        self._held.discard(session)

    async def is_taken(self, session: SessionId) -> bool:
        """Tell whether somebody has a session."""
        return session in self._held
