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
from collections.abc import Mapping, Sequence
from contextlib import suppress

from msgspec import Struct

from bridle.core.errors import HookError
from bridle.hooks.answer import short

CHUNK_BYTES = 64 * 1024
REAP_S = 0.1  # a killed process is gone in a millisecond, unless a file system holds it


class Ended(Struct, frozen=True):
    """How a program ended, and what it printed."""

    status: int
    """Its exit status; -n after signal n."""
    output: bytes
    errors: bytes


async def exchange(
    argv: Sequence[str], data: bytes, *, env: Mapping[str, str], cwd: str, limit_bytes: int
) -> Ended:
    """Run a program in a session of its own; raises HookError when it cannot start or prints too much."""
    try:
        process = subprocess.Popen(  # noqa: ASYNC220 - as asyncio does it: back when the program is loaded
            argv,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            cwd=cwd,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise HookError(f"{argv[0]} cannot be started: {short(reason)}") from error
    talk = _Talk(process, _watch(process), data, limit_bytes)
    try:
        await talk.over
    finally:
        await talk.end()
    return Ended(process.returncode or 0, bytes(talk.output), bytes(talk.errors))


def _watch(process: "subprocess.Popen[bytes]") -> int:
    """Return a descriptor that can be read when the process has ended."""
    try:
        return os.pidfd_open(process.pid)
    except OSError as error:  # no descriptor is left
        with process:
            os.killpg(process.pid, signal.SIGKILL)
        raise HookError(f"its program cannot be watched: {error.strerror}") from error


class _Talk:
    """What goes to a program and comes from it, piece by piece as the event loop says."""

    def __init__(self, process: "subprocess.Popen[bytes]", watch: int, data: bytes, limit_bytes: int) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.output, self.errors = bytearray(), bytearray()
        loop = asyncio.get_running_loop()
        self.over: asyncio.Future[None] = loop.create_future()
        self._process = process
        self._rest = memoryview(data)
        self._limit_bytes = limit_bytes
        self._loop = loop
        self._stdin = process.stdin.fileno()
        self._streams = {process.stdout.fileno(): self.output, process.stderr.fileno(): self.errors}
        self._watch = watch
        self._ended: asyncio.Future[None] = loop.create_future()
        for descriptor in (self._stdin, *self._streams):
            os.set_blocking(descriptor, False)
        loop.add_writer(self._stdin, self._write)
        for descriptor in self._streams:
            loop.add_reader(descriptor, self._read, descriptor)
        loop.add_reader(watch, self._end_seen)

    async def end(self) -> None:
        """Kill what is left of it and reap it."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._stop_writing()
        for descriptor in self._streams:
            self._loop.remove_reader(descriptor)
        if not self._ended.done():
            await asyncio.wait([self._ended], timeout=REAP_S)
        self._loop.remove_reader(self._watch)
        os.close(self._watch)
        self._process.poll()
        for file in (self._process.stdin, self._process.stdout, self._process.stderr):
            if file is not None:
                file.close()

    def _end_seen(self) -> None:
        self._loop.remove_reader(self._watch)
        self._ended.set_result(None)
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
        try:
            self._rest = self._rest[os.write(self._stdin, self._rest[:CHUNK_BYTES]) :]
        except BlockingIOError:
            return
        except OSError:  # it does not want to read
            self._rest = self._rest[:0]
        if not self._rest:
            self._stop_writing()

    def _stop_writing(self) -> None:
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._loop.remove_writer(self._stdin)
            self._process.stdin.close()
