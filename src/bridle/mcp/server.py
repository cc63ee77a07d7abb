"""One MCP server: its process or connection, its restarts and its calls.

```
idle ──requested──▶ starting ──▶ ready ──lost──▶ waiting ──delay──▶ starting
                        │                           ▲
                        ├──────── failed once ──────┘
                        ├─▶ login      until it is requested again
                        └─▶ failed     after five times in a row, until it is requested again later
```

One task owns the connection, because the SDK requires that the same task enters and leaves it.
"""

import asyncio
import importlib
import math
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import (
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
    suppress,
)
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.core.ids import SessionId
from bridle.core.messages import Media, Text
from bridle.core.ports import Clock, Sandbox, ToolContext, ToolOutput
from bridle.core.server_views import ServerState, ServerView
from bridle.mcp.call_timeout import CallTimeout
from bridle.mcp.offers import Offers
from bridle.mcp.server_log import ServerLog, clean_line
from bridle.mcp.settings import ServerSettings

if TYPE_CHECKING:
    from bridle.mcp.client import McpConnection, Transport

T = TypeVar("T")

_CLOSE_S = 8.0


class Timing(Struct, frozen=True):
    """Delays and time limits, in seconds."""

    delays_s: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)
    """The delay before each new attempt to start; after the last one a server rests."""
    rest_s: float = 30.0
    """After this time a request may start a resting server again."""
    stable_s: float = 30.0
    """A server that was ready for this long has its failure count reset."""
    idle_s: float = 60.0
    """After this time without a call a server is pinged."""
    ping_s: float = 10.0
    gather_s: float = 0.1
    """Changes that come within this time are handled together."""
    refresh_s: float = 1.0
    """The minimum time between two refreshes of a server that keeps changing."""


class ServerContext(Struct, frozen=True):
    """What all servers share."""

    sandbox: Sandbox
    home: Path
    clock: Clock
    timing: Timing = Timing()


