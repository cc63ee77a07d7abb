"""Outgoing lines of a client: answers first, then events, each in order and in bounded queues.

```
reply ─▶ answers ─┐
                  ├─▶ everything queued, in one write ─▶ the client
tell  ─▶ events  ─┘
```

The answer to a run goes out among its events, after the last one. A client that does not read blocks those
that send to it, but never a run: the bus of the session drops what cannot be delivered soon.
"""

import asyncio
from collections import deque
from collections.abc import Iterable

from bridle.surfaces.rpc.lines import LineSink

MAX_EVENTS = 256
MAX_ANSWERS = 256
SEND_BYTES = 64 * 1024


class Outbox:
    """Two queues of lines, and one task that sends them."""

    def __init__(self, sink: LineSink) -> None:
        self._sink = sink
        self._answers: deque[bytes] = deque()
        self._events: deque[bytes] = deque()
        self._work = asyncio.Event()
        self._room = asyncio.Condition()
        self._is_closed = False

    async def reply(self, line: bytes) -> None:
        """Send a line as soon as possible; raises ConnectionError if the client is gone."""
        await self._put(self._answers, MAX_ANSWERS, line)

    async def send_event(self, line: bytes) -> None:
        """Send a line after all events before it; raises ConnectionError if the client is gone."""
        await self._put(self._events, MAX_EVENTS, line)

    async def send_events(self, lines: Iterable[bytes]) -> None:
        """Send lines in order, without waiting while there is room; raises ConnectionError."""
        for line in lines:
            if len(self._events) < MAX_EVENTS and not self._is_closed:
                self._events.append(line)
                if not self._work.is_set():
                    self._work.set()
            else:
                await self._put(self._events, MAX_EVENTS, line)

    async def _put(self, lane: deque[bytes], most: int, line: bytes) -> None:
        if len(lane) >= most and not self._is_closed:
            async with self._room:
                await self._room.wait_for(lambda: len(lane) < most or self._is_closed)
        if self._is_closed:
            raise ConnectionResetError("the client is gone")
        lane.append(line)
        self._work.set()

    async def run(self) -> None:
        """Send lines until the client is gone or `close` is called; raises ConnectionError."""
        try:
            while True:
                await self._work.wait()
                while batch := self._batch():
                    await self._sink.send(batch)
                    async with self._room:
                        self._room.notify_all()
                self._work.clear()
                if self._is_closed:
                    return
        finally:
            self._is_closed = True
            async with self._room:
                self._room.notify_all()

    def close(self) -> None:
        """Accept no more lines; `run` ends when all are sent."""
        self._is_closed = True
        self._work.set()

    def _batch(self) -> bytes:
        lines: list[bytes] = []
        size = 0
        while size < SEND_BYTES and (self._answers or self._events):
            lines.append((self._answers or self._events).popleft())
            size += len(lines[-1])
        return b"".join(lines)
