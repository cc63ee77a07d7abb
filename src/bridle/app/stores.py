"""Wiring for storage: the journal, claims, blobs and file revisions."""

from pathlib import Path
from typing import TYPE_CHECKING

from bridle.app.postgres import open_bucket_blobs, open_database_blobs, open_postgres_journal
from bridle.config.settings import Settings
from bridle.core.ports import Claims, DatedStore

if TYPE_CHECKING:
    from bridle.core.ports import Blobs
    from bridle.stores.kontekst_store import BaseStore


def open_store(settings: Settings) -> DatedStore:
    """Open the configured journal, for a process's sessions or a command that only reads."""
    journal = _open_journal(settings)
    if (kontekst := settings.kontekst) is None:
        return journal
    from bridle.stores.kontekst_files import KontekstFiles
    from bridle.stores.kontekst_store import KontekstStore

    files = KontekstFiles(
        sessions=kontekst.sessions,
        marks=settings.home / "kontekst-marks",
        active=kontekst.data_dir / "active_session",
    )
    return KontekstStore(journal, files, open_claims(settings), cwd=str(kontekst.data_dir))


def _open_journal(settings: Settings) -> "BaseStore":
    from bridle.sessions.system_clock import SystemClock

    clock = SystemClock()
    match settings.store.backend:
        case "sqlite":
            from bridle.stores.sqlite import SqliteStore

            return SqliteStore(store_folder(settings) / "bridle.db", clock, sync=settings.store.sync)
        case "jsonl":
            from bridle.stores.jsonl import JsonlStore

            return JsonlStore(store_folder(settings) / "sessions", clock, sync=settings.store.sync)
        case "ephemeral":
            from bridle.stores.ephemeral import EphemeralStore

            return EphemeralStore(clock)
        case "postgres":
            return open_postgres_journal(settings)


def open_claims(settings: Settings) -> Claims:
    """Open the locks that stop two processes from running one session at once."""
    from bridle.stores.claims import FileClaims, LocalClaims

    if settings.store.backend == "ephemeral":
        return LocalClaims()
    return FileClaims(store_folder(settings) / "run" / "claims")


def store_folder(settings: Settings) -> Path:
    """Return the folder of sessions and of the locks that guard them, from all homes that share it."""
    chosen = settings.store.directory
    return settings.home / Path(chosen).expanduser() if chosen else settings.home


def open_blobs(settings: Settings) -> "Blobs":
    """Open the blob store, for long outputs and earlier file contents."""
    from bridle.stores.blobs import FileBlobs, MemoryBlobs

    if settings.store.backend == "ephemeral":
        return MemoryBlobs()
    match settings.store.blobs:
        case "files":
            return FileBlobs(settings.home / "blobs")
        case "database":
            return open_database_blobs(settings)
        case "s3":
            return open_bucket_blobs(settings)


def revisions_dir(settings: Settings) -> Path:
    """Return the folder for saved file contents that are not recorded yet."""
    return settings.home / "run" / "revisions"
