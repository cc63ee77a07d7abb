"""The session store in PostgreSQL: compare-and-append in one statement, fenced by the session's claim.

```
append   one UPDATE of the session's row, if it ends where expected and no other worker holds it,
         and one INSERT of the lines, if that row was updated: one statement, one round trip
```

The end of a session is cached between appends, and only the statement itself relies on it: it names number
and hash. A commit whose answer was lost is looked up: either exactly our lines are stored, or nothing is.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bridle.core.codec import GENESIS
from bridle.core.errors import SessionTaken
from bridle.core.ids import SessionId, is_session_id
from bridle.core.ports import Clock
from bridle.core.protocol import Event, Record
from bridle.core.summary import SessionSummary, summarise
from bridle.core.tenancy import tenant_of
from bridle.stores.postgres.notifications import RECORDS
from bridle.stores.postgres.pool import Postgres
from bridle.stores.postgres.rows import Connection, fetch_rows
from bridle.stores.postgres.schema import RELISTED_MS
from bridle.stores.record_lines import (
    Flaw,
    check_expected,
    check_id,
    decode_lines,
    encode_chain,
    fold_summary,
    not_found_error,
    select_seqs,
    sort_summaries,
)
from bridle.stores.session_list import changes_summary, decode_summary

# ---------------------------------------------------------------------------- flaws
# Find flaws outside the lines of a session: in its labels, its end and its summary.


_MISLABELLED = """
SELECT seq FROM bridle.records
WHERE session = %(id)s
AND left(encode(line, 'escape'), 64) NOT LIKE '{"seq":' || seq || ',"at":' || at || ',%%'
ORDER BY seq
"""
_ROW = """
SELECT seq, hash, summary,
    (SELECT max(seq) FROM bridle.records WHERE session = %(id)s),
    (SELECT substr(line, length(line) - 65, 64) FROM bridle.records r
     WHERE r.session = %(id)s AND r.seq = s.seq)
