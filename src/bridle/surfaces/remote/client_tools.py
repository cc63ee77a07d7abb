"""Client tools over a connection: the daemon sends calls, the client returns results."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from bridle.core.codec import encode
from bridle.core.errors import BridleError, ToolError
from bridle.core.ids import CallId
from bridle.core.messages import ToolCall
from bridle.core.ports import ToolDispatcher, ToolOutput
from bridle.core.tool import Access, ToolSpec
from bridle.surfaces.remote.asks import MAX_LINE_BYTES, Finish
from bridle.system.tasks import is_cancelled

_calls: msgspec.json.Decoder[ToolCall | CallId | None] = msgspec.json.Decoder(ToolCall | CallId | None)
MAX_OUTPUT_BYTES = MAX_LINE_BYTES - 1024  # leaves room for the rest of the line

GONE = "the client that provides this tool is gone"


class RemoteTools:
    """A dispatcher whose calls are made by the other side of a connection."""

    def __init__(
        self,
        specs: Sequence[ToolSpec],
        access: Mapping[str, Access],
        ask: Callable[[ToolCall], Awaitable[None]],
        call_off: Callable[[CallId], None],
    ) -> None:
        self.specs = specs
        self._access = access
        self._ask = ask
        self._call_off = call_off
        self._open: dict[CallId, asyncio.Future[ToolOutput]] = {}
        self._is_withdrawn = False

    def access_of(self, tool: str) -> Access:
        """Say what calls of a tool touch."""
        said = self._access.get(tool)
        return Access(tool, "read") if said is None else replace(said, tool=tool)

    async def dispatch(self, call: ToolCall) -> ToolOutput:
        """Send a call and wait for its result; raises ToolError when the other side goes.

        Who is cancelled here calls it off.
        """
        if self._is_withdrawn:
            raise ToolError(GONE)
        answered: asyncio.Future[ToolOutput] = asyncio.get_running_loop().create_future()
        self._open[call.id] = answered
        try:
            await self._ask(call)
            return await answered
        except asyncio.CancelledError:
            self._call_off(call.id)
            raise
        except ConnectionError:
            raise ToolError(GONE) from None
        finally:
            self._open.pop(call.id, None)

    def finish(self, result: Finish) -> None:
        """Take the result of a call; one that nobody waits for is ignored."""
        answered = self._open.get(result.call_id)
        if answered is not None and not answered.done():
            answered.set_result(ToolOutput(result.text, result.is_error, result.media))

    def withdraw(self) -> None:
        """Let every open call fail: there is nobody left to make it."""
        self._is_withdrawn = True
        for answered in self._open.values():
            if not answered.done():
                answered.set_exception(ToolError(GONE))


class ProvidedTools:
    """Our tools, as long as the other side has them; made when the connection asks for that."""

    def __init__(
        self, number: int, dispatcher: ToolDispatcher, finish: Callable[[Finish], Awaitable[None]]
    ) -> None:
        self.is_taken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._number = number
        self._dispatcher = dispatcher
        self._finish = finish
        self._calls: dict[CallId, asyncio.Task[None]] = {}

    def take(self, line: msgspec.Raw) -> None:
        """Take what the other side says: that it has the tools, a call, or the end of one."""
        match _calls.decode(line):
            case ToolCall() as call:
                task = self._calls[call.id] = asyncio.create_task(self._make(call))
                task.add_done_callback(lambda done: self._forget(call.id, done))
            case str() as call_id:
                if (called_off := self._calls.get(CallId(call_id))) is not None:
                    called_off.cancel()
            case None:
                if not self.is_taken.done():
                    self.is_taken.set_result(None)

    def _forget(self, call_id: CallId, done: asyncio.Task[None]) -> None:
        if self._calls.get(call_id) is done:
            del self._calls[call_id]

    def fail(self, error: BridleError) -> None:
        """Say that there will be no calls."""
        if not self.is_taken.done():
            self.is_taken.set_exception(error)

    async def aclose(self) -> None:
        """End the calls that are being made."""
        tasks = list(self._calls.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _make(self, call: ToolCall) -> None:
        try:
            output = await self._dispatcher.dispatch(call)
        except BridleError as error:
            output = ToolOutput(str(error), is_error=True)
        except asyncio.CancelledError as error:
            if is_cancelled():
                raise
            output = ToolOutput(f"{type(error).__name__}: {error}", is_error=True)
        except Exception as error:  # noqa: BLE001  the run that waits for it must hear of it
            output = ToolOutput(f"{type(error).__name__}: {error}", is_error=True)
        await self._finish(self._sendable(call.id, output))

    def _sendable(self, call_id: CallId, output: ToolOutput) -> Finish:
        """Return the result of a call, or why it cannot be sent: the run that waits must hear of it."""
        finish = Finish(self._number, call_id, output.text, output.is_error, output.media)
        try:
            why = f"longer than {MAX_OUTPUT_BYTES} bytes" if len(encode(finish)) > MAX_OUTPUT_BYTES else ""
        except (TypeError, ValueError) as error:
            why = f"not to be sent: {error}"
        return Finish(self._number, call_id, f"the output is {why}", is_error=True) if why else finish
