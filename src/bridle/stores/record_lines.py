"""What stores share: functions that number, chain and decode lines, and the base of a program's own store."""

import asyncio
import errno
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from msgspec import Struct

from bridle.core.codec import GENESIS, decode_record, encode_records
from bridle.core.errors import (
    SessionConflict,
    SessionNotFound,
    StoreCorrupt,
    StoreError,
    StoreFull,
    UsageError,
)
from bridle.core.ids import SessionId, is_session_id
from bridle.core.protocol import Event, Record
from bridle.core.summary import SessionSummary, summarise

T = TypeVar("T")

MAX_ENDS = 1_000  # sessions whose last sequence number and hash are cached
PAUSE_BYTES = 1024 * 1024  # decoding this much takes some 3 ms; then other tasks get a turn

FREE_SPACE = "free some space; what was recorded is safe, and a run that was cut off can be resumed"
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}

FlawKind = Literal[
    "torn_tail",
    "truncated",
    "unreadable_line",
    "bad_hash",
    "gap",
    "mislabelled",
    "missing_summary",
    "orphan_summary",
    "empty",
    "damaged_file",
    "missing_blob",
    "damaged_blob",
]


REPAIRABLE: frozenset[FlawKind] = frozenset({"torn_tail", "missing_summary", "orphan_summary", "empty"})
"""Flaws that `repair` can fix; the others mean lost or edited data."""


class Flaw(Struct, frozen=True, omit_defaults=True):
    """A flaw of one stored session, or of the whole store."""

    kind: FlawKind
    text: str
    session: SessionId | None = None
    seq: int | None = None
    """The first affected record."""
    repaired: bool = False


class DamagedList(StoreCorrupt):
    """Raised when some sessions cannot be listed; those that can are in `sessions`, newest first."""

    def __init__(self, message: str, *, hint: str, sessions: tuple[SessionSummary, ...]) -> None:
        super().__init__(message, hint=hint)
        self.sessions = sessions


class LineStore(Protocol):
    """A store that exposes its stored bytes, so that they can be checked."""

    async def ids(self) -> list[SessionId]:
        """Return the id of every stored session, readable or not, sorted."""
        ...

    def lines(self, session: SessionId) -> AsyncIterator[bytes]:
        """Yield a session's lines as stored, oldest first, without their newlines."""
        ...

    async def flaws(self, session: SessionId | None = None, *, repair: bool = False) -> list[Flaw]:
        """Return the flaws outside the lines of one session, or of all; with `repair`, fix what can be fixed.

        A repair never loses a valid record.
        """
        ...


def check_id(session: SessionId) -> None:
    """Reject an id that could be mistaken for a path; raises UsageError."""
    if not is_session_id(session):
        raise UsageError(
            f"{session!r} cannot name a session",
            hint="use letters, digits, dots, dashes and underscores, at most 128",
        )


def check_expected(session: SessionId, expected_seq: int, last_seq: int) -> None:
    """Raise SessionConflict unless the session ends at `expected_seq`."""
    if last_seq != expected_seq:
        raise SessionConflict(
            f'session "{session}" ends at event {last_seq}, not {expected_seq}: another writer changed it',
            hint="read the session again",
        )


def encode_chain(
    prev_hash: str, first_seq: int, at: int, events: Sequence[Event], dates: Sequence[int] = ()
) -> tuple[list[Record], list[bytes]]:
    """Encode events as records and stored lines; raises StoreError for an event that JSON cannot hold."""
    try:
        pairs = encode_records(prev_hash, first_seq, at, events, dates)
    except (UnicodeEncodeError, TypeError, OverflowError, RecursionError) as error:
        raise StoreError(f"an event cannot be stored as JSON: {error}") from error
    return [record for record, _ in pairs], [line for _, line in pairs]


def cache_end(ends: dict[SessionId, T], session: SessionId, end: T) -> None:
    """Cache where a session ends; beyond MAX_ENDS sessions, drop the least recently written one."""
    ends.pop(session, None)
    ends[session] = end
    if len(ends) > MAX_ENDS:
        del ends[next(iter(ends))]


def select_seqs(last_seq: int, *, after: int, before: int | None, limit: int | None, newest: bool) -> range:
    """Return the range of sequence numbers that a read asks for."""
    first = max(after, 0) + 1
    stop = last_seq + 1 if before is None else min(before, last_seq + 1)
    if limit is not None and stop - first > max(limit, 0):
        if newest:
            first = stop - max(limit, 0)
        else:
            stop = first + max(limit, 0)
    return range(first, max(first, stop))


async def decode_lines(session: SessionId, lines: Iterable[bytes], seqs: range) -> list[Record]:
    """Decode the lines of a read; raises StoreCorrupt unless they are exactly the requested records."""
    records: list[Record] = []
    until_pause = PAUSE_BYTES
    try:
        for line in lines:
            record = decode_record(line)
            if record.seq != seqs.start + len(records):
                break
            records.append(record)
            until_pause -= len(line)
            if until_pause < 0:
                until_pause = PAUSE_BYTES
                await asyncio.sleep(0)
    except StoreCorrupt as error:
        raise _corrupt(session, seqs.start + len(records), error.message) from error
    if len(records) != len(seqs):
        raise _corrupt(session, seqs.start + len(records), "it is missing")
    return records


