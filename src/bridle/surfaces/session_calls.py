"""Helpers of the surfaces: common operations that combine calls of the session API."""

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from bridle.core.errors import SessionNotRunning
from bridle.core.ids import RunId, SessionId
from bridle.core.protocol import Aborted, Fork, Record, RunEnded, SessionCreated
from bridle.core.queries import Records
from bridle.core.session import Session, fold
from bridle.core.session_api import ForkReceipt, SessionApi

if TYPE_CHECKING:
    from bridle.surfaces.export import Format


async def origin(api: SessionApi, session: SessionId) -> SessionCreated:
    """Return the first event of a session; raises SessionNotFound."""
    [record] = await api.ask(Records(session, limit=1))
    assert isinstance(record.event, SessionCreated)
    return record.event


async def read_session(api: SessionApi, session: SessionId) -> Session:
    """Return the whole session as stored; raises SessionNotFound."""
    return fold(await api.ask(Records(session)))


async def export_session(api: SessionApi, session: SessionId, form: "Format" = "md") -> str:
    """Return a session as a document; raises SessionNotFound."""
    from bridle.surfaces.export import FORMATS  # only a few callers need it

    return await asyncio.to_thread(FORMATS[form], await api.ask(Records(session)))


async def fork_session(
    api: SessionApi, session: SessionId, at: int | None = None, *, session_id: SessionId | None = None
) -> SessionId:
    """Create a child session with the messages up to record `at` (default: all); return its id."""
    receipt = await api.submit(session, Fork(at, session_id))
    assert isinstance(receipt, ForkReceipt)
    return receipt.session


async def wait_for_run(api: SessionApi, session: SessionId, run_id: RunId, after: int = 0) -> RunEnded:
    """Wait for the end of a run that is recorded after `after`."""
    async with aclosing(api.watch(session, after)) as items:
        async for item in items:
            match item:
                case Record(event=RunEnded() as ended) if ended.run_id == run_id:
                    return ended
                case Aborted() if item.run_id == run_id:
                    return RunEnded(run_id, "failed", reason=item.reason)
                case _:
                    pass
    raise SessionNotRunning(f"run {run_id} is no longer followed")
