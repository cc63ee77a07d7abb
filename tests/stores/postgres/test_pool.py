"""The pool waits for an unreachable database, and reports a wrong address without its password."""

import asyncio
import socket
from pathlib import Path

import psycopg
import pytest

from bridle.core.errors import ConfigError, StoreError
from bridle.stores.postgres.errors import is_temporary
from bridle.stores.postgres.migrations import migrate
from bridle.stores.postgres.pool import Postgres
from bridle.stores.postgres.rows import Connection, fetch_rows
from tests.patience import PATIENCE_S
from tests.postgres import GUARDED, fresh_database, shared_server
from tests.stores.postgres.proxy import Proxy


async def failure(url: str) -> str:
    postgres = Postgres(url)
    with pytest.raises(StoreError) as caught:
        await postgres.open()
    await postgres.aclose()
    return str(caught.value)


async def test_nobody_listens_there(tmp_path: Path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]

        assert await failure(f"postgresql://me:s3cret@127.0.0.1:{port}/bridle") == (
            f"PostgreSQL 127.0.0.1:{port}/bridle: connection refused"
            " (hint: start it, or check the address of the database)"
        )
    assert (await failure(f"postgresql:///bridle?host={tmp_path}")).startswith(
        f"PostgreSQL {tmp_path}/bridle: connection refused"
    )


async def test_a_wrong_password(tmp_path: Path):
    name, password = GUARDED
    folder = shared_server().folder

    told = await failure(shared_server().url(user=name, password="s3cret"))

    assert told == (
        f"PostgreSQL {folder}/postgres: wrong password (hint: check the user and password in the URL)"
    )
    with psycopg.connect(shared_server().url(user=name, password=password)):
        pass


async def test_no_such_database_and_no_such_user():
    folder = shared_server().folder

    assert await failure(shared_server().url("nowhere")) == (
        f"PostgreSQL {folder}/nowhere: it has no such database (hint: run createdb, or check the URL)"
    )
    assert (await failure(shared_server().url(user="stranger"))).startswith(
        f"PostgreSQL {folder}/postgres: access denied"
    )


async def test_a_database_without_our_tables():
    assert await failure(shared_server().url("postgres")) == (
        "database postgres has no Bridle tables (hint: bridle scale migrate)"
    )


async def test_somebody_without_rights_is_told():
    url = fresh_database()
    name, password = GUARDED
    database = url.partition("?")[0].rpartition("/")[2]

    told = await failure(shared_server().url(database, user=name, password=password))

    assert "permission denied" in told
    assert password not in told


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3cret@host/x?nonsense=1",
        "nonsense s3cret",
        "http://s3cret",
        "postgresql://me:s3cret@host:port/x",
    ],
)
def test_an_address_that_makes_no_sense_is_not_repeated(url: str):
    with pytest.raises(ConfigError, match="the address of the database is invalid") as caught:
        Postgres(url)

    assert "s3cret" not in f"{caught.value}{caught.value.__cause__}"


async def test_patience_ends_with_a_clear_error(tmp_path: Path):
    postgres = Postgres(f"postgresql:///bridle?host={tmp_path}", patience_s=1.2)

    with pytest.raises(StoreError, match=r"has been away for 1 s: connection refused"):
        await postgres.rows("SELECT 1")
    assert postgres.unreachable_s > 1


async def test_connections_that_died_are_replaced_unnoticed(tmp_path: Path):
    url = fresh_database()
    async with Proxy(tmp_path) as proxy:
        postgres = Postgres(proxy.url(url), size=3, patience_s=15)
        for _ in range(3):
            await asyncio.gather(*(postgres.rows("SELECT pg_sleep(0.01)") for _ in range(3)))
            proxy.drop()

        assert (await postgres.rows("SELECT 42"), postgres.unreachable_s) == ([(42,)], 0.0)
        await postgres.aclose()


async def test_of_many_connections_that_died_only_one_is_tried(tmp_path: Path):
    attempts = 0

    async def work(connection: Connection) -> object:
        nonlocal attempts
        attempts += 1
        return await fetch_rows(connection, "SELECT 42")

    async with Proxy(tmp_path) as proxy:
        postgres = Postgres(proxy.url(fresh_database()), size=6, patience_s=15)
        await asyncio.gather(*(postgres.rows("SELECT pg_sleep(0.01)") for _ in range(6)))
        proxy.drop()

        assert (await postgres.retry(work), attempts) == ([(42,)], 2)
        await postgres.aclose()


