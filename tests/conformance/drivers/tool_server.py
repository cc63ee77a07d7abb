"""MCP: the official client, with `bridle mcp serve` as its server."""

import asyncio
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitRequestParams, ElicitResult, ErrorData

from bridle.core.ids import SessionId
from bridle.core.protocol import Cancel, Decide, Prompt, Reply, Resume, Steer
from bridle.core.session_api import SessionApi
from tests.conformance.scenario import Move, Scenario
from tests.conformance.seen import Seen, asked, ended, said
from tests.conformance.world import Driver, Place, World
from tests.surfaces.command import PROGRAM

SHOWN = frozenset("said asked question ended".split())


def told_by_newest_mcp(scenario: Scenario) -> Sequence[Seen]:
    """Return what of a story is told: only who can answer is asked."""
    left_out = ("asked", "question") if scenario.is_unattended else ()
    return [line for line in scenario.story if line.kind not in left_out]


APPROVAL = "Bridle wants to use"
NOBODY = ErrorData(code=-32601, message="there is nobody here")


class Desk:
    """The client of all plays: forms go to the driver of the play that goes on."""

    def __init__(self, *, is_attended: bool) -> None:
        self.is_attended = is_attended
        self.driver: McpDriver | None = None

    async def fill_in(self, context: Any, params: ElicitRequestParams) -> ElicitResult | ErrorData:
        assert self.driver is not None
        return await self.driver.fill_in(params)


class McpDriver:
    """One call of a tool that lasts as long as the run."""

    def __init__(self, client: Client, place: Place) -> None:
        self._client = client
        self._place = place
        self._run: asyncio.Task[Any] | None = None
        self._lines: list[str] = []
        self._asked: list[Seen] = []
        self._form: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._answer: asyncio.Future[ElicitResult] = asyncio.get_running_loop().create_future()

    async def start(self) -> None:
        scenario = self._place.scenario
        args: dict[str, Any] = {"prompt": scenario.prompt}
        if scenario.options.output_schema is not None:
            args["output_schema"] = scenario.options.output_schema
        if scenario.begins:
            self._begin("bridle_run", {**args, "cwd": self._place.cwd})
            assert self._run is not None
            self._place.session = SessionId((await self._run)["session_id"])
        else:
            self._begin("bridle_run", {**args, "session_id": self._place.session})

    def _begin(self, tool: str, args: dict[str, Any]) -> None:
        self._run = asyncio.create_task(self._call(tool, args))

    async def _call(self, tool: str, args: dict[str, Any]) -> Any:
        async def tell(progress: float, total: float | None, message: str | None) -> None:
            self._lines.append(message or "")

        result = await self._client.call_tool(tool, args, progress_callback=tell)
        assert result.structured_content is not None, result
        await self._client.list_resource_templates()  # after an answer all progress before it has been told
        return result.structured_content

    async def do(self, move: Move) -> None:
        match move:
            case Decide():
                assert (await self._form).startswith(APPROVAL)
                self._asked.append(asked(move.call_id))
                self._answer.set_result(ElicitResult(action="accept", content={"answer": move.answer}))
            case Reply():
                self._asked.append(Seen("question", await self._form, move.call_id))
                self._answer.set_result(ElicitResult(action="accept", content={"answer": move.answers[0]}))
            case Cancel():
                if self._place.scenario.needs_person:
                    await self._form
                    self._asked.append(asked("c1"))
                await self._tell("cancel")
                if self._place.scenario.needs_person and not self._answer.done():  # or it was withdrawn
                    self._answer.set_result(ElicitResult(action="cancel"))
            case Steer():
                await self._tell("steer", text=move.message.text)
            case Prompt():
                await self._tell("queue", text=move.message.text)
            case Resume():
                self._begin("bridle_resume", {"session_id": self._place.session})

    async def _tell(self, action: str, **args: Any) -> None:
        given = {"action": action, "session_id": self._place.session, **args}
        result = await self._client.call_tool("bridle_sessions", given)
        assert not result.is_error, result

    async def fill_in(self, form: ElicitRequestParams) -> ElicitResult | ErrorData:
        if self._place.scenario.is_unattended:
            is_approval = form.message.startswith(APPROVAL)
            self._asked.append(asked("c1") if is_approval else Seen("question", form.message, "c1"))
            return NOBODY
        self._form.set_result(form.message)
        return await self._answer

    async def seen(self) -> list[Seen]:
        assert self._run is not None
        result = await self._run
        return [*self._asked, *map(said, self._spoken()), ended(result["outcome"], result["text"])]

    def _spoken(self) -> Sequence[str]:
        """Return the model's texts, turn by turn, from the lines about turns and tools."""
        tools = {call["name"] for reply in self._place.scenario.replies for call in reply.get("calls", ())}
        others = (*tools, "glob", "agent-1 started", "1 of 1 tool_calls", "the conversation was")
        turns = [""]
        for line in self._lines:
            if line.startswith("turn "):
                turns.append("")
            elif line.startswith("retrying"):
                turns[-1] = ""  # what was said is void
            elif not line.startswith(others):
                turns[-1] += line
        return [text for text in turns if text]


