"""Moves what a command prints from its pipe into its ring, and on to whoever watches.

```
command --pipe--> [readable] --thread: read, append--> ring
                      ^                  |
                      '------------------+--> heard(first bytes)
```

The end of the pipe is not waited for: a process that ran away may hold it open for ever. A command
that prints faster than the disk takes it is slowed down by its full pipe.
"""

import asyncio
import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from threading import Event

from msgspec import Struct

from bridle.tools.blocking import in_thread
from bridle.tools.shell.ring import Ring

_PIPE_BYTES = 256 * 1024  # a user may have 64 MiB of pipes; the usual 64 KiB cost a third of the speed
_ROUND_BYTES = 16 * 1024 * 1024  # then other work gets its turn in the pool of threads
_LAST_BYTES = 64 * 1024 * 1024  # taken after the command's end, from what still prints then
_HEARD_BYTES = 256 * 1024


class _Moved(Struct, frozen=True):
    start: bytes
    """The first of the bytes that came."""
    size: int
    is_dry: bool
    is_closed: bool


class Pump:
    """Reads one pipe."""

    def __init__(self, ring: Ring, heard: Callable[[bytes], None]) -> None:
        """Open the pipe; `heard` is called in the event loop with the start of what came each time."""
        self._ring = ring
        self._heard = heard
        self._came = asyncio.Event()
        self._is_ending = False
        self._source, self.target = os.pipe()
        """The descriptor to print to."""
        os.set_blocking(self._source, False)
        with suppress(AttributeError, OSError):  # not on Linux, or the user has too many large pipes
            fcntl.fcntl(self.target, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def close_target(self) -> None:
        """Give up our hold of the descriptor to print to: a program has it by now, or never will."""
        if self.target >= 0:
            os.close(self.target)
        self.target = -1

    def close(self) -> None:
        """Close a pump that never ran."""
        self.close_target()
        os.close(self._source)

    def end(self) -> None:
        """Let `run` take what is in the pipe now, and no more."""
        self._is_ending = True
        self._came.set()

    async def run(self) -> None:
        """Move until the pipe is closed or `end` is called; closes it."""
        last = 0
        try:
            while True:
                is_last = self._is_ending
                moved = await in_thread(self._move)
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