FROM bridle.sessions s WHERE id = %(id)s AND seq > 0
"""
_FLAWS_LINES = "SELECT line FROM bridle.records WHERE session = %s ORDER BY seq"
_MEND = "UPDATE bridle.sessions SET summary = %s, archived = %s WHERE id = %s"


async def find_flaws(postgres: Postgres, session: SessionId, *, repair: bool) -> list[Flaw]:
    """Return the flaws of one session; with `repair`, rebuild its summary if it is unreadable."""
    found = [
        Flaw("mislabelled", "the row's number or date is not that of its line", session, seq)
        for (seq,) in await postgres.rows(_MISLABELLED, {"id": session})
    ]
    rows = await postgres.rows(_ROW, {"id": session})
    if not rows:
        return found
    seq, hash_, data, last_seq, last_hash = rows[0]
    if (last_seq or 0) < seq:
        text = f"it had {seq} events and has {last_seq or 0}"
        found.append(Flaw("truncated", text, session, (last_seq or 0) + 1))
    elif last_seq > seq or bytes(last_hash or b"") != hash_.encode():
        found.append(Flaw("mislabelled", "its row and its records end differently", session, seq))
    if decode_summary(data) is None:
        mended = repair and await _repair(postgres, session)
        found.append(Flaw("missing_summary", "it has no readable summary", session, repaired=mended))
    return found


async def _repair(postgres: Postgres, session: SessionId) -> bool:
    lines = [bytes(line) for (line,) in await postgres.rows(_FLAWS_LINES, (session,))]
    summary: SessionSummary | None = fold_summary(session, lines)
    if summary is None:
        return False
    await postgres.rows(_MEND, (msgspec.json.encode(summary), summary.archived, session))
    return True


# ---------------------------------------------------------------------------- store


PAGE_RECORDS = 1000
PAGE_LINES = 256
MAX_READ = 10_000_000  # more records than a session can have
MAX_LISTED = 10_000
"""The most that `list` returns; which sessions these are is accurate to a minute."""
MAX_REMEMBERED = 10_000  # cached ends of sessions: 1 kB each
_LISTED_AT_ONCE = 1000  # decoding this many takes 3 ms; then other tasks get a turn

_FREE = """
s.seq = %(expected)s AND s.hash = %(prev)s AND s.owner IN ('', %(worker)s)
AND NOT EXISTS (SELECT FROM bridle.workers w WHERE w.id = %(worker)s AND w.gone)
"""
_INSERT = """
INSERT INTO bridle.records (session, seq, at, line)
SELECT grown.id, %(expected)s + ordinal, given.at, line
FROM grown, unnest(%(lines)s::bytea[], %(dates)s::bigint[]) WITH ORDINALITY AS given (line, at, ordinal)
"""
_BEGIN = f"""
WITH grown AS (
    INSERT INTO bridle.sessions AS s
        (id, tenant, seq, hash, archived, created_at, updated_at, listed_at, summary)
    SELECT %(id)s, %(tenant)s, %(seq)s, %(hash)s, %(archived)s, (%(dates)s::bigint[])[1], %(at)s, %(at)s,
        %(summary)s
    WHERE NOT EXISTS (SELECT FROM bridle.workers w WHERE w.id = %(worker)s AND w.gone)
    ON CONFLICT (id) DO UPDATE
    SET seq = excluded.seq, hash = excluded.hash, archived = excluded.archived,
        created_at = excluded.created_at, updated_at = excluded.updated_at,
        listed_at = excluded.listed_at, summary = excluded.summary
    WHERE {_FREE}
    RETURNING id
)
{_INSERT}
"""
_GROW = f"""
WITH grown AS (
    UPDATE bridle.sessions AS s
    SET seq = %(seq)s, hash = %(hash)s, updated_at = %(at)s,
        listed_at = CASE WHEN %(at)s - listed_at > {RELISTED_MS} THEN %(at)s ELSE listed_at END
    WHERE s.id = %(id)s AND {_FREE}
    RETURNING id
)
{_INSERT}
"""
_CHANGE = f"""
WITH grown AS (
    UPDATE bridle.sessions AS s
    SET seq = %(seq)s, hash = %(hash)s, updated_at = %(at)s, listed_at = %(at)s,
        archived = %(archived)s, summary = %(summary)s
    WHERE s.id = %(id)s AND {_FREE}
    RETURNING id
)
{_INSERT}
"""
_END = """
SELECT coalesce(s.seq, 0), s.hash, s.updated_at, s.summary, coalesce(s.owner, ''), coalesce(w.gone, false)
FROM (VALUES (%(id)s, %(worker)s)) AS asked (id, worker)
LEFT JOIN bridle.sessions s ON s.id = asked.id COLLATE "C"
LEFT JOIN bridle.workers w ON w.id = asked.worker COLLATE "C"
"""
_READ = f"""
SELECT s.seq, r.line
FROM bridle.sessions s LEFT JOIN LATERAL (
    SELECT line FROM bridle.records
    WHERE session = %(id)s AND seq < least(%(before)s, s.seq + 1) AND seq >= greatest(
        %(first)s, CASE WHEN %(newest)s THEN least(%(before)s, s.seq + 1) - %(limit)s ELSE 0 END)
    ORDER BY seq LIMIT least(%(limit)s, {PAGE_RECORDS})
) r ON true
WHERE s.id = %(id)s
"""
_PAGE = "SELECT line FROM bridle.records WHERE session = %s AND seq >= %s AND seq < %s ORDER BY seq"
_LINES = "SELECT seq, line FROM bridle.records WHERE session = %s AND seq > %s ORDER BY seq LIMIT %s"
_IDS = "SELECT id FROM bridle.sessions WHERE seq > 0 ORDER BY id"
_COLUMNS = "id, summary, seq, updated_at, listed_at FROM bridle.sessions"
_LIST = f"""
(SELECT {_COLUMNS} WHERE NOT archived AND seq > 0 {{tenant}}
 ORDER BY listed_at DESC, id DESC LIMIT {MAX_LISTED})
"""
_LIST_ARCHIVED = f"""
(SELECT {_COLUMNS} WHERE archived AND seq > 0 {{tenant}}
 ORDER BY listed_at DESC, id DESC LIMIT {MAX_LISTED})
