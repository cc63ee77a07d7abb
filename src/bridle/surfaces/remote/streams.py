"""Buffers of answers that the daemon has sent and the client has not read yet."""

import asyncio
from collections import deque

import msgspec

from bridle.core.codec import decode_record
from bridle.core.errors import BridleError
from bridle.core.ids import SessionId
from bridle.core.protocol import Delta, Lagged, Record
from bridle.core.session_api import SessionNews

BACKLOG = 4096  # deltas in the buffer before they are dropped

_news = msgspec.json.Decoder(SessionNews)
_deltas: msgspec.json.Decoder[Delta] = msgspec.json.Decoder(Delta)


class Watching:
    """Buffers the items of one watch."""

    def __init__(self) -> None:
        self._items: deque[Record | Delta] = deque()
        self._changed = asyncio.Event()
        self._error: BridleError | None = None
        self._fragments = 0

    def take(self, line: msgspec.Raw) -> None:
        """Add an item; if there are too many deltas, drop and count them. Records are never dropped."""
        is_record = bytes(memoryview(line)[:7]) == b'{"seq":'
        item = decode_record(bytes(line)) if is_record else _deltas.decode(line)
        self._fragments += not is_record
        if self._fragments > BACKLOG:
            kept = [old for old in self._items if isinstance(old, Record)]
            self._items = deque([*kept, Lagged(self._fragments - 1)])
            self._fragments = 1
        self._items.append(item)
        self._changed.set()

    def fail(self, error: BridleError) -> None:
        """Store the error that ends the stream."""
        self._error = error
        self._changed.set()

    async def next(self) -> Record | Delta:
        """Wait for the oldest item and return it; after the last, raises the error that ended the watch."""
        while not self._items:
            if self._error is not None:
                raise self._error
            self._changed.clear()
            await self._changed.wait()
        item = self._items.popleft()
        self._fragments -= not isinstance(item, Record)
        return item


class Reading:
    """Buffers the latest news of each session."""

    def __init__(self) -> None:
        self._news: dict[SessionId, SessionNews] = {}
        self._changed = asyncio.Event()
        self._error: BridleError | None = None

    def take(self, line: msgspec.Raw) -> None:
        """Add news; they replace older news of the same session."""
        news = _news.decode(line)
        self._news[news.session] = news
        self._changed.set()

    def fail(self, error: BridleError) -> None:
        """Store the error that ends the stream."""
        self._error = error
        self._changed.set()

    async def next(self) -> list[SessionNews]:
        """Wait for news and return them; after the last, raises the error that ended the stream."""
        await self._changed.wait()
        self._changed.clear()
        taken, self._news = list(self._news.values()), {}
        if not taken and self._error is not None:
            raise self._error
        if self._error is not None:
            self._changed.set()
        return taken
