"""Move a command's output from its pipe into its ring, and report it to a callback.

```
command --pipe--> [readable] --thread: read, append--> ring
                      ^                  |
                      '------------------+--> heard(first bytes)
```

The pump does not wait for the pipe to close: a runaway process may hold it open forever. A command that
prints faster than the disk writes is slowed down by its full pipe.
"""

import asyncio
import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from threading import Event

from msgspec import Struct

from bridle.tools.shell.output_buffer import OutputBuffer
from bridle.tools.threads import run_in_thread

_PIPE_BYTES = 256 * 1024  # a user may have 64 MiB of pipes; the default 64 KiB cost a third of the speed
_ROUND_BYTES = 16 * 1024 * 1024  # per round, then the thread pool can do other work
_LAST_BYTES = 64 * 1024 * 1024  # read after the command's end, from processes that still print
_HEARD_BYTES = 256 * 1024


class _Moved(Struct, frozen=True):
    start: bytes
    """The first of the moved bytes."""
    size: int
    is_dry: bool
    is_closed: bool


class OutputReader:
    """Reads one pipe."""

    def __init__(self, ring: OutputBuffer, heard: Callable[[bytes], None]) -> None:
        """Open the pipe; `heard` is called in the event loop with the first bytes of each round."""
        self._ring = ring
        self._heard = heard
        self._came = asyncio.Event()
        self._is_ending = False
        self._source, self.target = os.pipe()
        """The descriptor to print to."""
        os.set_blocking(self._source, False)
        with suppress(AttributeError, OSError):  # not Linux, or the user has too many large pipes
            fcntl.fcntl(self.target, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def close_target(self) -> None:
        """Close this process's copy of `target`, after a program got it or failed to start."""
        if self.target >= 0:
            os.close(self.target)
        self.target = -1

    def close(self) -> None:
        """Close a pump that never ran."""
        self.close_target()
        os.close(self._source)

    def end(self) -> None:
        """Make `run` read what is in the pipe now, and then return."""
        self._is_ending = True
        self._came.set()

    async def run(self) -> None:
        """Move bytes until the pipe is closed or `end` is called; then close the pipe."""
        last = 0
        try:
            while True:
                is_last = self._is_ending
                moved = await run_in_thread(self._move)
                if moved.size:
                    self._heard(moved.start)
                if moved.is_closed:
                    return
                if is_last:
                    last += moved.size
                    if moved.is_dry or last > _LAST_BYTES:
                        return
                elif moved.is_dry:
                    await self._readable()
        finally:
            os.close(self._source)

    async def _readable(self) -> None:
        if self._is_ending:
            return
        loop = asyncio.get_running_loop()
        self._came.clear()
        loop.add_reader(self._source, self._came.set)
        try:
            await self._came.wait()
        finally:
            loop.remove_reader(self._source)

    def _move(self, stop: Event) -> _Moved:
        buffer = memoryview(bytearray(_PIPE_BYTES))
        start, size = b"", 0
        while size < _ROUND_BYTES and not stop.is_set():
            try:
                count = os.readv(self._source, [buffer])
            except BlockingIOError:
                return _Moved(start, size, is_dry=True, is_closed=False)
            if not count:
                return _Moved(start, size, is_dry=True, is_closed=True)
            size += count
            self._ring.append(buffer[:count])
            if len(start) < _HEARD_BYTES:
                start += buffer[:count]
        return _Moved(start, size, is_dry=False, is_closed=False)
