"""The session API, in this process and over the daemon's socket."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

from bridle.core.ids import RunId
from bridle.core.messages import user_message
from bridle.core.protocol import Prompt, Record, Resume, RunEnded
from bridle.core.session_api import SessionApi
from tests.conformance.scenario import Move
from tests.conformance.seen import Reducer, Seen
from tests.conformance.world import Driver, Place, World


class ApiDriver:
    """Submits commands and watches the session."""

    def __init__(self, place: Place, api: SessionApi) -> None:
        self._place = place
        self._api = api
        self._watching: asyncio.Task[list[Seen]] | None = None

    async def start(self) -> None:
        place = self._place
        if place.scenario.begins:
            await self._api.create(cwd=place.cwd, session_id=place.session)
        await self._begin(Prompt(user_message(place.scenario.prompt), place.scenario.options))

    async def _begin(self, command: Prompt | Resume) -> None:
        is_ready, begun = asyncio.Event(), asyncio.get_running_loop().create_future()
        self._watching = asyncio.create_task(self._watch(is_ready, begun))
        await is_ready.wait()
        begun.set_result((await self._api.submit(self._place.session, command)).run_id)

    async def _watch(self, is_ready: asyncio.Event, begun: asyncio.Future[RunId | None]) -> list[Seen]:
        reducer, told = Reducer(), list[Seen]()
        async with aclosing(self._api.watch(self._place.session, None)) as items:
            await anext(items)
            is_ready.set()
            async for item in items:
                told += reducer.feed(item)
                event = item.event if isinstance(item, Record) else None
                if isinstance(event, RunEnded) and event.run_id == await begun:
                    break
        return told

    async def do(self, move: Move) -> None:
        if isinstance(move, Resume):
            await self._begin(move)
        else:
            await self._api.submit(self._place.session, move)

    async def seen(self) -> list[Seen]:
        assert self._watching is not None
        return await self._watching


async def watch_api(world: World, place: Place, api: SessionApi, is_on: asyncio.Event) -> list[Seen]:
    """Watch a session from its beginning."""
    reducer, told = Reducer(), list[Seen]()
    async with aclosing(api.watch(place.session)) as items:
        async for item in items:
            is_on.set()
            told += reducer.feed(item)
            if isinstance(item, Record) and isinstance(item.event, RunEnded):
                break
    return told


@asynccontextmanager
async def in_process(world: World, place: Place) -> AsyncIterator[tuple[Driver, SessionApi]]:
    """Drive an engine of this process."""
    async with aclosing(world.own_engine()) as api:
        yield ApiDriver(place, api), api


@asynccontextmanager
async def at_daemon(world: World, place: Place) -> AsyncIterator[tuple[Driver, SessionApi]]:
    """Drive the daemon's engine over its socket."""
    api = await world.api()
    yield ApiDriver(place, api), api
