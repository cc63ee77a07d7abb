"""What the sessions of one opened Bridle share: the session API, the program's tools, what ends with it."""

import asyncio
import itertools
import re
import weakref
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from fractions import Fraction
from typing import Any

from msgspec import Struct

from bridle.core.budget import Budget, Limits, Share, Spend
from bridle.core.errors import BridleError, SessionNotFound, UsageError
from bridle.core.ids import SessionId
from bridle.core.ports import Tool
from bridle.core.protocol import RunEnded
from bridle.core.queries import Status
from bridle.core.session_api import SessionApi
from bridle.surfaces.python.tools import PythonTools


class _ClientToolsHandle(Struct, frozen=True):
    """Client tools that a session has for a limited time."""

    session: SessionId
    tools: PythonTools
    stack: AsyncExitStack
    """Closing it removes the tools from the session."""


# ---------------------------------------------------------------------------- shared budget


_BUDGET = re.compile(
    r"(remaining)|equal:([1-9][0-9]{0,5})|proportional:([0-9.]{1,20})/([0-9.]{1,20})|fixed:([0-9]{1,12})"
)


class SharedBudget:
    """What a session may spend, and the shares of it that its child sessions get.

    Usage is read from their records, so runs that other clients started count too.
    """

    def __init__(
        self,
        api: SessionApi,
        budget: Budget,
        family: "dict[SessionId, SharedBudget]",
        session: SessionId | None = None,
    ) -> None:
        self._api = api
        self._budget = budget
        self._family = family
        self._session = session
        self._whole = self._left()
        self._seen = Spend()

    @classmethod
    def of(cls, api: SessionApi, limits: Limits, last: RunEnded | None) -> "SharedBudget":
        """Return what the last run of a session has left of its limits."""
        spent = Spend() if last is None else Spend(last.usage.context, last.tool_calls, last.cost or 0.0)
        shared = Limits(tokens=limits.tokens, tool_calls=limits.tool_calls, cost=limits.cost)
        return cls(api, Budget(shared, 0.0, spent), {})

    def share(self, wanted: str | Limits) -> Budget:
        """Set a share aside; raises UsageError for a policy that does not exist or shares nothing."""
        if isinstance(wanted, Limits):
            return self._budget.share(Share("fixed", limits=wanted), 0.0)
        match = _BUDGET.fullmatch(wanted)
        if match is None:
            hint = '"remaining", "equal:3", "proportional:1/3", "fixed:20000" (tokens), or bridle.Limits(…)'
            raise UsageError(f"budget cannot be {wanted[:80]!r}", hint=hint)
        if match[1]:
            return self._budget.share(Share(), 0.0)
        if match[5]:
            return self._budget.share(Share("fixed", limits=Limits(tokens=int(match[5]))), 0.0)
        return self._budget.share(Share("fixed", limits=self._part(match)), 0.0)

    def _part(self, match: re.Match[str]) -> Limits:
        """Return this part of what there was before the first share; raises UsageError if it is no part."""
        whole = self._whole
        if whole == Limits():
            raise UsageError("the session has no limits to share", hint="limits=bridle.Limits(tokens=…)")
        try:
            part = Fraction(1, int(match[2])) if match[2] else Fraction(match[3]) / Fraction(match[4])
        except (ValueError, ZeroDivisionError):
            part = Fraction(0)
        if not 0 < part <= 1:
            raise UsageError(f"budget: {match[0]} is not a part", hint='such as "proportional:1/3"')
        return Limits(
            tokens=None if whole.tokens is None else int(whole.tokens * part),
            tool_calls=None if whole.tool_calls is None else int(whole.tool_calls * part),
            cost=None if whole.cost is None else float(whole.cost * part),
        )

    def give(self, session: SessionId, budget: Budget) -> "SharedBudget":
        """Give a session its share."""
        child = self._family[session] = SharedBudget(self._api, budget, self._family, session)
        return child

    async def limits(self) -> Limits:
        """Return what is left now, as limits of a run."""
        for member in tuple(self._family.values()):
            await member.settle()
        return self._left()

    async def aclose(self) -> None:
        """Return what is unused."""
        await self.settle()
        self._budget.close()
        if self._session is not None:
            self._family.pop(self._session, None)

    async def settle(self) -> None:
        """Count what the session has used since the last time."""
        if self._session is None:
            return
        with suppress(SessionNotFound):  # it is deleted, and what it had used by then is known
            totals = (await self._api.ask(Status(self._session))).facts.totals
            used = Spend(totals.usage.context, totals.tool_calls, totals.cost)
            self._budget.settle(Spend(), used - self._seen)
            self._seen = used

    def _left(self) -> Limits:
        probe = self._budget.share(Share("equal"), 0.0)
        probe.close()
        return probe.limits


def tighter(one: Limits, other: Limits) -> Limits:
    """Return the lower limit of each kind."""
    pairs = {name: (getattr(one, name), getattr(other, name)) for name in Limits.__struct_fields__}
    return Limits(
        **{name: min((x for x in pair if x is not None), default=None) for name, pair in pairs.items()}
    )


# ---------------------------------------------------------------------------- host


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
