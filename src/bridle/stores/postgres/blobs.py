"""Blobs in the database, for a cluster with small outputs and files; for larger ones use a bucket.

A tenant finds only its own blobs: the key of a blob is its tenant and its digest.
"""

from collections.abc import Collection

from bridle.stores.blob_format import MAX_BLOB_BYTES, check_digest, digest_of, missing_error, pack, unpack
from bridle.stores.postgres.blocking_pool import BlockingConnection, BlockingPostgres
from bridle.system import current_tenant

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
