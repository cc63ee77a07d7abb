"""Migrate a database to the current schema: forward only, one migration after the other."""

from bridle.stores.postgres.pool import Postgres
from bridle.stores.postgres.rows import Connection
from bridle.stores.postgres.schema import MIGRATIONS, SCHEMA_VERSION, Migration, read_version

__all__ = ["SCHEMA_VERSION", "migrate", "schema_version"]

MIGRATION_S = 3600.0  # changing a large table takes long

_LOCK = int.from_bytes(b"Bridle", "big")  # advisory lock: one node migrates, others wait
_FIRST = """
CREATE SCHEMA IF NOT EXISTS bridle;
CREATE TABLE IF NOT EXISTS bridle.migrations (
    number integer PRIMARY KEY,
    name text NOT NULL,
    oldest_reader integer NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)
"""


async def migrate(postgres: Postgres) -> list[str]:
    """Apply all missing migrations, each in one transaction; return their names.

    Safe to call on many nodes at once. Raises StoreError, also for tables that are too new.
    """
    done = []
    for migration in MIGRATIONS:

        async def work(connection: Connection, migration: Migration = migration) -> bool:
            return await _apply(connection, migration)

        if await postgres.retry(work, within_s=MIGRATION_S):
            done.append(f"{migration.number}: {migration.name}")
    await postgres.open()
    return done


async def schema_version(postgres: Postgres) -> int:
    """Return the number of the last applied migration; 0 for a database without Bridle's tables."""
    version, _ = await postgres.retry(read_version)
    return version


async def _apply(connection: Connection, migration: Migration) -> bool:
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        if (await read_version(connection))[0] >= migration.number:
            return False
        await connection.execute(_FIRST)
        for statement in migration.statements:
            await connection.execute(statement.encode())
        await connection.execute(
            "INSERT INTO bridle.migrations (number, name, oldest_reader) VALUES (%s, %s, %s)",
            (migration.number, migration.name, migration.oldest_reader),
        )
        return True
