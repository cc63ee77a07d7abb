"""Tools of a client that answers between its calls: a call of the model rests until its result is given."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from bridle.core.ids import CallId
from bridle.core.messages import ToolCall
from bridle.core.ports import ToolOutput
from bridle.core.tool import ToolSpec


class Callbacks:
    """A dispatcher whose calls wait."""

    def __init__(self, specs: Sequence[ToolSpec]) -> None:
        self.specs = specs
        self.when_called: Callable[[], None] = lambda: None
        """Called with every call that begins to wait."""
        self._given: dict[CallId, ToolOutput] = {}
        self._open: dict[CallId, tuple[ToolCall, asyncio.Future[ToolOutput]]] = {}

    @property
    def waiting(self) -> dict[CallId, ToolCall]:
        """Return the calls that have no result yet, in order."""
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
        """Let calls go on with their results, also those that come again after a restart."""
        waiting = self.waiting
        for call_id, output in results.items():
            if call_id in waiting:
                self._open[call_id][1].set_result(output)
            else:
                self._given[call_id] = output
