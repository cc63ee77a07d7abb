"""A store that keeps its journal in sync with Kontekst's session files, in both directions.

The journal is authoritative. A line is written to the file once its event is durable, and a file that
cannot be written never stops a run. When a process first uses a session, the store compares what follows
its mark: lines missing from the journal are imported, and events missing from the file are written to it.
So nothing is lost or duplicated when a process dies at any point between the two writes, or when Kontekst
used the session in the meantime.

A rewind removes nothing from a file: files only grow.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from msgspec.structs import replace

from bridle.core.errors import BridleError, SessionConflict
from bridle.core.ids import SessionId, is_session_id
from bridle.core.ports import Claims, DatedStore
from bridle.core.protocol import Event, Record, RunEnded, RunStarted, SessionCreated
from bridle.core.summary import SessionSummary
from bridle.stores.kontekst_files import KontekstFiles, StoredMark, SyncMark, compare
from bridle.stores.kontekst_format import LineEncoder
from bridle.stores.kontekst_reader import DEFAULT_AGENT, list_sessions, read_conversation, read_file
from bridle.stores.record_lines import Flaw, LineStore, from_os_error

PAGE_RECORDS = 256

_log = logging.getLogger(__name__)


class BaseStore(DatedStore, LineStore, Protocol):
    """The interface of Bridle's own stores."""


