"""The database schema, as numbered migrations that only go forward.

```
sessions   one row each: its end (seq, hash), the worker that holds it (owner), the machine that has its
           folder (node), its entry in a list (summary)
records    session, seq, at, line: the line exactly as encoded; 16 partitions by session, prunable separately
workers    the processes that run sessions, and whether they are alive
blobs      tenant, digest, data
cluster    what all nodes share: the token that they show each other
migrations which migrations were applied, and the oldest Bridle that can use the tables after each
```

A session's row with `seq` 0 is a claim on a session that has no records yet; others do not see it.
`listed_at` is `updated_at`, but at most a minute old and rarely changed: an append that changes no indexed
column leaves all indexes alone (a heap-only update). `fillfactor` leaves the space for that.
"""

from msgspec import Struct

from bridle.core.codec import GENESIS
from bridle.core.errors import StoreError
from bridle.stores.postgres.rows import Connection, fetch_rows

# ---------------------------------------------------------------------------- tenant tables
# The tables for tenants.
#
# ```
# tenants       name, settings
# tokens        id, tenant, user, scopes, hash of the secret; the secret itself is not stored
# tenant_use    tenant, period: what its runs have used or have reserved, by day and by month
# reservations  session, run: what is reserved for one run, and whether it is settled
# ```
#
# `tenant_use` changes in the same transaction as `reservations`, so their sums always match.


TENANT_TABLES = (
    """
CREATE TABLE bridle.tenants (
    name text COLLATE "C" PRIMARY KEY,
    settings bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
)
""",
    """
CREATE TABLE bridle.tokens (
    id text COLLATE "C" PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    username text NOT NULL,
    scopes text[] NOT NULL,
    hash bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz
)
""",
    "CREATE INDEX tokens_of ON bridle.tokens (tenant, created_at)",
    """
CREATE TABLE bridle.tenant_use (
    tenant text COLLATE "C" NOT NULL,
    period text COLLATE "C" NOT NULL,
    tokens bigint NOT NULL DEFAULT 0,
    nano bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, period)
) WITH (fillfactor = 50)
""",
    """
CREATE TABLE bridle.reservations (
    session text COLLATE "C" NOT NULL,
    run text COLLATE "C" NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    day text COLLATE "C" NOT NULL,
    month text COLLATE "C" NOT NULL,
    tokens bigint NOT NULL,
    nano bigint NOT NULL,
    limits bytea NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now(),
    settled_at timestamptz,
    PRIMARY KEY (session, run)
) WITH (fillfactor = 70)
""",
    "CREATE INDEX reservations_open ON bridle.reservations (made_at) WHERE settled_at IS NULL",
    "CREATE INDEX reservations_settled ON bridle.reservations (settled_at) WHERE settled_at IS NOT NULL",
)


# ---------------------------------------------------------------------------- schema


_MADE = "SELECT to_regclass('bridle.migrations') IS NOT NULL"
_VERSION = "SELECT number, oldest_reader FROM bridle.migrations ORDER BY number DESC LIMIT 1"

PARTS = 16
RELISTED_MS = 60_000


class Migration(Struct, frozen=True):
    """One change of the tables, applied in one transaction."""

    number: int
    name: str
    oldest_reader: int
    """The lowest schema version whose code can still use the tables after this change."""
    statements: tuple[str, ...]


_SESSIONS = f"""
CREATE TABLE bridle.sessions (
    id text COLLATE "C" PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    seq bigint NOT NULL DEFAULT 0,
    hash text COLLATE "C" NOT NULL DEFAULT '{GENESIS}',
    owner text COLLATE "C" NOT NULL DEFAULT '',
    node text COLLATE "C" NOT NULL DEFAULT '',
    archived boolean NOT NULL DEFAULT false,
    created_at bigint NOT NULL DEFAULT 0,
    updated_at bigint NOT NULL DEFAULT 0,
    listed_at bigint NOT NULL DEFAULT 0,
    summary bytea NOT NULL DEFAULT ''
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05)
"""
_RECORDS = """
CREATE TABLE bridle.records (
    session text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    line bytea NOT NULL,
    PRIMARY KEY (session, seq)
) PARTITION BY HASH (session)
"""
_WORKERS = """
CREATE TABLE bridle.workers (
    id text COLLATE "C" PRIMARY KEY,
    node text NOT NULL DEFAULT '',
    address text NOT NULL DEFAULT '',
    labels text[] NOT NULL DEFAULT '{}',
    version text NOT NULL DEFAULT '',
    started_at timestamptz NOT NULL DEFAULT now(),
    beat timestamptz NOT NULL DEFAULT now(),
    gone boolean NOT NULL DEFAULT false,
    draining boolean NOT NULL DEFAULT false
) WITH (fillfactor = 50)
"""
_CLUSTER = "CREATE TABLE bridle.cluster (name text PRIMARY KEY, value text NOT NULL)"
_BLOBS = """
CREATE TABLE bridle.blobs (
    tenant text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    put_at timestamptz NOT NULL DEFAULT now(),
    data bytea NOT NULL,
    PRIMARY KEY (tenant, digest)
)
"""

MIGRATIONS: tuple[Migration, ...] = (
    Migration(
        1,
        "sessions, records, workers, blobs",
        1,
        (
            _SESSIONS,
            "CREATE INDEX sessions_listed ON bridle.sessions (listed_at) WHERE NOT archived",
            "CREATE INDEX sessions_listed_of ON bridle.sessions (tenant, listed_at) WHERE NOT archived",
            "CREATE INDEX sessions_archived ON bridle.sessions (listed_at) WHERE archived",
            "CREATE INDEX sessions_archived_of ON bridle.sessions (tenant, listed_at) WHERE archived",
            "CREATE INDEX sessions_owned ON bridle.sessions (owner) WHERE owner <> ''",
            _RECORDS,
            *(
                f"CREATE TABLE bridle.records_{part:02} PARTITION OF bridle.records"
                f" FOR VALUES WITH (MODULUS {PARTS}, REMAINDER {part})"
                for part in range(PARTS)
            ),
            _WORKERS,
            _CLUSTER,
            _BLOBS,
            # Blobs are already compressed where that helps.
            "ALTER TABLE bridle.blobs ALTER COLUMN data SET STORAGE EXTERNAL",
            "CREATE INDEX blobs_put ON bridle.blobs (put_at)",
        ),
    ),
    Migration(2, "tenants, tokens, what runs may use", 1, TENANT_TABLES),
)
"""In order, numbered from 1; a released migration is never edited."""

SCHEMA_VERSION = MIGRATIONS[-1].number


async def check_schema(connection: Connection) -> None:
    """Raise StoreError unless this version of Bridle can use the tables."""
    version, oldest_reader = await read_version(connection)
    where = f"database {connection.info.dbname}"
    if not version:
        raise StoreError(f"{where} has no Bridle tables", hint="bridle scale migrate")
    if version < SCHEMA_VERSION:
        raise StoreError(
            f"{where} has tables of an older Bridle (schema {version}, {SCHEMA_VERSION} is needed)",
            hint="bridle scale migrate",
        )
    if oldest_reader > SCHEMA_VERSION:
        raise StoreError(
            f"{where} has tables of a newer Bridle (schema {version}, the newest known is {SCHEMA_VERSION})",
            hint="upgrade Bridle",
        )


async def read_version(connection: Connection) -> tuple[int, int]:
    """Return the number of the last applied migration, and the oldest version that can use the tables."""
    if not (await fetch_rows(connection, _MADE))[0][0]:
        return 0, 0
    found = await fetch_rows(connection, _VERSION)
    return (found[0][0], found[0][1]) if found else (0, 0)
