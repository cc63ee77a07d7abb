"""Blocking connections for threads, with the same retries as in `pool`."""

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

import psycopg
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
from bridle.stores.postgres.pool import DEFAULTS, FIRST_WAIT_S, LONGEST_WAIT_S
from bridle.stores.postgres.rows import Row

T = TypeVar("T")
BlockingConnection: TypeAlias = psycopg.Connection[Row]


class BlockingPostgres:
    """At most `size` connections, opened on demand; thread-safe."""

    def __init__(self, url: str, *, size: int = 4, patience_s: float = 300.0) -> None:
        """Take the URL of a database; raises ConfigError."""
        params = parse_url(url)
        self.name = display_name(params)
        self._params: dict[str, Any] = DEFAULTS | params
        self._secrets = find_secrets(params)
        self._patience_s = patience_s
        self._slots = threading.BoundedSemaphore(size)
        self._idle: list[BlockingConnection] = []
        self._is_closed = False
        weakref.finalize(self, _drop, self._idle)  # so that callers need not close it

    def retry(self, work: Callable[[BlockingConnection], T]) -> T:
        """Run work that is safe to do twice; while the database is unreachable, wait and run it again.

        Raises StoreFull, StoreError.
        """
        began, wait_s = 0.0, 0.0
        while True:
            try:
                with self._connection() as connection:
                    return work(connection)
            except (psycopg.Error, OSError) as error:
                if not is_temporary(error):
                    raise to_store_error(self.name, error, self._secrets) from None
                began = began or time.monotonic()
                self._drop_idle()
                left_s = began + self._patience_s - time.monotonic()
                if left_s <= 0:
                    raise StoreError(
                        f"{self.name} has been away for {self._patience_s:g} s: {describe_outage(error)}",
                        hint="start it again",
                    ) from None
            time.sleep(min(wait_s, left_s))
            wait_s = min(2 * wait_s, LONGEST_WAIT_S) or FIRST_WAIT_S

    def close(self) -> None:
        """Close the connections; one in use closes after its work."""
        self._is_closed = True
        self._drop_idle()

    @contextmanager
    def _connection(self) -> Iterator[BlockingConnection]:
        with self._slots:
            try:
                connection = self._idle.pop()  # one operation, so thread-safe
            except IndexError:
                connection = psycopg.connect(**self._params, autocommit=True)
            try:
                yield connection
            finally:
                if self._is_closed or connection.pgconn.transaction_status != TransactionStatus.IDLE:
                    connection.close()
                else:
                    self._idle.append(connection)

    def _drop_idle(self) -> None:
        _drop(self._idle)


def _drop(idle: list[BlockingConnection]) -> None:
    while idle:
        try:
            idle.pop().close()
        except IndexError:  # another thread was faster
            return
