"""The connections of a process to PostgreSQL, and the patience with one that is away.

psycopg's own pool connects in the background and tells only its log why it cannot. Here whoever needs a
connection makes it, so the reason reaches the caller, and after an outage nobody waits for a timer.
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
from bridle.stores.postgres.faults import (
    is_passing,
    name_of,
    parse_url,
    reason_of,
    secrets_of,
    translated,
)
from bridle.stores.postgres.rows import Connection, Row, rows_of
from bridle.stores.postgres.schema import check_schema
from bridle.stores.postgres.telling import Teller

T = TypeVar("T")

WORK_S = 60.0  # a unit of work that takes longer is given up: the connection may be dead
FIRST_WAIT_S = 0.05
LONGEST_WAIT_S = 2.0
DEFAULTS: dict[str, str] = {
    "application_name": "bridle",
    "connect_timeout": "10",
    "keepalives_idle": "15",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",  # a host that vanished is noticed after 30 s, not after minutes
    "target_session_attrs": "read-write",  # of several hosts the one that is not a standby
}
"""What a connection is opened with unless the address says otherwise."""

_log = logging.getLogger(__name__)


class Postgres:
    """One database as a process sees it; connections are made when they are needed, at most `size`."""

    def __init__(
        self, url: str, *, size: int = 8, patience_s: float = 300.0, looks_first: bool = False
    ) -> None:
        """Take the address of a database, as libpq takes it; raises ConfigError.

        With `looks_first` the first work finds out whether the database is there, without patience, and
        whether its tables are ones that we can use.
        """
        self._looks_first = looks_first
        params = parse_url(url)
        self.name = name_of(params)
        """Which database it is, for people: without a password."""
        self.patience_s = patience_s
        self._params = DEFAULTS | params
        self._secrets = secrets_of(params)
        self._size = size
        self._slots = asyncio.Semaphore(size)
        self._idle: list[Connection] = []
        self._away_since: float | None = None
        self._is_closed = False
        self._teller = Teller(self._notify)

    async def open(self, *, patience_s: float = 0.0) -> None:
        """Make sure that the database is there and has tables that we can use; raises StoreError.

        `patience_s` is how long it may take to come up, where it is started at the same time.
        """
        await self.retrying(check_schema, patience_s=patience_s)

    async def aclose(self) -> None:
        """Send what is left to tell, and close the connections; one that is in use closes after its work."""
        await self._teller.aclose()
        self._is_closed = True
        await self._drop_idle()

    @property
    def away_s(self) -> float:
        """How long the database has been away by now; 0 when the last work with it succeeded."""
        return 0.0 if self._away_since is None else time.monotonic() - self._away_since

    def tell(self, channel: str, subject: str, word: str) -> None:
        """Tell all who listen to a channel, soon and at most once: `subject word`; the newest word counts."""
        self._teller.tell(channel, subject, word)

    async def connect(self) -> Connection:
        """Make a connection that belongs to the caller, in autocommit mode; raises psycopg.Error."""
        return await AsyncConnection.connect(**self._params, autocommit=True)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Lend a connection in autocommit mode; one that is not clean afterwards is closed."""
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
        """Return the rows of a statement that may be executed twice; raises StoreError."""

        async def work(connection: Connection) -> list[Row]:
            return await rows_of(connection, statement, params)

        return await self.retrying(work)

    async def retrying(
        self,
        work: Callable[[Connection], Awaitable[T]],
        *,
        patience_s: float | None = None,
        within_s: float = WORK_S,
    ) -> T:
        """Do work on a connection; while the database is away, wait and do it again from its beginning.

        An attempt that takes longer than `within_s` counts as a lost connection. The work must be such that
        doing it twice does no harm: a lost connection does not say whether it was done.
        Raises StoreFull, StoreError, also when the database was away for too long.
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
                if not is_passing(error):
                    raise translated(self.name, error, self._secrets) from None
                began = began or time.monotonic()
                await self._mourn(error, is_news=wait_s == FIRST_WAIT_S)
                left_s = began + patience_s - time.monotonic()
                if left_s <= 0:
                    raise self._lost(error, time.monotonic() - began) from None
                await asyncio.sleep(min(wait_s, left_s))
                wait_s = min(2 * wait_s, LONGEST_WAIT_S) or FIRST_WAIT_S
                continue
            if self._away_since is not None:
                _log.info("%s is back after %.1f s", self.name, self.away_s)
                self._away_since = None
            return result

    async def _mourn(self, error: BaseException, *, is_news: bool) -> None:
        """Take note that the database is away: the other connections are most likely dead as well."""
        if self._away_since is None:
            self._away_since = time.monotonic()
        if is_news:  # the first attempt may have met a connection that had died long ago
            _log.warning("%s is away: %s", self.name, reason_of(error))
        await self._drop_idle()

    def _lost(self, error: BaseException, waited_s: float) -> StoreError:
        if waited_s < 1:
            return translated(self.name, error, self._secrets)
        return StoreError(
            f"{self.name} has been away for {waited_s:.0f} s: {reason_of(error)}",
            hint="start it again; what was recorded is safe, and a run that was cut off can be resumed",
        )

    async def _drop_idle(self) -> None:
        while self._idle:
            await self._idle.pop().close()

    async def _notify(self, channel: str, payloads: list[str]) -> None:
        await self.rows(_NOTIFY, (channel, payloads))


# A commit that notifies holds a lock of the whole server until it is on the disk: it need not wait for that.
_NOTIFY = """
SELECT set_config('synchronous_commit', 'off', true), pg_notify(%s, payload)
FROM unnest(%s::text[]) AS payload
"""
