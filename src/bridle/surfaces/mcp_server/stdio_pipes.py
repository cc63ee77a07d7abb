"""Stdin and stdout as a wire: bounded lines in, whole lines out, and nothing else on either.

Both block for as long as the other side likes, so each has its own daemon thread, which does not keep the
process alive.
"""

import asyncio
import fcntl
import os
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

MAX_LINE_BYTES = 16 * 1024 * 1024
TOO_LONG = b""
"""Stands for a line that was too long and was discarded."""

_ABOVE_STANDARD = 3


class Lines:
    """The input lines, one at a time; the next line is read only on request."""

    def __init__(self, source: BinaryIO, most: int = MAX_LINE_BYTES) -> None:
        self._source = source
        self._most = most
        self._wanted = threading.Semaphore(0)
        self._found: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, name="stdin", daemon=True).start()

    def __aiter__(self) -> "Lines":
        return self

    async def __anext__(self) -> bytes:
        self._wanted.release()
        line = await self._found.get()
        if line is None:
            raise StopAsyncIteration
        return line

    def _read(self) -> None:
        line: bytes | None = b""
        while line is not None:
            self._wanted.acquire()
            line = self._next_line()
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._found.put_nowait, line)

    def _next_line(self) -> bytes | None:
        try:
            line = self._source.readline(self._most + 1)
            if len(line) <= self._most:
                return line or None
            while line and not line.endswith(b"\n"):
                line = self._source.readline(self._most)
        except (OSError, ValueError):
            return None
        return TOO_LONG


class Writer:
    """Writes lines in order."""

    def __init__(self, target: BinaryIO) -> None:
        self._target = target
        self._waiting: queue.SimpleQueue[tuple[bytes, Callable[[OSError | None], None]]] = queue.SimpleQueue()
        threading.Thread(target=self._write, name="stdout", daemon=True).start()

    async def write(self, data: bytes) -> None:
        """Write all data; raises OSError if the reader is gone."""
        loop = asyncio.get_running_loop()
        written: asyncio.Future[None] = loop.create_future()

        def settle(error: OSError | None) -> None:
            if not written.done():
                written.set_exception(error) if error is not None else written.set_result(None)

        def tell(error: OSError | None) -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(settle, error)

        self._waiting.put((data, tell))
        await written

    def _write(self) -> None:
        while True:
            data, tell = self._waiting.get()
            try:
                self._target.write(data)
                self._target.flush()
            except OSError as error:
                tell(error)
            else:
                tell(None)


@contextmanager
def standard_streams() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Reserve stdin and stdout for the wire: other readers get nothing, other output goes to stderr.

    They are not restored: the process ends with the wire.
    """
    private = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, _ABOVE_STANDARD) for number in (0, 1)]
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    # Not closed, because threads may still use them.
    yield os.fdopen(private[0], "rb", closefd=False), os.fdopen(private[1], "wb", closefd=False)
