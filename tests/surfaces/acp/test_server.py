"""One connection of an editor, cut off at any point."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from bridle.core.ids import SessionId
from bridle.core.protocol import RunEnded, RunStarted
from bridle.core.queries import ListSessions, Records
from bridle.surfaces.acp.server import serve_editor
from bridle.surfaces.shared.folder_info import Folders
from bridle.surfaces.shared.session_calls import read_session
from tests.patience import PATIENCE_S
from tests.sessions.stage import Play, SmallTool, Stage, call, says
from tests.surfaces.acp.editor import wires

SESSION = {"sessionId": "play"}
TEXT = [{"type": "text", "text": "go"}]
CUTS = 8


def lines(cwd: str) -> list[dict[str, Any]]:
    """Return what an editor says, one request after the other."""
    opening = {"cwd": cwd, "mcpServers": []}
    return [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": 1}},
        {"id": 2, "method": "session/new", "params": opening},
        {"id": 3, "method": "session/load", "params": {**SESSION, **opening}},
        {"id": 4, "method": "session/prompt", "params": {**SESSION, "prompt": TEXT}},
        {"id": 5, "method": "session/prompt", "params": {**SESSION, "prompt": TEXT}},
        {"method": "session/cancel", "params": SESSION},
        {"id": 6, "method": "session/fork", "params": {**SESSION, "cwd": cwd}},
        {"id": 7, "method": "session/close", "params": SESSION},
    ]


@pytest.mark.parametrize("waits", [True, False], ids=["answered", "at once"])
@pytest.mark.parametrize("count", range(1, CUTS + 1))
async def test_an_editor_that_hangs_up_leaves_nothing(
    tmp_path: Path, env: dict[str, str], count: int, waits: bool
):
    play = Play(says("", call("c1", "write", "x")), says("Done."), says("More."), says("Last."))
    tool = SmallTool("write", lambda on: on, access="write")
    async with Stage(play, tools=[tool], cwd=str(tmp_path)) as stage:
        await read_session(stage.service, stage.session)
        before = asyncio.all_tasks()
        (reader, writer), (own_reader, own_writer) = await wires()
        folders = Folders(env, str(tmp_path))
        serving = asyncio.create_task(serve_editor(stage.service, folders, own_reader, own_writer))
        for message in lines(str(tmp_path))[:count]:
            writer.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            if waits and "id" in message and message["method"] != "session/prompt":
                await _answered(reader, message["id"])
        writer.close()
        async with asyncio.timeout(PATIENCE_S):
            await serving
            await _at_rest(stage)

        assert [one for one in stage.service.live() if one.watchers] == []
        assert {task for task in asyncio.all_tasks() - before if "acp" in str(task.get_coro())} == set()


async def _answered(reader: asyncio.StreamReader, key: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while json.loads(await reader.readline()).get("id") != key:
            pass


async def _at_rest(stage: Stage) -> None:
    """Wait for the end of every run that has begun."""
    for summary in await stage.service.ask(ListSessions()):
        session = SessionId(summary.id)
        events = [record.event for record in await stage.service.ask(Records(session))]
        ended = {event.run_id for event in events if isinstance(event, RunEnded)}
        for event in events:
            if isinstance(event, RunStarted) and event.run_id not in ended:
                await stage.service.wait(session, event.run_id)
