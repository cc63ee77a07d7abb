"""`import bridle`: an engine in this process, with callbacks that answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import bridle
from bridle.core.protocol import Cancel, Decide, Prompt, Reply, Resume, Steer
from bridle.core.session_api import SessionApi
from tests.conformance.scenario import Move
from tests.conformance.seen import Reducer, Seen
from tests.conformance.world import Driver, Place, World


class PythonDriver:
    """A session whose questions wait for the moves of the play."""

    def __init__(self, opened: bridle.Bridle, place: Place) -> None:
        self._bridle = opened
        self._place = place
        self._session: bridle.Session | None = None
        self._running: asyncio.Task[list[Seen]] | None = None
        self._answers: dict[str, asyncio.Future[Any]] = {}

    async def _opened(self) -> bridle.Session:
        attended: Any = (
            {} if self._place.scenario.is_unattended else {"approve": self._wait, "answer": self._wait}
        )
        self._session = await self._bridle.session(self._place.session, cwd=self._place.folder, **attended)
        return self._session

    async def _wait(self, question: bridle.ApprovalRequested | bridle.QuestionAsked) -> Any:
        return await self._answer_to(question.call_id)

    def _answer_to(self, call_id: str) -> "asyncio.Future[Any]":
        return self._answers.setdefault(call_id, asyncio.get_running_loop().create_future())

    async def start(self) -> None:
        session = await self._opened()
        schema = self._place.scenario.options.output_schema
        output: Any = {} if schema is None else {"output": schema}
        run = session.stream(self._place.scenario.prompt, check=False, **output)
        await run.__aenter__()
        self._running = asyncio.create_task(self._follow(run))

    async def _follow(self, run: "bridle.RunStream[Any]") -> list[Seen]:
        reducer = Reducer()
        async with run:
            told = [line async for item in run for line in reducer.feed(item)]
        assert told[-1].what.split(":")[0] == run.result.outcome
        return told

    async def _resume(self) -> list[Seen]:
        session = await self._opened()
        newest = len(await session.records())
        await session.resume()
        reducer = Reducer()
        return [line for record in await session.records(newest) for line in reducer.feed(record)]

    async def do(self, move: Move) -> None:
        if isinstance(move, Resume):
            self._running = asyncio.create_task(self._resume())
            return
        session = self._session or await self._opened()
        match move:
            case Decide():
                self._answer_to(move.call_id).set_result((move.answer, move.reason))
            case Reply():
                self._answer_to(move.call_id).set_result(move.answers)
            case Steer():
                await session.steer(move.message.text)
            case Prompt():
                await session.queue(move.message.text)
            case Cancel():
                await session.cancel()

    async def seen(self) -> list[Seen]:
        assert self._running is not None
        return await self._running


@asynccontextmanager
async def by_import(world: World, place: Place) -> AsyncIterator[tuple[Driver, SessionApi]]:
    """Drive the embedding API."""
    async with bridle.open(home=world.home, environ=world.environ, cwd=place.folder) as opened:
        yield PythonDriver(opened, place), opened.api
