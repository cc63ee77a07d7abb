"""The three pipes of a guest, on the event loop: frames in, frames out, and what it prints.

```
host --send--> [pipe] --> fd 0  guest  fd 1 --> [pipe] --heard--> host
                                       fd 2 --> [pipe] --printed--> host
```

Reading and writing never block. A guest that does not read is not waited for: what it is to get is
kept here, up to a limit. What it prints is read no faster than the loop has time for, which slows it down.
"""

import asyncio
import fcntl
import os
import select
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from bridle.core.errors import ToolError
from bridle.kernel.alarm import Alarm
from bridle.kernel.frames import FromGuest, Lines, Malformed, ToGuest, encode
from bridle.system.pipes import Pipes

MAX_UNREAD_BYTES = 64 * 1024 * 1024
_HOLD_S = 0.002
_PIPE_BYTES = 256 * 1024  # a user may have 64 MiB of pipes; the usual 64 KiB cost a third of the speed
_READ_BYTES = 64 * 1024  # for more the system gives fresh memory each time, which takes longer than the read


def open_pipes() -> Pipes:
    """Open the pipes of a guest; raises ToolError when this process has no descriptor left."""
    try:
        pipes = Pipes()
    except OSError as error:
        raise ToolError(f"a kernel cannot be started: {os.strerror(error.errno or 0).lower()}") from error
    with suppress(AttributeError, OSError):  # not on Linux, or the user has too many large pipes
        fcntl.fcntl(pipes.errors, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return pipes


class Channel:
    """Sends frames, hands on those that come, and all that is printed."""

    def __init__(
        self,
        pipes: Pipes,
        *,
        heard: Callable[[FromGuest | Malformed], None],
        printed: Callable[[bytes], None],
        hung_up: Callable[[], None],
        clogged: Callable[[], None],
    ) -> None:
        """Call `hung_up` when the guest has closed its side, `clogged` when it leaves too much unread."""
        self._to_guest, self._frames, self._output = pipes.ours
        self._heard = heard
        self._printed = printed
        self._hung_up = hung_up
        self._clogged = clogged
        self.lines = Lines()
        self.unread_bytes = 0
        """What was sent and did not fit into the pipe."""
        self._unsent: deque[memoryview] = deque()
        self._room: asyncio.Event = asyncio.Event()
        self._room.set()
        self._is_open = True
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._frames, self._read_frames)
        self._loop.add_reader(self._output, self._read_output)
        self._listens = True
        self._has_printed = False
        self._any_output = select.poll()
        self._any_output.register(self._output, select.POLLIN)
        self._alarm = Alarm(self._listen)

    def hold_output(self) -> None:
        """Let printed text wait for a moment: to wake up for it apart costs a quarter of a short cell.

        Only if there was some lately: so short a timer costs a tenth of it.
        """
        if not self._has_printed:
            return
        self._has_printed = False
        if self._listens:
            self._loop.remove_reader(self._output)
            self._listens = False
        self._alarm.set(self._loop.time() + _HOLD_S)

    def send(self, frame: ToGuest) -> None:
        """Send a frame; one that nobody is there to read any more is lost."""
        if not self._is_open:
            return
        data, written = encode(frame), 0
        if not self._unsent:
            written = self._write(data)
            if written == len(data):
                return
            self._loop.add_writer(self._to_guest, self._write_more)
            self._room.clear()
        self._unsent.append(memoryview(data)[written:])
        self.unread_bytes += len(data) - written
        if self.unread_bytes > MAX_UNREAD_BYTES:
            self._clogged()

    async def sent(self) -> None:
        """Wait until the pipe has taken all of it."""
        await self._room.wait()

    def read_rest(self) -> None:
        """Read the frames that lie in the pipe: the guest has ended."""
        while self._is_open and self._read_frames():
            pass

    def read_output(self) -> None:
        """Read what lies in the pipe of printed text, no more than it can hold."""
        if self._any_output.poll(0):  # to try in vain costs an exception
            self._read_output()

    def close(self) -> None:
        """Close the pipes; safe to call again."""
        if not self._is_open:
            return
        self._is_open = False
        self._alarm.close()
        self._drop_unsent()
        self._loop.remove_reader(self._frames)
        self._loop.remove_reader(self._output)
        for descriptor in (self._to_guest, self._frames, self._output):
            os.close(descriptor)

    def _read_frames(self) -> bool:
        try:
            data = os.read(self._frames, _READ_BYTES)
        except BlockingIOError:
            return False
        if not data:
            self._loop.remove_reader(self._frames)
            self._hung_up()
            return False
        for frame in self.lines.feed(data):
            self._heard(frame)
        return True

    def _listen(self) -> None:
        self._loop.add_reader(self._output, self._read_output)
        self._listens = True

    def _read_output(self) -> None:
        for _ in range(_PIPE_BYTES // _READ_BYTES):
            try:
                data = os.read(self._output, _READ_BYTES)
            except BlockingIOError:
                return
            if not data:
                self._loop.remove_reader(self._output)
                return
            self._has_printed = True
            self._printed(data)
            if len(data) < _READ_BYTES:
                return

    def _write(self, data: bytes | memoryview) -> int:
        """Write what there is room for and return how much that was."""
        try:
            return os.write(self._to_guest, data)
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            return len(data)  # the end of the other pipe tells it to everyone

    def _write_more(self) -> None:
        while self._unsent:
            written = self._write(self._unsent[0])
            self.unread_bytes -= written
            self._unsent[0] = self._unsent[0][written:]
            if self._unsent[0]:
                return
            self._unsent.popleft()
        self._drop_unsent()

    def _drop_unsent(self) -> None:
        self._unsent.clear()
        self.unread_bytes = 0
        self._loop.remove_writer(self._to_guest)
        self._room.set()
