"""The tables are created once, by the first node; nodes of two versions can work side by side."""

import asyncio
from itertools import chain

import psycopg
import pytest

from bridle.core.errors import StoreError
from bridle.stores.postgres.migrations import SCHEMA_VERSION, migrate, schema_version
from bridle.stores.postgres.pool import Postgres
from bridle.stores.postgres.schema import MIGRATIONS
from bridle.stores.postgres.store import PostgresStore
from tests.postgres import fresh_database, shared_server
from tests.stores.sample import CountingClock, S, created


@pytest.fixture
def empty() -> str:
    url = fresh_database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA bridle CASCADE")
    return url


async def test_many_nodes_that_start_at_once_make_the_tables_once(empty: str):
    nodes = [Postgres(empty) for _ in range(6)]
    versions = [await schema_version(nodes[0])]

    done = await asyncio.gather(*(migrate(node) for node in nodes))

    versions.append(await schema_version(nodes[0]))
    for node in nodes:
        await node.aclose()
    assert sorted(chain.from_iterable(done)) == [f"{each.number}: {each.name}" for each in MIGRATIONS]
    assert versions == [0, SCHEMA_VERSION]


def test_migrations_are_numbered_in_order():
    assert [each.number for each in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))
    assert all(each.oldest_reader <= each.number for each in MIGRATIONS)


async def test_a_change_that_fails_leaves_nothing_behind(empty: str):
    with psycopg.connect(empty, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA bridle")
        connection.execute("CREATE TABLE bridle.blobs (foreign_thing int)")
    postgres = Postgres(empty)

    with pytest.raises(StoreError, match='relation "blobs" already exists'):
        await migrate(postgres)

    rows = await postgres.rows("SELECT relname FROM pg_class WHERE relnamespace = 'bridle'::regnamespace")
    assert (await schema_version(postgres), rows) == (0, [("blobs",)])
    await postgres.aclose()


@pytest.mark.parametrize(
    ("number", "oldest_reader", "told"),
    [
        (SCHEMA_VERSION + 1, SCHEMA_VERSION + 1, "tables of a newer Bridle .* upgrade Bridle"),
        (SCHEMA_VERSION + 7, SCHEMA_VERSION, ""),
    ],
)
async def test_newer_tables_are_used_if_they_allow_it(number: int, oldest_reader: int, told: str):
    postgres = Postgres(fresh_database())
    await postgres.rows("INSERT INTO bridle.migrations VALUES (%s, 'new', %s)", (number, oldest_reader))

    if told:
        with pytest.raises(StoreError, match=told):
            await postgres.open()
        with pytest.raises(StoreError, match=told):
            await migrate(postgres)
    else:
        await postgres.open()
        assert await migrate(postgres) == []
        await PostgresStore(postgres, CountingClock()).append(S, 0, [created()])
    await postgres.aclose()


async def test_older_tables_must_be_migrated_first():
    postgres = Postgres(fresh_database())
    await postgres.rows("UPDATE bridle.migrations SET number = 0, oldest_reader = 0 WHERE number = 1")
    await postgres.rows("DELETE FROM bridle.migrations WHERE number > 1")
    await postgres.rows("UPDATE bridle.migrations SET number = -1")

    with pytest.raises(StoreError, match=rf"older Bridle \(schema -1, {SCHEMA_VERSION} is needed\)"):
        await postgres.open()
    await postgres.aclose()


def test_a_database_of_a_test_has_the_tables():
    assert shared_server().run("SELECT count(*) FROM bridle.migrations", database="bridle_template") == [
        (SCHEMA_VERSION,)
    ]
