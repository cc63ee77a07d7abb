"""Streams of answers: what the daemon has sent and nobody has taken yet."""

import asyncio
from collections import deque

import msgspec

from bridle.core.codec import decode_record
from bridle.core.errors import BridleError
from bridle.core.ids import SessionId
from bridle.core.protocol import Delta, Lagged, Record
from bridle.core.session_api import SessionNews

BACKLOG = 4096  # items that may wait here before fragments are dropped

_news = msgspec.json.Decoder(SessionNews)
_deltas: msgspec.json.Decoder[Delta] = msgspec.json.Decoder(Delta)


class Watching:
    """The items of one watch."""

    def __init__(self) -> None:
        self._items: deque[Record | Delta] = deque()
        self._changed = asyncio.Event()
        self._error: BridleError | None = None
        self._fragments = 0

    def take(self, line: msgspec.Raw) -> None:
        """Let an item wait; of too many the fragments are dropped and counted, records never are."""
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
        """Say why nothing more comes."""
        self._error = error
        self._changed.set()

    async def next(self) -> Record | Delta:
        """Wait for the item that has waited longest; raises what the watch has failed with after the last."""
        while not self._items:
            if self._error is not None:
                raise self._error
            self._changed.clear()
            await self._changed.wait()
        item = self._items.popleft()
        self._fragments -= not isinstance(item, Record)
        return item


class Reading:
    """The latest news of each session."""

    def __init__(self) -> None:
        self._news: dict[SessionId, SessionNews] = {}
        self._changed = asyncio.Event()
        self._error: BridleError | None = None

    def take(self, line: msgspec.Raw) -> None:
        """Let news wait, in the place of older news of the same session."""
        news = _news.decode(line)
        self._news[news.session] = news
        self._changed.set()

    def fail(self, error: BridleError) -> None:
        """Say why nothing more comes."""
        self._error = error
        self._changed.set()

    async def next(self) -> list[SessionNews]:
        """Wait for news; raises what the reading has failed with after the last of them."""
        await self._changed.wait()
        self._changed.clear()
        taken, self._news = list(self._news.values()), {}
        if not taken and self._error is not None:
            raise self._error
        if self._error is not None:
            self._changed.set()
        return taken
