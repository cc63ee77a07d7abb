"""A server that is killed, stopped or frozen: runs wait, and nothing is lost or duplicated."""

import asyncio
from collections.abc import Callable

from bridle.core.ids import SessionId
from bridle.core.protocol import Record
from bridle.stores.integrity import fsck
from bridle.stores.postgres.migrations import migrate
from bridle.stores.postgres.pool import Postgres
from bridle.stores.postgres.store import PostgresStore
from tests.postgres import Server
from tests.stores.sample import CountingClock, finished, said

SESSIONS = 4


def frozen(server: Server) -> None:
    server.freeze()
    server.thaw()


def killed(server: Server) -> None:
    server.kill()
    server.start()


async def test_appends_go_on_after_every_kind_of_outage():
    with Server() as server:
        postgres = Postgres(server.url(), size=SESSIONS, patience_s=60)
        await migrate(postgres)
        store = PostgresStore(postgres, CountingClock())
        written: dict[SessionId, list[Record]] = {SessionId(f"s{n}"): [] for n in range(SESSIONS)}
        is_over, grown = False, asyncio.Event()

        async def write(session: SessionId) -> None:
            records = written[session]
            while not is_over:
                event = said("hm") if len(records) % 7 == 0 else finished(f"c{len(records)}")
                records += await store.append(session, len(records), [event])
                grown.set()

        async def progress() -> None:
            counts = {session: len(records) for session, records in written.items()}
            async with asyncio.timeout(60):
                while any(len(records) < counts[session] + 5 for session, records in written.items()):
                    await grown.wait()
                    grown.clear()

        outages: list[Callable[[Server], None]] = [killed, Server.restart, killed, frozen]
        async with asyncio.TaskGroup() as group:
            for session in written:
                group.create_task(write(session))
            await progress()
            for outage in outages:
                await asyncio.to_thread(outage, server)
                await progress()
            is_over = True

        assert {session: await store.read(session) for session in written} == written
        assert await fsck(store) == []
        assert postgres.unreachable_s == 0.0
        await postgres.aclose()
    assert not server.folder.exists()
