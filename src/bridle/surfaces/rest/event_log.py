"""One session as its watchers are told of it: read once, encoded once, kept for a while.

```
api.watch ─▶ translate ─▶ [ entry | entry | entry | … ]     a bounded log of ready bytes
                                 ▲         ▲        ▲
                                 slow      others   end      each watcher takes a slice, as one write
```

A watcher that is behind the first entry has lagged: what it missed is in the store.
"""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import aclosing

from msgspec import Struct

from bridle.core.errors import SessionNotFound
from bridle.core.ids import SessionId
from bridle.core.protocol import Record
from bridle.core.session_api import SessionApi
from bridle.surfaces.rest.event_format import (
    EventEncoder,
    EventFormat,
    Frame,
    event_bytes,
    item_bytes,
    open_encoder,
)

SLICE_BYTES = 128 * 1024  # of one write; a slow client has at most this in memory, plus one entry

log = logging.getLogger("bridle.rest")


class LogLimits(Struct, frozen=True):
    """How much is kept, and how often watchers are woken."""

    entries: int = 8_192
    """More than can arrive at once, which is what the bus buffers for a watcher."""
    size_bytes: int = 4 * 1024 * 1024
    gather_s: float = 0.02
    """Time between two writes to a watcher: a write costs as much as dozens of small entries."""
    heartbeat_s: float = 15.0


class EventLog:
    """The shared event log of a session in one event format, open while it has watchers."""

    def __init__(
        self, api: SessionApi, session: SessionId, event_format: EventFormat, bounds: LogLimits
    ) -> None:
        self.session = session
        self.event_format = event_format
        self.users = 0
        self.seq = 0
        """The newest record that is or was in the log."""
        self.first = 0
        """The position of the oldest entry in the log."""
        self.end = 0
        """The position after the newest entry."""
        self.error: BaseException | None = None
        """Why the log ended."""
        self._api = api
        self._bounds = bounds
        self._entries: list[tuple[int, bytes]] = []
        self._size = 0
        self._cut = (-1, 0, 0, b"")
        self._ready = asyncio.Event()
        self._news = asyncio.Event()
        self._woken_at = 0.0
        self._encoder: EventEncoder | None = None
        self._waking: asyncio.TimerHandle | None = None
        self._releasing: asyncio.TimerHandle | None = None
        self._beating: asyncio.TimerHandle | None = None
        self._pumping: asyncio.Task[None] | None = None

    # ------------------------------------------------------------------ lifecycle

    def start(self) -> None:
        """Start filling the log."""
        self._pumping = asyncio.create_task(self._pump())
        self._pumping.add_done_callback(self._ended)
        self._beat()

    async def ready(self) -> None:
        """Wait until the log misses no new event."""
        await self._ready.wait()

    async def aclose(self) -> None:
        """Stop watching the session."""
        for timer in (self._waking, self._releasing, self._beating):
            if timer is not None:
                timer.cancel()
        if self._pumping is not None:
            self._pumping.cancel()
            await asyncio.wait({self._pumping})

    # ------------------------------------------------------------------ for watchers

    def slice(self, position: int) -> tuple[int, int, bytes]:
        """Return the slice at a position: its end, the newest record in it, and its bytes."""
        if self._cut[0] == position:  # other watchers just took the same slice
            return self._cut[1:]
        size, parts = 0, []
        end, seq = position, 0
        for index in range(position - self.first, len(self._entries)):
            seq, data = self._entries[index]
            parts.append(data)
            end += 1
            size += len(data)
            if size >= SLICE_BYTES:
                break
        self._cut = position, end, seq, b"".join(parts)
        return self._cut[1:]

    def join(self) -> tuple[int, Sequence[Frame]]:
        """Return the start position for a watcher that has seen all records, and the events to send first."""
        self._release()
        return self.end, () if self._encoder is None else self._encoder.welcome()

    async def news(self) -> None:
        """Wait for new entries or a heartbeat."""
        await self._news.wait()

    def wake(self) -> None:
        """Wake all waiting watchers."""
        if self._waking is not None:
            self._waking.cancel()
            self._waking = None
        self._woken_at = asyncio.get_running_loop().time()
        self._news.set()
        self._news.clear()

    # ------------------------------------------------------------------ filling the log

    async def _pump(self) -> None:
        async with aclosing(self._api.watch(self.session, None)) as items:
            newest = await anext(items)
            assert isinstance(newest, Record)
            self._encoder = encoder = await open_encoder(
                self._api, self.session, self.event_format, newest.seq
            )
            self.seq = newest.seq
            self._ready.set()
            async for item in items:
                frames = encoder.encode_item(item)
                if isinstance(item, Record):
                    self._add(item.seq, item_bytes(item, frames))
                elif frames:
                    self._add(self.seq, event_bytes(frames))
                elif self.event_format.hold_s and self._releasing is None:
                    loop = asyncio.get_running_loop()
                    self._releasing = loop.call_later(self.event_format.hold_s, self._release)
                if encoder.is_void:
                    self._encoder = None
                    self._encoder = encoder = await open_encoder(
                        self._api, self.session, self.event_format, self.seq
                    )

    def _release(self) -> None:
        """Add the events that the encoder held back to the log."""
        if self._releasing is not None:
            self._releasing.cancel()
            self._releasing = None
        if self._encoder is not None and (frames := self._encoder.release()):
            self._add(self.seq, event_bytes(frames))

    def _ended(self, pumping: asyncio.Task[None]) -> None:
        """Wake the watchers to report why the log ended; not if it was cancelled."""
        if pumping.cancelled():
            return
        self.error = pumping.exception()
        if not isinstance(self.error, SessionNotFound):  # it was deleted
            log.warning("session %s can no longer be watched", self.session, exc_info=self.error)
        self._ready.set()
        self.wake()

    def _add(self, seq: int, data: bytes) -> None:
        self.seq = seq
        self._entries.append((seq, data))
        self._size += len(data)
        self.end += 1
        if len(self._entries) > self._bounds.entries or self._size > self._bounds.size_bytes:
            self._forget()
        if self._waking is None:
            loop = asyncio.get_running_loop()
            self._waking = loop.call_later(
                max(0.0, self._woken_at + self._bounds.gather_s - loop.time()), self.wake
            )

    def _forget(self) -> None:
        """Drop the oldest quarter at once, as each removal shifts the rest; keep the newest entry always."""
        entries, size_bytes = self._bounds.entries * 3 // 4, self._bounds.size_bytes * 3 // 4
        count = 0
        for _, data in self._entries[:-1]:
            if len(self._entries) - count <= entries and self._size <= size_bytes:
                break
            self._size -= len(data)
            count += 1
        del self._entries[:count]
        self.first += count

    def _beat(self) -> None:
        """Wake the watchers regularly: those without new entries send a heartbeat to their clients."""
        self._beating = asyncio.get_running_loop().call_later(self._bounds.heartbeat_s, self._beat)
        self.wake()
