"""What the sessions of one opened Bridle share: the session API, the program's tools, what ends with it."""

import asyncio
import itertools
import weakref
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from typing import Any

from msgspec import Struct

from bridle.core.errors import BridleError, UsageError
from bridle.core.ids import SessionId
from bridle.core.ports import Tool
from bridle.core.session_api import SessionApi
from bridle.surfaces.python.tools import PythonTools


class _ClientToolsHandle(Struct, frozen=True):
    """Client tools that a session has for a limited time."""

    session: SessionId
    tools: PythonTools
    stack: AsyncExitStack
    """Closing it removes the tools from the session."""


class Host:
    """Holds what outlives a single call of the program."""

    def __init__(
        self,
        api: SessionApi,
        environ: Mapping[str, str],
        tools: Sequence[Tool],
        builtins: Callable[[], list[str]],
    ) -> None:
        self._api = api
        self._is_closed = False
        self.environ = environ
        self.tools = tools
        """The tools of every session; a daemon gets them for each session separately."""
        self._find_builtins = builtins
        self._builtins: list[str] | None = None
        self._endings: set[asyncio.Task[None]] = set()
        self._numbers = itertools.count(1)
        self._handles: dict[int, _ClientToolsHandle] = {}
        self._turns: weakref.WeakValueDictionary[SessionId, asyncio.Lock] = weakref.WeakValueDictionary()

    @property
    def api(self) -> SessionApi:
        """All that can be asked of sessions; raises UsageError once it is closed."""
        if self._is_closed:
            raise UsageError("this Bridle is closed", hint="async with bridle.open() as b: …")
        return self._api

    def turn(self, session: SessionId) -> asyncio.Lock:
        """Return the lock that queues a session's runs: cancelling one must not cancel those behind it."""
        return self._turns.setdefault(session, asyncio.Lock())

    # ------------------------------------------------------------------ tools

    async def add_tools(self, session: SessionId, cwd: str, tools: Sequence[Tool]) -> int:
        """Give a session tools of the program; return a handle for `remove_tools`, 0 if there are none."""
        everywhere = self.tools if self.api.is_remote else ()
        if not tools and not everywhere:
            return 0
        provided, stack = PythonTools((*everywhere, *tools), session, cwd), AsyncExitStack()
        await stack.enter_async_context(self.api.provide_tools(session, provided))
        number = next(self._numbers)
        self._handles[number] = _ClientToolsHandle(session, provided, stack)
        return number

    async def remove_tools(self, number: int) -> None:
        """Remove the tools of a handle from their session; does nothing if that is already done."""
        handle = self._handles.pop(number, None)
        if handle is not None:
            await handle.stack.aclose()

    def remove_tools_after(self, owner: object, number: int) -> "weakref.finalize[Any, Any]":
        """Remove the tools of a handle once `owner` is garbage-collected."""
        loop = asyncio.get_running_loop()

        def ended() -> None:
            with suppress(RuntimeError):  # the loop is closed, and so is Bridle
                loop.call_soon_threadsafe(self._end_unseen, number)  # any thread may collect garbage

        finalizer = weakref.finalize(owner, ended)
        finalizer.atexit = False
        return finalizer

    def _end_unseen(self, number: int) -> None:
        async def end() -> None:
            with suppress(BridleError):  # no caller could handle it
                await self.remove_tools(number)

        if number in self._handles:
            self._keep(asyncio.create_task(end()))

    async def tool_names(self, session: SessionId) -> list[str]:
        """Return the names of all tools that a session may have, except those of MCP servers."""
        if self._builtins is None:
            self._builtins = await asyncio.to_thread(self._find_builtins)
        names = [tool.spec.name for tool in self.tools]
        for handle in self._handles.values():
            names += [spec.name for spec in handle.tools.specs if handle.session == session]
        return list(dict.fromkeys((*names, *self._builtins)))

    # ------------------------------------------------------------------ closing

    async def run_to_end(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` to its end, even if the caller is cancelled once or repeatedly."""
        task = asyncio.create_task(work)
        self._keep(task)
        await asyncio.shield(task)

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._endings.add(task)
        task.add_done_callback(self._endings.discard)

    async def aclose(self) -> None:
        """Wait for what is ending, take everything back and close the session API."""
        if self._endings:
            await asyncio.wait(self._endings)
        for number in list(self._handles):
            await self.remove_tools(number)
        self._is_closed = True
        await self._api.aclose()