def _corrupt(session: SessionId, seq: int, why: str) -> StoreCorrupt:
    return StoreCorrupt(f'session "{session}", event {seq}: {why}', hint=f"bridle session verify {session}")


def not_found_error(session: SessionId) -> SessionNotFound:
    """Build the error for a session that is not stored."""
    return SessionNotFound(f'no session "{session}"', hint="bridle session list")


def gone_error(path: Path) -> StoreError:
    """Build the error for a file that was deleted or replaced while in use."""
    return StoreError(
        f"{path}: it was deleted, moved or replaced while in use, so nothing more is recorded",
        hint="restore it from a backup; later runs are not in it",
    )


def sort_summaries(summaries: Iterable[SessionSummary], *, archived: bool) -> list[SessionSummary]:
    """Sort summaries, newest first; leave out archived sessions unless `archived`."""
    shown = [summary for summary in summaries if archived or not summary.archived]
    return sorted(shown, key=lambda summary: (summary.updated_at, summary.id), reverse=True)


def fold_summary(
    session: SessionId, lines: Iterable[bytes], summary: SessionSummary | None = None
) -> SessionSummary | None:
    """Fold lines into a summary; lines that cannot be decoded are skipped."""
    for line in lines:
        with suppress(StoreCorrupt):
            summary = summarise(summary, session, decode_record(line))
    return summary


def from_os_error(path: Path, error: OSError) -> StoreError:
    """Convert a failed file operation into a StoreError; a StoreFull if the disk or quota is full."""
    if error.errno in _FULL:
        return StoreFull(f"{path}: no space left ({error.strerror})", hint=FREE_SPACE)
    return StoreError(f"{path}: {error.strerror or error}")


class RowStore(ABC):
    """The base of a program's own store, which keeps rows: a session, a number from 1 on, a line of JSON.

    A subclass implements `add`, `rows`, `last`, `names` and `drop` on its database, and `aclose` if there is
    something to close. It never reads the lines.
    """

    @abstractmethod
    async def add(self, session: SessionId, lines: Sequence[tuple[int, bytes]]) -> bool:
        """Store numbered lines durably, all or none; False if the session has one of these numbers."""

    @abstractmethod
    async def rows(self, session: SessionId, first: int, last: int) -> Sequence[bytes]:
        """Return the lines with first <= number <= last, in order."""

    @abstractmethod
    async def last(self, session: SessionId) -> int:
        """Return the highest number of a session, 0 if it has none."""

    @abstractmethod
    async def names(self) -> Sequence[SessionId]:
        """Return the sessions that have rows."""

    @abstractmethod
    async def drop(self, session: SessionId) -> None:
        """Remove all rows of a session."""

    async def aclose(self) -> None:  # noqa: B027  optional
        """Close the database; does nothing by default."""

    def now_ms(self) -> int:
        """Return the time of new records, in milliseconds since 1970."""
        return int(time.time() * 1000)

    async def append(
        self, session: SessionId, expected_seq: int, events: Sequence[Event], *, dates: Sequence[int] = ()
    ) -> list[Record]:
        """Append events after `expected_seq`; raises SessionConflict."""
        check_id(session)
        check_expected(session, expected_seq, await self.last(session))
        before = await self.read(session, after=expected_seq - 1) if expected_seq else []
        prev_hash = before[-1].hash if before else GENESIS
        records, lines = encode_chain(prev_hash, expected_seq + 1, self.now_ms(), events, dates)
        numbered = [(record.seq, line) for record, line in zip(records, lines, strict=True)]
        if numbered and not await self.add(session, numbered):
            check_expected(session, expected_seq, await self.last(session))
            raise SessionConflict(f'session "{session}" was changed by another writer')
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
        """Return the requested records, oldest first."""
        last = await self.last(session)
        seqs = select_seqs(last, after=after, before=before, limit=limit, newest=newest)
        lines = await self.rows(session, seqs.start, seqs.stop - 1) if seqs else ()
        return await decode_lines(session, lines, seqs)

    async def list(self, *, archived: bool = False) -> list[SessionSummary]:
        """Return a summary of every session, newest first."""
        known: dict[SessionId, SessionSummary] = self.__dict__.setdefault("_summaries", {})
        found = {session: await self._summary(session, known.get(session)) for session in await self.names()}
        known.clear()
        known.update({session: summary for session, summary in found.items() if summary is not None})
        return sort_summaries(known.values(), archived=archived)

    async def _summary(self, session: SessionId, known: SessionSummary | None) -> SessionSummary | None:
        last = await self.last(session)
        if known is None or known.last_seq > last:
            return fold_summary(session, await self.rows(session, 1, last))
        new = await self.rows(session, known.last_seq + 1, last) if known.last_seq < last else ()
        return fold_summary(session, new, known)

    async def delete(self, session: SessionId) -> None:
        """Delete a session; raises SessionNotFound."""
        if not await self.last(session):
            raise not_found_error(session)
        await self.drop(session)
        self.__dict__.setdefault("_summaries", {}).pop(session, None)
