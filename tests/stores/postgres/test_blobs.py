"""Blobs in the database belong to one tenant, and are removed when old and unused."""

import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from bridle.core.errors import StoreCorrupt, StoreError
from bridle.stores.blob_check import PrunableBlobs
from bridle.stores.postgres.blobs import BlockingPostgres, PostgresBlobs
from bridle.system import current_tenant
from tests.postgres import fresh_database

TEXT = b"the same line again and again\n" * 1000


@pytest.fixture
def url() -> str:
    return fresh_database()


@pytest.fixture
def blobs(url: str) -> Iterator[PostgresBlobs]:
    opened = PostgresBlobs(BlockingPostgres(url, patience_s=10))
    yield opened
    opened.close()


def execute(url: str, statement: str, *params: object) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement, params)


def test_a_tenant_finds_only_its_own(blobs: PostgresBlobs):
    token = current_tenant.current.set("acme")
    digest = blobs.put(TEXT)
    current_tenant.current.set("zeta")
    with pytest.raises(StoreError, match="is no longer stored"):
        blobs.get(digest)
    blobs.put(TEXT)
    current_tenant.current.reset(token)

    with pytest.raises(StoreError, match="is no longer stored"):
        blobs.get(digest)
    assert blobs.digests() == {digest}
    assert blobs.prune([], older_than_s=0) == 2


def test_text_is_stored_compressed_and_once(blobs: PostgresBlobs, url: str):
    blobs.put(TEXT)
    blobs.put(TEXT)

    with psycopg.connect(url) as connection:
        rows = connection.execute("SELECT left(encode(data, 'escape'), 1), length(data) FROM bridle.blobs")
        ((mark, size),) = rows.fetchall()
    assert (mark, size < len(TEXT) / 10) == ("z", True)


@pytest.mark.parametrize("damage", [b"", b"?", b"r", b"znonsense", b"z" + zlib.compress(b"something else")])
def test_damage_is_noticed(blobs: PostgresBlobs, url: str, damage: bytes):
    digest = blobs.put(TEXT)
    execute(url, "UPDATE bridle.blobs SET data = %s", damage)

    with pytest.raises(StoreCorrupt, match="is damaged"):
        blobs.get(digest)


def test_prune_removes_what_is_old_and_unused(blobs: PostgresBlobs, url: str):
    digests = [blobs.put(b"%d" % n) for n in range(1200)]
    execute(url, "UPDATE bridle.blobs SET put_at = now() - interval '2 hours'")
    used, young = digests[:3], [blobs.put(b"young"), blobs.put(b"7")]

    assert blobs.prune(used, older_than_s=3600) == 1196
    assert blobs.digests() == {*used, *young}
    assert isinstance(blobs, PrunableBlobs)


def test_threads_share_connections(blobs: PostgresBlobs):
    with ThreadPoolExecutor(8) as pool:
        digests = list(pool.map(lambda n: blobs.put(b"%d" % (n % 10) * 3000), range(80)))

    assert (len(set(digests)), [blobs.get(digest) for digest in digests[:2]]) == (
        10,
        [b"0" * 3000, b"1" * 3000],
    )


def test_connections_that_died_are_replaced(blobs: PostgresBlobs, url: str):
    digest = blobs.put(TEXT)
    execute(
        url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )

    assert blobs.get(digest) == TEXT


def test_a_database_that_stays_away_is_told(tmp_path: Path):
    blobs = PostgresBlobs(BlockingPostgres(f"postgresql:///x?host={tmp_path}", patience_s=0.3))

    with pytest.raises(StoreError, match=r"has been away for 0\.3 s: connection refused"):
        blobs.put(b"x")
