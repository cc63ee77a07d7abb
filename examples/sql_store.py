"""Store sessions in your own database: SQLite here, and any other SQL database in the same way."""

import asyncio
import sqlite3
import sys
import threading
import time

import bridle
from bridle.core.codec import GENESIS, decode_record, encode_records
from bridle.core.summary import summarise


class SqlStore:
    def __init__(self, path, clock=time.time):
        self._db, self._lock = sqlite3.connect(path, check_same_thread=False), threading.Lock()
        self._clock = clock
        self._db.execute("CREATE TABLE IF NOT EXISTS log (id, seq INT, line, PRIMARY KEY (id, seq))")

    async def _sql(self, text, *rows):
        def run():
            with self._lock, self._db:  # all rows or none
                return [row for args in rows for row in self._db.execute(text, args)]

        return await asyncio.to_thread(run)

    async def append(self, session, expected_seq, events):
        there = await self.read(session, after=expected_seq - 1, limit=2)
        before, now = there[0].hash if there else GENESIS, int(self._clock() * 1000)
        made = encode_records(before, expected_seq + 1, now, events)
        try:
            if [record.seq for record in there] != [expected_seq][:expected_seq]:
                raise sqlite3.IntegrityError
            await self._sql("INSERT INTO log VALUES (?, ?, ?)", *((session, r.seq, line) for r, line in made))
        except sqlite3.IntegrityError:  # also if another writer was faster
            raise bridle.SessionConflict(f"session {session} does not end at {expected_seq}") from None
        return [record for record, _ in made]

    async def read(self, session, *, after=0, before=None, limit=None, newest=False):
        text = "SELECT line FROM log WHERE id=? AND seq>? AND seq<? ORDER BY seq"
        args = (session, after, 2**62 if before is None else before, -1 if limit is None else max(limit, 0))
        lines = await self._sql(f"{text} {'DESC' if newest else ''} LIMIT ?", args)
        return [decode_record(line) for [line] in (reversed(lines) if newest else lines)]

    async def list(self, *, archived=False):
        found = {}
        for name, line in await self._sql("SELECT id, line FROM log ORDER BY id, seq", ()):
            found[name] = summarise(found.get(name), name, decode_record(line))
        newest_first = sorted(found.values(), key=lambda one: (one.updated_at, one.id), reverse=True)
        return [one for one in newest_first if archived or not one.archived]

    async def delete(self, session):
        if not await self._sql("DELETE FROM log WHERE id=? RETURNING seq", (session,)):
            raise bridle.SessionNotFound(f"no session {session}")

    async def aclose(self):
        await asyncio.to_thread(self._db.close)


if __name__ == "__main__":
    [path] = sys.argv[1:] or ["sessions.sqlite"]
    print(bridle.run("What did I say last?", store=SqlStore(path), session_id="diary"))
