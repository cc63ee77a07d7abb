"""Receive notifications of other nodes over one connection, which is reopened whenever it is lost."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import psycopg
from psycopg import sql

from bridle.stores.postgres.errors import is_temporary, to_store_error
from bridle.stores.postgres.notifications import CLAIMS, RECORDS
from bridle.stores.postgres.pool import FIRST_WAIT_S, LONGEST_WAIT_S, Postgres
from bridle.stores.postgres.rows import Connection, fetch_rows

QUIET_S = 30.0  # after this long without a notification the connection is tested
ANSWER_S = 10.0

Callback = Callable[[str | None], None]
"""Takes a payload, or None if notifications may have been missed. Must not raise or block."""


class NotificationListener:
    """Calls the registered callbacks while `run` runs."""

    def __init__(self, postgres: Postgres, channels: tuple[str, ...] = (RECORDS, CLAIMS)) -> None:
        self._postgres = postgres
        self._callbacks: dict[str, list[Callback]] = {channel: [] for channel in channels}
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False
        self.is_connected = asyncio.Event()
        """Set while no notification can be missed."""

    def listen(self, channel: str, callback: Callback) -> Callable[[], None]:
        """Call `callback` with each payload of a channel, and None after a loss; return a stop function."""
        callbacks = self._callbacks[channel]
        callbacks.append(callback)

        def stop() -> None:
            with suppress(ValueError):
                callbacks.remove(callback)

        return stop

    async def run(self) -> None:
        """Listen until closed or cancelled; raises StoreError for an error that a retry does not fix."""
        self._task = asyncio.create_task(self._run())
        try:
            await self._task
        except asyncio.CancelledError:
            if not self._is_closed:
                self._task.cancel()
                raise

    async def aclose(self) -> None:
        """Make `run` return."""
        self._is_closed = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _run(self) -> None:
        wait_s = 0.0
        while True:
            try:
                async with await self._postgres.connect() as connection:
                    await self._await_notifications(connection)
            except (psycopg.Error, OSError) as error:
                if not is_temporary(error):
                    raise to_store_error(self._postgres.name, error) from None
            wait_s = 0.0 if self.is_connected.is_set() else min(2 * wait_s, LONGEST_WAIT_S) or FIRST_WAIT_S
            self.is_connected.clear()
            await asyncio.sleep(wait_s)

    async def _await_notifications(self, connection: Connection) -> None:
        for channel in self._callbacks:
            await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
        self.is_connected.set()
        for channel in self._callbacks:
            self._call(channel, None)
        while True:
            async for news in connection.notifies(timeout=QUIET_S):
                self._call(news.channel, news.payload)
            async with asyncio.timeout(ANSWER_S):
                ((is_standby,),) = await fetch_rows(connection, "SELECT pg_is_in_recovery()")
            if is_standby:  # notifications sent to the new primary do not arrive here
                return

    def _call(self, channel: str, payload: str | None) -> None:
        for callback in tuple(self._callbacks[channel]):
            callback(payload)
