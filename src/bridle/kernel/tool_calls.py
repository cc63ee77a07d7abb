"""The tool calls of one cell: a bounded number runs, a bounded number waits, the rest is refused."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from bridle.core.errors import BridleError
from bridle.core.malformed import MALFORMED
from bridle.kernel.channel import Channel
from bridle.kernel.frames import ToolCall, ToolResult

CallTool = Callable[[str, dict[str, Any]], Awaitable[tuple[bool, str]]]
"""Calls a tool by its Python name; returns whether it succeeded, and its text."""

MAX_RESULT_CHARS = 4 * 1024 * 1024

_decoder = msgspec.json.Decoder(dict[str, Any])
_encoder = msgspec.json.Encoder()


class ToolCalls:
    """Runs each call in its own task, from the first `take` to `end`; no call outlives the cell."""

    def __init__(
        self,
        call: CallTool | None,
        channel: Channel,
        *,
        max_running: int,
        max_waiting: int,
        changed: Callable[[], None],
    ) -> None:
        """Call `changed` when the first tool starts, when the last one ends, and when a call raises."""
        self._call = call
        self._channel = channel
        self._max_running = max_running
        self._max_waiting = max_waiting
        self._changed = changed
        self._waiting: deque[ToolCall] = deque()
        self._running: dict[asyncio.Task[None], ToolCall | None] = {}
        """The frame of each running call; None once it is answered."""
        self._is_over = False
        self.at_work = 0
        """How many tools run; a call whose result waits to be read does not count."""
        self.error: BaseException | None = None
        """An exception from a call that no tool may raise."""
        self.count = 0
        """How many calls were started."""

    def take(self, frame: ToolCall) -> None:
        """Start a call, queue it or refuse it."""
        if self._call is None:
            refuse(self._channel, frame, "no tools are available")
        elif self._is_over:
            refuse(self._channel, frame, "the cell is being ended")
        elif len(self._running) < self._max_running:
            self._begin(frame, self._call)
        elif len(self._waiting) < self._max_waiting:
            self._waiting.append(frame)
        else:
            refuse(
                self._channel,
                frame,
                f"{self._max_running} calls run and {self._max_waiting} wait; await some of them first",
            )

    def give_up(self, number: str) -> None:
        """End a call whose result the cell no longer needs."""
        for task, frame in self._running.items():
            if frame is not None and frame.id == number:
                task.cancel()
        for frame in [one for one in self._waiting if one.id == number]:
            self._waiting.remove(frame)
            refuse(self._channel, frame, "the cell no longer waits for it")

    def cancel(self) -> None:
        """Start no further call, and cancel the running ones."""
        self._is_over = True
        for task in self._running:
            task.cancel()
        for frame in self._waiting:
            refuse(self._channel, frame, "the cell ended before this call began")
        self._waiting.clear()

    async def end(self) -> None:
        """Cancel the running calls and wait until they end."""
        if not self._running and not self._waiting:
            self._is_over = True
            return
        self.cancel()
        if self._running:
            await asyncio.wait(list(self._running))

    def _begin(self, frame: ToolCall, call: CallTool) -> None:
        self.count += 1
        self.at_work += 1
        if self.at_work == 1:
            self._changed()
        task = asyncio.get_running_loop().create_task(self._answer(frame, call))
        self._running[task] = frame
        task.add_done_callback(self._over)

    async def _answer(self, frame: ToolCall, call: CallTool) -> None:
        try:
            success, text = await self._outcome(frame, call)
        finally:
            self.at_work -= 1
            if not self.at_work:
                self._changed()
        self._channel.send(ToolResult(frame.id, success, _as_json(text)))
        task = asyncio.current_task()
        assert task is not None
        self._running[task] = None
        await self._channel.sent()  # the slot stays taken until the guest has read the result

    async def _outcome(self, frame: ToolCall, call: CallTool) -> tuple[bool, str]:
        try:
            args = _decoder.decode(frame.args)
        except MALFORMED as error:
            return False, f"{frame.name}: its arguments are not a JSON object: {error}"
        try:
            success, text = await call(frame.name, args)
        except BridleError as error:
            return False, str(error)
        if len(text) > MAX_RESULT_CHARS:
            return (
                False,
                f"{frame.name}: its result has {len(text)} characters, more than a cell can receive",
            )
        return success, text

    def _over(self, task: "asyncio.Task[None]") -> None:
        frame = self._running.pop(task)
        error = None if task.cancelled() else task.exception()
        if frame is not None:
            refuse(
                self._channel, frame, "the call failed" if error else "the call was cancelled with its cell"
            )
        if error is not None:
            self.error = self.error or error
            self._changed()
        while self._waiting and len(self._running) < self._max_running and self._call is not None:
            self._begin(self._waiting.popleft(), self._call)


def refuse(channel: Channel, frame: ToolCall, why: str) -> None:
    """Answer a call that was not made or did not finish."""
    channel.send(ToolResult(frame.id, success=False, result=_as_json(f"{frame.name}: {why}")))


def _as_json(text: str) -> str:
    try:
        return _encoder.encode(text).decode()
    except UnicodeEncodeError:
        return _encoder.encode(text.encode(errors="replace").decode()).decode()
