"""REST: with Bridle's operations, and with Meerkat's."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import msgspec

from bridle.core.codec import encode
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import Cancel, Delta, Prompt, Record, Resume
from bridle.core.session_api import SessionApi
from tests.conformance.meerkat import MeerkatReducer
from tests.conformance.scenario import Move
from tests.conformance.seen import Reducer, Seen, began
from tests.conformance.world import Driver, Place, World

_delta: msgspec.json.Decoder[Delta] = msgspec.json.Decoder(Delta)

Client = aiohttp.ClientSession


async def client(world: World) -> Client:
    """Return the connections to the daemon's HTTP service."""
    if "rest" not in world.kept:
        opened = aiohttp.ClientSession(
            f"http://{await world.listening('http')}", headers={"authorization": f"Bearer {world.token}"}
        )
        world.kept["rest"] = await world.stack.enter_async_context(opened)
    kept: Client = world.kept["rest"]
    return kept


async def post(http: Client, path: str, body: Any, status: int = 200) -> Any:
    """Send JSON and return what is answered."""
    async with http.post(path, data=encode(body), headers={"content-type": "application/json"}) as answer:
        assert answer.status == status, await answer.text()
        return await answer.json(content_type=None)


async def events(
    http: Client, path: str, is_open: asyncio.Event | None = None
) -> AsyncIterator[tuple[str, bytes]]:
    """Yield the names and the data of server-sent events."""
    async with http.get(path) as answer:
        assert answer.status == 200, await answer.text()
        name = ""
        if is_open is not None:
            is_open.set()
        async for line in answer.content:
            field, _, value = line.rstrip(b"\n").partition(b": ")
            if field == b"event":
                name = value.decode()
            elif field == b"data":
                yield name, value


class RestDriver:
    """Commands are posted, records and deltas come as events."""

    def __init__(self, http: Client, place: Place) -> None:
        self._http = http
        self._place = place
        self._watching: asyncio.Task[list[Seen]] | None = None

    async def start(self) -> None:
        scenario = self._place.scenario
        if scenario.begins:
            body: dict[str, Any] = {"prompt": "", "initial_turn": "deferred", "cwd": self._place.cwd}
            opened = await post(self._http, "/sessions", body, 201)
            self._place.session = SessionId(opened["session_id"])
        await self._begin(Prompt(user_message(scenario.prompt), scenario.options))

    async def _begin(self, command: Prompt | Resume) -> None:
        is_open, begun = asyncio.Event(), asyncio.get_running_loop().create_future()
        self._watching = asyncio.create_task(self._watch(is_open, begun))
        await is_open.wait()
        begun.set_result((await self.do(command))["run_id"])

    async def _watch(self, is_open: asyncio.Event, begun: asyncio.Future[str]) -> list[Seen]:
        newest = (await self._records())[-1]["seq"]
        reducer, told = Reducer(), list[Seen]()
        async for name, data in events(self._http, f"{self._path}/stream?after={newest}", is_open):
            told += reducer.feed(read_item(name, data))
            if name == "run_ended" and json.loads(data)["event"]["run_id"] == await begun:
                break
        return told

    @property
    def _path(self) -> str:
        return f"/sessions/{self._place.session}"

    async def _records(self) -> list[Any]:
        async with self._http.get(f"{self._path}/records") as answer:
            page: dict[str, list[Any]] = await answer.json()
            return page["records"]

    async def do(self, move: Move) -> Any:
        if isinstance(move, Resume) and self._watching is None:
            return await self._begin(move)
        return await post(self._http, f"{self._path}/commands", move)

    async def seen(self) -> list[Seen]:
        assert self._watching is not None
        return await self._watching


def read_item(name: str, data: bytes) -> Record | Delta:
    """Read one of Bridle's events; a record is known by its number."""
    return msgspec.json.decode(data, type=Record) if data.startswith(b'{"seq"') else _delta.decode(data)


class MeerkatDriver:
    """The request waits for the end of the run, events come beside it."""

    def __init__(self, http: Client, place: Place) -> None:
        self._http = http
        self._place = place
        self._run: asyncio.Task[Any] | None = None
        self._watching: asyncio.Task[list[Seen]] | None = None

    async def start(self) -> None:
        scenario = self._place.scenario
        body: dict[str, Any] = {
            "prompt": scenario.prompt,
            "approvals": "deny" if scenario.is_unattended else "wait",
        }
        if scenario.options.output_schema is not None:
            body["output_schema"] = scenario.options.output_schema
        if scenario.begins:
            result = await post(self._http, "/sessions", {**body, "cwd": self._place.cwd})
            self._place.session = SessionId(result["session_id"])
            self._watching = asyncio.create_task(self._watch(asyncio.Event(), "?after=0"))
            return
        is_open = asyncio.Event()
        self._watching = asyncio.create_task(self._watch(is_open))
        await is_open.wait()
        session = self._place.session
        self._run = asyncio.create_task(
            self._send(f"/sessions/{session}/messages", {**body, "session_id": session})
        )

    async def _send(self, path: str, body: Any) -> Any:
        async with self._http.post(path, json=body) as answer:
            return await answer.json(content_type=None)

    async def _watch(self, is_open: asyncio.Event, query: str = "") -> list[Seen]:
        reducer, told = MeerkatReducer(), list[Seen]()
        path = f"/sessions/{self._place.session}/events{query}"
        async for name, data in events(self._http, path):
            is_open.set()
            if name != "session_loaded":
                told += reducer.feed(json.loads(data))
            if name in ("run_completed", "run_failed") and began() in told:  # not that of a run before
                break
        return told

    async def do(self, move: Move) -> None:
        assert isinstance(move, Cancel)
        await post(self._http, f"/sessions/{self._place.session}/interrupt", {})

    async def seen(self) -> list[Seen]:
        assert self._watching is not None
        told = await self._watching
        if self._run is not None:
            answer = await self._run
            assert answer["session_id"] == self._place.session, answer
        return told


async def watch_rest(world: World, place: Place, api: SessionApi, is_on: asyncio.Event) -> list[Seen]:
    """Watch a session from its beginning, in our own words."""
    reducer, told = Reducer(), list[Seen]()
    async for name, data in events(await client(world), f"/sessions/{place.session}/stream"):
        told += reducer.feed(read_item(name, data))
        is_on.set()
        if name == "run_ended":
            break
    return told


async def watch_meerkats_rest(
    world: World, place: Place, api: SessionApi, is_on: asyncio.Event
) -> list[Seen]:
    """Watch a session from its beginning, in Meerkat's words."""
    reducer, told = MeerkatReducer(), list[Seen]()
    path = f"/sessions/{place.session}/events?after=0"
    async for name, data in events(await client(world), path):
        is_on.set()
        if name != "session_loaded":
            told += reducer.feed(json.loads(data))
        if name in ("run_completed", "run_failed"):
            break
    return told


@asynccontextmanager
async def over_rest(world: World, place: Place) -> AsyncIterator[tuple[Driver, SessionApi]]:
    """Drive by our own operations."""
    yield RestDriver(await client(world), place), await world.api()


@asynccontextmanager
async def over_meerkats_rest(world: World, place: Place) -> AsyncIterator[tuple[Driver, SessionApi]]:
    """Drive by the operations of Meerkat."""
    yield MeerkatDriver(await client(world), place), await world.api()
