"""Wiring for storage in PostgreSQL and S3."""

from typing import TYPE_CHECKING

from bridle.config.settings import Settings
from bridle.core.errors import ConfigError

if TYPE_CHECKING:
    from bridle.core.ports import Blobs
    from bridle.stores.kontekst_store import BaseStore
    from bridle.stores.postgres.pool import Postgres


def database_url(settings: Settings) -> str:
    """Return the URL of the database, including its password if any; raises ConfigError."""
    if (secret := settings.database_url) is None:
        raise ConfigError(
            "store.backend is postgres, but no address is set",
            hint=f"set store.url, or the variable {settings.store.url_env}",
        )
    return secret.reveal()


def open_postgres(settings: Settings, *, size: int | None = None, looks_first: bool = False) -> "Postgres":
    """Create this process's connection pool; connections open on first use. Raises ConfigError."""
    try:
        from bridle.stores.postgres.pool import Postgres
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"store.backend: the package {error.name} is not installed",
            hint="pip install 'bridle-agent[scale]'",
        ) from error
    store = settings.store
    return Postgres(
        database_url(settings),
        size=size or store.pool,
        patience_s=float(store.patience),
        looks_first=looks_first,
    )


def open_postgres_journal(settings: Settings) -> "BaseStore":
    """Open the journal for a command that only reads, with its own connections; raises ConfigError."""
    postgres = open_postgres(settings, size=2, looks_first=True)
    from bridle.sessions.system_clock import SystemClock
    from bridle.stores.postgres.store import PostgresStore

    class Owned(PostgresStore):
        """A store that owns its connections."""

        async def aclose(self) -> None:
            """Close the connections."""
            await postgres.aclose()

    return Owned(postgres, SystemClock())


def open_database_blobs(settings: Settings) -> "Blobs":
    """Open the blob store in the database."""
    open_postgres(settings, size=1)  # raises ConfigError for what is missing
    from bridle.stores.postgres.blobs import BlockingPostgres, PostgresBlobs

    return PostgresBlobs(BlockingPostgres(database_url(settings), patience_s=float(settings.store.patience)))


def open_bucket_blobs(settings: Settings) -> "Blobs":
    """Open the blob store in an S3 bucket; raises ConfigError."""
    s3 = settings.store.s3
    if not s3.bucket:
        raise ConfigError("store.blobs is s3, but no bucket is set", hint="set store.s3.bucket")
    try:
        from bridle.stores.s3 import S3Blobs, open_bucket
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"store.blobs: the package {error.name} is not installed",
            hint="pip install 'bridle-agent[scale]'",
        ) from error
    bucket = open_bucket(s3.bucket, endpoint=s3.endpoint, region=s3.region)
    return S3Blobs(bucket, name=s3.bucket, prefix=s3.prefix)
