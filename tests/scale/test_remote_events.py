"""Watching sessions of another process: through its bus, from the store, and when they move."""

import asyncio
from contextlib import aclosing
from typing import Any

from bridle.core.ids import SessionId
from bridle.core.ports import Store
from bridle.core.protocol import Record, SessionCreated, SessionTitled, TextDelta
from bridle.core.queries import Records
from bridle.core.session_api import SessionApi
from bridle.scale.remote_events import RemoteEvents
from bridle.sessions.service import SessionService
from bridle.stores.ephemeral import EphemeralStore
from tests.patience import PATIENCE_S
from tests.sessions.stage import Play, Stage, says

S = SessionId("play")


def watching(
    stage: Stage, where: list[SessionApi | None], store: Store | None = None
) -> tuple[RemoteEvents, SessionService]:
    async def whereabouts(session: SessionId) -> SessionApi | None:
        return where[0]

    following = RemoteEvents(store or stage.store, whereabouts, grace_s=60.0)
    return following, SessionService(stage.service._engine, following.bus)


async def test_a_watcher_sees_the_records_and_deltas_of_the_worker_that_drives():
    async with Stage(Play(says("hello there"))) as there:
        following, here = watching(there, [there.service])
        seen: list[object] = []

        async with aclosing(here.watch(S)) as items:
            async for item in items:
                seen.append(item)
                if isinstance(item, Record) and item.seq == 1:
                    while not there.service._bus.watchers(S):  # noqa: ASYNC110  nothing tells of it
                        await asyncio.sleep(0)
                    await there.prompt("hi")
                if isinstance(item, Record) and type(item.event).__name__ == "RunEnded":
                    break
        await following.aclose()

        stored = await there.service.ask(Records(S))
        assert [item for item in seen if isinstance(item, Record)] == stored
        assert [item.text for item in seen if isinstance(item, TextDelta)] == ["hello there"]


async def test_a_notice_brings_what_anybody_has_appended():
    async with Stage(Play()) as there:
        following, here = watching(there, [None])
        async with aclosing(here.watch(S)) as items:
            assert (await anext(items)).seq == 1
            await there.store.append(S, 1, [SessionTitled("a")])
            await there.store.append(S, 2, [SessionTitled("b")])
            following.on_records_notice(
                f"{S} \N{SUPERSCRIPT TWO}"
            )  # everyone at the database can send notices
            following.on_records_notice(f"{S} {'9' * 5_000}")
            following.on_records_notice(f"{S} 3")

            seen = [(await anext(items)).event, (await anext(items)).event]
        await following.aclose()

        assert seen == [SessionTitled("a"), SessionTitled("b")]


async def test_a_notice_that_was_lost_is_made_up_for():
    async with Stage(Play()) as there:
        following, here = watching(there, [None])
        async with aclosing(here.watch(S)) as items:
            await anext(items)
            await there.store.append(S, 1, [SessionTitled("a")])
            following.on_records_notice(None)

            assert (await anext(items)).event == SessionTitled("a")
        await following.aclose()


class CountingStore(EphemeralStore):
    """Counts how often the newest record was read."""

    looks = 0

    async def read(self, session: SessionId, *, newest: bool = False, **wanted: Any) -> list[Record]:
        self.looks += newest
        return await super().read(session, newest=newest, **wanted)


async def test_what_was_published_here_is_not_read_again():
    async with Stage(Play()) as there:
        store = CountingStore(there.clock)
        following, _ = watching(there, [None], store)
        records = await store.append(S, 0, [SessionCreated(S, "/", "default"), SessionTitled("a")])
        subscription = following.bus.subscribe(S)
        following.bus.publish(S, records)
        following.on_records_notice(f"{S} 2")
        await asyncio.sleep(0)
        following.on_records_notice(f"{S} 3")
        while not store.looks:  # noqa: ASYNC110  nothing is told
            await asyncio.sleep(0)

        assert (store.looks, await subscription.take()) == (1, (0, records))
        following.bus.unsubscribe(S, subscription)
        await following.aclose()


async def test_a_notice_that_overtakes_the_worker_waits_for_it():
    async with Stage(Play()) as there:
        store = CountingStore(there.clock)
        following, _ = watching(there, [there.service], store)
        subscription = following.bus.subscribe(S)
        created = (await subscription.take())[1]
        following.on_records_notice(f"{S} 2")
        await asyncio.sleep(0)
        titled = await there.store.append(S, 1, [SessionTitled("a")])
        there.service._bus.publish(S, titled)
        told = (await subscription.take())[1]

        assert (store.looks, created + told) == (0, await there.store.read(S))
        following.bus.unsubscribe(S, subscription)
        await following.aclose()


async def test_a_session_that_moves_is_followed_to_its_new_worker():
    async with Stage(Play(says("first"))) as first, Stage(Play(), store=first.store) as second:
        where: list[SessionApi | None] = [first.service]
        following, here = watching(first, where)
        async with aclosing(here.watch(S)) as items:
            await anext(items)
            while not first.service._bus.watchers(S):  # noqa: ASYNC110  nothing tells of it
                await asyncio.sleep(0)

            where[0] = second.service
            following.on_claims_notice(f"{S} second")
            while not second.service._bus.watchers(S):  # noqa: ASYNC110  nothing tells of it
                await asyncio.sleep(0)

            second.service._bus.publish(S, [TextDelta("from the second")])
            assert await anext(items) == TextDelta("from the second")
            assert not first.service._bus.watchers(S)
        await following.aclose()


async def test_nothing_is_followed_that_nobody_watches():
    async with Stage(Play()) as there:
        following, here = watching(there, [there.service])
        async with aclosing(here.watch(S)) as items:
            await anext(items)
            while not there.service._bus.watchers(S):  # noqa: ASYNC110  nothing tells of it
                await asyncio.sleep(0)

        async with asyncio.timeout(PATIENCE_S):
            while there.service._bus.watchers(S) or following._tasks:  # noqa: ASYNC110  nothing tells of it
                await asyncio.sleep(0)
        following.on_records_notice(f"{S} 9")
        following.on_records_notice("nonsense")
        following.on_claims_notice("nobody-knows-it worker")


async def test_a_worker_that_cannot_be_reached_is_tried_again():
    async with Stage(Play()) as there:
        tries = 0

        async def whereabouts(session: SessionId) -> SessionApi | None:
            nonlocal tries
            tries += 1
            if tries < 3:
                raise ConnectionError("nobody answers")
            return there.service

        following = RemoteEvents(there.store, whereabouts)
        here = SessionService(there.service._engine, following.bus)
        async with aclosing(here.watch(S)) as items:
            await anext(items)
            while not there.service._bus.watchers(S):  # noqa: ASYNC110  nothing tells of it
                await asyncio.sleep(0.01)
        await following.aclose()

        assert tries == 3
        assert (await there.store.read(S))[0].event == SessionCreated(S, "/", "default")
