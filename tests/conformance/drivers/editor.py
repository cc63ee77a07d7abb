"""ACP: the official client side, with `bridle acp` as its agent."""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from acp import connect_to_agent, text_block
from acp.client.connection import ClientSideConnection
from acp.schema import (
    AllowedOutcome,
    DeniedOutcome,
    PermissionOption,
    RequestPermissionResponse,
    ToolCallUpdate,
)
from acp.transports import spawn_stdio_transport

from bridle.core.ids import SessionId
from bridle.core.protocol import Cancel, Decide, Prompt, Reply, Resume, Steer
from bridle.core.session_api import SessionApi
from bridle.surfaces.acp.server import serve_editor
from bridle.surfaces.shared.folder_info import Folders
from tests.conformance.scenario import Move, Scenario
from tests.conformance.seen import Seen, asked, called, ended, finished, said, started, thought
from tests.conformance.world import Driver, Place, World
from tests.surfaces.command import PROGRAM

SHOWN = frozenset("said thought called asked question started finished failed ended".split())


def told_by_acp(scenario: Scenario) -> Sequence[Seen]:
    """Return what of a story an editor is told.

    Not the end of a run that it has not prompted; and a question that it has no form for is not asked.
    """
    left_out = {"ended"} if scenario.is_watched or Seen("resumed") in scenario.story else set()
    left_out |= {"question"} if scenario.is_unattended else set()
    return [line for line in scenario.story if line.kind not in left_out]


class Editor:
    """The client of all plays: what it is told goes to the driver of the session."""

    def __init__(self) -> None:
        self.drivers: dict[str, AcpDriver] = {}

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        if session_id in self.drivers:
            self.drivers[session_id].told(update)

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        chosen = await self.drivers[session_id].choose(tool_call, options)
        if chosen is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen))

    def on_connect(self, conn: Any) -> None:
        pass


class AcpDriver:
    """One session in the editor."""

    def __init__(self, editor: Editor, agent: ClientSideConnection, place: Place) -> None:
        self._editor = editor
        self._agent = agent
        self._place = place
        self._lines: list[Seen] = []
        self._texts: dict[str, str] = {}
        self._message = ""
        self._known: set[str] = set()
        self._answers: dict[str, asyncio.Future[str | None]] = {}
        self._prompts: list[asyncio.Task[Any]] = []
        self._news = asyncio.Event()
        self._is_asked = asyncio.Event()

    async def start(self) -> None:
        if self._place.scenario.begins:
            opened = await self._agent.new_session(cwd=self._place.cwd, mcp_servers=[])
            self._place.session = SessionId(opened.session_id)
        await self._take_up()
        self._prompt(self._place.scenario.prompt)

    async def _take_up(self) -> None:
        session = self._place.session
        self._editor.drivers[session] = self
        if not self._place.scenario.begins:
            await self._agent.resume_session(session_id=session, cwd=self._place.cwd, mcp_servers=[])

    def _prompt(self, text: str) -> None:
        prompt = self._agent.prompt(session_id=self._place.session, prompt=[text_block(text)])
        self._prompts.append(asyncio.create_task(prompt))

    async def do(self, move: Move) -> None:
        match move:
            case Decide():
                self._answer_to(move.call_id).set_result(move.answer)
            case Reply():
                self._answer_to(move.call_id).set_result(move.answers[0])
            case Prompt():
                self._prompt(move.message.text)
            case Cancel():
                if self._place.scenario.needs_person:
                    await self._is_asked.wait()
                await self._agent.cancel(session_id=self._place.session)
                for answer in self._answers.values():  # as the protocol wants it of an editor
                    answer.set_result(None)
            case Steer() | Resume():
                if isinstance(move, Resume):
                    await self._take_up()
                command = {"sessionId": self._place.session, "command": msgspec.to_builtins(move)}
                await self._agent.ext_method("bridle/command", command)

    async def choose(self, call: ToolCallUpdate, options: list[PermissionOption]) -> str | None:
        """Wait for the move that answers; a question comes with its answers as options."""
        is_approval = "once" in (option.option_id for option in options)
        self._lines.append(
            asked(call.tool_call_id) if is_approval else Seen("question", call.title or "", call.tool_call_id)
        )
        self._is_asked.set()
        chosen = await self._answer_to(call.tool_call_id)
        names = {option.name: option.option_id for option in options}
        return chosen if chosen is None or is_approval else names[chosen]

    def _answer_to(self, call_id: str) -> "asyncio.Future[str | None]":
        return self._answers.setdefault(call_id, asyncio.get_running_loop().create_future())

    def told(self, update: Any) -> None:
        """Process an update of the session."""
        match update.session_update:
            case "agent_message_chunk" | "agent_thought_chunk" if update.message_id is not None:
                key = update.session_update
                self._message = update.message_id
                self._texts[key] = self._texts.get(key, "") + update.content.text
            case "agent_thought_chunk" if update.content.text.startswith("retrying"):
                self._texts.clear()  # what was said is void
            case "tool_call" | "tool_call_update" if not update.tool_call_id.startswith(("child-", "files-")):
                self._call(update)
            case "usage_update":
                self._flush()
            case _:
                pass
        self._news.set()

    def _flush(self) -> None:
        """A reply is complete when it is said what it has used."""
        for key, make in (("agent_thought_chunk", thought), ("agent_message_chunk", said)):
            if text := self._texts.pop(key, ""):
                self._lines.append(make(text)._replace(call=self._message))

    def _call(self, update: Any) -> None:
        call_id = update.tool_call_id
        if update.raw_input and call_id not in self._known:
            self._known.add(call_id)
            self._lines.append(called(call_id, update.title.split()[0], **update.raw_input))
        match update.status:
            case "in_progress" if started(call_id) not in self._lines:
                self._lines.append(started(call_id))
            case "completed" | "failed" if update.raw_output is not None:
                is_error = update.status == "failed"
                self._lines.append(finished(call_id, update.raw_output["output"], is_error=is_error))

    async def seen(self) -> list[Seen]:
        if not self._prompts:
            while all(line.what != "Done." for line in self._lines):
                self._news.clear()
                await self._news.wait()
            return self._told_in("")
        answer = await self._prompts[0]
        self._flush()
        told = self._told_in(answer.field_meta["bridle"]["runId"])
        spoken = [line.what for line in told if line.kind == "said"]
        return [*told, ended(answer.field_meta["bridle"]["outcome"], spoken[-1] if spoken else "")]

    def _told_in(self, run_id: str) -> list[Seen]:
        """Return the lines of one run: the ids of messages begin with that of their run."""
        spoken = [line.kind in ("said", "thought") for line in self._lines]
        return [
            line._replace(call="") if is_spoken else line
            for line, is_spoken in zip(self._lines, spoken, strict=True)
            if not is_spoken or line.call.startswith(run_id)
        ]

    async def close(self) -> None:
        await asyncio.gather(*self._prompts)
        if self._place.session in self._editor.drivers:
            await self._agent.close_session(session_id=self._place.session)


