"""Helpers of the surfaces: common operations that combine calls of the session API."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING
from uuid import UUID

from bridle.core.errors import KeyTaken, SessionConflict, SessionNotRunning
from bridle.core.ids import RunId, SessionId
from bridle.core.messages import Message
from bridle.core.protocol import LIKE_AGENT, Aborted, Fork, Record, RunEnded, SessionCreated, SessionOptions
from bridle.core.queries import Records
from bridle.core.session import Session, fold
from bridle.core.session_api import ForkReceipt, SessionApi

if TYPE_CHECKING:
    from bridle.surfaces.shared.export import Format


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
    from bridle.surfaces.shared.export import FORMATS  # only a few callers need it

    return await asyncio.to_thread(FORMATS[form], await api.ask(Records(session)))


async def fork_session(
    api: SessionApi,
    session: SessionId,
    at: int | None = None,
    *,
    messages: int | None = None,
    session_id: SessionId | None = None,
) -> SessionId:
    """Create a child with the messages up to record `at`, or the first few; by default all. Return its id."""
    receipt = await api.submit(session, Fork(at, session_id, messages))
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


# ---------------------------------------------------------------------------- session keys
# Creates sessions under an idempotency key: a repeated request gets the same session, even after a crash.


def session_id_for_key(*parts: str) -> SessionId:
    """Return the session id of a key, always the same."""
    digest = hashlib.sha256("\0".join(parts).encode()).digest()
    return SessionId(str(UUID(bytes=digest[:16], version=5)))


async def open_session(
    api: SessionApi,
    *,
    cwd: str,
    agent: str,
    title: str,
    key: str = "",
    options: SessionOptions = LIKE_AGENT,
    messages: Sequence[Message] = (),
    labels: Mapping[str, str] = {},
) -> tuple[SessionId, bool]:
    """Begin a session, or find the one of the same key; tells whether it is new.

    Raises KeyTaken for the key of another session, and what the session API raises.
    """
    wanted = session_id_for_key("session", key) if key else None
    try:
        session = await api.create(
            cwd=cwd,
            agent=agent,
            title=title,
            session_id=wanted,
            options=options,
            messages=messages,
            labels=labels,
        )
    except SessionConflict:
        if wanted is None:
            raise
        created = await origin(api, wanted)
        asked = (cwd, agent or created.agent, title, options, labels)
        if asked != (created.cwd, created.agent, created.title, created.options, created.labels):
            raise KeyTaken(f'the key "{key}" belongs to another session', hint="use a new key") from None
        return created.session_id, False
    return session, True
