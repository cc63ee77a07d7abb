"""The files that are shared with Kontekst, and the marks beside them; every method blocks, briefly.

```
<sessions>/<id>.jsonl        Kontekst's: only ever appended to, also by Kontekst itself
<sessions>/<id>.meta.json    its agent
<marks>/<id>.json            ours: up to which byte it holds what the journal holds up to which event
<active>                     the session that was run last
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
from bridle.stores.appendfile import opened, private, replace_file
from bridle.stores.kontekst import kontekst_meta
from bridle.stores.kontekst_import import DEFAULT_AGENT, MAX_FILE_BYTES, meta_path, read_range, session_path


class Mark(Struct, frozen=True, omit_defaults=True):
    """The file up to `size_bytes` and the journal up to `seq` hold the same."""

    size_bytes: int = 0
    seq: int = 0
    guest: str = ""
    """Who speaks there, in a run that was given another agent than the session has."""


class KeptMark(Struct, frozen=True, omit_defaults=True):
    """A mark as it is kept."""

    mark: Mark
    planned: Mark | None = None
    """What holds instead, once the journal has come that far."""

    def at(self, last_seq: int) -> Mark:
        """Return the mark of a journal that ends with `last_seq`."""
        return self.planned if self.planned is not None and last_seq >= self.planned.seq else self.mark


class Difference(Struct, frozen=True):
    """What lies behind a mark in one of the two places only."""

    theirs: tuple[bytes, ...] = ()
    """Lines of the file that we have not written."""
    missing: tuple[bytes, ...] = ()
    """Lines of ours that are not in the file."""


def compare(lines: Sequence[bytes], ours: Sequence[bytes]) -> Difference:
    """Find what each side lacks; what both have is in the same order, since both only grow.

    A line of ours that was cut off in the middle counts as missing: it is written again.
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
    """The files of all sessions; methods raise OSError."""

    def __init__(self, *, sessions: Path, marks: Path, active: Path) -> None:
        self.sessions = sessions
        self._marks = marks
        self._active = active

    def size(self, session: SessionId) -> int:
        """Return how long the file of a session is; 0 when there is none."""
        with suppress(FileNotFoundError):
            return session_path(self.sessions, session).stat().st_size
        return 0

    def lines_after(self, session: SessionId, offset: int) -> list[bytes]:
        """Return the lines behind an offset, at most the newest 64 MiB of them."""
        with opened(session_path(self.sessions, session)) as fd:
            if fd is None:
                return []
            size = os.fstat(fd).st_size
            return read_range(fd, max(offset, size - MAX_FILE_BYTES), size).split(b"\n")

    def begin(self, session: SessionId, agent: str) -> None:
        """Make the files of a new session, as far as they are not there."""
        self.sessions.mkdir(parents=True, exist_ok=True)
        with open(session_path(self.sessions, session), "ab", opener=private):
            pass
        meta = meta_path(self.sessions, session)
        if agent != DEFAULT_AGENT and not meta.exists():
            replace_file(meta, kontekst_meta(agent))

    def append(self, session: SessionId, data: bytes) -> tuple[int, int]:
        """Add lines whole or not at all; return how long the file was before, and is now."""
        with open(session_path(self.sessions, session), "a+b", buffering=0, opener=private) as file:
            fd = file.fileno()
            size = os.fstat(fd).st_size
            if size and os.pread(fd, 1, size - 1) != b"\n":
                data = b"\n" + data  # somebody was cut off there: what is left of that line stays alone
            try:
                if os.write(fd, data) < len(data):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            except BaseException:
                os.ftruncate(fd, size)
                raise
            return size, size + len(data)

    def activate(self, session: SessionId) -> None:
        """Say that a session was run last."""
        replace_file(self._active, session.encode())

    def mark(self, session: SessionId) -> KeptMark | None:
        """Return the mark of a session; None when there is none that can be read."""
        try:
            return msgspec.json.decode(self._mark_path(session).read_bytes(), type=KeptMark)
        except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
            return None

    def keep_mark(self, session: SessionId, kept: KeptMark) -> None:
        """Write the mark of a session anew."""
        self._marks.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(self._mark_path(session), msgspec.json.encode(kept))

    def delete(self, session: SessionId) -> None:
        """Remove all that there is of a session."""
        for path in (
            session_path(self.sessions, session),
            meta_path(self.sessions, session),
            self._mark_path(session),
        ):
            path.unlink(missing_ok=True)

    def _mark_path(self, session: SessionId) -> Path:
        return self._marks / f"{session}.json"
