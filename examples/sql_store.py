"""Store sessions in your own database: SQLite here, and any other SQL database in the same way."""

import asyncio
import sqlite3
import sys
import threading

import bridle


class SqlStore(bridle.RowStore):
    def __init__(self, path):
        self._db, self._lock = sqlite3.connect(path, check_same_thread=False), threading.Lock()
        self._db.execute("CREATE TABLE IF NOT EXISTS log (id, seq INT, line, PRIMARY KEY (id, seq))")

    async def _sql(self, text, *rows):
        def run():
            with self._lock, self._db:  # all rows or none
                return [row for args in rows for row in self._db.execute(text, args)]

        return await asyncio.to_thread(run)

    async def add(self, session, lines):
        try:
            await self._sql("INSERT INTO log VALUES (?, ?, ?)", *((session, *numbered) for numbered in lines))
        except sqlite3.IntegrityError:  # another writer was faster
            return False
        return True

    async def rows(self, session, first, last):
        text = "SELECT line FROM log WHERE id=? AND seq BETWEEN ? AND ? ORDER BY seq"
        return [line for [line] in await self._sql(text, (session, first, last))]

    async def last(self, session):
        [[last]] = await self._sql("SELECT max(seq) FROM log WHERE id=?", (session,))
        return last or 0

    async def names(self):
        return [name for [name] in await self._sql("SELECT DISTINCT id FROM log", ())]

    async def drop(self, session):
        await self._sql("DELETE FROM log WHERE id=?", (session,))

    async def aclose(self):
        await asyncio.to_thread(self._db.close)


if __name__ == "__main__":
    [path] = sys.argv[1:] or ["sessions.sqlite"]
    print(bridle.run("What did I say last?", store=SqlStore(path), session_id="diary"))
