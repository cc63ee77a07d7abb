"""Tools of a client that sends results with its next call: the model's call waits until then."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from bridle.core.ids import CallId
from bridle.core.messages import ToolCall
from bridle.core.ports import ToolOutput
from bridle.core.tool import ToolSpec


class ClientTools:
    """A tool dispatcher whose calls wait for results from the client."""

    def __init__(self, specs: Sequence[ToolSpec]) -> None:
        self.specs = specs
        self.when_called: Callable[[], None] = lambda: None
        """Called for every call that starts to wait."""
        self._given: dict[CallId, ToolOutput] = {}
        self._open: dict[CallId, tuple[ToolCall, asyncio.Future[ToolOutput]]] = {}

    @property
    def waiting(self) -> dict[CallId, ToolCall]:
        """The calls without a result, in order."""
        return {call_id: call for call_id, (call, result) in self._open.items() if not result.done()}

    async def dispatch(self, call: ToolCall) -> ToolOutput:
        """Wait for the result of a call."""
        if (known := self._given.pop(call.id, None)) is not None:
            return known
        result: asyncio.Future[ToolOutput] = asyncio.get_running_loop().create_future()
        self._open[call.id] = call, result
        self.when_called()
        try:
            return await result
        finally:
            self._open.pop(call.id, None)

    def give(self, results: Mapping[CallId, ToolOutput]) -> None:
        """Set the results of calls, including calls that are repeated after a restart."""
        waiting = self.waiting
        for call_id, output in results.items():
            if call_id in waiting:
                self._open[call_id][1].set_result(output)
            else:
                self._given[call_id] = output
