"""Server-sent events of sessions: stored records first, then live events, for any number of clients.

```
retry ─▶ preface ─▶ records of the store ─▶ slices of the shared log ─▶ … ─▶ done
                          ▲                        │
                          └── lagged ◀── too slow ─┘
```

A client resumes with the number of the last record it has seen. Its stream ends when the client leaves, and
with `event: done` when the server stops or, if it is not live, after the stored records.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from bridle.core.codec import encode
from bridle.core.errors import BridleError
from bridle.core.ids import SessionId
from bridle.core.protocol import Lagged
from bridle.core.queries import Records
from bridle.core.session_api import SessionApi
from bridle.surfaces.rest.event_format import (
    OURS,
    PAGE,
    EventEncoder,
    EventFormat,
    Frame,
    event_bytes,
    item_bytes,
    open_encoder,
)
from bridle.surfaces.rest.event_log import EventLog, LogLimits
from bridle.surfaces.rest.problem_document import document_of

RETRY = b"retry: 2000\n\n"  # ms until a client reconnects
HEARTBEAT = b":\n\n"
DONE = event_bytes([("done", b"{}")])


class Streams:
    """All open streams of a server."""

    def __init__(self, api: SessionApi, bounds: LogLimits | None = None) -> None:
        self.api = api
        self.is_stopped = False
        self._bounds = bounds or LogLimits()
        self._channels: dict[tuple[SessionId, str], EventLog] = {}

    async def open(
        self,
        session: SessionId,
        after: int | None = None,
        event_format: EventFormat = OURS,
        *,
        preface: Sequence[Frame] = (),
        live: bool = True,
    ) -> "EventStream":
        """Return a response with every record after `after`; None means only new events.

        `preface` comes first. If not `live`, it ends after the stored records. Raises SessionNotFound.
        """
        await self.api.ask(Records(session, limit=1))
        return EventStream(self, session, after, event_format, preface=preface, live=live)

    def stop(self) -> None:
        """End every stream after its pending events."""
        self.is_stopped = True
        for channel in self._channels.values():
            channel.wake()

    @property
    def watched(self) -> int:
        """The number of channels: sessions being watched, counted per event format."""
        return len(self._channels)

    @asynccontextmanager
    async def channel(self, session: SessionId, event_format: EventFormat) -> AsyncIterator[EventLog]:
        """Share the event log of a session; the last user closes it."""
        key = session, event_format.name
        channel = self._channels.get(key)
        if channel is None or channel.error is not None:
            channel = self._channels[key] = EventLog(self.api, session, event_format, self._bounds)
            channel.start()
        channel.users += 1
        try:
            await channel.ready()
            yield channel
        finally:
            channel.users -= 1
            if not channel.users:
                if self._channels.get(key) is channel:
                    del self._channels[key]
                await channel.aclose()


class EventStream(Response):
    """A response that streams events."""

    media_type = "text/event-stream"

    def __init__(
        self,
        streams: Streams,
        session: SessionId,
        after: int | None,
        event_format: EventFormat,
        *,
        preface: Sequence[Frame],
        live: bool,
    ) -> None:
        self.status_code = 200
        self.background = None
        self.init_headers({"x-accel-buffering": "no"})  # or a proxy would buffer events
        self._streams = streams
        self._session = session
        self._after = after
        self._event_format = event_format
        self._preface = preface
        self._live = live

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the client leaves or there are no more.

        Once the client has the headers, it misses no later event.
        """
        if scope["method"] == "HEAD":
            await self._start(send)
            await send({"type": "http.response.body", "body": b""})
            return
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(self._send_events(send))
            leaving = group.create_task(_until_left(receive))
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            sending.cancel()
            leaving.cancel()

    async def _start(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})

    async def _send_events(self, send: Send) -> None:
        try:
            await (self._follow(send) if self._live else self._read(send))
        except BridleError as error:
            await _send(send, _error_bytes(error))
        await send({"type": "http.response.body", "body": DONE})

    async def _greet(self, send: Send) -> None:
        await self._start(send)
        await _send(send, RETRY + event_bytes(self._preface))

    async def _read(self, send: Send) -> None:
        """Send the stored records."""
        await self._greet(send)
        if self._after is not None:
            encoder = await self._open_encoder(self._after)
            await _send(send, event_bytes(encoder.welcome()))
            await self._catch_up(send, encoder, self._after, None)

    async def _follow(self, send: Send) -> None:
        """Send the stored records and then live events, until the server stops."""
        async with self._streams.channel(self._session, self._event_format) as channel:
            seq, (position, welcome) = channel.seq, channel.join()
            await self._greet(send)
            if self._after is not None and self._after != seq:
                seq = await self._begin(send, channel, self._after)
                position, welcome = channel.join()
            await _send(send, event_bytes(welcome))
            while True:
                if position < channel.first:
                    seq = await self._regain(send, channel, position, seq)
                    position, welcome = channel.join()
                    await _send(send, event_bytes(welcome))
                elif position < channel.end:
                    position, seq, data = channel.slice(position)
                    await _send(send, data)
                elif channel.error is not None:
                    await _send(send, _error_bytes(channel.error))
                    return
                elif self._streams.is_stopped:
                    return
                else:
                    await channel.news()
                    if position == channel.end and not self._streams.is_stopped:
                        await _send(send, HEARTBEAT)

    async def _begin(self, send: Send, channel: EventLog, after: int) -> int:
        """Send what the client has not seen; return the number of the newest record sent."""
        if after > channel.seq:  # the store is ahead of the log, or the number is invalid
            newer = await self._streams.api.ask(Records(self._session, channel.seq, PAGE))
            after = min(after, newer[-1].seq if newer else channel.seq)
        encoder = await self._open_encoder(after)
        await _send(send, event_bytes(encoder.welcome()))
        return await self._catch_up(send, encoder, after, channel)

    async def _regain(self, send: Send, channel: EventLog, position: int, seq: int) -> int:
        """Report to a client that it was too slow, and send the records it missed; deltas are lost."""
        if self._event_format.missed is not None:
            await _send(send, event_bytes([self._event_format.missed]))
            return channel.seq
        lagged = Lagged(max(0, channel.end - position - (channel.seq - seq)))
        encoder = await self._open_encoder(seq)
        await _send(send, item_bytes(lagged, encoder.encode_item(lagged)))
        return await self._catch_up(send, encoder, seq, channel)

    async def _catch_up(self, send: Send, encoder: EventEncoder, seq: int, channel: EventLog | None) -> int:
        """Send stored records to the end, or up to where the log continues."""
        while channel is None or (channel.seq != seq and channel.error is None):
            if channel is not None and channel.seq < seq:
                await channel.news()  # the store is ahead of the log
                if self._streams.is_stopped:
                    break
                await _send(send, HEARTBEAT)  # this can take long if another process writes
                continue
            page = await self._streams.api.ask(Records(self._session, seq, PAGE))
            if not page:
                break
            data: list[bytes] = []
            for record in page:
                seq = record.seq
                data.append(item_bytes(record, encoder.encode_item(record)))
                if encoder.is_void:
                    break
            await _send(send, b"".join(data))
            if encoder.is_void:
                encoder = await self._open_encoder(seq)
        return seq

    async def _open_encoder(self, upto: int) -> EventEncoder:
        return await open_encoder(self._streams.api, self._session, self._event_format, upto)


async def _send(send: Send, data: bytes) -> None:
    if data:
        await send({"type": "http.response.body", "body": data, "more_body": True})


def _error_bytes(error: BaseException) -> bytes:
    return event_bytes([("error", encode(document_of(error)))])


async def _until_left(receive: Receive) -> None:
    """Wait until the client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass
