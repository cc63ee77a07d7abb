"""JSON-RPC: with Meerkat's methods over stdio, and with Bridle's over a socket and a WebSocket."""

import asyncio
import json
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import msgspec

from bridle.core.codec import encode
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import Cancel, Delta, Prompt, Record, Resume
from bridle.core.session_api import SessionApi
from tests.conformance import meerkat
from tests.conformance.meerkat import MeerkatReducer
from tests.conformance.scenario import Move, Scenario
from tests.conformance.seen import Reducer, Seen, asked, began
from tests.conformance.world import Driver, Place, World
from tests.surfaces.command import PROGRAM

SHOWN = meerkat.SHOWN | {"asked", "question"}
LIMIT_BYTES = 1 << 20


def told_by_rpc(scenario: Scenario) -> Sequence[Seen]:
    """Return what of a story is told: only who can answer is asked."""
    left_out = ("asked", "question") if scenario.is_unattended else ()
    return [line for line in meerkat.told_by_meerkat(scenario) if line.kind not in left_out]


Write = Callable[[bytes], Awaitable[None]]
Told = Callable[[str, Any], None]


class RpcClient:
    """One connection: responses are matched by number, notifications go to the player of the session."""

    def __init__(self, write: Write) -> None:
        self.told: dict[str, Told] = {}
        self._write = write
        self._asked: dict[int, asyncio.Future[Any]] = {}

    async def ask(self, method: str, **params: Any) -> Any:
        """Send a request and return its result; what comes instead of one is an error of the test."""
        answer = await self.answer(method, **params)
        assert "result" in answer, answer
        return answer["result"]

    async def answer(self, method: str, **params: Any) -> Any:
        """Send a request and return all of its answer."""
        number = len(self._asked) + 1
        answered = self._asked[number] = asyncio.get_running_loop().create_future()
        await self._write(encode({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
        return await answered

    def take(self, line: bytes | str) -> None:
        """Process a line from the server."""
        message = json.loads(line)
        if "method" not in message:
            self._asked[message["id"]].set_result(message)
        elif (told := self.told.get(message["params"]["session_id"])) is not None:
            told(message["method"], message["params"])


class MeerkatRpcDriver:
    """The answer of `turn/start` comes at the end, events before it."""

    def __init__(self, client: RpcClient, place: Place) -> None:
        self._client = client
        self._place = place
        self._lines: list[Seen] = []
        self._reducer = MeerkatReducer()
        self._is_over = asyncio.Event()

    async def start(self) -> None:
        scenario = self._place.scenario
        await self._greet()
        params: dict[str, Any] = {"prompt": scenario.prompt}
        if scenario.options.output_schema is not None:
            params["output_schema"] = scenario.options.output_schema
        if scenario.begins:
            created = await self._client.ask(
                "session/create", prompt="", initial_turn="deferred", cwd=self._place.cwd
            )
            self._place.session = SessionId(created["session_id"])
        self._client.told[self._place.session] = self._take
        self._run = asyncio.create_task(
            self._client.answer("turn/start", session_id=self._place.session, **params)
        )

    async def _greet(self) -> None:
        is_attended = not self._place.scenario.is_unattended
        await self._client.ask("initialize", capabilities={"approvals": is_attended})

    def _take(self, method: str, params: Any) -> None:
        match method:
            case "session/event":
                self._feed(params["event"])
            case "session/stream_event":
                self._feed(params["event"]["payload"])
            case "session/approval":
                self._lines.append(asked(params["approval"]["call_id"]))
            case "session/question":
                question = params["question"]
                self._lines.append(Seen("question", question["question"]["text"], question["call_id"]))
            case _:
                raise AssertionError(method)

    def _feed(self, event: Any) -> None:
        if self._is_over.is_set():
            return
        self._lines += self._reducer.feed(event)
        if event["type"] in ("run_completed", "run_failed") and began() in self._lines:
            self._is_over.set()

    async def do(self, move: Move) -> None:
        session = self._place.session
        if isinstance(move, Cancel):
            await self._client.ask("turn/interrupt", session_id=session)
            return
        if isinstance(move, Resume):
            await self._greet()
            self._client.told[session] = self._take
            await self._client.ask("session/stream_open", session_id=session)
        await self._client.ask("session/command", session_id=session, command=msgspec.to_builtins(move))

    async def seen(self) -> list[Seen]:
        await self._is_over.wait()
        return self._lines


class RpcDriver:
    """Commands are sent, records and deltas are watched."""

    def __init__(self, client: RpcClient, place: Place) -> None:
        self._client = client
        self._place = place
        self._watched = Watched()
        self._stream = ""

    async def start(self) -> None:
        scenario = self._place.scenario
        if scenario.begins:
            created = await self._client.ask(
                "session/create", prompt="", initial_turn="deferred", cwd=self._place.cwd
            )
            self._place.session = SessionId(created["session_id"])
        await self._begin(Prompt(user_message(scenario.prompt), scenario.options))

    async def _begin(self, command: Prompt | Resume) -> None:
        session = self._place.session
        self._client.told[session] = self._watched.take
        self._stream = (await self._client.ask("session/watch", session_id=session, after=None))["stream_id"]
        self._watched.run_id = (await self._send(command))["run_id"]

    async def _send(self, command: Move) -> Any:
        params = {"session_id": self._place.session, "command": msgspec.to_builtins(command)}
        return await self._client.ask("session/command", **params)

    async def do(self, move: Move) -> None:
        await (self._begin(move) if isinstance(move, Resume) else self._send(move))

    async def seen(self) -> list[Seen]:
        lines = await self._watched.lines()
        await self._client.ask("session/stream_close", stream_id=self._stream)
        return lines


class Watched:
    """What a watch has told, up to the end of a run."""

    def __init__(self) -> None:
        self.run_id: str | None = None
        """None for the first one."""
        self.has_begun = asyncio.Event()
        self._items: list[Record | Delta] = []
        self._news = asyncio.Event()

    def take(self, method: str, params: Any) -> None:
        """Process a notification."""
        kind: Any = Record if "record" in params else Delta
        self._items.append(msgspec.convert(params.get("record", params.get("delta")), kind))
        self.has_begun.set()
        self._news.set()

    async def lines(self) -> list[Seen]:
        """Wait for the end of the run and return everything visible."""
        while (told := self._told()) is None:
            self._news.clear()
            await self._news.wait()
        return told

    def _told(self) -> list[Seen] | None:
        reducer, lines = Reducer(), list[Seen]()
        for item in self._items:
            lines += reducer.feed(item)
            ended = getattr(item.event, "outcome", None) if isinstance(item, Record) else None
            if ended is not None and self.run_id in (None, getattr(item.event, "run_id", "")):  # type: ignore[union-attr]
                return lines
        return None


# ---------------------------------------------------------------------------- connections


@asynccontextmanager
async def _over_stdio(world: World) -> AsyncIterator[RpcClient]:
    process = await asyncio.create_subprocess_exec(
        *(*PROGRAM, "rpc"), cwd=world.root, env=world.environ, stdin=PIPE, stdout=PIPE, limit=LIMIT_BYTES
    )
    assert process.stdin is not None
    assert process.stdout is not None
    async with _lines(process.stdout, process.stdin) as client:
        yield client
    process.stdin.close()
    assert await process.wait() == 0


@asynccontextmanager
async def _over_socket(world: World) -> AsyncIterator[RpcClient]:
    reader, writer = await asyncio.open_unix_connection(world.home / "run" / "rpc.sock", limit=LIMIT_BYTES)
    async with _lines(reader, writer) as client:
        yield client
    writer.close()
    await writer.wait_closed()


@asynccontextmanager
async def _lines(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> AsyncIterator[RpcClient]:
    async def write(line: bytes) -> None:
        writer.write(line + b"\n")
        await writer.drain()

    client = RpcClient(write)

    async def read() -> None:
        async for line in reader:
            client.take(line)

    async with _beside(read()):
        yield client


@asynccontextmanager
async def _over_websocket(world: World) -> AsyncIterator[RpcClient]:
    headers = {"authorization": f"Bearer {world.token}"}
    address = f"http://{await world.listening('http')}/rpc"
    async with aiohttp.ClientSession() as http, http.ws_connect(address, headers=headers) as websocket:
        client = RpcClient(lambda line: websocket.send_str(line.decode()))

        async def read() -> None:
            async for frame in websocket:
                client.take(frame.data)

        async with _beside(read()):
            yield client


@asynccontextmanager
async def _beside(work: Any) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def _client(world: World, name: str, connect: Callable[[World], Any]) -> RpcClient:
    if name not in world.kept:
        await world.api()
        world.kept[name] = await world.keep(connect(world))
    client: RpcClient = world.kept[name]
    return client


# ---------------------------------------------------------------------------- surfaces


@asynccontextmanager
async def over_stdio(world: World, place: Place) -> AsyncIterator[tuple[Driver, SessionApi]]:
    """Drive `bridle rpc` in Meerkat's words."""
    client = await _client(world, "rpc", _over_stdio)
    yield MeerkatRpcDriver(client, place), await world.api()


@asynccontextmanager
async def over_socket(world: World, place: Place) -> AsyncIterator[tuple[Driver, SessionApi]]:
    """Drive the daemon over its socket for JSON-RPC."""
    client = await _client(world, "rpc socket", _over_socket)
    yield RpcDriver(client, place), await world.api()


@asynccontextmanager
async def over_websocket(world: World, place: Place) -> AsyncIterator[tuple[Driver, SessionApi]]:
    """Drive the daemon over a WebSocket, one for each play: between plays nothing would answer its pings."""
    api = await world.api()
    async with _over_websocket(world) as client:
        yield RpcDriver(client, place), api


async def watch_rpc(world: World, place: Place, api: SessionApi, is_on: asyncio.Event) -> list[Seen]:
    """Watch a session from its beginning, over a separate connection."""
    watched = Watched()
    async with _over_socket(world) as client:
        client.told[place.session] = watched.take
        await client.ask("session/watch", session_id=place.session, after=0)
        await watched.has_begun.wait()
        is_on.set()
        return await watched.lines()