class Server:
    """A server and the task that owns it."""

    def __init__(self, settings: ServerSettings, folder: str, room: SessionId, world: ServerContext) -> None:
        """Set how it is reached, the folder it works for, and the sandbox session it runs in."""
        self.settings = settings
        self.folder = folder
        self.words = ServerLog(settings)
        self.listing = Offers()
        self.state: ServerState = "idle"
        self.detail = ""
        self._world = world
        self._room = room
        self._owner: asyncio.Task[None] | None = None
        self._connection: McpConnection | None = None
        self._transport: Transport | None = None
        self._calling: Callable[[ToolContext], AbstractContextManager[None]] = lambda _: nullcontext()
        self._login: type[ToolError] | tuple[()] = ()
        """The exception class for a missing login, once it is loaded."""
        self._is_closed = False
        self.successor: Server | None = None
        """The server that replaces it once it is closed."""
        self._moved = asyncio.Event()
        """Set and replaced whenever the state changes."""
        self._changed = asyncio.Event()
        self._wanted = asyncio.Event()
        self._failures = 0
        self._failed_s = 0.0
        self._ready_s = math.inf
        """When it became ready; infinity if it has not since its last start."""
        self._used_s = 0.0
        self._calls: set[asyncio.Task[Any]] = set()
        self.busy = 0
        """How many calls are in flight."""
        self.at_rest = asyncio.Event()
        self.at_rest.set()

    # ------------------------------------------------------------------ its status

    @property
    def pid(self) -> int:
        """The process ID of a server that is a local program; 0 otherwise."""
        return getattr(self._transport, "pid", 0) if self._transport is not None else 0

    def view(self) -> ServerView:
        """Return its status."""
        listing = self.listing
        return ServerView(
            "mcp",
            self.settings.name,
            self.state,
            self.detail,
            self.folder,
            len(listing.tools),
            len(listing.prompts),
            len(listing.resources),
            self.pid,
        )

    @property
    def current(self) -> "Server":
        """This server, or the one that has replaced it."""
        return self.successor.current if self._is_closed and self.successor is not None else self

    def request(self) -> None:
        """Request the server: start it, or try again if it has rested long enough."""
        if self._is_closed:
            return
        if self._owner is None or self._owner.done():
            self._owner = asyncio.create_task(self._own(), name=f"mcp {self.settings.name}")
            self._enter("starting")
        elif self.state == "login" or (self.state == "failed" and self._has_rested):
            self._wanted.set()
            self._enter("starting")

    @property
    def _has_rested(self) -> bool:
        return self._now_s - self._failed_s >= self._world.timing.rest_s

    @property
    def is_starting(self) -> bool:
        """True while it starts, or has failed after it was ready and is soon restarted."""
        return self.state == "starting" or (self.state == "waiting" and self._ready_s < math.inf)

    async def settled(self) -> None:
        """Wait until it has started or failed to."""
        while self.is_starting:
            await self._moved.wait()

    async def aclose(self) -> None:
        """End it and everything it has started, permanently."""
        self._is_closed = True
        owner = self._owner
        if owner is not None and not owner.done():
            owner.cancel()
            await asyncio.wait([owner], timeout=_CLOSE_S)
        for call in self._calls:
            call.cancel()
        self._enter("idle", "it was stopped; its tools return with the next prompt")

    # ------------------------------------------------------------------ requests

    async def call(self, tool: str, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Call one of its tools; raises ToolError."""
        return await self._do(
            lambda connection, patience: connection.call(tool, args, patience.progress), tool, context
        )

    async def read(self, uri: str, context: ToolContext) -> ToolOutput:
        """Read one of its resources; raises ToolError."""
        return await self._do(lambda connection, _: connection.read(uri), clean_line(uri, 200), context)

    def has_changed(self, uri: str) -> bool:
        """True if a resource is known to have changed since it was read."""
        return self._connection is not None and self._connection.has_changed(uri)

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> tuple[Text | Media, ...]:
        """Return the content of one of its prompts; raises ToolError."""
        return await self._do(lambda connection, _: connection.prompt(name, arguments), name)

    async def complete(
        self, prompt: str, argument: str, value: str, given: Mapping[str, str]
    ) -> tuple[str, ...]:
        """Return possible values for an argument of a prompt; raises ToolError."""
        return await self._do(
            lambda connection, _: connection.complete(prompt, argument, value, given), argument
        )

    async def _do(
        self,
        deed: Callable[["McpConnection", CallTimeout], Coroutine[Any, Any, T]],
        what: str,
        context: ToolContext | None = None,
    ) -> T:
        """Run a request in a separate task, which can be abandoned if it does not end in time."""
        with self._in_flight():
            connection = await self._connected()
            patience = CallTimeout(self.settings.timeout_s, context.emit if context is not None else _ignore)
            with self._calling(patience.pausing(context)) if context is not None else nullcontext():
                task = asyncio.create_task(deed(connection, patience))
                self._calls.add(task)
                task.add_done_callback(self._forget)
                in_time = await patience.wait(task)
        if not in_time and self._is_closed:
            raise ToolError(f"{self._who} was ended before it could finish {what}")
        if not in_time:
            raise ToolError(
                f"{self._who} did not finish {what} within {self.settings.timeout_s:g} s",
                hint="it was told to stop; whether the call took effect is unknown",
            )
        return task.result()

    def _forget(self, task: "asyncio.Task[Any]") -> None:
        self._calls.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved, or asyncio reports it as never seen

    @contextmanager
    def _in_flight(self) -> Iterator[None]:
        self.busy += 1
        self.at_rest.clear()
        try:
            yield
        finally:
            self.busy -= 1
            self._used_s = self._now_s
            if not self.busy:
                self.at_rest.set()

    async def _connected(self) -> "McpConnection":
        """Return the connection; waits for a restart, raises ToolError."""
        if (connection := self._live_connection()) is not None:
            return connection
        self.request()
        with suppress(TimeoutError):
            async with asyncio.timeout(self.settings.start_timeout_s):
                while self.state in ("starting", "waiting", "ready"):
                    await self._moved.wait()
                    if (connection := self._live_connection()) is not None:
                        return connection
        raise ToolError(f"{self._who} is not available: {self.detail or 'it is still starting'}")

    def _live_connection(self) -> "McpConnection | None":
        """Return the connection, unless it is known to be lost."""
        return None if self._connection is None or self._connection.is_lost else self._connection

    # ------------------------------------------------------------------ the owner task

    async def _own(self) -> None:
        """Keep it running until it fails too often, and then wait until it is requested again."""
        timing = self._world.timing
        while True:
            if self.state != "starting":
                self._enter("starting", self.detail)
            self._ready_s = math.inf
            ended = await self._live()
            if self._now_s - self._ready_s >= timing.stable_s:
                self._failures = 0
            detail = self._explain(ended)
            if isinstance(ended, self._login):
                await self._rest("login", detail)
            elif self._failures >= len(timing.delays_s):
                await self._rest("failed", detail)
            else:
                self._enter("waiting", detail)
                await asyncio.sleep(timing.delays_s[self._failures])
                self._failures += 1

    async def _rest(self, state: ServerState, detail: str) -> None:
        self._failed_s = self._now_s
        self._wanted.clear()
        self._enter(state, detail)
        await self._wanted.wait()

    async def _live(self) -> ToolError:
        """Start it and serve until it is gone; return how it ended."""
        self.words.begin()
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self.settings.start_timeout_s):
                    connection = await stack.enter_async_context(await self._create_connection())
                    self.listing = await connection.listing()
                stack.callback(self._disconnect)
                self._connection = connection
                self._used_s = self._ready_s = self._now_s
                self._enter("ready", self.listing.about)
                return await self._serve(connection)
        except TimeoutError:
            return ToolError(f"it did not answer within {self.settings.start_timeout_s:g} s")
        except ToolError as error:
            return error
        except Exception as error:  # noqa: BLE001  whatever breaks in the SDK, its owner must live on
            return ToolError(f"{type(error).__name__}: {error}")

    def _disconnect(self) -> None:
        self._connection = None

    async def _create_connection(self) -> "McpConnection":
        """Create the connection to enter; loads the SDK in a thread, because that takes long."""
        client = await asyncio.to_thread(importlib.import_module, "bridle.mcp.client")
        world, settings = self._world, self.settings
        self._login = client.remote.LoginNeeded
        handler = client.RequestHandler(settings, self.folder, self.words.say)
        self._calling = handler.calling
        self._transport = client.open_transport(
            settings, self.folder, world.sandbox, self._room, self.words, world.home
        )
        # Some old servers crash when asked which revisions they speak: then the next attempt does not ask.
        mode = "legacy" if self._failures % 2 else "auto"
        made: McpConnection = client.McpConnection(
            settings, self._transport, handler, self.words, mode=mode, changed=self._changed.set
        )
        return made

    async def _serve(self, connection: "McpConnection") -> ToolError:
        """Monitor a server that is ready, until it is lost."""
        timing, again_s = self._world.timing, 0.0
        async with _beside(connection.lost()) as lost:
            while True:
                async with _beside(self._changed.wait()) as changed:
                    waits_s = None if connection.is_modern else timing.idle_s
                    await asyncio.wait([lost, changed], timeout=waits_s, return_when=asyncio.FIRST_COMPLETED)
                if lost.done():
                    return lost.result()
                if self._changed.is_set():
                    await asyncio.sleep(max(timing.gather_s, again_s - self._now_s))
                    self._changed.clear()
                    await self._refresh(connection)
                    again_s = self._now_s + timing.refresh_s
                elif not self.busy and self._now_s - self._used_s >= timing.idle_s:
                    await self._ping(connection)

    async def _refresh(self, connection: "McpConnection") -> None:
        """Fetch its offers again; the old ones stay if that fails."""
        try:
            async with asyncio.timeout(self.settings.start_timeout_s):
                self.listing = await connection.listing()
        except (ToolError, TimeoutError) as error:
            self.words.say(f"its list of tools could not be updated: {error}")

    async def _ping(self, connection: "McpConnection") -> None:
        try:
            async with asyncio.timeout(self._world.timing.ping_s):
                await connection.ping()
        except TimeoutError:
            raise ToolError(f"it did not answer a ping within {self._world.timing.ping_s:g} s") from None
        self._used_s = self._now_s

    def _explain(self, ended: ToolError) -> str:
        """Return how it ended, with its last output."""
        text = clean_line(self.words.mask(ended.message)).removeprefix(f"{self._who}: ")
        hint = f" (hint: {ended.hint})" if ended.hint else ""
        last = self.words.last()
        return f"{text}{hint}" + (f"; its last output:\n{last}" if last else "")

    def _enter(self, state: ServerState, detail: str = "") -> None:
        self.state = state
        self.detail = detail
        self._moved.set()
        self._moved = asyncio.Event()

    @property
    def _now_s(self) -> float:
        return self._world.clock.monotonic_s()

    @property
    def _who(self) -> str:
        return f"MCP server {self.settings.name}"


def _ignore(_: str) -> None:
    """Show nothing."""


@asynccontextmanager
async def _beside(work: Coroutine[Any, Any, T]) -> AsyncIterator["asyncio.Task[T]"]:
    """Run a coroutine in a task, and cancel it at the end of the block."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
