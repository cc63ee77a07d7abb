"""Blobs in the database, for a cluster with small outputs and files; for larger ones use a bucket.

A tenant finds only its own blobs: the key of a blob is its tenant and its digest.
"""

import threading
import time
import weakref
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

import psycopg
from psycopg.pq import TransactionStatus

from bridle.core.errors import StoreError
from bridle.stores.blobs import MAX_BLOB_BYTES, check_digest, digest_of, missing_error, pack, unpack
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
from bridle.system import current_tenant

# ---------------------------------------------------------------------------- blocking pool
# Blocking connections for threads, with the same retries as in `pool`.


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


# ---------------------------------------------------------------------------- blobs


_BATCH = 1000

_RENEW = "UPDATE bridle.blobs SET put_at = now() WHERE tenant = %s AND digest = %s RETURNING 1"
_PUT = """
INSERT INTO bridle.blobs (tenant, digest, data) VALUES (%s, %s, %s)
ON CONFLICT (tenant, digest) DO UPDATE SET put_at = now()
"""
_GET = "SELECT data FROM bridle.blobs WHERE tenant = %s AND digest = %s"
_DIGESTS = "SELECT DISTINCT digest FROM bridle.blobs"
_OLD = """
SELECT tenant, digest FROM bridle.blobs
WHERE put_at <= now() - make_interval(secs => %s) AND (tenant, digest) > (%s, %s)
ORDER BY tenant, digest LIMIT %s
"""
# A blob that was put again meanwhile stays: DELETE checks the row again after locking it.
_REMOVE = """
DELETE FROM bridle.blobs b USING unnest(%s::text[], %s::text[]) AS old (tenant, digest)
WHERE b.tenant = old.tenant AND b.digest = old.digest AND b.put_at <= now() - make_interval(secs => %s)
"""


class PostgresBlobs:
    """Blobs of all tenants in one table; dates are by the database's clock."""

    def __init__(self, postgres: BlockingPostgres, *, max_blob_bytes: int = MAX_BLOB_BYTES) -> None:
        self._postgres = postgres
        self._max_blob_bytes = max_blob_bytes

    def put(self, data: bytes) -> str:
        """Store bytes for the current tenant and return their digest; raises StoreFull or StoreError."""
        digest = digest_of(data, self._max_blob_bytes)
        key = (current_tenant.current.get(), digest)

        def work(connection: BlockingConnection) -> None:
            if not connection.execute(_RENEW, key).fetchone():
                connection.execute(_PUT, (*key, b"".join(pack(data))), binary=True)

        self._postgres.retry(work)
        return digest

    def get(self, digest: str) -> bytes:
        """Return bytes stored for the current tenant; raises StoreError, StoreCorrupt."""
        check_digest(digest)
        key = (current_tenant.current.get(), digest)
        row = self._postgres.retry(lambda connection: connection.execute(_GET, key, binary=True).fetchone())
        if row is None:
            raise missing_error(digest)
        return unpack(digest, row[0], self._max_blob_bytes)

    def digests(self) -> set[str]:
        """Return the digests of all stored blobs, of all tenants; raises StoreError."""
        rows = self._postgres.retry(lambda connection: connection.execute(_DIGESTS).fetchall())
        return {digest for (digest,) in rows}

    def prune(self, used: Collection[str], older_than_s: float) -> int:
        """Remove blobs not in `used` and last put that long ago; return how many; raises StoreError."""
        removed, after = 0, ("", "")
        while True:
            params = (older_than_s, *after, _BATCH)
            rows = self._postgres.retry(lambda connection: connection.execute(_OLD, params).fetchall())  # noqa: B023 (called at once)
            unused = [row for row in rows if row[1] not in used]
            given = ([row[0] for row in unused], [row[1] for row in unused], older_than_s)
            if unused:
                removed += self._postgres.retry(
                    lambda connection: connection.execute(_REMOVE, given).rowcount  # noqa: B023 (called at once)
                )
            if len(rows) < _BATCH:
                return removed
            after = rows[-1]

    def close(self) -> None:
        """Close the connections."""
        self._postgres.close()
