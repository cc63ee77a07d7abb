"""Runs one program with input on stdin, captures its output, and leaves no process behind.

```
start ─▶ stdin ◀── data, then closed          │ exit: read the rest of the pipes, kill the group, reap
      ─▶ stdout, stderr ──▶ up to a limit     │ over the limit, or cancelled: the same, immediately
```

The exchange ends when the program exits, not when its output ends: a background process it left may hold the
pipes open forever. Its process id stays reserved until it is reaped, so the killed group is always its own.
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
from bridle.hooks.response import one_line
from bridle.system.pipes import Pipes

CHUNK_BYTES = 64 * 1024
REAP_S = 10.0  # a killed process exits in a millisecond, unless I/O or a busy machine delays it


class ProgramResult(Struct, frozen=True):
    """Exit status and output of a program."""

    status: int
    """The exit status; -n after signal n."""
    output: bytes
    errors: bytes


class RunProgram(Protocol):
    """Runs a program with data on its stdin."""

    async def __call__(
        self, argv: Sequence[str], data: bytes, *, env: Mapping[str, str], cwd: str, limit_bytes: int
    ) -> ProgramResult:
        """Return its exit status and output; raises HookError if it cannot start or prints too much."""
        ...


async def run_program(
    argv: Sequence[str], data: bytes, *, env: Mapping[str, str], cwd: str, limit_bytes: int
) -> ProgramResult:
    """Run a program in a new process session; raises HookError if it cannot start or prints too much."""
    pipes = open_pipes(argv[0])
    try:
        process = subprocess.Popen(  # noqa: ASYNC220 - like asyncio: returns once the program is loaded
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
        raise HookError(f"{argv[0]} cannot be started: {one_line(reason)}") from error
    pipes.close_theirs()
    with PipeIO(pipes, data, limit_bytes) as talk:
        ended = _ExitWatch(process, talk.finish)
        try:
            await talk.over
        finally:
            await ended.force()
    return ProgramResult(process.returncode or 0, bytes(talk.output), bytes(talk.errors))


def open_pipes(program: str) -> Pipes:
    """Return the pipes for a program to start; raises HookError, also on a system other than Linux."""
    if not hasattr(os, "pidfd_open"):
        raise HookError(f"{program} cannot be started: hooks need Linux, this is {sys.platform}")
    try:
        return Pipes()
    except OSError as error:
        raise HookError(f"{program} cannot be started: {one_line(error.strerror or str(error))}") from error


class _ExitWatch:
    """Waits for a process to exit, or kills it."""

    def __init__(self, process: "subprocess.Popen[bytes]", finish: Callable[[], None]) -> None:
        """Watch a process and call `finish` when it exits; raises HookError if no descriptor is left."""
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
        self._loop.add_reader(self._watch, self._on_exit)

    async def force(self) -> None:
        """Kill the process group and reap the process."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        try:
            if not self._seen.done():
                await asyncio.wait([self._seen], timeout=REAP_S)
        finally:
            self._loop.remove_reader(self._watch)
            os.close(self._watch)
            self._process.poll()

    def _on_exit(self) -> None:
        self._loop.remove_reader(self._watch)
        self._seen.set_result(None)
        self._finish()


class PipeIO:
    """Writes a program's input and reads its output, driven by the event loop."""

    def __init__(self, pipes: Pipes, data: bytes, limit_bytes: int) -> None:
        self.output, self.errors = bytearray(), bytearray()
        self._loop = asyncio.get_running_loop()
        self.over: asyncio.Future[None] = self._loop.create_future()
        """Done when the program has exited; fails with HookError if it printed too much."""
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
        """Read the rest of the pipes, after the program has exited."""
        if not self._is_open:
            return
        for descriptor in self._streams:
            while self._read(descriptor):
                pass
        if not self.over.done():
            self.over.set_result(None)

    def _read(self, descriptor: int) -> bool:
        """Read one chunk; return False if there is nothing more now."""
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
        except OSError:  # the program closed its stdin
            self._rest = self._rest[:0]
        if not self._rest:
            self._stop_writing()

    def _stop_writing(self) -> None:
        if self._stdin is not None:
            self._loop.remove_writer(self._stdin)
            os.close(self._stdin)
            self._stdin = None