class KontekstStore:
    """A store that shares its sessions with Kontekst."""

    def __init__(self, journal: BaseStore, files: KontekstFiles, claims: Claims, *, cwd: str) -> None:
        """`cwd` is the working directory for sessions that Kontekst started: its files do not name one."""
        self._journal = journal
        self._files = files
        self._claims = claims
        self._cwd = cwd
        self._speakers: dict[SessionId, LineEncoder] = {}
        """One per session whose file and journal are in sync."""
        self._sizes: dict[SessionId, int] = {}
        """File sizes of the sessions that only this process writes to."""
        self._opening = asyncio.Lock()  # invariant: a file is compared and imported once

    async def append(
        self,
        session: SessionId,
        expected_seq: int,
        events: Sequence[Event],
        *,
        dates: Sequence[int] = (),
    ) -> list[Record]:
        """Append events to the journal, then their lines to the file; raises what the journal raises."""
        await self._open(session)
        if expected_seq == 0 and events and session not in self._speakers and is_session_id(session):
            self._try_keep(
                session, StoredMark(SyncMark())
            )  # from now on a file without lines counts as incomplete
        records = await self._journal.append(session, expected_seq, events, dates=dates)
        if records:
            self._write(session, records)
        return records

    async def read(
        self,
        session: SessionId,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int | None = None,
        newest: bool = False,
    ) -> list[Record]:
        """Return the requested records; imports a session that Kontekst started first."""
        await self._open(session)
        return await self._journal.read(session, after=after, before=before, limit=limit, newest=newest)

    async def ids(self) -> list[SessionId]:
        """Return the id of every session in the journal."""
        return await self._journal.ids()

    def lines(self, session: SessionId) -> AsyncIterator[bytes]:
        """Yield a session's lines from the journal."""
        return self._journal.lines(session)

    async def flaws(self, session: SessionId | None = None, *, repair: bool = False) -> list[Flaw]:
        """Return the flaws of the journal."""
        return await self._journal.flaws(session, repair=repair)

    async def delete(self, session: SessionId) -> None:
        """Delete a session and its files permanently; raises SessionNotFound."""
        await self._open(session)
        await self._journal.delete(session)
        self._speakers.pop(session, None)
        self._sizes.pop(session, None)
        try:
            self._files.delete(session)
        except OSError as error:
            raise from_os_error(self._files.sessions / session, error) from error

    async def list(self, *, archived: bool = False) -> list[SessionSummary]:
        """Return a summary of every session; first imports those that only Kontekst has."""
        known = set(await self._journal.ids())
        for session in await asyncio.to_thread(list_sessions, self._files.sessions):
            if session in known:
                continue
            try:
                await self._open(session)
            except BridleError as error:
                _log.warning("Kontekst's session %s is left out: %s", session, error)
        return await self._journal.list(archived=archived)

    async def aclose(self) -> None:
        """Close the journal."""
        await self._journal.aclose()

    # ------------------------------------------------------------------ first use of a session

    async def _open(self, session: SessionId) -> None:
        if session in self._speakers or not is_session_id(session):
            return
        async with self._opening:
            if session in self._speakers:
                return
            first = await self._journal.read(session, limit=1)
            if not first:
                await self._take_in(session)
                return
            if not await self._claims.claim(session):
                return  # another process runs it, so its file is briefly behind
            created = first[0].event
            agent = created.agent if isinstance(created, SessionCreated) else DEFAULT_AGENT
            try:
                self._speakers[session] = await self._settle(session, agent)
            except OSError as error:
                self._warn(session, error)
            finally:
                await self._claims.release(session)

    async def _take_in(self, session: SessionId) -> None:
        """Create a session from its Kontekst file, if there is one."""
        found = await asyncio.to_thread(read_file, self._files.sessions, session)
        if found is None:
            return
        events = found.events(session, self._cwd)
        # The mark comes first: without the events it refers to, it has no effect.
        self._try_keep(session, StoredMark(SyncMark(found.size_bytes, len(events))))
        try:
            await self._journal.append(session, 0, events)
        except SessionConflict:
            return  # another process was faster
        self._speakers[session], self._sizes[session] = LineEncoder(found.agent), found.size_bytes
        _log.info("took in Kontekst's session %s with %d messages", session, len(events) - 1)
        self._log_skipped(session, found.conversation.skipped)

    async def _settle(self, session: SessionId, agent: str) -> LineEncoder:
        """Bring file and journal back in sync, and return the session's encoder; raises OSError."""
        last = (await self._journal.read(session, limit=1, newest=True))[0].seq
        size = self._files.size(session)
        mark = self._mark_at(session, last, size)
        lines = await asyncio.to_thread(self._files.lines_after, session, mark.size_bytes)
        speaker = LineEncoder(agent, mark.guest)
        found = compare(lines, await self._lines_after(session, mark.seq, speaker))
        if found.missing or (lines and lines[-1]):  # the last line has no newline
            self._files.begin(session, agent)
            _, size = self._files.append(session, b"".join(line + b"\n" for line in found.missing))
        said = await asyncio.to_thread(read_conversation, b"\n".join(found.theirs))
        after = SyncMark(size, last + len(said.messages), speaker.guest)
        if said.messages and await self._is_unfinished(session):
            _log.info("session %s: what Kontekst added waits for the end of a run", session)
            return speaker
        if said.messages:
            self._files.save_mark(session, StoredMark(mark, after))
            try:
                await self._journal.append(session, last, said.added)
            except SessionConflict:  # for example a rename just now: the next process retries
                self._files.save_mark(session, StoredMark(mark))
                return speaker
            _log.info("session %s: took in %d messages that Kontekst added", session, len(said.messages))
        self._log_skipped(session, said.skipped)
        self._files.save_mark(session, StoredMark(after))
        self._sizes[session] = size
        return speaker

    def _mark_at(self, session: SessionId, last_seq: int, size: int) -> SyncMark:
        kept = self._files.mark(session)
        if size == 0:
            return SyncMark()  # never written, or deleted: write all of it
        if kept is None:
            return SyncMark(size, last_seq)
        mark = kept.at(last_seq)
        return mark if mark.size_bytes <= size else replace(mark, size_bytes=size)  # it was shortened

    async def _lines_after(self, session: SessionId, seq: int, speaker: LineEncoder) -> Sequence[bytes]:
        found = []
        while records := await self._journal.read(session, after=seq, limit=PAGE_RECORDS):
            seq = records[-1].seq
            found += [line for record in records for line in speaker.lines(record.event).split(b"\n")[:-1]]
        return found

    async def _is_unfinished(self, session: SessionId) -> bool:
        """Return True if a run was cut off: a resume continues it, so no messages may be added."""
        before = None
        while page := await self._journal.read(session, before=before, limit=PAGE_RECORDS, newest=True):
            for record in reversed(page):
                if isinstance(record.event, RunStarted | RunEnded):
                    return isinstance(record.event, RunStarted)
            before = page[0].seq
        return False

    # ------------------------------------------------------------------ new events

    def _write(self, session: SessionId, records: Sequence[Record]) -> None:
        """Append the lines of new records; a file that cannot be written is compared again at next use."""
        events = [record.event for record in records]
        try:
            if isinstance(events[0], SessionCreated):
                self._speakers[session] = LineEncoder(events[0].agent)
                self._files.begin(session, events[0].agent)
                self._sizes.setdefault(session, self._files.size(session))
            speaker = self._speakers.get(session)
            if speaker is None:
                return
            self._add_lines(session, b"".join(map(speaker.lines, events)))
            if any(isinstance(event, RunStarted) for event in events):
                self._files.set_active(session)
            if session in self._sizes and any(isinstance(event, RunEnded) for event in events):
                mark = SyncMark(self._sizes[session], records[-1].seq, speaker.guest)
                self._files.save_mark(session, StoredMark(mark))
        except OSError as error:
            self._speakers.pop(session, None)
            self._warn(session, error)

    def _add_lines(self, session: SessionId, data: bytes) -> None:
        if not data:
            return
        before, after = self._files.append(session, data)
        if self._sizes.pop(session, None) == before:  # else keep the mark: what follows it is mixed
            self._sizes[session] = after

    def _try_keep(self, session: SessionId, kept: StoredMark) -> None:
        try:
            self._files.save_mark(session, kept)
        except OSError as error:
            self._warn(session, error)

    def _warn(self, session: SessionId, error: OSError) -> None:
        _log.warning("session %s: Kontekst's files cannot be kept up to date: %s", session, error)

    def _log_skipped(self, session: SessionId, skipped: dict[str, int]) -> None:
        for reason, times in skipped.items():
            _log.warning("session %s: left out %d of Kontekst's lines: %s", session, times, reason)
