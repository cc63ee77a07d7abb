"""The printed text of a kernel's cells: shown as it comes, and kept within a limit.

```
printed  [ head, kept ][ ... left out ... ][ tail, kept ]
shown    [ as many bytes from the start, at most 20 times a second ]
```
"""

import asyncio
import codecs
from collections.abc import Callable

from bridle.kernel.alarm import Alarm

INTERVAL_S = 0.05

_MAX_CHARACTER_BYTES = 4
_LATER_BYTES = bytes(range(0x80, 0xC0))  # continuation bytes of a character that was cut in two
_MORE = "\n[there is more; it is not shown live]\n"


class Output:
    """Collects bytes; those that come between two cells belong to the second one."""

    def __init__(self, max_bytes: int) -> None:
        """Keep `max_bytes` for each cell: half from the start and half from the end."""
        self._half = max(1, max_bytes // 2)
        self._loop = asyncio.get_running_loop()
        self._alarm = Alarm(self._show)
        self._is_due = False
        """True while the alarm is set."""
        self._emit: Callable[[str], None] | None = None
        self._earliest = 0.0
        self._head, self._tail, self._pending = bytearray(), bytearray(), bytearray()
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._left_out = 0
        self._live_left = 2 * self._half

    def feed(self, data: bytes) -> None:
        """Add printed bytes."""
        if not data:
            return
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
        if len(data) > room:
            self._add_to_tail(data[room:] if room > 0 else data)
        if self._live_left:
            self._pending += data[: self._live_left]
            self._live_left -= min(self._live_left, len(data))
        if self._emit is not None and self._pending and not self._is_due:
            self._show_in_time()

    def begin(self, emit: Callable[[str], None]) -> None:
        """Show printed text from now on, including what has come since the last cell."""
        self._emit = emit
        if self._pending:
            self._show_in_time()

    def show(self) -> None:
        """Show pending text at once."""
        self._hush()
        if self._pending:
            self._show()

    def end(self, last: str = "") -> str:
        """Show the rest; return all printed text plus `last`, or its head and tail if it is too long."""
        emit, self._emit = self._emit, None
        if not self._head and len(last) <= self._half // _MAX_CHARACTER_BYTES:
            if last and emit is not None:
                emit(last)
            return last
        self.feed(last.encode(errors="replace"))
        text = self._text()
        self._hush()
        if emit is not None:
            rest = self._decoder.decode(bytes(self._pending), final=True)
            rest += "" if self._live_left else _MORE
            if rest:
                emit(rest)
        self._clear()
        return text

    def close(self) -> None:
        """Show nothing more."""
        self._emit = None
        self._alarm.close()

    def _clear(self) -> None:
        for kept in (self._head, self._tail, self._pending):
            kept.clear()
        self._decoder.reset()
        self._left_out = 0
        self._live_left = 2 * self._half

    def _add_to_tail(self, data: bytes) -> None:
        self._tail += data
        if len(self._tail) > 2 * self._half:  # only now and then: moving the bytes costs time
            self._cut_tail()

    def _cut_tail(self) -> None:
        surplus = max(0, len(self._tail) - self._half)
        del self._tail[:surplus]
        self._left_out += surplus

    def _text(self) -> str:
        if not self._tail:
            return self._head.decode(errors="replace")
        self._cut_tail()
        if not self._left_out:
            return (self._head + self._tail).decode(errors="replace")
        head, _ = codecs.utf_8_decode(self._head, "replace", False)
        tail = self._tail.lstrip(_LATER_BYTES).decode(errors="replace")
        return f"{head}\n[{self._left_out} bytes are left out here]\n{tail}"

    def _show_in_time(self) -> None:
        """Show pending text at once, or later if some was shown a moment ago."""
        if self._loop.time() >= self._earliest:
            self._show()
        else:
            self._is_due = True
            self._alarm.set(self._earliest)

    def _hush(self) -> None:
        self._is_due = False
        self._alarm.clear()

    def _show(self) -> None:
        self._is_due = False
        self._earliest = self._loop.time() + INTERVAL_S
        text = self._decoder.decode(bytes(self._pending))
        self._pending.clear()
        if text and self._emit is not None:
            self._emit(text)
