"""One command from its start to its end, with everything it printed."""

import asyncio
import fcntl
import os
import tempfile
from contextlib import suppress
from typing import Literal

from msgspec.structs import replace

from bridle.core.ids import SessionId
from bridle.core.ports import Process, ProcessSpec, Sandbox
from bridle.tools.shell.live_output import LiveOutput
from bridle.tools.shell.output_buffer import OutputBuffer
from bridle.tools.shell.output_reader import OutputReader
from bridle.tools.shell.state import MAX_REPORT_BYTES

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
        pump = OutputReader(self.ring, self._heard)
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

    def _heard(self, data: bytes) -> None:
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
