"""What a session does beside the commands it takes: a compaction takes its time, and may be cancelled."""

import asyncio
from collections.abc import Coroutine

CLOSE_TIMEOUT_S = 5.0  # what will not be cancelled cannot hold up the end for longer


class Aside:
    """One thing at a time."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    @property
    def is_active(self) -> bool:
        """Tell whether it goes on."""
        return self._task is not None and not self._task.done()

    def begin(self, work: Coroutine[None, None, None]) -> None:
        """Do something, in the place of what is over."""
        self._task = asyncio.create_task(work)

    def cancel(self) -> None:
        """Let it end soon."""
        if self._task is not None:
            self._task.cancel()

    async def aclose(self) -> None:
        """Cancel it and wait for its end."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=CLOSE_TIMEOUT_S)
