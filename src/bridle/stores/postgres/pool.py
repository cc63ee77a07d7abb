"""A process's connections to PostgreSQL, with retries while the database is unreachable.

psycopg's own pool connects in the background and reports only to its log why it cannot. Here the caller that
needs a connection opens it, so the reason reaches that caller, and after an outage there is no timer to wait
for.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import psycopg
from psycopg import AsyncConnection
from psycopg.pq import TransactionStatus

from bridle.core.errors import StoreError
from bridle.stores.postgres.errors import (
    describe_outage,
    display_name,
    find_secrets,
    is_temporary,
    parse_url,
    to_store_error,
)
from bridle.stores.postgres.notifications import Notifier
from bridle.stores.postgres.rows import Connection, Row, fetch_rows
from bridle.stores.postgres.schema import check_schema

T = TypeVar("T")

WORK_S = 60.0  # longer work is aborted: the connection may be dead
FIRST_WAIT_S = 0.05
LONGEST_WAIT_S = 2.0
DEFAULTS: dict[str, str] = {
    "application_name": "bridle",
    "connect_timeout": "10",
    "keepalives_idle": "15",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",  # detect a vanished host after 30 s, not after minutes
    "target_session_attrs": "read-write",  # of several hosts, the one that is not a standby
}
"""Connection parameters, unless the URL sets them."""

_log = logging.getLogger(__name__)


class Postgres:
    """One database as seen from this process; opens at most `size` connections, on demand."""

    def __init__(
        self, url: str, *, size: int = 8, patience_s: float = 300.0, looks_first: bool = False
    ) -> None:
        """Take the URL of a database, in libpq's format; raises ConfigError.

        With `looks_first`, the first work checks, without retries, that the database is reachable and that
        this version can use its tables.
        """
        self._looks_first = looks_first
        params = parse_url(url)
        self.name = display_name(params)
        """Display name of the database, without a password."""
        self.patience_s = patience_s
        self._params = DEFAULTS | params
        self._secrets = find_secrets(params)
        self._size = size
        self._slots = asyncio.Semaphore(size)
        self._idle: list[Connection] = []
        self._away_since: float | None = None
        self._is_closed = False
        self._notifier = Notifier(self._notify)

    async def open(self, *, patience_s: float = 0.0) -> None:
        """Check that the database is reachable and has tables that this version can use; raises StoreError.

        `patience_s` is how long the database may take to come up, if it is started at the same time.
        """
        await self.retry(check_schema, patience_s=patience_s)

    async def aclose(self) -> None:
        """Send pending notifications and close the connections; one in use closes after its work."""
        await self._notifier.aclose()
        self._is_closed = True
        await self._drop_idle()

    @property
    def unreachable_s(self) -> float:
        """Seconds for which the database has been unreachable; 0 if the last work succeeded."""
        return 0.0 if self._away_since is None else time.monotonic() - self._away_since

    def tell(self, channel: str, subject: str, word: str) -> None:
        """Notify a channel's listeners, soon and at most once: `subject word`; the newest word wins."""
        self._notifier.tell(channel, subject, word)

    async def connect(self) -> Connection:
        """Open a connection that the caller owns, in autocommit mode; raises psycopg.Error."""
        return await AsyncConnection.connect(**self._params, autocommit=True)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Provide a connection in autocommit mode; it is closed if a transaction is still open afterwards."""
        async with self._slots:
            connection = self._idle.pop() if self._idle else await self.connect()
            try:
                yield connection
            finally:
                if self._is_closed or connection.pgconn.transaction_status != TransactionStatus.IDLE:
                    await connection.close()
                else:
                    self._idle.append(connection)

    async def rows(self, statement: str, params: Sequence[Any] | dict[str, Any] = ()) -> list[Row]:
        """Return the rows of a statement that is safe to execute twice; raises StoreError."""

        async def work(connection: Connection) -> list[Row]:
            return await fetch_rows(connection, statement, params)

        return await self.retry(work)

    async def retry(
        self,
        work: Callable[[Connection], Awaitable[T]],
        *,
        patience_s: float | None = None,
        within_s: float = WORK_S,
    ) -> T:
        """Run `work` on a connection; while the database is unreachable, wait and run it again from the top.

        An attempt that takes longer than `within_s` counts as a lost connection. The work must be safe to do
        twice: after a lost connection it is unknown whether it was done.
        Raises StoreFull, StoreError, also when the database is unreachable for too long.
        """
        if patience_s is None:
            patience_s = 0.0 if self._looks_first else self.patience_s
        began, wait_s = 0.0, 0.0
        while True:
            try:
                async with asyncio.timeout(within_s), self.connection() as connection:
                    if self._looks_first:
                        await check_schema(connection)
                        self._looks_first = False
                    result = await work(connection)
            except (psycopg.Error, OSError) as error:  # a timeout is an OSError
                if not is_temporary(error):
                    raise to_store_error(self.name, error, self._secrets) from None
                began = began or time.monotonic()
                await self._mark_unreachable(error, is_news=wait_s == FIRST_WAIT_S)
                left_s = began + patience_s - time.monotonic()
                if left_s <= 0:
                    raise self._lost(error, time.monotonic() - began) from None
                await asyncio.sleep(min(wait_s, left_s))
                wait_s = min(2 * wait_s, LONGEST_WAIT_S) or FIRST_WAIT_S
                continue
            if self._away_since is not None:
                _log.info("%s is back after %.1f s", self.name, self.unreachable_s)
                self._away_since = None
            return result

    async def _mark_unreachable(self, error: BaseException, *, is_news: bool) -> None:
        """Note that the database is unreachable, and close the idle connections: they are likely dead too."""
        if self._away_since is None:
            self._away_since = time.monotonic()
        if is_news:  # the first attempt may have used a connection that died long ago
            _log.warning("%s is away: %s", self.name, describe_outage(error))
        await self._drop_idle()

    def _lost(self, error: BaseException, waited_s: float) -> StoreError:
        if waited_s < 1:
            return to_store_error(self.name, error, self._secrets)
        return StoreError(
            f"{self.name} has been away for {waited_s:.0f} s: {describe_outage(error)}",
            hint="start it again; what was recorded is safe, and a run that was cut off can be resumed",
        )

    async def _drop_idle(self) -> None:
        while self._idle:
            await self._idle.pop().close()

    async def _notify(self, channel: str, payloads: list[str]) -> None:
        await self.rows(_NOTIFY, (channel, payloads))


# A commit that notifies locks the whole server until it is on disk, so do not wait for the disk.
_NOTIFY = """
SELECT set_config('synchronous_commit', 'off', true), pg_notify(%s, payload)
FROM unnest(%s::text[]) AS payload
"""
