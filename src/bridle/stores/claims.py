"""Session claims: one process at a time may run a session; the lock ends with the process."""

import os
from contextlib import suppress
from pathlib import Path

from bridle.core.ids import SessionId
from bridle.stores.batch_file import lock_file
from bridle.stores.record_lines import from_os_error


class FileClaims:
    """Holds claims as advisory locks, one small file per session."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._held: dict[SessionId, int] = {}

    async def claim(self, session: SessionId) -> bool:
        """Claim a session for this process; False if this or another process holds it. Raises StoreError."""
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
        """Release a claim; does nothing for a session that is not held."""
        descriptor = self._held.pop(session, None)
        if descriptor is not None:
            with suppress(OSError):  # the file only names the lock, which ends with the descriptor
                self._path(session).unlink(missing_ok=True)
            os.close(descriptor)

    async def is_taken(self, session: SessionId) -> bool:
        """Return True if this or another process holds the session."""
        if not await self.claim(session):
            return True
        await self.release(session)
        return False

    def _path(self, session: SessionId) -> Path:
        return self._directory / f"{session}.lock"


class LocalClaims:
    """Claims for a store that only this process uses."""

    def __init__(self) -> None:
        self._held: set[SessionId] = set()

    async def claim(self, session: SessionId) -> bool:
        """Claim a session; False if it is taken."""
        if session in self._held:
            return False
        self._held.add(session)
        return True

    async def release(self, session: SessionId) -> None:
        """Release a claim; does nothing for a session that is not held."""
        self._held.discard(session)

    async def is_taken(self, session: SessionId) -> bool:
        """Return True if the session is claimed."""
        return session in self._held
