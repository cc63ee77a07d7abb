"""A kernel: a running guest process, controlled from Bridle.

```
run(code) ─ exec ─▶ guest ─ tool_call… ─▶ calls ─ tool_result… ─▶ guest ─ exec_result ─▶ CellResult
              │
              ├─ timeout or stop ─ interrupt ─▶ … ─▶ no answer ─▶ killed
              └─ the guest ends, or closes its pipes ─▶ died: every later use raises ToolError
```

It does one thing at a time: a cell, a snapshot or a restore. A frame with an unexpected id is ignored, so
that late output of an abandoned cell never answers the next one.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TypeVar

from bridle.core.errors import ToolError
from bridle.core.ports import Process
from bridle.core.tool import ToolSpec
from bridle.kernel import frames
from bridle.kernel.alarm import Alarm
from bridle.kernel.cell import Cell, CellResult, EndedBy
from bridle.kernel.channel import Channel
from bridle.kernel.output import Output
from bridle.kernel.processes import count_threads, describe_status
from bridle.kernel.settings import KernelSettings, Owner
from bridle.kernel.snapshot import TakenSnapshot, pack, unpack
from bridle.kernel.tool_calls import CallTool, refuse
from bridle.kernel.tool_functions import encode_definitions
from bridle.system.pipes import Pipes

MAX_CODE_CHARS = 4 * 1024 * 1024
MAX_MALFORMED = 1000
_REPLY_S = 30.0
_PRESS_S = 0.1
_CANCEL_GRACE_S = 0.1  # a cancelled run must have settled after 0.15 s
_KILL_S = 0.04
_HANG_UP_S = 0.2  # from the end of its pipes to its exit, which normally takes a few milliseconds
_CLOSE_S = 0.1
_GONE_S = 1.0
_MAX_WORDS = 500
_ID_BYTES = 8
_IDS = 64  # generated at once

F = TypeVar("F", bound=frames.Frame)


class Kernel:
    """Runs cells in one guest; created by `start_kernel`, ended by `close`."""

    def __init__(
        self,
        process: Process,
        pipes: Pipes,
        settings: KernelSettings,
        *,
        owner: Owner,
        let_go: Callable[[], Awaitable[None]],
    ) -> None:
        """Take over a process and our ends of its pipes; `let_go` releases its sandbox and scratch folder."""
        self._process = process
        self._settings = settings
        self._owner = owner
        self._let_go = let_go
        self._loop = asyncio.get_running_loop()
        self._output = Output(settings.max_output_bytes)
        self._channel = Channel(
            pipes,
            receive=self._receive,
            printed=self._output.feed,
            hung_up=self._hang_up,
            clogged=lambda: self._kill("it does not read its input"),
        )
        self._alarm = Alarm(self._time_out)
        self._cell: Cell | None = None
        self._asked: tuple[str, asyncio.Future[frames.Frame | None]] | None = None
        self._ids = _new_ids()
        self._malformed = 0
        self._ready = frames.Ready()
        self._tools = ""
        self._alone = 0
        self._told = 0
        self._is_ended = self._is_closed = False
        self.why_dead = ""
        """Why it can no longer be used; empty while it can."""
        # Lives as long as the process; awaited by `close`.
        self._watch = self._loop.create_task(self._wait_for_end())

    @property
    def is_alive(self) -> bool:
        """True while it can be used."""
        return not self.why_dead

    @property
    def pid(self) -> int:
        """The root of the kernel's process tree."""
        return self._process.pid

    @property
    def has_leftovers(self) -> bool:
        """True while a thread or program that a cell has left behind still runs."""
        return not self._is_ended and count_threads(self.pid) > self._alone

    @property
    def python(self) -> str:
        """The version of its interpreter; empty if the guest has not reported it."""
        return self._ready.python

    @property
    def keep(self) -> Callable[[str], None] | None:
        """The function that saves files before the kernel changes them."""
        return self._owner.keep

    @keep.setter
    def keep(self, keep: Callable[[str], None] | None) -> None:
        self._owner.keep = keep

    # ------------------------------------------------------------------------ cells

    async def run(
        self,
        code: str,
        *,
        timeout_s: float | None = None,
        call: CallTool | None = None,
        emit: Callable[[str], None],
        say: Callable[[str, str], None],
    ) -> CellResult:
        """Run a cell; `emit` gets its printed text, `say` its messages with their kind; raises ToolError.

        The time limit pauses while a tool runs, because a tool may wait for a person. A cancelled `run`
        interrupts the cell, kills a kernel that does not respond, and returns within 150 ms.
        """
        self._check_free()
        if len(code) > MAX_CODE_CHARS:
            raise ToolError(f"the code is longer than {MAX_CODE_CHARS} characters; put data into a file")
        number = next(self._ids)
        self._channel.send(frames.Exec(number, code))  # first: the guest works while we prepare the rest
        cell = self._cell = Cell(
            number, self._channel, self._settings, self._alarm, call=call, say=say, stop=self._stop
        )
        self._malformed = 0
        self._output.begin(emit)
        self._channel.hold_output()
        cell.begin(timeout_s if timeout_s is not None else self._settings.cell_timeout_s)
        result = None
        try:
            result = await cell.done
            if cell.calls is not None:
                await cell.calls.end()
        except asyncio.CancelledError:
            await self._abandon(cell)
            raise
        finally:
            self._cell = None
            printed = self._output.end(result.output if result is not None else "")
            ended = cell.end(result, printed, self.why_dead)
        if cell.calls is not None and cell.calls.error is not None:
            raise cell.calls.error
        return ended

    async def settle(self, *, is_done: bool = True) -> tuple[str, ...]:
        """Move the traps that its cells have left so far out of the project; return one sentence for each.

        Pass `is_done=False` while something a cell started may still run.
        """
        await self._process.changes.settle(is_done=is_done)
        told, self._told = self._told, len(self._process.changes.put_away)
        return self._process.changes.put_away[told:]

    async def accept(self) -> None:
        """Accept the changes that others have made to files since the last `settle`."""
        await self._process.changes.accept()

    async def interrupt(self) -> None:
        """Stop the running cell, if there is one; a kernel that does not respond is killed."""
        if self._cell is not None:
            self._stop(self._cell, "cancelled", "")

    def _time_out(self) -> None:
        if self._cell is not None:
            self._cell.time_out()

    def _stop(self, cell: Cell, ended: EndedBy, why: str) -> None:
        """Interrupt a cell, and kill the kernel if that has no effect."""
        if cell.ended or cell.done.done():
            return
        cell.ended, cell.why = ended, why
        cell.cancel_calls()
        if not self._can("interrupt"):
            self._kill("it cannot be interrupted")
            return
        self._press(cell, self._loop.time() + self._settings.interrupt_grace_s)

    def _press(self, cell: Cell, until_s: float) -> None:
        """Interrupt repeatedly: a signal that comes just before a process goes to sleep does not wake it."""
        if cell.done.done():
            return
        if self._loop.time() >= until_s:
            self._kill(f"no answer {self._settings.interrupt_grace_s:g} s after it was interrupted")
            return
        self._send_interrupt(cell)
        self._loop.call_later(min(_PRESS_S, self._settings.interrupt_grace_s), self._press, cell, until_s)

    def _send_interrupt(self, cell: Cell) -> None:
        self._channel.send(frames.Interrupt(cell.id))
        if self._can("signals"):
            self._process.interrupt()

    async def _abandon(self, cell: Cell) -> None:
        """End a cell whose caller was cancelled."""
        cell.ended = cell.ended or "cancelled"
        cell.cancel_calls()
        if cell.done.cancelled():
            cell.renew()
            try:
                if self._can("interrupt"):
                    self._send_interrupt(cell)
                    await asyncio.wait([cell.done], timeout=_CANCEL_GRACE_S)
            finally:
                if not cell.done.done():
                    self._kill("it ignored that its cell was stopped")
        if not self.is_alive:
            await asyncio.wait([self._watch], timeout=_KILL_S)
        await cell.end_calls()

    # ------------------------------------------------------------------------ state

    async def snapshot(self) -> TakenSnapshot:
        """Return its state, for `restore`; raises ToolError."""
        limit = self._settings.max_snapshot_bytes
        asked = frames.Snapshot(next(self._ids), self._settings.snapshot_codec, limit)
        self._channel.lines.max_bytes = max(frames.MAX_LINE_BYTES, 4 * limit)  # JSON text inside JSON text
        try:
            found = await self._ask(asked, asked.id, frames.SnapshotResult, is_harmless=True)
        finally:
            self._channel.lines.max_bytes = frames.MAX_LINE_BYTES
        if found.codec != asked.codec:
            raise ToolError("the kernel returned the wrong kind of snapshot")
        if len(found.data) > limit:
            raise ToolError(f"the variables of the kernel exceed {limit} bytes")
        dropped = tuple((one.name, one.why) for one in found.dropped)
        return TakenSnapshot(pack(found.codec, found.data), dropped)

    async def restore(self, data: bytes) -> None:
        """Restore a snapshot that we made; raises ToolError.

        A rich snapshot makes the guest run code that it contains: pass only data that was sealed.
        """
        codec, text = unpack(data)
        asked = frames.Restore(next(self._ids), text, codec)
        done = await self._ask(asked, asked.id, frames.ExecResult)
        if done.error:
            raise ToolError(f"the snapshot cannot be restored: {done.error}")

    async def reset(self) -> bool:
        """Return it to its initial state; False if something of its owner is left, so do not reuse it."""
        if not self._can("reset"):
            return False
        asked = frames.Reset(next(self._ids))
        done = await self._ask(asked, asked.id, frames.ResetResult)
        self._channel.read_output()
        self._output.end()  # discard what the last owner still printed
        self.keep = None
        return done.threads == 0 and not self.has_leftovers

    async def set_tools(self, specs: Sequence[ToolSpec], *, warm: bool = False) -> None:
        """Let its cells call exactly these tools; raises ToolError."""
        tools = encode_definitions(specs)
        if tools == self._tools:
            return
        if self._tools and not self._ready.protocol:  # the oldest protocol accepts tools only once
            raise ToolError("this kernel keeps the tools that it was started with")
        timeout_s = _REPLY_S if self._tools else self._settings.start_timeout_s
        self._ready = await self._ask(
            frames.Init(tools, output="stream", warm=warm, signals=True, cancels=True),
            "",
            frames.Ready,
            timeout_s=timeout_s,
        )
        if not self._tools:
            self._alone = count_threads(self.pid)
        self._tools = tools

    async def close(self) -> None:
        """End it and everything it started; safe to call more than once."""
        if self._is_closed:
            return
        self._is_closed = True
        self._channel.send(frames.Shutdown())
        try:
            if self._cell is None and self.is_alive:
                await asyncio.wait([self._watch], timeout=_CLOSE_S)
        finally:
            self._kill("it was closed")
            await self._let_go()
            await asyncio.wait([self._watch], timeout=_GONE_S)
            self._die()
            self._output.close()

    async def _ask(
        self,
        frame: frames.ToGuest,
        number: str,
        kind: type[F],
        *,
        timeout_s: float = _REPLY_S,
        is_harmless: bool = False,
    ) -> F:
        """Send a frame and return its answer; kill the guest if a cancel would leave a change half done."""
        self._check_free()
        future: asyncio.Future[frames.Frame | None] = self._loop.create_future()
        self._asked = number, future
        try:
            self._channel.send(frame)
            await asyncio.wait([future], timeout=timeout_s)
        except asyncio.CancelledError:
            if not is_harmless:
                self._kill("it was interrupted")
            raise
        finally:
            self._asked = None
        if not future.done():
            self._kill(f"no answer after {timeout_s:g} s")
            await asyncio.wait([self._watch], timeout=_KILL_S)
            raise ToolError(self._dead_text())
        found = future.result()
        if not isinstance(found, kind):
            self._kill("it sent an unexpected answer")
            raise ToolError(self._dead_text())
        return found

    # ------------------------------------------------------------------------ frames from the guest

    def _receive(self, frame: frames.FromGuest | frames.Malformed) -> None:
        cell = self._cell
        match frame:
            case frames.ExecResult() if cell is not None and frame.id == cell.id:
                if cell.done.done():
                    return
                self._channel.read_output()
                cell.settle(frame)
            case frames.ToolCall():
                if cell is None or cell.done.done():
                    refuse(self._channel, frame, "no cell is running; call tools while one does")
                else:
                    self._show_printed()
                    cell.take(frame)
            case frames.ToolCancel():
                if cell is not None:
                    cell.give_up(frame.id)
            case frames.MessageFrame():
                if cell is not None:
                    self._show_printed()
                    cell.pass_message(frame)
            case frames.Malformed():
                self._malformed += 1
                if self._malformed > MAX_MALFORMED:
                    self._kill(
                        f"it sent more than {MAX_MALFORMED} lines that are no frames, such as {frame.why}"
                    )
            case frames.Ready():
                self._settle("", frame)
            case frames.ExecResult() | frames.SnapshotResult() | frames.ResetResult():
                self._settle(frame.id, frame)

    def _show_printed(self) -> None:
        """Show what was printed before the current frame."""
        self._channel.read_output()
        self._output.show()

    def _settle(self, number: str, frame: frames.Frame) -> None:
        if self._asked is not None and self._asked[0] == number and not self._asked[1].done():
            self._asked[1].set_result(frame)

    # ------------------------------------------------------------------------ its end

    def last_words(self) -> str:
        """Return the last line printed outside a cell: the error of a guest that failed to start."""
        return self._output.end().strip().rpartition("\n")[2][:_MAX_WORDS]

    def _check_free(self) -> None:
        if self.why_dead:
            raise ToolError(self._dead_text())
        if self._cell is not None or self._asked is not None:
            raise ToolError("the kernel is busy; it does one thing at a time")

    def _dead_text(self) -> str:
        return f"the Python kernel is gone: {self.why_dead}"

    def _can(self, what: str) -> bool:
        return what in self._ready.capabilities

    def _hang_up(self) -> None:
        """Treat closed pipes as the guest's end, after a moment for it to exit."""
        self._loop.call_later(_HANG_UP_S, self._kill, "it closed its pipes")

    def _kill(self, why: str) -> None:
        if not self._is_ended:
            self.why_dead = self.why_dead or why
            self._process.kill()

    async def _wait_for_end(self) -> None:
        status = await self._process.wait()
        self._channel.read_rest()
        self._channel.read_output()
        self.why_dead = self.why_dead or describe_status(status)
        self._die()

    def _die(self) -> None:
        if self._is_ended:
            return
        self._is_ended = True
        self._channel.close()
        self._alarm.close()
        if self._cell is not None:
            self._cell.settle(None)
        if self._asked is not None and not self._asked[1].done():
            self._asked[1].set_result(None)


def _new_ids() -> Iterator[str]:
    """Yield ids that cannot be guessed; one system call per id would take a microsecond each."""
    while True:
        block = os.urandom(_ID_BYTES * _IDS)
        yield from (block[start : start + _ID_BYTES].hex() for start in range(0, len(block), _ID_BYTES))
