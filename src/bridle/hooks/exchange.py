"""One program: it is given a text, what it prints is read, and nothing of it is left afterwards.

```
start ─▶ stdin ◀── data, then closed          │ ended: what is in the pipes is read, its group killed, reaped
      ─▶ stdout, stderr ──▶ up to a limit     │ over the limit, or the caller is cancelled: the same, at once
```

Its end is what counts, not the end of its output: something it left in the background may hold the pipes
open for ever. Until it is reaped its number belongs to it, so that the group which is killed is its own.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol, Self

from msgspec import Struct

from bridle.core.errors import HookError
from bridle.hooks.answer import short
from bridle.system.pipes import Pipes

CHUNK_BYTES = 64 * 1024
REAP_S = 10.0  # a killed process is gone in a millisecond, unless a file system or a busy machine holds it


class Ended(Struct, frozen=True):
    """How a program ended, and what it printed."""

    status: int
    """Its exit status; -n after signal n."""
    output: bytes
    errors: bytes


class Exchange(Protocol):
    """Runs a program with a text on its standard input."""

    async def __call__(
        self, argv: Sequence[str], data: bytes, *, env: Mapping[str, str], cwd: str, limit_bytes: int
    ) -> Ended:
        """Return how it ended; raises HookError when it cannot start or prints too much."""
        ...


async def exchange(
    argv: Sequence[str], data: bytes, *, env: Mapping[str, str], cwd: str, limit_bytes: int
) -> Ended:
    """Run a program in a session of its own; raises HookError when it cannot start or prints too much."""
    pipes = open_pipes(argv[0])
    try:
        process = subprocess.Popen(  # noqa: ASYNC220 - as asyncio does it: back when the program is loaded
            argv,
            stdin=pipes.input,
            stdout=pipes.output,
            stderr=pipes.errors,
            env=env,
            cwd=cwd,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        pipes.close()
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise HookError(f"{argv[0]} cannot be started: {short(reason)}") from error
    pipes.close_theirs()
    with Talk(pipes, data, limit_bytes) as talk:
        ended = _Ending(process, talk.finish)
        try:
            await talk.over
        finally:
            await ended.force()
    return Ended(process.returncode or 0, bytes(talk.output), bytes(talk.errors))


def open_pipes(program: str) -> Pipes:
    """Return the pipes of a program that is about to be started; raises HookError."""
    if not hasattr(os, "pidfd_open"):
        raise HookError(f"{program} cannot be started: hooks need Linux, this is {sys.platform}")
    try:
        return Pipes()
    except OSError as error:
        raise HookError(f"{program} cannot be started: {short(error.strerror or str(error))}") from error


class _Ending:
    """Sees the end of a process, or brings it about."""

    def __init__(self, process: "subprocess.Popen[bytes]", finish: Callable[[], None]) -> None:
        """Take what to call at the end; raises HookError when no descriptor is left to watch with."""
        self._process = process
        self._finish = finish
        self._loop = asyncio.get_running_loop()
        self._seen: asyncio.Future[None] = self._loop.create_future()
        try:
            self._watch = os.pidfd_open(process.pid)
        except OSError as error:
            with process:
                os.killpg(process.pid, signal.SIGKILL)
            raise HookError(f"its program cannot be watched: {error.strerror}") from error
        self._loop.add_reader(self._watch, self._see)

    async def force(self) -> None:
        """Kill what is left of it and reap it."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        try:
            if not self._seen.done():
                await asyncio.wait([self._seen], timeout=REAP_S)
        finally:
            self._loop.remove_reader(self._watch)
            os.close(self._watch)
            self._process.poll()

    def _see(self) -> None:
        self._loop.remove_reader(self._watch)
        self._seen.set_result(None)
        self._finish()


class Talk:
    """What goes to a program and comes from it, piece by piece as the event loop says."""

    def __init__(self, pipes: Pipes, data: bytes, limit_bytes: int) -> None:
        self.output, self.errors = bytearray(), bytearray()
        self._loop = asyncio.get_running_loop()
        self.over: asyncio.Future[None] = self._loop.create_future()
        """Done when the program has ended, or has printed too much."""
        self._rest = memoryview(data)
        self._limit_bytes = limit_bytes
        self._stdin: int | None = pipes.to_it
        self._streams = {pipes.from_it: self.output, pipes.printed: self.errors}
        self._is_open = True
        self._loop.add_writer(pipes.to_it, self._write)
        for descriptor in self._streams:
            self._loop.add_reader(descriptor, self._read, descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._is_open = False
        self._stop_writing()
        for descriptor in self._streams:
            self._loop.remove_reader(descriptor)
            os.close(descriptor)

    def finish(self) -> None:
        """Take what is left in the pipes, as the program has ended."""
        if not self._is_open:
            return
        for descriptor in self._streams:
            while self._read(descriptor):
                pass
        if not self.over.done():
            self.over.set_result(None)

    def _read(self, descriptor: int) -> bool:
        """Take what is there; False when there is nothing more for now."""
        try:
            chunk = os.read(descriptor, CHUNK_BYTES)
        except BlockingIOError:
            return False
        if not chunk:
            self._loop.remove_reader(descriptor)
            return False
        kept = self._streams[descriptor]
        kept += chunk
        if len(kept) <= self._limit_bytes:
            return True
        self._loop.remove_reader(descriptor)
        if not self.over.done():
            name = "output" if kept is self.output else "error stream"
            reason = f"its {name} is longer than {self._limit_bytes:,} bytes"
            self.over.set_exception(HookError(reason, raw=bytes(self.output[: self._limit_bytes])))
        return False

    def _write(self) -> None:
        if self._stdin is None:
            return
        try:
            self._rest = self._rest[os.write(self._stdin, self._rest[:CHUNK_BYTES]) :]
        except BlockingIOError:
            return
        except OSError:  # it does not want to read
            self._rest = self._rest[:0]
        if not self._rest:
            self._stop_writing()

    def _stop_writing(self) -> None:
        if self._stdin is not None:
            self._loop.remove_writer(self._stdin)
            os.close(self._stdin)
            self._stdin = None
