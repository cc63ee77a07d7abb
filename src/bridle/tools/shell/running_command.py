"""One command from its start to its end, with everything it printed."""

import asyncio
import fcntl
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from threading import Event
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.ids import SessionId
from bridle.core.ports import Process, ProcessSpec, Sandbox
from bridle.tools.secrets import Masker
from bridle.tools.shell.output_buffer import OutputBuffer
from bridle.tools.shell.state import MAX_REPORT_BYTES
from bridle.tools.shell.terminal_text import LiveText
from bridle.tools.threads import run_in_thread

# ---------------------------------------------------------------------------- live output
# Show output while it arrives, limited in rate and size.


MAX_LIVE_BYTES = 256 * 1024
INTERVAL_S = 0.05


class LiveOutput:
    """Sends the output of a running call to its watchers."""

    def __init__(
        self, emit: Callable[[str], None], masker: Masker, *, max_bytes: int = MAX_LIVE_BYTES
    ) -> None:
        """Call `emit` with texts, in the event loop."""
        self._emit = emit
        self._text = LiveText(masker)
        self._left = max_bytes
        self._pending = bytearray()
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._earliest = 0.0

    def feed(self, data: bytes) -> None:
        """Add printed bytes; bytes beyond the limit are not shown."""
        if not self._left:
            return
        self._pending += data[: self._left]
        self._left -= min(self._left, len(data))
        if self._timer is None:
            self._timer = self._loop.call_at(self._earliest, self._show)

    def close(self) -> None:
        """Show the rest; the output ends here."""
        self._say(self._text.feed(bytes(self._pending)) + self._text.flush())
        if not self._left:
            self._say("\n[there is more; it is not shown live]\n")
        self.drop()

    def drop(self) -> None:
        """Discard pending output and show no more."""
        self._pending.clear()
        self._left = 0

    def _show(self) -> None:
        self._timer = None
        self._earliest = self._loop.time() + INTERVAL_S
        data = bytes(self._pending)
        self._pending.clear()
        self._say(self._text.feed(data))

    def _say(self, text: str) -> None:
        if text:
            self._emit(text)


# ---------------------------------------------------------------------------- output reader
# Move a command's output from its pipe into its ring, and report it to a callback.
#
# ```
# command --pipe--> [readable] --thread: read, append--> ring
#                       ^                  |
#                       '------------------+--> on_output(first bytes)
# ```
#
# The pump does not wait for the pipe to close: a runaway process may hold it open forever. A command that
# prints faster than the disk writes is slowed down by its full pipe.


_PIPE_BYTES = 256 * 1024  # a user may have 64 MiB of pipes; the default 64 KiB cost a third of the speed
_ROUND_BYTES = 16 * 1024 * 1024  # per round, then the thread pool can do other work
_LAST_BYTES = 64 * 1024 * 1024  # read after the command's end, from processes that still print
_START_BYTES = 256 * 1024


class _Moved(Struct, frozen=True):
    start: bytes
    """The first of the moved bytes."""
    size: int
    is_dry: bool
    is_closed: bool


class OutputReader:
    """Reads one pipe."""

    def __init__(self, ring: OutputBuffer, on_output: Callable[[bytes], None]) -> None:
        """Open the pipe; `on_output` is called in the event loop with the first bytes of each round."""
        self._ring = ring
        self._on_output = on_output
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
                    self._on_output(moved.start)
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
            if len(start) < _START_BYTES:
                start += buffer[:count]
        return _Moved(start, size, is_dry=False, is_closed=False)


# ---------------------------------------------------------------------------- running command


EndedBy = Literal["itself", "timeout", "output", "request"]

_KILL_S = 0.04  # how long a killed command gets to exit, so that a cancelled call ends in time


