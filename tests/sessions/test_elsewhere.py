"""The status of a session while others work on it: another process, or a run that just started."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from bridle.core.ids import RunId, SessionId
from bridle.core.protocol import Event, Record, Rename, RunStarted, SessionCreated, SessionTitled
from bridle.core.queries import Records, Status
from bridle.stores.ephemeral import EphemeralStore
from tests.sessions.stage import FixedClock, Play, Stage, says


async def test_a_watcher_hears_what_another_process_has_recorded_meanwhile():
    store = EphemeralStore(FixedClock())
    async with Stage(Play(says("one"), says("two")), store=store) as here:
        await here.run("first")
        items = here.service.watch(here.session, None)
        newest = await anext(items)
        assert isinstance(newest, Record)
        await store.append(here.session, newest.seq, [SessionTitled("elsewhere"), SessionTitled("twice")])

        await here.run("second")

        heard = [newest.seq]
        last = (await here.service.ask(Records(here.session)))[-1].seq
        while heard[-1] != last:
            item = await anext(items)
            heard += [item.seq] if isinstance(item, Record) else []
        await items.aclose()
        assert heard == list(range(newest.seq, last + 1))


class SlowStore(EphemeralStore):
    """Lets something happen before it is read or written the next time."""

    def __init__(self) -> None:
        super().__init__(FixedClock())
        self.before_read: Callable[[], Awaitable[object]] | None = None
        self.before_append: Callable[[], Awaitable[object]] | None = None

    async def read(self, session: SessionId, **options: Any) -> list[Record]:
        before, self.before_read = self.before_read, None
        if before is not None:
            await before()
        return await super().read(session, **options)

    async def append(self, session: SessionId, after: int, events: Any) -> list[Record]:
        before, self.before_append = self.before_append, None
        if before is not None:
            await before()
        return await super().append(session, after, events)


async def test_a_run_that_begins_while_one_looks_is_not_cut_off():
    store, play = SlowStore(), Play(says("done"), hold=True)
    async with Stage(play, store=store) as stage:
        store.before_read = lambda: stage.prompt("go")

        glance = await stage.service.ask(Status(stage.session))
        play.go.set()

    assert glance.run is not None
    assert glance.is_running


async def test_a_run_that_was_cut_off_is_not_at_work_because_its_session_is_named():
    store = SlowStore()
    cut_off: list[Event] = [SessionCreated(SessionId("play"), "/"), RunStarted(RunId("r"), "scripted/play")]
    await store.append(SessionId("play"), 0, cut_off)
    naming, go_on = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        naming.set()
        await go_on.wait()

    async with Stage(Play(), store=store) as stage, asyncio.TaskGroup() as tasks:
        store.before_append = hold
        tasks.create_task(stage.service.submit(stage.session, Rename("named")))
        await naming.wait()

        glance = await stage.service.ask(Status(stage.session))
        go_on.set()

    assert glance.run is not None
    assert not glance.is_running