async def test_nobody_gets_a_connection_in_the_middle_of_a_transaction():
    url = fresh_database()
    postgres, other = Postgres(url, size=1), Postgres(url)

    async def careless(connection: Connection) -> None:
        await connection.execute("BEGIN")

    await postgres.retry(careless)
    await postgres.rows("INSERT INTO bridle.workers (id) VALUES ('w')")

    assert await other.rows("SELECT id FROM bridle.workers") == [("w",)]
    await postgres.aclose()
    await other.aclose()


@pytest.mark.parametrize("code", ["40001", "40P01", "57P03", "53300", "25006", "57P01", "55P03"])
async def test_what_passes_is_tried_again(code: str):
    postgres = Postgres(fresh_database(), patience_s=15)
    attempts = 0

    async def work(connection: Connection) -> int:
        nonlocal attempts
        attempts += 1
        if attempts < 3:
            await connection.execute(
                f"DO $$ BEGIN RAISE EXCEPTION 'not now' USING ERRCODE = '{code}'; END $$".encode()
            )
        return attempts

    assert await postgres.retry(work) == 3
    await postgres.aclose()


async def test_what_does_not_pass_is_not_tried_again():
    postgres = Postgres(fresh_database(), patience_s=15)
    attempts = 0

    async def work(connection: Connection) -> None:
        nonlocal attempts
        attempts += 1
        await connection.execute("SELECT nonsense")

    with pytest.raises(StoreError, match='column "nonsense" does not exist'):
        await postgres.retry(work)
    assert (attempts, await postgres.rows("SELECT 1")) == (1, [(1,)])
    await postgres.aclose()


async def test_work_that_takes_too_long_is_given_up_and_done_again():
    postgres = Postgres(fresh_database(), patience_s=15)
    attempts = 0

    async def work(connection: Connection) -> object:
        nonlocal attempts
        attempts += 1
        return await fetch_rows(connection, "SELECT pg_sleep(%s)::text", (60 if attempts == 1 else 0,))

    assert await postgres.retry(work, within_s=0.5) == [("",)]
    await postgres.aclose()


async def test_no_more_connections_than_allowed_are_made_and_all_end():
    url = fresh_database()
    postgres = Postgres(f"{url}&application_name=counted", size=3)
    counted = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'counted'"

    await asyncio.gather(*(postgres.rows("SELECT pg_sleep(0.02)") for _ in range(10)))
    ((during,),) = await postgres.rows(counted)
    await postgres.aclose()
    other = Postgres(url)
    async with asyncio.timeout(PATIENCE_S):
        while (await other.rows(counted))[0][0]:
            pass
    await other.aclose()

    assert during == 3


async def test_a_cancelled_caller_leaves_a_usable_pool():
    postgres = Postgres(fresh_database(), size=1)
    sleeping = asyncio.create_task(postgres.rows("SELECT pg_sleep(60)"))
    other = Postgres(fresh_database())
    async with asyncio.timeout(PATIENCE_S):
        while not await other.rows("SELECT 1 FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)'"):
            pass
    sleeping.cancel()
    await asyncio.wait([sleeping])

    assert sleeping.cancelled()
    assert await postgres.rows("SELECT 1") == [(1,)]
    await postgres.aclose()
    await other.aclose()


def test_only_what_passes_is_waited_for():
    passing = [
        TimeoutError(),
        ConnectionResetError(),
        psycopg.OperationalError("server closed the connection"),
    ]
    lasting = [
        psycopg.OperationalError('FATAL:  password authentication failed for user "x"'),
        psycopg.errors.UniqueViolation("twice"),
        psycopg.DataError("bad"),
        ValueError("bug"),
    ]

    assert [is_temporary(error) for error in passing + lasting] == [True] * 3 + [False] * 4


async def test_a_database_that_comes_up_later_is_awaited(tmp_path: Path):
    url = fresh_database()
    proxy = Proxy(tmp_path)
    postgres = Postgres(proxy.url(url))
    opening = asyncio.create_task(postgres.open(patience_s=15))
    async with asyncio.timeout(PATIENCE_S):
        while not postgres.unreachable_s:  # noqa: ASYNC110 (nothing says that an attempt has failed)
            await asyncio.sleep(0.001)

    async with proxy:
        await opening
        assert await migrate(postgres) == []
        await postgres.aclose()
