"""One language server of a project: started on demand, restarted after a crash, ended when idle."""

import asyncio
import itertools
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from bridle.core.errors import ToolError
from bridle.core.ids import SessionId
from bridle.core.ports import Sandbox
from bridle.core.server_views import ServerState
from bridle.lsp.instance import Instance, Launch, start_instance
from bridle.lsp.settings import FolderLanguages, LanguageServer, Timeouts

MAX_CRASHES = 5
STEADY_S = 60.0
"""A server that has run this long starts with a new count of crashes."""
FAILED_S = 600.0
"""After this time a failed server gets another try: the user may have fixed it."""
_MAX_BACKOFF_S = 60.0
_READS_ONLY = "it cannot write in an untrusted project; if it has to, trust the project (bridle trust)"
_rooms = itertools.count(1)


class Server:
    """Keeps one instance; `use` starts it, `close` ends it."""

    def __init__(
        self,
        server: LanguageServer,
        folder: FolderLanguages,
        root: str,
        *,
        program: str,
        sandbox: Sandbox,
        pace: Timeouts,
        spawn: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
    ) -> None:
        """Take the parts; `spawn` starts a task that outlives the request that needs it."""
        self.server = server
        self.folder = folder
        self.root = root
        self.program = program
        self._sandbox = sandbox
        self._pace = pace
        self._spawn = spawn
        self._instance: Instance | None = None
        self._starting: asyncio.Task[None] | None = None
        self._why = ""
        """Why it could not be started, or why it ended."""
        self._crashes = 0
        self._began_s = 0.0
        self._not_before_s = 0.0
        self._idle: asyncio.TimerHandle | None = None
        self._is_closed = False

    @property
    def instance(self) -> Instance | None:
        """The instance if it runs and is initialized, else None."""
        return self._instance if self._instance is not None and self._instance.is_alive else None

    def state(self) -> tuple[ServerState, str]:
        """Return its state and a detail: the progress, the version or the reason."""
        if (instance := self.instance) is not None:
            detail = instance.progress or instance.version or self.program
            return "ready", f"{detail}; its output: {instance.words[-1]}" if instance.words else detail
        if self._starting is not None:
            return "starting", self.program
        if self._instance is not None:
            return "waiting", self._instance.connection.why_gone
        if self._crashes >= MAX_CRASHES:
            return "failed", self._why
        return ("waiting", self._why) if self._crashes else ("idle", self.program)

    async def use(self) -> Instance:
        """Return the running instance, starting one if there is none; raises ToolError.

        The start continues when the caller stops waiting.
        """
        if (instance := self.instance) is not None:
            self._touch()
            return instance
        if self._is_closed:
            raise ToolError(f"{self.server.name} was ended")
        if self._starting is None:
            self._check_backoff()
            self._starting = self._spawn(self._start())
        await asyncio.wait([self._starting])
        if (instance := self.instance) is None:
            hint = "" if self.folder.trusted else _READS_ONLY
            raise ToolError(self._why or f"{self.server.name} was ended", hint=hint)
        return instance

    async def close(self) -> None:
        """End the server; safe to call again."""
        self._is_closed = True
        await self._end()

    def _check_backoff(self) -> None:
        self._note_crash()
        left = self._not_before_s - asyncio.get_running_loop().time()
        if left > 0 and self._crashes >= MAX_CRASHES:
            raise ToolError(
                f"{self._why}; it failed {self._crashes} times in a row and is not restarted for now"
            )
        if left > 0:
            raise ToolError(f"{self._why}; it restarts in {left:.1f} s at the earliest")

    def _note_crash(self) -> None:
        """Clean up an instance that has exited on its own."""
        if self._instance is None:
            return
        instance, self._instance = self._instance, None
        self._spawn(self._bury(instance))
        now = asyncio.get_running_loop().time()
        if now - self._began_s > STEADY_S:
            self._crashes = 0
        self._fail(instance.connection.why_gone)

    def _fail(self, why: str) -> None:
        self._why = why
        self._crashes += 1
        pause = min(self._pace.backoff_s * 2 ** (self._crashes - 2), _MAX_BACKOFF_S)
        if self._crashes == 1:
            pause = 0.0
        elif self._crashes >= MAX_CRASHES:
            pause = FAILED_S
        self._not_before_s = asyncio.get_running_loop().time() + pause

    async def _start(self) -> None:
        room = SessionId(f"lsp-{next(_rooms)}")
        status = await asyncio.to_thread(lambda: self._sandbox.status)
        launch = Launch(
            self.server,
            self.folder,
            self.root,
            self.program,
            walls=status.kind if self.folder.confined else "none",
            room=room,
        )
        try:
            self._instance = await start_instance(launch, self._sandbox, self._pace)
            self._began_s = asyncio.get_running_loop().time()
            self._touch()
        except ToolError as error:
            self._fail(error.message)
            await self._sandbox.end_session(room)
        except asyncio.CancelledError:
            await self._sandbox.end_session(room)
            raise
        finally:
            self._starting = None

    def _touch(self) -> None:
        """Restart the idle timer."""
        if self._idle is not None:
            self._idle.cancel()
        loop = asyncio.get_running_loop()
        self._idle = loop.call_later(self.folder.idle_s, self._rest)

    def _rest(self) -> None:
        """End the server, unless it has unanswered requests."""
        if (instance := self.instance) is not None and instance.connection.is_busy:
            self._touch()
        else:
            self._spawn(self._end())

    async def _end(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.wait([self._starting])
        instance, self._instance = self._instance, None
        if instance is not None:
            self._crashes = 0
            await self._bury(instance)

    async def _bury(self, instance: Instance) -> None:
        try:
            await instance.close()
        finally:
            with suppress(ToolError):
                await self._sandbox.end_session(instance.launch.room)
