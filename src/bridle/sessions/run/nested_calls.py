"""Tool calls made by the code of a running call.

```
code ─▶ call ─▶ Called ─▶ the driver judges, asks, records ToolStarted ─▶ clear ─▶ the tool runs
code ◀─ result ◀──────────────────────── ToolFinished is recorded ◀─ end ◀─────────────┘
```

The tool runs inside the coroutine that the code awaits: cancelling that wait stops the tool.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from msgspec import Struct

from bridle.core.ids import CallId
from bridle.core.loop import Called
from bridle.core.messages import ToolCall, ToolResult
from bridle.core.session import RunState
from bridle.sessions.dispatch import CheckedCall
from bridle.sessions.run.context import EffectOutcome


class Abandoned(EffectOutcome, frozen=True):
    """The code that made a call no longer waits for it."""

    call: ToolCall


class _Waiting(Struct):
    """The state of a call that code waits for."""

    parent: CallId
    cleared: asyncio.Future[CheckedCall | None]
    """Resolves when the call may run; to None if it was refused."""
    result: asyncio.Future[ToolResult]


class NestedCalls:
    """Passes calls from code to the driver, and their results back."""

    def __init__(self, run: RunState, post: Callable[[Called | Abandoned], None]) -> None:
        self._run = run
        self._post = post
        self._waiting: dict[CallId, _Waiting] = {}
        self._made = 0

    def parent_of(self, call_id: CallId) -> CallId | None:
        """Return the call whose code made this one; None for the model's own calls."""
        waiting = self._waiting.get(call_id)
        return waiting.parent if waiting is not None else None

    def is_over(self, call_id: CallId) -> bool:
        """Return whether code made this call and no longer waits for it."""
        return call_id not in self._waiting and call_id not in self._of_model()

    async def call(
        self,
        parent: CallId,
        name: str,
        args: dict[str, Any],
        perform: Callable[[CheckedCall], Awaitable[None]],
    ) -> ToolResult:
        """Make a call and wait for its recorded result; `perform` runs it once it is allowed."""
        loop = asyncio.get_running_loop()
        call = ToolCall(self._new_id(parent), name, args)
        waiting = self._waiting[call.id] = _Waiting(parent, loop.create_future(), loop.create_future())
        self._post(Called(call, parent))
        try:
            checked = await waiting.cleared
            if checked is not None:
                await perform(checked)
            return await waiting.result
        except asyncio.CancelledError:
            self._post(Abandoned(call))
            raise

    async def clear(self, call_id: CallId, checked: CheckedCall) -> None:
        """Let a call run, after its start is recorded."""
        waiting = self._waiting.get(call_id)
        if waiting is not None and not waiting.cleared.done():
            waiting.cleared.set_result(checked)

    def end(self, result: ToolResult) -> Coroutine[None, None, None]:
        """Remove a call; the returned coroutine delivers its result, to run once that is recorded."""
        return _deliver_result(self._waiting.pop(result.call_id), result)

    def _new_id(self, parent: CallId) -> CallId:
        taken = self._of_model()
        while True:
            self._made += 1
            fresh = CallId(f"{parent}.{self._made}")
            if fresh not in taken:
                return fresh

    def _of_model(self) -> set[CallId]:
        """Return the calls that the model itself made in this turn."""
        reply = self._run.replied
        return {call.id for call in reply.message.calls} if reply is not None else set()


async def _deliver_result(waiting: _Waiting, result: ToolResult) -> None:
    if not waiting.result.done():
        waiting.result.set_result(result)
    if not waiting.cleared.done():
        waiting.cleared.set_result(None)
