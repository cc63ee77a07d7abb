"""The three pipes between Bridle and a guest, on the event loop: frames out, frames in, printed text in.

```
host --send--> [pipe] --> fd 0  guest  fd 1 --> [pipe] --receive--> host
                                       fd 2 --> [pipe] --printed--> host
```

Reading and writing never block. Frames for a guest that does not read are buffered here, up to a limit.
Printed text is read only as fast as the event loop has time, which slows the guest down.
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
from bridle.kernel.frames import FrameDecoder, FromGuest, Malformed, ToGuest, encode
from bridle.system.pipes import Pipes

MAX_UNREAD_BYTES = 64 * 1024 * 1024
_HOLD_S = 0.002
_PIPE_BYTES = 256 * 1024  # a user may have 64 MiB of pipes; the default 64 KiB cost a third of the speed
_READ_BYTES = 64 * 1024  # a larger read makes the system allocate new memory, which costs more than the read


def open_pipes() -> Pipes:
    """Open the pipes of a guest; raises ToolError if this process has no free descriptor."""
    try:
        pipes = Pipes()
    except OSError as error:
        raise ToolError(f"a kernel cannot be started: {os.strerror(error.errno or 0).lower()}") from error
    with suppress(AttributeError, OSError):  # not on Linux, or the user's pipe quota is used up
        fcntl.fcntl(pipes.errors, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return pipes


class Channel:
    """Sends frames, and passes received frames and printed text to callbacks."""

    def __init__(
        self,
        pipes: Pipes,
        *,
        receive: Callable[[FromGuest | Malformed], None],
        printed: Callable[[bytes], None],
        hung_up: Callable[[], None],
        clogged: Callable[[], None],
    ) -> None:
        """Call `hung_up` when the guest closes its side, `clogged` when it leaves too much unread."""
        self._to_guest, self._frames, self._output = pipes.ours
        self._receive = receive
        self._printed = printed
        self._hung_up = hung_up
        self._clogged = clogged
        self.lines = FrameDecoder()
        self.unread_bytes = 0
        """How many bytes were sent but did not fit into the pipe."""
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
        """Delay printed text a little: a separate wake-up for it costs a quarter of a short cell.

        Only if the last cell printed something: so short a timer costs a tenth of such a cell.
        """
        if not self._has_printed:
            return
        self._has_printed = False
        if self._listens:
            self._loop.remove_reader(self._output)
            self._listens = False
        self._alarm.set(self._loop.time() + _HOLD_S)

    def send(self, frame: ToGuest) -> None:
        """Send a frame; it is lost if the channel is closed."""
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
        """Wait until the pipe has taken everything."""
        await self._room.wait()

    def read_rest(self) -> None:
        """Read the frames left in the pipe after the guest has ended."""
        while self._is_open and self._read_frames():
            pass

    def read_output(self) -> None:
        """Read the printed text in the pipe, at most one full pipe."""
        if self._any_output.poll(0):  # a read without data costs an exception
            self._read_output()

    def close(self) -> None:
        """Close the pipes; safe to call more than once."""
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
            self._receive(frame)
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
        """Write as much as fits and return the number of bytes."""
        try:
            return os.write(self._to_guest, data)
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            return len(data)  # the end of the other pipe reports it

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
