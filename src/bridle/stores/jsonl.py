"""A store of plain text files: one append-only file of JSON lines per session.

```
<id>.jsonl           the records, lines exactly as encoded (see `batch_lines` for the end of a batch)
<id>.summary.json    derived: the session's summary, and where the lines end that it was made from
<id>.torn            bytes of unfinished appends that were cut off, kept for inspection
```

An append takes an advisory lock on the file (it ends with the process, so it is never stale), compares
and writes the whole batch with one `write`. If that fails, or writes only a part because the disk is
full, the file is truncated to its old size. If the process or the machine dies in the middle, the batch
lacks its last newline: readers ignore such a tail, and the next append moves it to `<id>.torn`. So a batch
is in the file as a whole or not at all, at whichever byte the write stopped.

Files are opened per call, because a process may have thousands of sessions; with the lock that costs
some 30 µs, so all of it runs on the event loop's thread. `sync` is as for SQLite: "normal" survives
the death of any process, "full" waits for the disk and also survives a power cut.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Literal, TypeVar

import msgspec
from msgspec import Struct

from bridle.core.errors import StoreCorrupt
from bridle.core.ids import SessionId, is_session_id
from bridle.core.ports import Clock
from bridle.core.protocol import Event, Record
from bridle.core.summary import SessionSummary
from bridle.stores.batch_file import (
    FileEnd,
    append_batch,
    cut_torn,
    end_at,
    open_for_reading,
    open_locked,
    replace_file,
    still_has_end,
    sync_directory,
)
from bridle.stores.batch_lines import complete_end, last_number, lines_before, lines_between, offset_of
from bridle.stores.lock_retry import PATIENCE_S, retry_while_locked
from bridle.stores.record_lines import (
    Flaw,
    cache_end,
    check_expected,
    check_id,
    decode_lines,
    encode_chain,
    fold_summary,
    from_os_error,
    gone_error,
    not_found_error,
    select_seqs,
    sort_summaries,
)

T = TypeVar("T")

SCAN_IN_THREAD_BYTES = 1024 * 1024  # folding more than this would block the event loop for over 5 ms

_JOURNAL, _SUMMARY, _TORN = ".jsonl", ".summary.json", ".torn"

_log = logging.getLogger(__name__)


class _Sidecar(Struct, frozen=True):
    """A summary, and where the lines end that it was made from."""

    summary: SessionSummary
    end: FileEnd


class JsonlStore:
    """A directory with one file per session, created by the first append."""

    def __init__(
        self,
        directory: Path,
        clock: Clock,
        *,
        sync: Literal["normal", "full"] = "normal",
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._directory = directory
        self._clock = clock
        self._sync = sync
        self._patience_s = patience_s
        self._ends: dict[SessionId, FileEnd] = {}

    async def append(
        self,
        session: SessionId,
        expected_seq: int,
        events: Sequence[Event],
        *,
        dates: Sequence[int] = (),
    ) -> list[Record]:
        """Append events after `expected_seq` with one write.

        Raises SessionConflict, StoreFull, StoreError.
        """
        check_id(session)
        return await self._patiently(session, partial(self._append, session, expected_seq, events, dates))

    def _append(
        self, session: SessionId, expected_seq: int, events: Sequence[Event], dates: Sequence[int]
    ) -> list[Record]:
        with open_locked(self._path(session), make=expected_seq == 0 and bool(events)) as fd:
            if fd is None and self._ends.pop(session, None) is not None:
                raise gone_error(self._path(session))
            end = self._settle(session, fd) if fd is not None else FileEnd()
            check_expected(session, expected_seq, end.seq)
            if fd is None or not events:
                return []
            try:
                records, lines = encode_chain(end.hash, end.seq + 1, self._clock.now_ms(), events, dates)
                offset = append_batch(fd, end.offset, lines, self._sync)
                if self._sync == "full" and end.seq == 0:
                    sync_directory(self._path(session))
            except BaseException:
                if end.seq == 0:
                    self._path(session).unlink()  # an empty file is not a session
                raise
            cache_end(self._ends, session, FileEnd(offset, records[-1].seq, records[-1].hash))
            return records

    def _settle(self, session: SessionId, fd: int) -> FileEnd:
        """Cut off a torn tail of a locked file and return where the file ends."""
        size = os.fstat(fd).st_size
        known = self._ends.get(session)
        if known and known.offset == size and still_has_end(fd, size, known):
            return known  # else another process has written
        offset = complete_end(fd, size)
        if offset < size:
            cut_torn(fd, offset, size, self._path(session, _TORN))
            _log.warning("session %s: moved %d bytes of an unfinished append aside", session, size - offset)
        return end_at(fd, offset)

    async def read(
        self,
        session: SessionId,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int | None = None,
        newest: bool = False,
    ) -> list[Record]:
        """Return the requested records, oldest first; reads no more of the file than they need."""
        with self._opened(session) as fd:
            if fd is None:
                return []
            end = complete_end(fd, os.fstat(fd).st_size)
            last_seq = last_number(fd, end)
            seqs = select_seqs(last_seq, after=after, before=before, limit=limit, newest=newest)
            if not seqs:
                return []
            stop = end if seqs.stop > last_seq else offset_of(fd, end, seqs.stop)
            if newest and limit is not None:
                backwards = list(islice(lines_before(fd, stop), len(seqs)))
                return await decode_lines(session, reversed(backwards), seqs)
            start = offset_of(fd, stop, seqs.start)
            return await decode_lines(session, islice(lines_between(fd, start, stop), len(seqs)), seqs)

    async def ids(self) -> list[SessionId]:
        """Return the id of every session."""
        return [SessionId(name) for name in self._names(_JOURNAL) if is_session_id(name)]

    async def lines(self, session: SessionId) -> AsyncIterator[bytes]:
        """Yield a session's lines up to the end of its last finished batch."""
        with self._opened(session) as fd:
            if fd is not None:
                for line in lines_between(fd, 0, complete_end(fd, os.fstat(fd).st_size)):
                    yield line

    async def flaws(self, session: SessionId | None = None, *, repair: bool = False) -> list[Flaw]:
        """Return torn or missing tails and useless files; a repair moves a torn tail to `<id>.torn`."""
        found: list[Flaw] = []
        for each in await self.ids() if session is None else [session]:
            if is_session_id(each):
                found += await self._patiently(each, partial(self._session_flaws, each, repair=repair))
        if session is None:
            found += self._orphans(repair=repair)
        return found

    def _session_flaws(self, session: SessionId, *, repair: bool) -> list[Flaw]:
        found = []
        with open_locked(self._path(session)) as fd:
            if fd is None:
                return []
            size = os.fstat(fd).st_size
            end = complete_end(fd, size)
            last_seq = last_number(fd, end)
            sidecar = self._load_sidecar(session)
            if sidecar and not still_has_end(fd, end, sidecar.end):
                text = f"it once ended with event {sidecar.end.seq}, which is missing"
                found.append(Flaw("truncated", text, session, min(last_seq + 1, sidecar.end.seq)))
                if repair:
                    self._path(session, _SUMMARY).unlink()
            if end < size:
                text = f"{size - end} bytes of an unfinished append"
                found.append(Flaw("torn_tail", text, session, last_seq + 1, repaired=repair))
                if repair:
                    cut_torn(fd, end, size, self._path(session, _TORN))
            if end == 0:
                found.append(Flaw("empty", "its file has no events", session, repaired=repair))
                if repair:
                    self._path(session).unlink()
        return found

    def _orphans(self, *, repair: bool) -> Iterator[Flaw]:
        journals = set(self._names(_JOURNAL))
        for name in self._names(_SUMMARY):
            if name not in journals:
                session = SessionId(name)
                yield Flaw("orphan_summary", "it has a summary but no events", session, repaired=repair)
                if repair:
                    self._path(session, _SUMMARY).unlink(missing_ok=True)

    async def list(self, *, archived: bool = False) -> list[SessionSummary]:
        """Return a summary of every session, newest first; reads only what is new since the last call."""
        summaries = []
        for session in await self.ids():
            if self._unread_bytes(session) > SCAN_IN_THREAD_BYTES:
                summaries.append(await asyncio.to_thread(self._summarise, session))
            else:
                summaries.append(self._summarise(session))
        return sort_summaries((summary for summary in summaries if summary), archived=archived)

    def _unread_bytes(self, session: SessionId) -> int:
        sidecar = self._load_sidecar(session)
        with suppress(FileNotFoundError):
            return self._path(session).stat().st_size - (sidecar.end.offset if sidecar else 0)
        return 0

    def _summarise(self, session: SessionId) -> SessionSummary | None:
        with self._opened(session) as fd:
            if fd is None:
                return None
            end = complete_end(fd, os.fstat(fd).st_size)
            sidecar = self._load_sidecar(session)
            if sidecar and not still_has_end(fd, end, sidecar.end):
                # Keep the sidecar: only it shows what is missing. fsck reports that and then removes it.
                return fold_summary(session, lines_between(fd, 0, end))
            start, summary = (sidecar.end.offset, sidecar.summary) if sidecar else (0, None)
            if start < end:
                summary = fold_summary(session, lines_between(fd, start, end), summary)
                # The sidecar only saves time, so a full or read-only disk does not matter.
                with suppress(OSError, StoreCorrupt):
                    self._save_sidecar(session, summary, end_at(fd, end))
            return summary

    def _load_sidecar(self, session: SessionId) -> _Sidecar | None:
        try:
            return msgspec.json.decode(self._path(session, _SUMMARY).read_bytes(), type=_Sidecar)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None

    def _save_sidecar(self, session: SessionId, summary: SessionSummary | None, end: FileEnd) -> None:
        if summary is not None:
            replace_file(self._path(session, _SUMMARY), msgspec.json.encode(_Sidecar(summary, end)))

    async def delete(self, session: SessionId) -> None:
        """Delete a session and its derived files; raises SessionNotFound."""
        if not is_session_id(session):
            raise not_found_error(session)
        await self._patiently(session, partial(self._delete, session))

    def _delete(self, session: SessionId) -> None:
        with open_locked(self._path(session)) as fd:
            if fd is None:
                raise not_found_error(session)
            self._ends.pop(session, None)
            for suffix in (_SUMMARY, _TORN, _JOURNAL):  # the journal last: until then the session exists
                self._path(session, suffix).unlink(missing_ok=True)

    async def aclose(self) -> None:
        """Do nothing: files are open only during a call."""

    async def _patiently(self, session: SessionId, attempt: Callable[[], T]) -> T:
        try:
            return await retry_while_locked(
                attempt, BlockingIOError, f'session "{session}"', self._patience_s
            )
        except OSError as error:
            raise from_os_error(self._path(session), error) from error

    @contextmanager
    def _opened(self, session: SessionId) -> Iterator[int | None]:
        if not is_session_id(session):
            yield None
            return
        try:
            with open_for_reading(self._path(session)) as fd:
                yield fd
        except OSError as error:
            raise from_os_error(self._path(session), error) from error

    def _names(self, suffix: str) -> Sequence[str]:
        try:
            names = os.listdir(self._directory)
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise from_os_error(self._directory, error) from error
        return sorted(name.removesuffix(suffix) for name in names if name.endswith(suffix))

    def _path(self, session: SessionId, suffix: str = _JOURNAL) -> Path:
        return self._directory / f"{session}{suffix}"
