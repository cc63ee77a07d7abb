"""Fake servers, and the little that a test needs to use them."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import bridle.mcp.client  # noqa: F401  it takes long to load, which no test should wait for
from bridle.core.ids import CallId, SessionId
from bridle.core.mcp_servers import ToolOffer
from bridle.core.ports import Tool, ToolContext, ToolOutput
from bridle.mcp.server import Server, Timing
from bridle.mcp.servers import McpServers
from bridle.mcp.settings import FolderServers, ServerSettings
from bridle.sandbox import LocalSandbox
from bridle.sessions.system_clock import SystemClock
from tests.patience import PATIENCE_S

CAST = Path(__file__).parent / "cast"
ONE = SessionId("one")
OTHER = SessionId("other")
QUICK = Timing(delays_s=(0.0, 0.0, 0.0, 0.0), gather_s=0.01)


def plain(name: str = "plain", **more: Any) -> ServerSettings:
    """Return a server on the SDK, of the newest era."""
    return _settings(name, (sys.executable, str(CAST / "plain.py"), name), more)


def raw(how: str, *more: str, name: str = "raw", **settings: Any) -> ServerSettings:
    """Return a server written by hand that behaves in some way."""
    return _settings(name, (sys.executable, "-I", "-S", str(CAST / "raw.py"), how, *more), settings)


def _settings(name: str, argv: tuple[str, ...], more: dict[str, Any]) -> ServerSettings:
    env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/nonexistent", **more.pop("env", {})}
    return ServerSettings(name, "stdio", argv=argv, env=env, **more)


class Keep:
    """Some servers of one folder, and how their tools are called."""

    def __init__(self, servers: McpServers, cwd: str) -> None:
        self.servers = servers
        self.cwd = cwd
        self.emitted: list[str] = []

    async def offer(self, session: SessionId = ONE) -> ToolOffer:
        return await self.servers.offer(session, self.cwd)

    async def tools(self, session: SessionId = ONE) -> dict[str, Tool]:
        return {tool.spec.name: tool for tool in (await self.offer(session)).tools}

    def context(self, session: SessionId = ONE, **more: Any) -> ToolContext:
        return ToolContext(session, self.cwd, self.emitted.append, CallId("call"), **more)

    async def call(self, name: str, args: dict[str, Any] | None = None, **more: Any) -> ToolOutput:
        tools = await self.tools()
        return await tools[name].run(args or {}, self.context(**more))

    def server(self, name: str = "raw") -> Server:
        """Return the instance of a name: there must be one."""
        [found] = [one.server for key, one in self.servers._kept.items() if key.name == name]
        return found

    async def until(self, is_so: Callable[[], bool], name: str = "raw") -> None:
        """Wait until something is so with a server; whenever it moves it is looked at."""
        server = self.server(name)
        while not is_so():
            await server._moved.wait()


@asynccontextmanager
async def kept(
    cwd: Path,
    *settings: ServerSettings,
    load: Callable[[str], FolderServers] | None = None,
    timing: Timing = QUICK,
    **more: Any,
) -> AsyncIterator[Keep]:
    """Keep servers for a while; nothing of them is left afterwards."""
    found = FolderServers(settings)
    servers = McpServers(
        load or (lambda _: found),
        LocalSandbox(home="/nonexistent"),
        **{"wait_s": 15.0, "idle_s": 600.0, "home": cwd, "clock": SystemClock(), "timing": timing, **more},
    )
    try:
        yield Keep(servers, str(cwd))
    finally:
        await servers.aclose()


async def eventually(is_so: Callable[[], bool]) -> None:
    """Wait for a condition in another process, which sends no notification."""
    async with asyncio.timeout(PATIENCE_S):
        while not is_so():  # noqa: ASYNC110  another process does it
            await asyncio.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
