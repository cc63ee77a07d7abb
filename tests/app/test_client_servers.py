"""MCP servers that a client provides."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bridle.app.client_servers import ClientServers
from bridle.config.settings import load_settings
from bridle.core.ids import CallId
from bridle.core.messages import ToolCall, ToolResult
from bridle.core.protocol import ApprovalRequested, ToolFinished
from bridle.mcp.settings import ServerSettings
from tests.mcp.players import CAST
from tests.patience import PATIENCE_S
from tests.sessions.stage import Play, Stage, says

Env = dict[str, str]


def server(name: str = "tea", how: str = "good") -> ServerSettings:
    return ServerSettings(name, "stdio", (sys.executable, "-I", "-S", str(CAST / "raw.py"), how))


class Lending:
    """Servers that are provided to the session of a stage."""

    def __init__(self, stage: Stage, cwd: Path, env: Env, servers: Sequence[ServerSettings]) -> None:
        self.said: list[str] = []
        self._env = env
        self._lent = ClientServers(stage.service, stage.session, servers, load_settings(env, cwd))

    async def __aenter__(self) -> "Lending":
        self._lent.start(self._env, self.said.append)
        async with asyncio.timeout(PATIENCE_S):
            await self._lent.settled()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._lent.aclose()


def calls(name: str) -> Any:
    return says("", ToolCall(CallId("c1"), name, {}))


async def test_their_tools_are_asked_about_and_then_called(tmp_path: Path, env: Env):
    play = Play(calls("mcp__tea__do"), says("Done."))
    async with Stage(play, cwd=str(tmp_path)) as stage, Lending(stage, tmp_path, env, [server()]) as lending:
        await stage.prompt("go")
        asked = await stage.until(ApprovalRequested)
        await stage.decide("c1", "once")
        finished = await stage.until(ToolFinished)

        assert (asked.tool, asked.suggestions) == ("mcp__tea__do", ("mcp__tea__do",))
        assert finished.result == ToolResult(CallId("c1"), "mcp__tea__do", "done")
        assert lending.said == []
        assert {spec.name for spec in play.requests[0].tools} == {"mcp__tea__do", "mcp__tea__other"}


async def test_one_that_fails_is_named_and_the_others_are_there(tmp_path: Path, env: Env):
    play = Play(says("hello"))
    gone = ServerSettings("gone", "stdio", ("/nowhere/at-all",))
    servers = [gone, server()]
    async with Stage(play, cwd=str(tmp_path)) as stage, Lending(stage, tmp_path, env, servers) as lending:
        await stage.run("go")

        assert len(lending.said) == 1
        assert lending.said[0].startswith("MCP server gone failed: ")
        assert "mcp__tea__do" in {spec.name for spec in play.requests[0].tools}


async def test_they_end_with_what_they_were_lent_for(tmp_path: Path, env: Env):
    play = Play(says("one"), says("two"))
    async with Stage(play, cwd=str(tmp_path)) as stage:
        async with Lending(stage, tmp_path, env, [server()]):
            await stage.run("go")
        await stage.run("again")

        assert [len(request.tools) for request in play.requests] == [2, 0]


async def test_nobody_waits_forever_for_one_that_does_not_start(tmp_path: Path, env: Env):
    home = Path(env["BRIDLE_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text('[mcp]\nwait = "100ms"\n')
    argv = (sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)")
    slow = [ServerSettings("slow", "stdio", argv)]
    play = Play(says("hello"))
    async with Stage(play, cwd=str(tmp_path)) as stage, Lending(stage, tmp_path, env, slow) as lending:
        assert (await stage.run("go")).outcome == "completed"
        assert lending.said == []