async def watch_loaded(world: World, place: Place, api: SessionApi, is_on: asyncio.Event) -> list[Seen]:
    """Watch a session in a separate editor that loads it; an editor that sent no prompt gets no end."""
    folders = Folders(world.environ, place.cwd)
    editor = Editor()
    async with _wired(editor, lambda reader, writer: serve_editor(api, folders, reader, writer)) as agent:
        driver = editor.drivers[place.session] = AcpDriver(editor, agent, place)
        await agent.load_session(session_id=place.session, cwd=place.cwd, mcp_servers=[])
        is_on.set()
        return await driver.seen()


@asynccontextmanager
async def _wired(editor: Editor, serve: Any) -> AsyncIterator[ClientSideConnection]:
    """Connect an editor with an agent that is served in this process."""
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    serving = asyncio.create_task(serve(*await asyncio.open_connection(sock=theirs)))
    agent = connect_to_agent(editor, writer, reader, use_unstable_protocol=True)  # type: ignore[arg-type]
    try:
        await agent.initialize(1)
        yield agent
    finally:
        await agent.close()
        writer.close()
        await serving


@asynccontextmanager
async def over_acp(world: World, place: Place) -> AsyncIterator[tuple[Driver, SessionApi]]:
    """Drive by an editor that has one agent for all plays."""
    api = await world.api()
    if "acp" not in world.kept:
        editor = Editor()
        spawned = spawn_stdio_transport(*PROGRAM, "acp", env=world.environ, cwd=world.root)
        reader, writer, _ = await world.stack.enter_async_context(spawned)
        agent = connect_to_agent(editor, writer, reader, use_unstable_protocol=True)  # type: ignore[arg-type]
        world.stack.push_async_callback(agent.close)
        await agent.initialize(1)
        world.kept["acp"] = editor, agent
    editor, agent = world.kept["acp"]
    driver = AcpDriver(editor, agent, place)
    yield driver, api
    await driver.close()
