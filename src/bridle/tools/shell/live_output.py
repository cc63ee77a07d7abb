"""Show output while it arrives, limited in rate and size."""

import asyncio
from collections.abc import Callable

from bridle.tools.secrets import Masker
from bridle.tools.shell.terminal_text import LiveText

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
