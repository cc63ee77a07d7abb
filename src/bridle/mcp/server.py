"""One server: started, watched, started again when it falls, spoken to, ended.

```
idle ──somebody asks──▶ starting ──▶ ready ──lost──▶ waiting ──delay──▶ starting
                            │                           ▲
                            ├──────── failed once ──────┘
                            ├─▶ login      until somebody asks again
                            └─▶ failed     after five times in a row, until somebody asks again later
```

One task owns the connection, as the SDK wants it entered and left by the same one.
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
from bridle.mcp.listing import Listing
from bridle.mcp.patience import Patience
from bridle.mcp.settings import ServerSettings
from bridle.mcp.words import Words, clean_line

if TYPE_CHECKING:
    from bridle.mcp.client import Connection, Transport

T = TypeVar("T")

_CLOSE_S = 8.0


class Timing(Struct, frozen=True):
    """How long is waited for what, in seconds."""

    delays_s: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)
    """Before each next attempt to start; after the last one a server rests."""
    rest_s: float = 30.0
    """After that somebody may ask a server that rests to try again."""
    stable_s: float = 30.0
    """One that was there for so long has not failed to start."""
    idle_s: float = 60.0
    """After that a server is asked whether it is still there."""
    ping_s: float = 10.0
    gather_s: float = 0.1
    """Changes that come within this time are looked at together."""
    refresh_s: float = 1.0
    """A server that changes all the time is looked at no more often than that."""


class Surroundings(Struct, frozen=True):
    """What every server needs of the world."""

    sandbox: Sandbox
    home: Path
    clock: Clock
    timing: Timing = Timing()


class Server:
    """A server and the task that owns it."""

    def __init__(self, settings: ServerSettings, folder: str, room: SessionId, world: Surroundings) -> None:
        """Take how it is reached, the folder it works for, and the session of the sandbox it runs in."""
        self.settings = settings
        self.folder = folder
        self.words = Words(settings)
        self.listing = Listing()
        self.state: ServerState = "idle"
        self.detail = ""
        self._world = world
        self._room = room
        self._owner: asyncio.Task[None] | None = None
        self._connection: Connection | None = None
        self._transport: Transport | None = None
        self._calling: Callable[[ToolContext], AbstractContextManager[None]] = lambda _: nullcontext()
        self._login: type[ToolError] | tuple[()] = ()
        """The error that stands for a missing login, once that is loaded."""
        self._is_closed = False
        self.successor: Server | None = None
        """Who takes its place once it is closed."""
        self._moved = asyncio.Event()
        """Set and replaced whenever the state changes."""
        self._changed = asyncio.Event()
        self._wanted = asyncio.Event()
        self._failures = 0
        self._failed_s = 0.0
        self._ready_s = math.inf
        """When it became ready; never, if it has not since it was started."""
        self._used_s = 0.0
        self._calls: set[asyncio.Task[Any]] = set()
        self.busy = 0
        """How many calls are in flight."""
        self.at_rest = asyncio.Event()
        self.at_rest.set()

    # ------------------------------------------------------------------ how it is

    @property
    def pid(self) -> int:
        """The process of a server that is a program here; 0 otherwise."""
        return getattr(self._transport, "pid", 0) if self._transport is not None else 0

    def view(self) -> ServerView:
        """Say how it is."""
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
        """Itself, or whoever has taken its place."""
        return self.successor.current if self._is_closed and self.successor is not None else self

    def ask_for(self) -> None:
        """Say that somebody wants it: it starts, or tries again if it has rested for long enough."""
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
    def is_coming(self) -> bool:
        """Whether it is about to be there: it starts, or it has fallen and is soon started again."""
        return self.state == "starting" or (self.state == "waiting" and self._ready_s < math.inf)

    async def settled(self) -> None:
        """Wait until it has started or failed to."""
        while self.is_coming:
            await self._moved.wait()

    async def aclose(self) -> None:
        """End it and all that it has started, for good."""
        self._is_closed = True
        owner = self._owner
        if owner is not None and not owner.done():
            owner.cancel()
            await asyncio.wait([owner], timeout=_CLOSE_S)
        for call in self._calls:
            call.cancel()
        self._enter("idle", "it was ended; its tools come anew with the next prompt")

    # ------------------------------------------------------------------ what it does

    async def call(self, tool: str, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Call one of its tools; raises ToolError."""
        return await self._do(
            lambda connection, patience: connection.call(tool, args, patience.progress), tool, context
        )

    async def read(self, uri: str, context: ToolContext) -> ToolOutput:
        """Read one of its resources; raises ToolError."""
        return await self._do(lambda connection, _: connection.read(uri), clean_line(uri, 200), context)

    def has_changed(self, uri: str) -> bool:
        """Tell whether a resource is known to have changed since it was read."""
        return self._connection is not None and self._connection.has_changed(uri)

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> tuple[Text | Media, ...]:
        """Return what one of its prompts stands for; raises ToolError."""
        return await self._do(lambda connection, _: connection.prompt(name, arguments), name)

    async def complete(
        self, prompt: str, argument: str, value: str, given: Mapping[str, str]
    ) -> tuple[str, ...]:
        """Return what an argument of a prompt could be; raises ToolError."""
        return await self._do(
            lambda connection, _: connection.complete(prompt, argument, value, given), argument
        )

    async def _do(
        self,
        deed: Callable[["Connection", Patience], Coroutine[Any, Any, T]],
        what: str,
        context: ToolContext | None = None,
    ) -> T:
        """Have something done in a task of its own, which can be left behind when it does not end in time."""
        with self._in_flight():
            connection = await self._connected()
            patience = Patience(self.settings.timeout_s, context.emit if context is not None else _ignore)
            with self._calling(patience.lend(context)) if context is not None else nullcontext():
                task = asyncio.create_task(deed(connection, patience))
                self._calls.add(task)
                task.add_done_callback(self._forget)
                in_time = await patience.wait(task)
        if not in_time and self._is_closed:
            raise ToolError(f"{self._who} was ended before it could finish {what}")
        if not in_time:
            raise ToolError(
                f"{self._who} did not finish {what} within {self.settings.timeout_s:g} s",
                hint="it was told to stop; what it has done by then is not known",
            )
        return task.result()

    def _forget(self, task: "asyncio.Task[Any]") -> None:
        self._calls.discard(task)
        if not task.cancelled():
            task.exception()  # looked at, or asyncio reports it as never seen

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

    async def _connected(self) -> "Connection":
        """Return the connection; waits for one that is starting again, raises ToolError."""
        if (connection := self._live_connection()) is not None:
            return connection
        self.ask_for()
        with suppress(TimeoutError):
            async with asyncio.timeout(self.settings.start_timeout_s):
                while self.state in ("starting", "waiting", "ready"):
                    await self._moved.wait()
                    if (connection := self._live_connection()) is not None:
                        return connection
        raise ToolError(f"{self._who} is not there: {self.detail or 'it is still starting'}")

    def _live_connection(self) -> "Connection | None":
        """Return the connection, unless the server at its other end is gone."""
        return None if self._connection is None or self._connection.is_lost else self._connection

    # ------------------------------------------------------------------ the owner

    async def _own(self) -> None:
        """Keep it running until it fails too often, and then until somebody asks for it again."""
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
        """Start it and serve until it is gone; returns how that came."""
        self.words.begin()
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self.settings.start_timeout_s):
                    connection = await stack.enter_async_context(await self._connection_to_be())
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

    async def _connection_to_be(self) -> "Connection":
        """Make what is to be entered; loads the SDK, beside the event loop as that takes long."""
        client = await asyncio.to_thread(importlib.import_module, "bridle.mcp.client")
        world, settings = self._world, self.settings
        self._login = client.remote.LoginNeeded
        desk = client.Desk(settings, self.folder, self.words.say)
        self._calling = desk.calling
        self._transport = client.open_transport(
            settings, self.folder, world.sandbox, self._room, self.words, world.home
        )
        # Some old servers fall over the question which revisions they speak: then they are not asked again.
        mode = "legacy" if self._failures % 2 else "auto"
        made: Connection = client.Connection(
            settings, self._transport, desk, self.words, mode=mode, changed=self._changed.set
        )
        return made

    async def _serve(self, connection: "Connection") -> ToolError:
        """Look after a server that is ready, until it is lost."""
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

    async def _refresh(self, connection: "Connection") -> None:
        """Ask again for what it offers; what it offered before stays if it does not say."""
        try:
            async with asyncio.timeout(self.settings.start_timeout_s):
                self.listing = await connection.listing()
        except (ToolError, TimeoutError) as error:
            self.words.say(f"what it offers now is not known: {error}")

    async def _ping(self, connection: "Connection") -> None:
        try:
            async with asyncio.timeout(self._world.timing.ping_s):
                await connection.ping()
        except TimeoutError:
            raise ToolError(f"it did not answer a ping within {self._world.timing.ping_s:g} s") from None
        self._used_s = self._now_s

    def _explain(self, ended: ToolError) -> str:
        """Say how it ended, with its last words."""
        text = clean_line(self.words.mask(ended.message)).removeprefix(f"{self._who}: ")
        hint = f" (hint: {ended.hint})" if ended.hint else ""
        last = self.words.last()
        return f"{text}{hint}" + (f"; its last words:\n{last}" if last else "")

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
    """Show nothing: nobody watches."""


@asynccontextmanager
async def _beside(work: Coroutine[Any, Any, T]) -> AsyncIterator["asyncio.Task[T]"]:
    """Do something beside what is done here, and no longer."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
