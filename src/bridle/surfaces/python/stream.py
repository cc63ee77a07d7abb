"""Follow one run as it happens, to its result.

```
start ─▶ record, delta, record …  ─▶ RunEnded ─▶ result
   └── left before the end: the run is cancelled, and its end is recorded
```
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing, suppress
from typing import Any, Generic, Self, TypeVar

from bridle.core.errors import BridleError, UsageError
from bridle.core.ids import RunId, SessionId
from bridle.core.protocol import Delta, Prompt, Record, Resume
from bridle.core.session_api import Receipt
from bridle.surfaces.python.callbacks import CallbackResponder
from bridle.surfaces.python.host import Host
from bridle.surfaces.python.results import RunResult, to_error
from bridle.surfaces.shared.output_format import Result
from bridle.surfaces.shared.run_driver import RunDriver
from bridle.surfaces.shared.session_calls import wait_for_run

ValueT = TypeVar("ValueT")

END_S = 30.0  # how long to wait for a cancelled run to end


class RunStream(Generic[ValueT]):
    """Yields every record and delta of a run; made by `Session.stream`.

    ```python
    async with session.stream("write a poem") as run:
        async for item in run:
            if isinstance(item, bridle.TextDelta):
                print(item.text, end="")
    run.result.usage
    ```

    Leaving it before the end cancels the run. Unless `check` is off, a run that does not complete raises a
    RunError after its last record.
    """

    def __init__(
        self,
        host: Host,
        session: SessionId,
        command: Callable[[], Coroutine[Any, Any, Prompt | Resume]],
        answering: CallbackResponder,
        read: Callable[[Result], ValueT],
        *,
        check: bool,
    ) -> None:
        self._host = host
        self._session = session
        self._command = command
        self._answering = answering
        self._read = read
        self._check = check
        self._drive = RunDriver(host.api, session, answering)
        self._turn = host.turn(session)
        self._has_turn = False
        self._starting: asyncio.Task[Receipt] | None = None
        self._items = self._follow()
        self._is_closed = False
        self._result: RunResult[ValueT] | None = None

    @property
    def result(self) -> RunResult[ValueT]:
        """The result of the run; raises UsageError before its end."""
        if self._result is None:
            raise UsageError("the run has not ended, or its stream was not read to the end")
        return self._result

    @property
    def run_id(self) -> RunId | None:
        """The run id; None while the prompt waits in the queue."""
        return self._drive.run_id

    async def __aenter__(self) -> Self:
        try:
            await self._start()
        except BaseException:
            await self.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __aiter__(self) -> AsyncGenerator[Record | Delta, None]:
        return self._items

    async def wait(self) -> RunResult[ValueT]:
        """Follow the run to its end and return its result; raises RunError if it does not complete."""
        async with self:
            async for _ in self:
                pass
        return self.result

    async def cancel(self, reason: str = "") -> None:
        """Request a cancel; the end still comes among the items. Raises UsageError if not submitted yet."""
        if self._starting is None:
            raise UsageError("the run waits for another one of this program", hint="leave its block instead")
        await self._drive.cancel(reason)

    async def aclose(self) -> None:
        """Stop following; cancels a run that has not ended."""
        if self._is_closed:
            return
        self._is_closed = True
        await self._items.aclose()
        await self._host.run_to_end(self._end())

    async def _follow(self) -> AsyncGenerator[Record | Delta, None]:
        try:
            await self._start()
            async with aclosing(self._drive.items()) as items:
                async for item in items:
                    yield item
            assert self._drive.result is not None
            result = self._result = RunResult(self._read(self._drive.result), self._drive.result)
        finally:
            if not self._is_closed:
                self._is_closed = True
                await self._host.run_to_end(self._end())
        error = to_error(result) if self._check else None
        if error is not None:
            raise error from self._answering.failure

    async def _start(self) -> None:
        """Start the run, once; after a cancellation, `_starting` still shows whether it started."""
        if self._starting is None:
            await self._turn.acquire()
            self._has_turn = True
            command = await self._command()  # what is left of a budget is known only now
            self._starting = asyncio.create_task(self._drive.start(command))
        await asyncio.shield(self._starting)

    async def _end(self) -> None:
        try:
            if self._starting is not None and self._drive.result is None:
                with suppress(BridleError):  # rejected, or already closed: nothing runs then
                    await self._stop(await self._starting)
        finally:
            await self._drive.aclose()
            if self._has_turn:
                self._turn.release()

    async def _stop(self, receipt: Receipt) -> None:
        api = self._host.api  # raises once it is closed: nothing runs then
        if await self._drive.cancel("the program left the run") and self.run_id is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(END_S):
                    await wait_for_run(api, self._session, self.run_id, after=receipt.seq)