class RunningCommand:
    """A command that was started; after its end, its output and exit status."""

    def __init__(self, command: str, ring: OutputBuffer, *, max_bytes: int) -> None:
        """Prepare a command that may print at most `max_bytes`."""
        self.command = command
        self.ring = ring
        self.status: int | None = None
        """Its exit status, 128 + n after signal n; None while it runs."""
        self.ended_by: EndedBy = "itself"
        self.timeout_s = 0.0
        """How long it may run before it is killed."""
        self.live: LiveOutput | None = None
        self._max_bytes = max_bytes
        self._process: Process | None = None
        self._loop = asyncio.get_running_loop()
        self._started_s = self._ended_s = 0.0
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._report = b""

    @property
    def age_s(self) -> float:
        """The duration of the command, so far or in total."""
        return (self._ended_s if self.status is not None else self._loop.time()) - self._started_s

    @property
    def report(self) -> bytes:
        """What it wrote to descriptor 3; empty before its end."""
        return self._report

    async def start(self, sandbox: Sandbox, spec: ProcessSpec, session: SessionId) -> None:
        """Start the command with descriptors for its output and report; raises ToolError."""
        pump = OutputReader(self.ring, self._on_output)
        report = _open_report()
        try:
            process = await sandbox.start(replace(spec, output=pump.target, extra=report), session)
        except BaseException:
            pump.close()
            os.close(report)
            raise
        pump.close_target()
        self._process = process
        self._started_s = self._loop.time()
        # Outlives the call: a job keeps running, and its owner awaits or ends it.
        self._task = self._loop.create_task(self._watch(process, pump, report))

    @property
    def kept_error(self) -> str:
        """Why changes of files were refused; empty if none were."""
        return "" if self._process is None else self._process.changes.kept_error

    @property
    def put_away(self) -> tuple[str, ...]:
        """A sentence for each file that was moved away because a program of the user would have run it."""
        return () if self._process is None else self._process.changes.put_away

    async def settle(self) -> None:
        """Move away dangerous files that the running command has left so far."""
        if self._process is not None and self.status is None:
            await self._process.changes.settle(is_done=False)

    async def ended(self, timeout_s: float | None = None) -> bool:
        """Wait for its end; return False if the timeout comes first."""
        if self._task is not None:
            await asyncio.wait([self._task], timeout=timeout_s)
        return self.status is not None

    async def printed(self, position: int, timeout_s: float) -> None:
        """Wait until it has printed more than `position` bytes or ended, or until the timeout."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while self.status is None and self.ring.total <= position:
                    await self._changed.wait()

    async def stop(self, grace_s: float, by: EndedBy = "request") -> None:
        """End it and everything it started: interrupt, wait `grace_s`, kill."""
        if self._process is None or self.status is not None:
            return
        self.ended_by = by
        try:
            self._process.interrupt()
            await self.ended(grace_s)
        finally:
            self._process.kill()
        await self.ended(_KILL_S)

    async def _watch(self, process: Process, pump: OutputReader, report: int) -> None:
        status = 128 + 9
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(pump.run())
                try:
                    status = await process.wait()
                finally:
                    # Nothing would end the processes that it left in the background.
                    process.kill()
                pump.end()
            self._report = os.pread(report, MAX_REPORT_BYTES, 0).rstrip(b"\0")
        finally:
            os.close(report)
            self.status = status
            self._ended_s = self._loop.time()
            self._notify()

    def _on_output(self, data: bytes) -> None:
        if self.live is not None:
            self.live.feed(data)
        if self.ring.total > self._max_bytes and self._process is not None and self.ended_by == "itself":
            self.ended_by = "output"
            self._process.kill()
        self._notify()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _open_report() -> int:
    """Return the descriptor of an in-memory file that cannot grow beyond the size of a report."""
    if not hasattr(os, "memfd_create"):
        with tempfile.TemporaryFile() as file:
            return os.dup(file.fileno())
    descriptor = os.memfd_create("report", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, MAX_REPORT_BYTES)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
    return descriptor
