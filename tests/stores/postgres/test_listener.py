"""Notifications from other nodes arrive soon, or a message says that some may be missing."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from bridle.core.errors import StoreError
from bridle.core.ids import SessionId
from bridle.stores.postgres.claims import PostgresClaims
from bridle.stores.postgres.listener import NotificationListener
from bridle.stores.postgres.notifications import CLAIMS, RECORDS, Notifier
from bridle.stores.postgres.pool import Postgres
from bridle.stores.postgres.store import PostgresStore
from tests.patience import PATIENCE_S
from tests.postgres import fresh_database
from tests.stores.postgres.proxy import Proxy
from tests.stores.sample import CountingClock, S, created, said


class Ear:
    """Records its notifications."""

    def __init__(self) -> None:
        self.heard: list[str | None] = []
        self._news = asyncio.Event()

    def __call__(self, payload: str | None) -> None:
        self.heard.append(payload)
        self._news.set()

    async def until(self, is_enough: Callable[[list[str | None]], bool]) -> list[str | None]:
        async with asyncio.timeout(PATIENCE_S):
            while not is_enough(self.heard):
                self._news.clear()
                await self._news.wait()
        return self.heard


async def test_records_and_claims_of_others_are_heard():
    url = fresh_database()
    here, there = Postgres(url), Postgres(url)
    listener, records, claims = NotificationListener(here), Ear(), Ear()
    listener.listen(RECORDS, records)
    listener.listen(CLAIMS, claims)
    running = asyncio.create_task(listener.run())
    await records.until(lambda heard: heard == [None])

    claimed = PostgresClaims(there, "w1")
    await claimed.claim(S)
    await claims.until(lambda heard: heard[-1] == f"{S} w1")
    await claimed.release(S)
    store = PostgresStore(there, CountingClock())
    await store.append(S, 0, [created(), said("hello")])
    await store.append(SessionId("acme.1"), 0, [created()])
    heard = await records.until(lambda heard: len(heard) >= 3)
    await claims.until(lambda heard: heard[-1] == f"{S} ")
    await listener.aclose()
    await running
    await here.aclose()
    await there.aclose()

    assert (heard[0], sorted(map(str, heard[1:]))) == (None, [f"{S} 2", "acme.1 1"])


async def test_a_lost_connection_is_made_again_and_told(tmp_path: Path):
    url = fresh_database()
    direct = Postgres(url)
    store = PostgresStore(direct, CountingClock())
    async with Proxy(tmp_path) as proxy:
        listener, ear = NotificationListener(Postgres(proxy.url(url))), Ear()
        stop = listener.listen(RECORDS, ear)
        running = asyncio.create_task(listener.run())
        await ear.until(lambda heard: heard == [None])

        proxy.drop()
        await store.append(S, 0, [created()])
        await ear.until(lambda heard: heard.count(None) == 2)
        await store.append(S, 1, [said("more")])
        await ear.until(lambda heard: heard[-1] == f"{S} 2")
        stop()
        stop()
        running.cancel()
        await asyncio.wait([running])

    assert running.cancelled()
    assert not listener.is_connected.is_set() or ear.heard.count(None) == 2
    await direct.aclose()


async def test_a_listener_that_may_not_connect_says_so():
    listener = NotificationListener(Postgres(fresh_database().replace("t_", "no_such_")))

    with pytest.raises(StoreError, match="it has no such database"):
        await listener.run()


async def test_what_changes_often_is_told_seldom():
    sent: list[tuple[str, list[str]]] = []

    async def send(channel: str, payloads: list[str]) -> None:
        sent.append((channel, payloads))

    teller = Notifier(send)
    for seq in range(1000):
        teller.tell(RECORDS, "a", str(seq))
        teller.tell(RECORDS, "b", str(seq))
    await teller.aclose()
    teller.tell(CLAIMS, "a", "w")
    await teller.aclose()

    assert sent == [(RECORDS, ["a 999", "b 999"]), (CLAIMS, ["a w"])]


async def test_news_that_cannot_be_sent_are_lost_and_do_not_pile_up():
    sent: list[int] = []

    async def send(channel: str, payloads: list[str]) -> None:
        sent.append(len(payloads))
        if len(sent) == 1:
            raise StoreError("away")

    teller = Notifier(send)
    for n in range(20_000):
        teller.tell(RECORDS, f"s{n}", "1")
    await teller.aclose()
    teller.tell(RECORDS, "a", "1")
    await teller.aclose()

    assert sent == [10_000, 1]
