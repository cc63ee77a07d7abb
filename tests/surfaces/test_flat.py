"""Clients that come and go, on any surface, leave nothing behind in the server process."""

from pathlib import Path

import pytest
from starlette.applications import Starlette

from bridle.core.ids import SessionId
from bridle.memory.local import LocalMemory
from bridle.providers import scripted
from tests.holding import held
from tests.surfaces.mcp_server.connecting import connected, serving
from tests.surfaces.rest.client import Watcher, scope_of
from tests.surfaces.rest.house import House, built
from tests.surfaces.rpc.client import talking

FIRST, MORE = 2, 4  # rounds


async def visit(house: House, app: Starlette, home: Path) -> None:
    """Use a session on each surface, with a watcher who disconnects without notice."""
    ran = await house.post("/sessions", {"prompt": "hi", "cwd": str(house.project)})
    session = SessionId(ran.json()["session_id"])
    watcher = Watcher(app, scope_of(f"/sessions/{session}/stream"))
    await watcher.until("run_ended")
    await watcher.leave()
    async with talking(house.service, str(house.project)) as talk:
        assert (await talk.call("session/create", prompt="hi"))["text"] == "Hello."
    async with serving(house.service, home) as server, connected(server) as client:
        assert {tool.name for tool in (await client.list_tools()).tools}
    await house.service.drop_idle(0.0, 0)


async def rest(house: House) -> None:
    """Wait until memory has indexed the conversation."""
    memory = house.service._engine.memory
    assert isinstance(memory, LocalMemory)
    await memory.settled()


async def test_clients_that_come_and_go_leave_nothing(
    home: Path, env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(scripted, "MAX_KEPT_REQUESTS", 1)
    async with built(home, tmp_path, env, [{"text": "Hello."}]) as (house, app):
        for _ in range(FIRST):
            await visit(house, app, home)
        await rest(house)
        before = await held()
        for _ in range(MORE):
            await visit(house, app, home)
        await rest(house)
        after = await held()

    assert after.beyond(before) == {}
