"""MCP servers that a client configures: they run here, and one session gets their tools as client tools."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from msgspec.structs import replace

from bridle.app.mcp import resolve_unsandboxed_program
from bridle.app.tools import open_sandbox
from bridle.config.settings import Settings
from bridle.core.errors import BridleError, ConfigError, ToolError
from bridle.core.ids import SessionId
from bridle.core.messages import ToolCall
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.session_api import SessionApi
from bridle.core.tool import Access, ToolSpec

if TYPE_CHECKING:
    from bridle.mcp.server import Server
    from bridle.mcp.settings import ServerSettings

Say = Callable[[str], None]


class ServerTools:
    """The tools of one server, as a dispatcher; what they touch is unknown."""

    def __init__(self, server: "Server", session: SessionId) -> None:
        from bridle.mcp.names import full_name

        self._server = server
        self._session = session
        offered = {full_name(server.settings.name, tool.name): tool for tool in server.listing.tools}
        self._names = {name: tool.name for name, tool in offered.items()}
        self.specs = [ToolSpec(name, tool.description, tool.schema) for name, tool in offered.items()]

    def access_of(self, tool: str) -> Access:
        """Return class execute for every tool, because what calls touch is unknown."""
        return Access(tool, "execute")

    async def dispatch(self, call: ToolCall) -> ToolOutput:
        """Forward a call to the server; raises ToolError."""
        name = self._names.get(call.name)
        if name is None:
            raise ToolError(f"MCP server {self._server.settings.name} has no tool {call.name}")
        context = ToolContext(self._session, self._server.folder, _show_nothing, call.id)
        return await self._server.call(name, call.args, context)


def _show_nothing(text: str) -> None:
    """Ignore live output; client tools do not show it."""


class ClientServers:
    """Start MCP servers for a session, add their tools to it once they are ready, and stop them."""

    def __init__(
        self, api: SessionApi, session: SessionId, servers: Sequence["ServerSettings"], settings: Settings
    ) -> None:
        """Take the servers' configuration and the settings of the session's folder."""
        self._api = api
        self._session = session
        self._servers = servers
        self._settings = settings
        self._wait_s = float(settings.mcp.wait)
        self._settled: dict[asyncio.Task[None], asyncio.Event] = {}

    def start(self, environ: Mapping[str, str], say: Say) -> None:
        """Start all servers; `say` gets a message for each one that is not available."""
        for one in self._servers:
            chosen = one
            if one.transport == "stdio":
                try:
                    argv, env = resolve_unsandboxed_program(
                        one.name, one.argv, one.env, self._settings, environ
                    )
                except ConfigError as error:
                    say(f"MCP {error}")
                    continue
                chosen = replace(one, argv=argv, env=env)
            settled = asyncio.Event()
            task = asyncio.create_task(self._keep(chosen, settled, say), name=f"client mcp {one.name}")
            self._settled[task] = settled

    async def settled(self) -> None:
        """Wait until each server is ready or has failed, for at most the setting `mcp.wait`."""
        waits = [asyncio.create_task(one.wait()) for one in self._settled.values() if not one.is_set()]
        if waits:
            try:
                await asyncio.wait(waits, timeout=self._wait_s)
            finally:
                for one in waits:
                    one.cancel()

    async def aclose(self) -> None:
        """Remove the tools and stop the servers."""
        tasks, self._settled = list(self._settled), {}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _keep(self, chosen: "ServerSettings", settled: asyncio.Event, say: Say) -> None:
        """Run one server from its start until it is closed."""
        from bridle.mcp.server import Server, ServerContext, Timing
        from bridle.sessions.system_clock import SystemClock

        room = SessionId("mcp")
        sandbox = open_sandbox(self._settings)
        # The second attempt is for servers that support only older protocol revisions.
        world = ServerContext(sandbox, self._settings.home, SystemClock(), Timing(delays_s=(0.0,)))
        server = Server(chosen, str(self._settings.cwd), room, world)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(sandbox.end_session, room)
            stack.push_async_callback(server.aclose)
            stack.callback(settled.set)
            server.request()
            while server.state in ("starting", "waiting"):
                await server.settled()
                await asyncio.sleep(0)
            if server.state != "ready":
                say(f"MCP server {chosen.name} failed: {server.detail or server.state}")
                return
            try:
                await stack.enter_async_context(
                    self._api.provide_tools(self._session, ServerTools(server, self._session))
                )
            except BridleError as error:
                say(f"MCP server {chosen.name}: {error}")
                return
            settled.set()
            await asyncio.Event().wait()  # until it is closed
