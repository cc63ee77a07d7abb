"""What all stores do alike: number, chain and decode lines, and tell what is wrong with them."""

import asyncio
import errno
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from msgspec import Struct

from bridle.core.codec import decode_record, encode_records
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

MAX_ENDS = 1_000  # sessions whose last number and hash are known without a look into the store
PAUSE_BYTES = 1024 * 1024  # decoding this much takes some 3 ms; then others on the event loop get a turn

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
"""What `repair` can mend; of the rest something is lost or was edited."""


class Flaw(Struct, frozen=True, omit_defaults=True):
    """One thing that is wrong with a stored session, or with the whole store."""

    kind: FlawKind
    text: str
    session: SessionId | None = None
    seq: int | None = None
    """The first record that is affected."""
    repaired: bool = False


class DamagedList(StoreCorrupt):
    """Not all sessions can be listed; those that can are in `sessions`, newest first."""

    def __init__(self, message: str, *, hint: str, sessions: tuple[SessionSummary, ...]) -> None:
        super().__init__(message, hint=hint)
        self.sessions = sessions


class LineStore(Protocol):
    """A store that shows the bytes it keeps, so that they can be checked."""

    async def ids(self) -> list[SessionId]:
        """Return the id of every stored session, readable or not, in order."""
        ...

    def lines(self, session: SessionId) -> AsyncIterator[bytes]:
        """Yield the stored lines of a session as they are, oldest first, without their newlines."""
        ...

    async def flaws(self, session: SessionId | None = None, *, repair: bool = False) -> list[Flaw]:
        """Return what is wrong around the lines of one session, or of all; mend what can be mended.

        Repairing never loses a valid record.
        """
        ...


def check_id(session: SessionId) -> None:
    """Refuse an id that could be mistaken for a path; raises UsageError."""
    if not is_session_id(session):
        raise UsageError(
            f"{session!r} cannot name a session",
            hint="use letters, digits, dots, dashes and underscores, at most 128",
        )


def check_expected(session: SessionId, expected_seq: int, last_seq: int) -> None:
    """Compare before appending; raises SessionConflict."""
    if last_seq != expected_seq:
        raise SessionConflict(
            f'session "{session}" ends at event {last_seq}, not {expected_seq}: another writer changed it',
            hint="read the session again",
        )


def chain(
    prev_hash: str, first_seq: int, at: int, events: Sequence[Event], dates: Sequence[int] = ()
) -> tuple[list[Record], list[bytes]]:
    """Turn events into records and their stored lines; raises StoreError for one that JSON cannot hold."""
    try:
        pairs = encode_records(prev_hash, first_seq, at, events, dates)
    except (UnicodeEncodeError, TypeError, OverflowError, RecursionError) as error:
        raise StoreError(f"an event cannot be stored as JSON: {error}") from error
    return [record for record, _ in pairs], [line for _, line in pairs]


def remember(ends: dict[SessionId, T], session: SessionId, end: T) -> None:
    """Note where a session ends; of more sessions than are in use at once the longest unused is forgotten."""
    ends.pop(session, None)
    ends[session] = end
    if len(ends) > MAX_ENDS:
        del ends[next(iter(ends))]


def wanted(last_seq: int, *, after: int, before: int | None, limit: int | None, newest: bool) -> range:
    """Return the sequence numbers that a read asks for."""
    first = max(after, 0) + 1
    stop = last_seq + 1 if before is None else min(before, last_seq + 1)
    if limit is not None and stop - first > max(limit, 0):
        if newest:
            first = stop - max(limit, 0)
        else:
            stop = first + max(limit, 0)
    return range(first, max(first, stop))


async def decode_lines(session: SessionId, lines: Iterable[bytes], seqs: range) -> list[Record]:
    """Decode the lines of a read; raises StoreCorrupt unless they are exactly the records asked for."""
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


def not_found(session: SessionId) -> SessionNotFound:
    """Build the error for a session that is not stored."""
    return SessionNotFound(f'no session "{session}"', hint="bridle session list")


def gone(path: Path) -> StoreError:
    """Build the error for a file that was deleted or replaced while it was written."""
    return StoreError(
        f"{path}: it was deleted, moved or replaced while it was in use, so nothing is recorded any more",
        hint="put it back from a backup; what ran since then is not in it",
    )


def newest_first(summaries: Iterable[SessionSummary], *, archived: bool) -> list[SessionSummary]:
    """Order a session list; archived sessions are part of it only if asked for."""
    shown = [summary for summary in summaries if archived or not summary.archived]
    return sorted(shown, key=lambda summary: (summary.updated_at, summary.id), reverse=True)


def summary_of(
    session: SessionId, lines: Iterable[bytes], summary: SessionSummary | None = None
) -> SessionSummary | None:
    """Fold lines into a summary; those that cannot be read are passed over."""
    for line in lines:
        with suppress(StoreCorrupt):
            summary = summarise(summary, session, decode_record(line))
    return summary


def from_os_error(path: Path, error: OSError) -> StoreError:
    """Translate a failed file operation."""
    if error.errno in _FULL:
        return StoreFull(f"{path}: no space is left for it ({error.strerror})", hint=FREE_SPACE)
    return StoreError(f"{path}: {error.strerror or error}")
