"""News of every session as server-sent events: alone, or between the events of one session.

```
api.watch(None) ─▶ NewsFeed: the latest of each session, encoded once ─▶ every stream that wants it
```

A browser has few connections for each host, so a page that follows a session hears the news there, too. A
client that is slow hears of a session once, as it is by then.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from bridle.core.codec import encode
from bridle.core.ids import SessionId
from bridle.core.session_api import SessionApi, SessionNews
from bridle.surfaces.rest.event_format import event_bytes
from bridle.surfaces.rest.event_stream import DONE, HEARTBEAT, RETRY
from bridle.surfaces.rest.problem_document import document_of

HEARTBEAT_S = 15.0
GATHER_S = 0.05  # between two writes to a client
MAX_GONE = 1_000  # sessions known to be no longer in memory

log = logging.getLogger("bridle.rest")


def news_event(news: SessionNews) -> bytes:
    """Return the bytes of one event."""
    return event_bytes([("news", encode(news))])


class NewsFeed:
    """The news of all sessions, read as long as a client listens."""

    def __init__(self, api: SessionApi, heartbeat_s: float = HEARTBEAT_S, max_gone: int = MAX_GONE) -> None:
        self.heartbeat_s = heartbeat_s
        self._max_gone = max_gone
        self._api = api
        self._stopped = asyncio.Event()
        self._changed = asyncio.Event()
        self._error: BaseException | None = None
        self._latest: dict[SessionId, tuple[int, bytes]] = {}
        """By session; the last to change is at the end."""
        self._gone: dict[SessionId, None] = {}
        self._position = 0
        self._listeners = 0
        self._pumping: asyncio.Task[None] | None = None

    def stop(self) -> None:
        """End the streams that carry only news."""
        self._stopped.set()

    async def stopped(self) -> None:
        """Wait until the server stops."""
        await self._stopped.wait()

    async def listen(self) -> AsyncGenerator[bytes, None]:
        """Yield events: the state of every session, then the changes, until the news end."""
        async with self._listening():
            position = 0
            while True:
                position, data = self._since(position)
                if data:
                    yield data
                    await asyncio.sleep(GATHER_S)
                elif self._error is not None:
                    yield event_bytes([("error", encode(document_of(self._error)))])
                    return
                else:
                    await self._changed.wait()

    @asynccontextmanager
    async def _listening(self) -> AsyncIterator[None]:
        """Read the news while there are listeners; the last one to leave stops it."""
        if not self._listeners:
            self._latest, self._gone, self._error = {}, {}, None
            self._pumping = asyncio.create_task(self._pump())
            self._pumping.add_done_callback(self._ended)
        self._listeners += 1
        try:
            yield
        finally:
            self._listeners -= 1
            if not self._listeners and self._pumping is not None:
                self._pumping.cancel()

    async def _pump(self) -> None:
        async with aclosing(self._api.watch(None)) as items:
            async for news in items:
                self._add(news)

    def _ended(self, pumping: "asyncio.Task[None]") -> None:
        if pumping.cancelled() or pumping is not self._pumping:
            return
        self._error = pumping.exception()
        log.warning("the news of the sessions ended", exc_info=self._error)
        self._tell()

    def _add(self, news: SessionNews) -> None:
        self._position += 1
        for known in (self._latest, self._gone):
            known.pop(news.session, None)
        self._latest[news.session] = self._position, news_event(news)
        if news.live is None:
            self._gone[news.session] = None
            if len(self._gone) > self._max_gone:
                oldest = next(iter(self._gone))
                del self._gone[oldest], self._latest[oldest]
        self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed.clear()

    def _since(self, position: int) -> tuple[int, bytes]:
        """Return the events after a position, and the current position."""
        found = []
        for at, data in reversed(self._latest.values()):
            if at <= position:
                break
            found.append(data)
        return self._position, b"".join(reversed(found))


class WithNews(Response):
    """Combines an event stream with the news."""

    def __init__(self, feed: NewsFeed, stream: Response) -> None:
        self.background = None
        self._feed = feed
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream; the news start after its headers and end with it."""
        shared = _SharedSend(send)
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(self._tell(shared))
            try:
                await self._stream(scope, receive, shared)
            finally:
                sending.cancel()

    async def _tell(self, send: "_SharedSend") -> None:
        await send.begun.wait()
        async with aclosing(self._feed.listen()) as events:
            async for data in events:
                await send({"type": "http.response.body", "body": data, "more_body": True})


class _SharedSend:
    """Serializes the messages of two senders, and drops messages after the last one."""

    def __init__(self, send: Send) -> None:
        self.begun = asyncio.Event()
        self._send = send
        self._is_over = False
        self._sending = asyncio.Lock()  # or messages of the two would mix

    async def __call__(self, message: Message) -> None:
        async with self._sending:
            if self._is_over:
                return
            self._is_over = message["type"] == "http.response.body" and not message.get("more_body", False)
            await self._send(message)
        self.begun.set()


class OnlyNews(Response):
    """A stream that carries only heartbeats, until the server stops."""

    media_type = "text/event-stream"

    def __init__(self, feed: NewsFeed) -> None:
        self.status_code = 200
        self.background = None
        self.init_headers({"x-accel-buffering": "no"})  # or a proxy would buffer events
        self._feed = feed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Keep the stream open until the client leaves or the server stops."""
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return
        await send({"type": "http.response.body", "body": RETRY, "more_body": True})
        async with asyncio.TaskGroup() as group:
            beating = group.create_task(self._beat(send))
            waiting = {group.create_task(self._feed.stopped()), group.create_task(_until_left(receive))}
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in (beating, *waiting):
                task.cancel()
        await send({"type": "http.response.body", "body": DONE})

    async def _beat(self, send: Send) -> None:
        while True:
            await asyncio.sleep(self._feed.heartbeat_s)
            await send({"type": "http.response.body", "body": HEARTBEAT, "more_body": True})


async def _until_left(receive: Receive) -> None:
    with suppress(OSError):
        while (await receive())["type"] != "http.disconnect":
            pass