@asynccontextmanager
async def _by_stdio(world: World, desk: Desk) -> AsyncIterator[Client]:
    """Connect as clients did before 2026: the server may ask something while a call lasts."""
    program, *args = (*PROGRAM, "mcp", "serve")
    server = StdioServerParameters(command=program, args=args, env=dict(world.environ), cwd=world.root)
    async with Client(server, elicitation_callback=desk.fill_in, mode="legacy") as client:
        yield client


@asynccontextmanager
async def _serving_http(world: World) -> AsyncIterator[str]:
    """Serve by HTTP, and give the address."""
    process = await asyncio.create_subprocess_exec(
        *(*PROGRAM, "mcp", "serve", "--http", "127.0.0.1:0"), cwd=world.root, env=world.environ, stderr=PIPE
    )
    assert process.stderr is not None
    yield (await process.stderr.readline()).split()[-1].decode()
    process.terminate()
    await process.communicate()


@asynccontextmanager
async def _by_http(world: World, desk: Desk) -> AsyncIterator[Client]:
    """Connect as clients do now: what the server asks is the answer to a call, which is then made again."""
    if "mcp address" not in world.kept:
        world.kept["mcp address"] = await world.keep(_serving_http(world))
    headers = {"authorization": f"Bearer {world.token}"}
    fill_in = desk.fill_in if desk.is_attended else None
    async with httpx2.AsyncClient(headers=headers, timeout=None) as http:
        transport = streamable_http_client(world.kept["mcp address"], http_client=http)
        async with Client(transport, elicitation_callback=fill_in, mode="2026-07-28") as client:
            yield client


async def _driver(world: World, place: Place, name: str, connect: Any) -> tuple[Driver, SessionApi]:
    api = await world.api()
    if name not in world.kept:
        desk = Desk(is_attended=not place.scenario.is_unattended)
        world.kept[name] = desk, await world.keep(connect(world, desk))
    desk, client = world.kept[name]
    desk.driver = McpDriver(client, place)
    return desk.driver, api


@asynccontextmanager
async def over_mcp(world: World, place: Place) -> AsyncIterator[tuple[Driver, SessionApi]]:
    """Drive with a client that has one server for all plays; without a person, its questions fail."""
    yield await _driver(world, place, "mcp", _by_stdio)


@asynccontextmanager
async def over_mcp_http(world: World, place: Place) -> AsyncIterator[tuple[Driver, SessionApi]]:
    """Drive with a client of the newest protocol, over HTTP; without a person, it says so beforehand."""
    name = "mcp http, alone" if place.scenario.is_unattended else "mcp http"
    yield await _driver(world, place, name, _by_http)
