"""A kernel: a living guest, seen from outside.

```
run(code) ─ exec ─▶ guest ─ tool_call… ─▶ calls ─ tool_result… ─▶ guest ─ exec_result ─▶ CellResult
              │
              ├─ time is up, or somebody stops it ─ interrupt ─▶ … ─▶ no answer ─▶ killed
              └─ the guest ends, or closes its pipes ─▶ died: every later use raises ToolError
```

One thing happens at a time: a cell, a snapshot, a restore. Whatever comes with an id that nobody
waits for is ignored, so that what an abandoned cell still says never answers the next one.
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
from bridle.kernel.calls import CallTool, refuse
from bridle.kernel.cell import Cell, CellResult, EndedBy
from bridle.kernel.channel import Channel
from bridle.kernel.definitions import definitions
from bridle.kernel.output import Output
from bridle.kernel.processes import count_below, in_words
from bridle.kernel.settings import KernelSettings, Owner
from bridle.kernel.snapshot import TakenSnapshot, pack, unpack
from bridle.system.pipes import Pipes

MAX_CODE_CHARS = 4 * 1024 * 1024
MAX_MALFORMED = 1000
_REPLY_S = 30.0
_PRESS_S = 0.1
_CANCEL_GRACE_S = 0.1  # a cancelled run must have settled after 0.15 s
_KILL_S = 0.04
_HANG_UP_S = 0.2  # from the end of its pipes to its own end: an honest exit takes a few milliseconds
_CLOSE_S = 0.1
_GONE_S = 1.0
_MAX_WORDS = 500
_ID_BYTES = 8
_IDS = 64  # asked for at once

F = TypeVar("F", bound=frames.Frame)


class Kernel:
    """Runs cells in one guest; made by `start_kernel`, ended by `close`."""

    def __init__(
        self,
        process: Process,
        pipes: Pipes,
        settings: KernelSettings,
        *,
        owner: Owner,
        let_go: Callable[[], Awaitable[None]],
    ) -> None:
        """Take over a process and our ends of its pipes; `let_go` gives back the place where it lived."""
        self._process = process
        self._settings = settings
        self._owner = owner
        self._let_go = let_go
        self._loop = asyncio.get_running_loop()
        self._output = Output(settings.max_output_bytes)
        self._channel = Channel(
            pipes,
            heard=self._hear,
            printed=self._output.feed,
            hung_up=self._hang_up,
            clogged=lambda: self._kill("it does not read what it is sent"),
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
        """Whether it can be used."""
        return not self.why_dead

    @property
    def pid(self) -> int:
        """The process that all others of the kernel descend from."""
        return self._process.pid

    @property
    def has_company(self) -> bool:
        """Whether a cell has left something behind that still runs: a thread, a program."""
        return not self._is_ended and count_below(self.pid) > self._alone

    @property
    def python(self) -> str:
        """The version of its interpreter, as far as it has said it."""
        return self._ready.python

    @property
    def keep(self) -> Callable[[str], None] | None:
        """Who keeps files before the kernel changes them."""
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
        """Run a cell; `emit` gets what it prints, `say` its messages with their kind; raises ToolError.

        The time limit does not count while a tool runs: a person may be asked. Cancelled, it interrupts the
        cell, kills a kernel that does not heed it, and has settled within 150 ms.
        """
        self._check_free()
        if len(code) > MAX_CODE_CHARS:
            raise ToolError(f"the code is longer than {MAX_CODE_CHARS} characters; put data into a file")
        number = next(self._ids)
        self._channel.send(frames.Exec(number, code))  # first of all: the guest works while we make ready
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
        """Have put away what its cells have left as a trap by now; returns a sentence for each.

        With `is_done` false something of a cell may go on.
        """
        await self._process.changes.settle(is_done=is_done)
        told, self._told = self._told, len(self._process.changes.put_away)
        return self._process.changes.put_away[told:]

    async def accept(self) -> None:
        """Take what others have written since it was last settled as it is."""
        await self._process.changes.accept()

    async def interrupt(self) -> None:
        """Stop the cell that runs, if one does; a kernel that does not heed it is killed."""
        if self._cell is not None:
            self._stop(self._cell, "cancelled", "")

    def _time_out(self) -> None:
        if self._cell is not None:
            self._cell.time_out()

    def _stop(self, cell: Cell, ended: EndedBy, why: str) -> None:
        """Interrupt a cell, and kill the kernel if that does not help."""
        if cell.ended or cell.done.done():
            return
        cell.ended, cell.why = ended, why
        cell.cancel_calls()
        if not self._can("interrupt"):
            self._kill("it cannot be interrupted")
            return
        self._press(cell, self._loop.time() + self._settings.interrupt_grace_s)

    def _press(self, cell: Cell, until_s: float) -> None:
        """Interrupt, again and again: a signal just before a process falls asleep does not wake it."""
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
        """End a cell that nobody waits for any more."""
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
                    self._kill("it did not heed that its cell was stopped")
        if not self.is_alive:
            await asyncio.wait([self._watch], timeout=_KILL_S)
        await cell.end_calls()

    # ------------------------------------------------------------------------ state

    async def snapshot(self) -> TakenSnapshot:
        """Return what it holds, for `restore`; raises ToolError."""
        limit = self._settings.max_snapshot_bytes
        asked = frames.Snapshot(next(self._ids), self._settings.snapshot_codec, limit)
        self._channel.lines.max_bytes = max(frames.MAX_LINE_BYTES, 4 * limit)  # a JSON text in a JSON text
        try:
            found = await self._ask(asked, asked.id, frames.SnapshotResult, is_harmless=True)
        finally:
            self._channel.lines.max_bytes = frames.MAX_LINE_BYTES
        if found.codec != asked.codec:
            raise ToolError("the kernel gave another kind of snapshot than it was asked for")
        if len(found.data) > limit:
            raise ToolError(f"what the kernel holds is larger than {limit} bytes")
        dropped = tuple((one.name, one.why) for one in found.dropped)
        return TakenSnapshot(pack(found.codec, found.data), dropped)

    async def restore(self, data: bytes) -> None:
        """Bring back what a snapshot of our own holds; raises ToolError.

        A rich one makes the guest run what is in it: only what was sealed may come here.
        """
        codec, text = unpack(data)
        asked = frames.Restore(next(self._ids), text, codec)
        done = await self._ask(asked, asked.id, frames.ExecResult)
        if done.error:
            raise ToolError(f"the snapshot cannot be restored: {done.error}")

    async def reset(self) -> bool:
        """Make it as it was at the start; False when something of its owner lives on, so do not reuse it."""
        if not self._can("reset"):
            return False
        asked = frames.Reset(next(self._ids))
        done = await self._ask(asked, asked.id, frames.ResetResult)
        self._channel.read_output()
        self._output.end()  # what the last owner still printed is for nobody
        self.keep = None
        return done.threads == 0 and not self.has_company

    async def set_tools(self, specs: Sequence[ToolSpec], *, warm: bool = False) -> None:
        """Let its cells call these tools and no others; raises ToolError."""
        tools = definitions(specs)
        if tools == self._tools:
            return
        if self._tools and not self._ready.protocol:  # the oldest protocol takes them once
            raise ToolError("this kernel keeps the tools that it was started with")
        timeout_s = _REPLY_S if self._tools else self._settings.start_timeout_s
        self._ready = await self._ask(
            frames.Init(tools, output="stream", warm=warm, signals=True, cancels=True),
            "",
            frames.Ready,
            timeout_s=timeout_s,
        )
        if not self._tools:
            self._alone = count_below(self.pid)
        self._tools = tools

    async def close(self) -> None:
        """End it, with all that it started; safe to call again."""
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
        """Send a frame and return its answer; one that changes the guest is not left half done."""
        self._check_free()
        future: asyncio.Future[frames.Frame | None] = self._loop.create_future()
        self._asked = number, future
        try:
            self._channel.send(frame)
            await asyncio.wait([future], timeout=timeout_s)
        except asyncio.CancelledError:
            if not is_harmless:
                self._kill("it was left half done")
            raise
        finally:
            self._asked = None
        if not future.done():
            self._kill(f"no answer after {timeout_s:g} s")
            await asyncio.wait([self._watch], timeout=_KILL_S)
            raise ToolError(self._dead_text())
        found = future.result()
        if not isinstance(found, kind):
            self._kill("it answered what was not asked")
            raise ToolError(self._dead_text())
        return found

    # ------------------------------------------------------------------------ what comes from the guest

    def _hear(self, frame: frames.FromGuest | frames.Malformed) -> None:
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
            case frames.Message():
                if cell is not None:
                    self._show_printed()
                    cell.hear(frame)
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
        """Show what was printed before what comes now."""
        self._channel.read_output()
        self._output.show()

    def _settle(self, number: str, frame: frames.Frame) -> None:
        if self._asked is not None and self._asked[0] == number and not self._asked[1].done():
            self._asked[1].set_result(frame)

    # ------------------------------------------------------------------------ its end

    def last_words(self) -> str:
        """Return the last line that no cell has printed: why a guest that failed to start did."""
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
        """Take the end of its pipes for its own; it is given a moment to end by itself."""
        self._loop.call_later(_HANG_UP_S, self._kill, "it closed its pipes")

    def _kill(self, why: str) -> None:
        if not self._is_ended:
            self.why_dead = self.why_dead or why
            self._process.kill()

    async def _wait_for_end(self) -> None:
        status = await self._process.wait()
        self._channel.read_rest()
        self._channel.read_output()
        self.why_dead = self.why_dead or in_words(status)
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
    """Yield ids that nobody can guess; to ask the system for each alone takes a microsecond."""
    while True:
        block = os.urandom(_ID_BYTES * _IDS)
        yield from (block[start : start + _ID_BYTES].hex() for start in range(0, len(block), _ID_BYTES))
