"""Streams of sessions that a client watches: as Meerkat events, or as Bridle records."""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

import msgspec

from bridle.core.errors import BridleError, UsageError
from bridle.core.ids import SessionId
from bridle.core.protocol import Delta, Record
from bridle.core.protocol import TextDelta as OurTextDelta
from bridle.core.queries import Records
from bridle.core.session_api import SessionApi
from bridle.surfaces.meerkat.event_translator import EventTranslator
from bridle.surfaces.meerkat.events import AgentEvent, ReasoningDelta, StreamTruncated, TextDelta
from bridle.surfaces.meerkat.wire_format import Envelopes, to_wire
from bridle.surfaces.rpc.outbox import Outbox
from bridle.surfaces.rpc.protocol import error_response, notification_line
from bridle.surfaces.rpc.server_context import RpcContext
from bridle.surfaces.shared.truncation import encode_truncated, split_in_half

# ---------------------------------------------------------------------------- line encoder
# Encodes a session's records and deltas as lines within a client's length limit.


SHORT_CHARS = 1_000  # at most six bytes each

_encode = msgspec.json.Encoder().encode


class EventLines:
    """Encodes a session's items as Meerkat events."""

    def __init__(self, context: RpcContext, session: SessionId, stream: str = "") -> None:
        """Create lines for the session's events, or for a stream that the client opened."""
        self._context = context
        self._contract = context.contract
        self._translation = EventTranslator(session)
        self._most_bytes = context.contract.max_line_bytes
        enveloped = bool(stream) or context.contract.enveloped
        self._envelopes = Envelopes(session, context.new_id()) if enveloped else None
        where: dict[str, str] = {"session_id": session}
        method = "session/event"
        if stream:
            where, method = {"stream_id": stream, **where}, "session/stream_event"
        head = _encode({"jsonrpc": "2.0", "method": method, "params": where})
        self._head = head.removesuffix(b"}}") + b',"event":'
        self._text_head = self._head + b'{"type":"text_delta","delta":'

    def of(self, item: Record | Delta) -> list[bytes]:
        """Return the lines of one item, in order."""
        if type(item) is OurTextDelta and self._envelopes is None and len(item.text) < SHORT_CHARS:
            return [b"%b%b}}}\n" % (self._text_head, _encode(item.text))]  # the most frequent kind of line
        at = item.at if isinstance(item, Record) else None
        return [line for event in self._translation.add(item) for line in self._lines(event, at)]

    def say(self, event: AgentEvent) -> list[bytes]:
        """Return the lines of an event that has no record."""
        return list(self._lines(event, None))

    def _lines(self, event: AgentEvent, at: int | None) -> Iterator[bytes]:
        shaped = to_wire(event, self._contract)
        if shaped is None:
            return
        if self._envelopes is not None:
            shaped = self._envelopes.wrap(shaped, self._context.now_ms() if at is None else at)
        line = self._write(shaped)
        if len(line) <= self._most_bytes:
            yield line
        elif isinstance(event, TextDelta | ReasoningDelta) and len(event.delta) > 1:
            for part in split_in_half(event.delta):
                yield from self._lines(type(event)(part), at)
        else:
            cut = encode_truncated(shaped, self._write, self._most_bytes)
            yield from [cut] if cut is not None else self._lines(StreamTruncated(1), at)

    def _write(self, event: Any) -> bytes:
        return self._head + _encode(event) + b"}}\n"


class RecordLines:
    """Encodes a session's items as Bridle records and deltas."""

    def __init__(self, context: RpcContext, session: SessionId, stream: str) -> None:
        self._most_bytes = context.contract.max_line_bytes
        where = {"stream_id": stream, "session_id": session}
        head = _encode({"jsonrpc": "2.0", "method": "session/record", "params": where})
        self._head = head.removesuffix(b"}}")

    def of(self, item: Record | Delta) -> list[bytes]:
        """Return the line of one item, shortened if it is too long; none if it cannot be shortened enough."""
        name = b"record" if isinstance(item, Record) else b"delta"

        def write(value: Any) -> bytes:
            return b'%b,"%b":%b}}\n' % (self._head, name, _encode(value))

        line = write(item)
        if len(line) <= self._most_bytes:
            return [line]
        cut = encode_truncated(item, write, self._most_bytes)
        return [] if cut is None else [cut]


# ---------------------------------------------------------------------------- streams


MAX_STREAMS = 64


class Streams:
    """The open streams of one client."""

    def __init__(self, context: RpcContext, outbox: Outbox) -> None:
        self._context = context
        self._api: SessionApi = context.api
        self._outbox = outbox
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def open_events(self, session: SessionId) -> str:
        """Stream new events in Meerkat's format; raises SessionNotFound."""
        stream = str(self._context.new_id())
        await self._begin(stream, session, EventLines(self._context, session, stream), None)
        return stream

    async def open_records(self, session: SessionId, after: int | None) -> str:
        """Stream every record after `after`, and new deltas; raises SessionNotFound."""
        stream = str(self._context.new_id())
        await self._begin(stream, session, RecordLines(self._context, session, stream), after)
        return stream

    async def close(self, stream: str) -> bool:
        """Close a stream; return False if there is none."""
        task = self._tasks.pop(stream, None)
        if task is None:
            return False
        task.cancel()
        await asyncio.wait([task])
        return True

    async def aclose(self) -> None:
        """Close every stream."""
        tasks, self._tasks = list(self._tasks.values()), {}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _begin(
        self, stream: str, session: SessionId, lines: EventLines | RecordLines, after: int | None
    ) -> None:
        if len(self._tasks) >= MAX_STREAMS:
            raise UsageError(f"{MAX_STREAMS} streams are open", hint="session/stream_close")
        is_open: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._follow(stream, session, lines, after, is_open))
        self._tasks[stream] = task
        task.add_done_callback(lambda _: self._tasks.pop(stream, None))
        await is_open

    async def _follow(
        self,
        stream: str,
        session: SessionId,
        lines: EventLines | RecordLines,
        after: int | None,
        is_open: "asyncio.Future[None]",
    ) -> None:
        try:
            async with aclosing(self._api.watch(session, after)) as items:
                if after is None:
                    await anext(items)  # everything after this is new
                else:
                    await self._api.ask(Records(session, limit=1))
                is_open.set_result(None)
                async for item in items:
                    await self._outbox.send_events(lines.of(item))
        except (BridleError, ConnectionError) as error:
            if not is_open.done():
                is_open.set_exception(error)
            else:
                await self._tell_end(stream, session, error)

    async def _tell_end(self, stream: str, session: SessionId, error: BridleError | ConnectionError) -> None:
        if isinstance(error, ConnectionError):
            return  # the client is gone
        outcome = {"type": "failed", "error": error_response(error).message}
        params = {"stream_id": stream, "session_id": session, "outcome": outcome}
        await self._outbox.send_event(notification_line("session/stream_end", params))
