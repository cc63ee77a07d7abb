"""Streams of sessions that a client watches: as Meerkat events, or as Bridle records."""

import asyncio
from contextlib import aclosing

from bridle.core.errors import BridleError, UsageError
from bridle.core.ids import SessionId
from bridle.core.queries import Records
from bridle.core.session_api import SessionApi
from bridle.surfaces.rpc.line_encoder import EventLines, RecordLines
from bridle.surfaces.rpc.outbox import Outbox
from bridle.surfaces.rpc.protocol import error_response, notification_line
from bridle.surfaces.rpc.server_context import RpcContext

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
        await self._outbox.tell(notification_line("session/stream_end", params))
