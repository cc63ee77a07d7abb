"""The session files shared with Kontekst and the sync marks kept for them; every method blocks briefly.

```
<sessions>/<id>.jsonl        Kontekst's messages: append-only, Kontekst appends too
<sessions>/<id>.meta.json    the session's agent
<marks>/<id>.json            Bridle's sync mark: up to which byte and which event file and journal agree
<active>                     the session that ran last
```
"""

import errno
import os
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from bridle.core.ids import SessionId
from bridle.stores.batch_file import open_for_reading, open_private, replace_file
from bridle.stores.kontekst_format import encode_meta
from bridle.stores.kontekst_reader import DEFAULT_AGENT, MAX_FILE_BYTES, meta_path, read_range, session_path


class SyncMark(Struct, frozen=True, omit_defaults=True):
    """A sync point: the file up to `size_bytes` and the journal up to `seq` hold the same messages."""

    size_bytes: int = 0
    seq: int = 0
    guest: str = ""
    """The run's agent at this point, if it is not the session's agent."""


class StoredMark(Struct, frozen=True, omit_defaults=True):
    """A mark as stored on disk."""

    mark: SyncMark
    planned: SyncMark | None = None
    """The mark that applies instead once the journal reaches its `seq`."""

    def at(self, last_seq: int) -> SyncMark:
        """Return the mark that applies to a journal whose last event is `last_seq`."""
        return self.planned if self.planned is not None and last_seq >= self.planned.seq else self.mark


class Difference(Struct, frozen=True):
    """What follows a mark in only one of file and journal."""

    theirs: tuple[bytes, ...] = ()
    """Lines of the file that Bridle did not write."""
    missing: tuple[bytes, ...] = ()
    """Lines of the journal that are missing from the file."""


def compare(lines: Sequence[bytes], ours: Sequence[bytes]) -> Difference:
    """Return what each side lacks; lines that both have are in the same order, because both only grow.

    A journal line that was cut off in the file counts as missing and is written again.
    """
    waiting = deque(ours)
    theirs = []
    for line in lines:
        if waiting and line == waiting[0]:
            waiting.popleft()
        elif line.strip() and not (waiting and waiting[0].startswith(line)):
            theirs.append(line)
    return Difference(tuple(theirs), tuple(waiting))


class KontekstFiles:
    """The Kontekst files of all sessions; methods raise OSError."""

    def __init__(self, *, sessions: Path, marks: Path, active: Path) -> None:
        self.sessions = sessions
        self._marks = marks
        self._active = active

    def size(self, session: SessionId) -> int:
        """Return the size of a session's file in bytes; 0 if there is no file."""
        with suppress(FileNotFoundError):
            return session_path(self.sessions, session).stat().st_size
        return 0

    def lines_after(self, session: SessionId, offset: int) -> list[bytes]:
        """Return the lines after an offset, at most the newest 64 MiB."""
        with open_for_reading(session_path(self.sessions, session)) as fd:
            if fd is None:
                return []
            size = os.fstat(fd).st_size
            return read_range(fd, max(offset, size - MAX_FILE_BYTES), size).split(b"\n")

    def begin(self, session: SessionId, agent: str) -> None:
        """Create the files of a new session, except those that exist."""
        self.sessions.mkdir(parents=True, exist_ok=True)
        with open(session_path(self.sessions, session), "ab", opener=open_private):
            pass
        meta = meta_path(self.sessions, session)
        if agent != DEFAULT_AGENT and not meta.exists():
            replace_file(meta, encode_meta(agent))

    def append(self, session: SessionId, data: bytes) -> tuple[int, int]:
        """Append all of the data or nothing; return the file's size before and after."""
        with open(session_path(self.sessions, session), "a+b", buffering=0, opener=open_private) as file:
            fd = file.fileno()
            size = os.fstat(fd).st_size
            if size and os.pread(fd, 1, size - 1) != b"\n":
                data = b"\n" + data  # a writer was cut off here: its partial line stays a line by itself
            try:
                if os.write(fd, data) < len(data):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            except BaseException:
                os.ftruncate(fd, size)
                raise
            return size, size + len(data)

    def set_active(self, session: SessionId) -> None:
        """Record the session as the one that ran last."""
        replace_file(self._active, session.encode())

    def mark(self, session: SessionId) -> StoredMark | None:
        """Return a session's mark; None if there is none or it cannot be decoded."""
        try:
            return msgspec.json.decode(self._mark_path(session).read_bytes(), type=StoredMark)
        except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
            return None

    def save_mark(self, session: SessionId, kept: StoredMark) -> None:
        """Replace a session's mark."""
        self._marks.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(self._mark_path(session), msgspec.json.encode(kept))

    def delete(self, session: SessionId) -> None:
        """Delete all files of a session."""
        for path in (
            session_path(self.sessions, session),
            meta_path(self.sessions, session),
            self._mark_path(session),
        ):
            path.unlink(missing_ok=True)

    def _mark_path(self, session: SessionId) -> Path:
        return self._marks / f"{session}.json"
