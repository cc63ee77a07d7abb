"""A running cell: its messages, its tool calls and its time limit."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from bridle.kernel.alarm import Alarm
from bridle.kernel.channel import Channel
from bridle.kernel.frames import ExecResult, MessageFrame, ToolCall
from bridle.kernel.settings import KernelSettings
from bridle.kernel.tool_calls import CallTool, ToolCalls

EndedBy = Literal["", "timeout", "died", "cancelled"]

MAX_MESSAGES = 1000


class CellResult(Struct, frozen=True):
    """The outcome of a cell."""

    output: str
    error: str = ""
    """The traceback that ended it."""
    answer: str = ""
    """The text of the last `message` with kind "final"."""
    ended: EndedBy = ""
    """What stopped the cell, empty if it ran to its end; the kernel may still be alive."""
    why: str = ""
    calls: int = 0
    notes: tuple[str, ...] = ()
    """Files that its sandbox put away, one sentence each."""


class Cell:
    """One execution, from `begin` to `end`."""

    def __init__(
        self,
        number: str,
        channel: Channel,
        settings: KernelSettings,
        alarm: Alarm,
        *,
        call: CallTool | None,
        say: Callable[[str, str], None],
        stop: Callable[["Cell", EndedBy, str], None],
    ) -> None:
        """Store the cell's dependencies; the cell calls `stop` when it must not continue."""
        self.id = number
        self._channel = channel
        self._settings = settings
        self._alarm = alarm
        self._call = call
        self.calls: ToolCalls | None = None
        """Its tool calls; None until the first one."""
        self._say = say
        self._stop = stop
        self._loop = asyncio.get_running_loop()
        self.done: asyncio.Future[ExecResult | None] = self._loop.create_future()
        """Its result; None if there will be none."""
        self.answer = ""
        self._messages = 0
        self._chars_left = settings.max_output_bytes
        """How many characters of messages may still be passed on."""
        self.ended: EndedBy = ""
        """What stopped the cell; empty if it ran to its end."""
        self.why = ""
        self._limit_s = self._left_s = 0.0
        self._since_s: float | None = None

    def begin(self, limit_s: float) -> None:
        """Start the time limit; the clock pauses while tools run."""
        self._limit_s = self._left_s = limit_s
        self._let_time_run()

    def pass_message(self, message: MessageFrame) -> None:
        """Pass on a message; messages beyond the limits are dropped."""
        self._messages += 1
        if message.kind == "final":
            self.answer = message.text
        if self._messages <= MAX_MESSAGES and self._chars_left > 0:
            self._say(message.text[: self._chars_left], message.kind)
            self._chars_left -= len(message.text)

    def take(self, frame: ToolCall) -> None:
        """Start a tool call."""
        if self.calls is None:
            self.calls = ToolCalls(
                self._call,
                self._channel,
                max_running=self._settings.max_calls,
                max_waiting=self._settings.max_waiting_calls,
                changed=self._notice_calls,
            )
        self.calls.take(frame)

    def give_up(self, number: str) -> None:
        """Cancel a tool call that the code no longer waits for."""
        if self.calls is not None:
            self.calls.give_up(number)

    def settle(self, result: ExecResult | None) -> None:
        """Store the result; a second one is ignored."""
        if not self.done.done():
            self.done.set_result(result)

    def renew(self) -> None:
        """Create a new future for the result, after a cancellation has cancelled the old one."""
        self.done = self._loop.create_future()

    def time_out(self) -> None:
        """Stop the cell because its time is up."""
        self._stop(self, "timeout", f"more than {self._limit_s:g} s")

    def cancel_calls(self) -> None:
        """Cancel its tool calls and start no others."""
        if self.calls is not None:
            self.calls.cancel()

    async def end_calls(self) -> None:
        """Cancel its tool calls and wait until they end."""
        if self.calls is not None:
            await self.calls.end()

    def end(self, result: ExecResult | None, printed: str, why_dead: str) -> CellResult:
        """Return the outcome and stop the clock."""
        self._alarm.clear()
        count = self.calls.count if self.calls is not None else 0
        if result is None:
            return CellResult(printed, "", self.answer, self.ended or "died", why_dead, count)
        answer = self.answer or result.response
        return CellResult(printed, result.error or "", answer, self.ended, self.why, count)

    def _notice_calls(self) -> None:
        assert self.calls is not None
        if self.calls.error is not None:
            self._stop(self, "cancelled", "a tool broke")
        if self.calls.at_work:
            self._hold_time()
        elif not self.ended and not self.done.done():
            self._let_time_run()

    def _let_time_run(self) -> None:
        self._since_s = self._loop.time()
        self._alarm.set(self._since_s + self._left_s)

    def _hold_time(self) -> None:
        self._alarm.clear()
        if self._since_s is not None:
            self._left_s -= self._loop.time() - self._since_s
            self._since_s = None


# ---------------------------------------------------------------------------- cell report
# The texts about a cell: live output without secrets for the user, and the result for the model.


_MAX_NAMES = 20


class StreamMask(Protocol):
    """Removes secrets from text that comes in chunks."""

    def feed(self, chunk: str) -> str:
        """Add a chunk and return the text that can be shown now."""
        ...

    def flush(self) -> str:
        """Return the text held back; the text ends here."""
        ...


def mask_output(
    emit: Callable[[str], None], mask: Callable[[], StreamMask] | None
) -> tuple[Callable[[str], None], Callable[[], None]]:
    """Return a function that shows live output without secrets, and one that shows the rest of it."""
    if mask is None:
        return emit, lambda: None
    live = mask()

    def show(text: str) -> None:
        if text:
            emit(text)

    return lambda text: show(live.feed(text)), lambda: show(live.flush())


def describe_end(result: CellResult, *, is_alive: bool) -> list[str]:
    """Return why a cell was stopped and what is left of its kernel; empty if it ran to its end."""
    if not result.ended:
        return []
    what = {"timeout": "the cell took too long", "died": "the kernel died", "cancelled": "stopped"}
    went_on = (
        "its variables are kept as the code left them"
        if is_alive
        else "the next cell gets a new kernel with the variables from before this cell"
    )
    why = f": {result.why}" if result.why else ""
    return [f"{what[result.ended]}{why}; {went_on}"]


def format_result(texts: Sequence[str], notes: Sequence[str]) -> str:
    """Return the result of a cell as the model reads it."""
    parts = [text.rstrip("\n") for text in texts if text.strip("\n")]
    parts += [f"[{note}]" for note in notes]
    return "\n".join(parts) or "[no output]"


def join_names(found: Sequence[str]) -> str:
    """Return names in one line, at most 20 of them."""
    more = f" and {len(found) - _MAX_NAMES} more" if len(found) > _MAX_NAMES else ""
    return ", ".join(found[:_MAX_NAMES]) + more
