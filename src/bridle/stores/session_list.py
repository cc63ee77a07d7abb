"""List the sessions of a SQLite store from both tables that hold them.

```
sessions   every session and its summary       ┐ every session is in both, and its last record
records    an index that begins with sessions  ┘ is the one that the index names
```

A damaged page of one table shows up in the other, so a list is never silently incomplete: `DamagedList` is
raised, with everything that could be read. An intact file costs one lookup per session.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bridle.core.errors import StoreCorrupt
from bridle.core.ids import SessionId
from bridle.core.protocol import (
    Event,
    MessageAdded,
    RunEnded,
    RunStarted,
    SessionArchived,
    SessionCreated,
    SessionLabelled,
    SessionTitled,
)
from bridle.core.summary import SessionSummary
from bridle.stores.record_lines import DamagedList, fold_summary, sort_summaries
from bridle.stores.sqlite_file import Database

# ---------------------------------------------------------------------------- summaries
# Session summaries as the databases store them next to the records.


_SUMMARISED = (
    SessionCreated,
    SessionTitled,
    SessionLabelled,
    SessionArchived,
    MessageAdded,
    RunStarted,
    RunEnded,
)
"""The events that `summarise` uses; a test compares this tuple with core."""


def changes_summary(events: Sequence[Event]) -> bool:
    """Return True if the events change a summary in more than its date and sequence number."""
    return any(isinstance(event, _SUMMARISED) for event in events)


def decode_summary(data: bytes) -> SessionSummary | None:
    """Decode a stored summary; return None if it cannot be decoded."""
    try:
        return msgspec.json.decode(data, type=SessionSummary)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


# ---------------------------------------------------------------------------- session list


MAX_NAMED = 3

_SUMMARIES = "SELECT id, summary FROM sessions"
_NEXT = "SELECT (SELECT {end}(session) FROM records WHERE session {beyond} id) FROM ids WHERE id IS NOT NULL"
_IDS = f"WITH RECURSIVE ids(id) AS (SELECT {{end}}(session) FROM records UNION {_NEXT}) "
_LAST = "rowid = (SELECT rowid FROM records WHERE session = {id} ORDER BY seq DESC LIMIT 1)"
_ENDS = (
    _IDS.format(end="min", beyond=">")
    + "SELECT id, session, seq, at FROM ids LEFT JOIN records ON records."
    + _LAST.format(id="id")
    + " WHERE id IS NOT NULL"
)
_SUMMARY = "SELECT summary FROM sessions WHERE id = ?"
_END = f"SELECT session, seq, at FROM records WHERE {_LAST.format(id='?')}"
_LINES = "SELECT line FROM records WHERE session = ? ORDER BY seq"
_SCANS = (
    "SELECT id FROM sessions ORDER BY id",
    "SELECT id FROM sessions ORDER BY id DESC",
    _IDS.format(end="min", beyond=">") + "SELECT id FROM ids WHERE id IS NOT NULL",
    _IDS.format(end="max", beyond="<") + "SELECT id FROM ids WHERE id IS NOT NULL",
)


class _Entry(Struct, frozen=True):
    """What the two tables say about one session."""

    summary: object = None
    """The summary as stored."""
    end: tuple[object, ...] | None = None
    """The session, number and date of its last record."""
    told: SessionSummary | None = None
    """The summary folded from its events, made only if the stored one cannot be decoded."""


async def read_list(database: Database, path: Path, *, archived: bool) -> list[SessionSummary]:
    """Return a summary of every session, newest first; raises DamagedList."""
    try:
        seen = await _both(database)
        why: list[str] = []
    except StoreCorrupt as error:
        seen, why = await _salvaged(database), [error.message.removeprefix(f"{path}: ")]
    listed = []
    for session, found in seen.items():
        summary, flaw = _judged(session, found)
        if flaw:  # it may have been written or deleted between the two queries
            found = await _looked_up(database, session)
            if found == _Entry() and not why:
                continue
            summary, flaw = _judged(session, found)
        listed.append(summary)
        why += [f'session "{session}" {flaw}'] if flaw else []
    sessions = sort_summaries(listed, archived=archived)
    if why:
        raise _damaged(path, why, sessions)
    return sessions


async def _both(database: Database) -> dict[SessionId, _Entry]:
    """Read every session from both tables; raises StoreCorrupt."""
    ends = {row[0]: row[1:] for row in await database.rows(_ENDS)}
    seen = {row[0]: _Entry(row[1], ends.pop(row[0], None)) for row in await database.rows(_SUMMARIES)}
    return seen | {session: _Entry(end=end) for session, end in ends.items()}


async def _salvaged(database: Database) -> dict[SessionId, _Entry]:
    """Find the session ids by scanning both tables from both ends, up to the first unreadable row."""
    ids: dict[SessionId, None] = {}
    for scan in _SCANS:
        rows = await database.readable_rows(scan)
        ids |= {SessionId(row[0]): None for row in rows if isinstance(row[0], str)}
    return {session: await _looked_up(database, session) for session in ids}


async def _looked_up(database: Database, session: SessionId) -> _Entry:
    """Look up one session in both tables; fold its events if its stored summary cannot be decoded."""
    summaries = await database.readable_rows(_SUMMARY, session)
    ends = await database.readable_rows(_END, session)
    stored = summaries[0][0] if summaries else None
    lines = () if _decoded(stored) else await database.readable_rows(_LINES, session)
    told = fold_summary(session, (line for (line,) in lines if isinstance(line, bytes)))
    return _Entry(stored, ends[0] if ends else None, told)


def _decoded(stored: object) -> SessionSummary | None:
    return decode_summary(stored) if isinstance(stored, bytes) else None


def _judged(session: SessionId, seen: _Entry) -> tuple[SessionSummary, str]:
    """Return a session's summary for the list, and what is wrong with it."""
    summary = _decoded(seen.summary)
    match seen.end:
        case (str() as named, int() as seq, int() as at) if named == session:
            line = summary or seen.told or SessionSummary(session, "", "", "", at, at, seq)
            line = replace(line, id=session, last_seq=seq, updated_at=at)
            if summary is None:
                return line, "has no readable summary"
            lost = f"had {summary.last_seq} events and has {seq}" if summary.last_seq > seq else ""
            return line, lost
        case _:
            line = summary or seen.told or SessionSummary(session, "", "", "", 0, 0, 0)
            return replace(line, id=session), "has no readable last event"


def _damaged(path: Path, why: Sequence[str], sessions: Iterable[SessionSummary]) -> DamagedList:
    more = f", and {len(why) - MAX_NAMED} more" if len(why) > MAX_NAMED else ""
    return DamagedList(
        f"{path}: it is damaged, sessions or parts of them are missing: {'; '.join(why[:MAX_NAMED])}{more}",
        hint="run bridle session fsck for details; restore the file from a backup",
        sessions=tuple(sessions),
    )