"""
_REMOVE = """
DELETE FROM bridle.sessions
WHERE id = %(id)s AND seq > 0 AND owner IN ('', %(worker)s)
AND NOT EXISTS (SELECT FROM bridle.workers w WHERE w.id = %(worker)s AND w.gone)
AND (%(before)s::bigint IS NULL OR archived AND updated_at < %(before)s::bigint)
"""
_LARGEST = 2**63 - 1


class _End(Struct, frozen=True):
    """The last known end of a session."""

    seq: int = 0
    hash: str = GENESIS
    at: int = 0
    summary: SessionSummary | None = None


class PostgresStore:
    """All sessions of a cluster, as seen from one of its processes."""

    def __init__(self, postgres: Postgres, clock: Clock, worker: str = "") -> None:
        """Write as `worker`; without one, write only to sessions that no worker holds."""
        self._postgres = postgres
        self._clock = clock
        self._worker = worker
        self._ends: OrderedDict[SessionId, _End] = OrderedDict()

    # ------------------------------------------------------------------------ append

    async def append(
        self,
        session: SessionId,
        expected_seq: int,
        events: Sequence[Event],
        *,
        dates: Sequence[int] = (),
    ) -> list[Record]:
        """Append events after `expected_seq` in one statement; waits while the database is unreachable.

        Raises SessionTaken if another worker holds the session or this one was declared gone,
        SessionConflict, StoreFull, StoreError.
        """
        check_id(session)
        end = self._ends.get(session)
        if end is None or end.seq != expected_seq or not events:
            end = await self._read_end(session, expected_seq)
        appended: list[Record] | None = None
        while appended is None:
            appended = await self._append(session, end, events, dates)
            if appended is None:  # the cached end was outdated
                end = await self._read_end(session, expected_seq)
        return appended

    async def _append(
        self, session: SessionId, end: _End, events: Sequence[Event], dates: Sequence[int]
    ) -> list[Record] | None:
        """Append after `end`; None if the session no longer ends there, or this worker may not write it."""
        at = max(self._clock.now_ms(), end.at)  # dates never decrease, even if this node's clock is behind
        records, lines = encode_chain(end.hash, end.seq + 1, at, events, dates)
        if not records:
            return []
        grown = _grown(session, end, records)
        params = self._params(session, end, grown, lines)
        params["dates"] = [record.at for record in records]
        statement = _BEGIN if not end.seq else _GROW if grown.summary is end.summary else _CHANGE
        attempts = 0

        async def work(connection: Connection) -> bool:
            nonlocal attempts
            attempts += 1
            cursor = await connection.execute(statement.encode(), params)
            if cursor.rowcount:
                return True
            return attempts > 1 and await self._is_stored(connection, session, grown)

        self._ends.pop(session, None)
        if not await self._postgres.retry(work):
            return None
        self._remember(session, grown)
        self._postgres.tell(RECORDS, session, str(grown.seq))
        return records

    async def _is_stored(self, connection: Connection, session: SessionId, grown: _End) -> bool:
        """Return True if an earlier attempt succeeded and only its answer was lost."""
        rows = await fetch_rows(connection, _PAGE, (session, grown.seq, grown.seq + 1))
        return bool(rows) and bytes(rows[0][0])[-66:-2] == grown.hash.encode()

    async def _read_end(self, session: SessionId, expected_seq: int) -> _End:
        """Return where a session ends; raises SessionTaken, SessionConflict if we cannot append there."""
        rows = await self._postgres.rows(_END, {"id": session, "worker": self._worker})
        seq, hash_, at, data, owner, is_gone = rows[0]
        if is_gone or owner not in ("", self._worker):
            raise self._taken(session, owner)
        check_expected(session, expected_seq, seq)
        if not seq:
            return _End()
        return _End(seq, hash_, at, decode_summary(data) or await self._fold_summary(session))

    async def _fold_summary(self, session: SessionId) -> SessionSummary | None:
        return fold_summary(session, [line async for line in self.lines(session)])

    def _taken(self, session: SessionId, owner: str) -> SessionTaken:
        if owner in ("", self._worker):
            return SessionTaken(f'session "{session}": worker {self._worker} was declared gone')
        return SessionTaken(
            f'session "{session}" is held by worker {owner}', hint="send it a command through the gateway"
        )

    def _params(self, session: SessionId, end: _End, grown: _End, lines: list[bytes]) -> dict[str, Any]:
        return {
            "id": session,
            "tenant": tenant_of(session),
            "worker": self._worker,
            "expected": end.seq,
            "prev": end.hash,
            "seq": grown.seq,
            "hash": grown.hash,
            "at": grown.at,
            "archived": grown.summary is not None and grown.summary.archived,
            "summary": msgspec.json.encode(grown.summary),
            "lines": lines,
        }

    def _remember(self, session: SessionId, end: _End) -> None:
        self._ends[session] = end
        self._ends.move_to_end(session)
        if len(self._ends) > MAX_REMEMBERED:
            self._ends.popitem(last=False)

    # ------------------------------------------------------------------------ read

    async def read(
        self,
        session: SessionId,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int | None = None,
        newest: bool = False,
    ) -> list[Record]:
        """Return the requested records, oldest first; the first thousand take one round trip."""
        if not is_session_id(session):
            return []
        params = {
            "id": session,
            "first": max(after, 0) + 1,
            "before": _LARGEST if before is None else max(before, 0),
            "limit": MAX_READ if limit is None else min(max(limit, 0), MAX_READ),
            "newest": newest,
        }
        rows = await self._postgres.rows(_READ, params)
        last_seq = rows[0][0] if rows else 0
        seqs = select_seqs(last_seq, after=after, before=before, limit=limit, newest=newest)
        records: list[Record] = []
        for first in seqs[::PAGE_RECORDS]:
            page = range(first, min(first + PAGE_RECORDS, seqs.stop))
            if records:
                rows = await self._postgres.rows(_PAGE, (session, page.start, page.stop))
            records += await decode_lines(session, (row[-1] for row in rows), page)
        return records

    async def ids(self) -> list[SessionId]:
        """Return the id of every session."""
        return [row[0] for row in await self._postgres.rows(_IDS)]

    async def lines(self, session: SessionId) -> AsyncIterator[bytes]:
        """Yield a session's lines."""
        after = 0
        while is_session_id(session):
            rows = await self._postgres.rows(_LINES, (session, after, PAGE_LINES))
            for row in rows:
                yield row[1]
            if not rows:
                return
            after = rows[-1][0]

    async def flaws(self, session: SessionId | None = None, *, repair: bool = False) -> list[Flaw]:
        """Return wrong labels, ends and summaries; only summaries can be repaired."""
        found: list[Flaw] = []
        for each in await self.ids() if session is None else [session]:
            if is_session_id(each):
                found += await find_flaws(self._postgres, each, repair=repair)
        return found

    async def list(self, *, archived: bool = False, tenant: str | None = None) -> list[SessionSummary]:
        """Return summaries of all sessions, or of one tenant's, newest first; at most `MAX_LISTED`."""
        statement = f"{_LIST} UNION ALL {_LIST_ARCHIVED}" if archived else _LIST
        whose = "" if tenant is None else "AND tenant = %(tenant)s"
        rows = await self._postgres.rows(statement.format(tenant=whose), {"tenant": tenant})
        rows.sort(key=lambda row: (row[4], row[0]), reverse=True)
        summaries = []
        for number, (session, data, seq, updated_at, _) in enumerate(rows[:MAX_LISTED], 1):
            summary = decode_summary(data) or SessionSummary(session, "", "", "", updated_at, updated_at, seq)
            summaries.append(replace(summary, last_seq=seq, updated_at=updated_at))
            if not number % _LISTED_AT_ONCE:
                await asyncio.sleep(0)
        return sort_summaries(summaries, archived=True)

    async def delete(self, session: SessionId) -> None:
        """Delete a session; raises SessionNotFound, SessionTaken if another worker holds it."""
        if not is_session_id(session):
            raise not_found_error(session)
        attempts = 0

        async def work(connection: Connection) -> bool:
            nonlocal attempts
            attempts += 1
            return await remove(connection, session, self._worker)

        self._ends.pop(session, None)
        if await self._postgres.retry(work) or attempts > 1:  # the first attempt may have deleted it
            return
        rows = await self._postgres.rows(_END, {"id": session, "worker": self._worker})
        seq, _, _, _, owner, is_gone = rows[0]
        if seq and (is_gone or owner not in ("", self._worker)):
            raise self._taken(session, owner)
        raise not_found_error(session)

    async def aclose(self) -> None:
        """Do nothing: the caller owns the connections."""


async def remove(
    connection: Connection, session: SessionId, worker: str = "", *, before_ms: int | None = None
) -> bool:
    """Delete a session that no other worker holds, in one transaction; return whether there was one.

    With `before_ms`, only if it is archived and was last changed before that time.
    """
    params = {"id": session, "worker": worker, "before": before_ms}
    async with connection.transaction():
        removed = await connection.execute(_REMOVE.encode(), params)
        if not removed.rowcount:
            return False
        # A second statement, because it sees what an append stored while the first one waited for it.
        await connection.execute(b"DELETE FROM bridle.records WHERE session = %s", (session,))
        return True


def _grown(session: SessionId, end: _End, records: Sequence[Record]) -> _End:
    last = records[-1]
    summary = end.summary
    if not end.seq or changes_summary([record.event for record in records]):
        for record in records:
            summary = summarise(summary, session, record)
    return _End(last.seq, last.hash, last.at, summary)
