"""Creates sessions under an idempotency key: a repeated request gets the same session, even after a crash."""

import hashlib
from uuid import UUID

from bridle.core.errors import KeyTaken, SessionConflict
from bridle.core.ids import SessionId
from bridle.core.session_api import SessionApi
from bridle.surfaces.session_calls import origin


def session_id_for_key(*parts: str) -> SessionId:
    """Return the session id of a key, always the same."""
    digest = hashlib.sha256("\0".join(parts).encode()).digest()
    return SessionId(str(UUID(bytes=digest[:16], version=5)))


async def open_session(
    api: SessionApi, *, cwd: str, agent: str, title: str, key: str = ""
) -> tuple[SessionId, bool]:
    """Begin a session, or find the one of the same key; tells whether it is new.

    Raises KeyTaken for the key of another session, and what the session API raises.
    """
    wanted = session_id_for_key("session", key) if key else None
    try:
        session = await api.create(cwd=cwd, agent=agent, title=title, session_id=wanted)
    except SessionConflict:
        if wanted is None:
            raise
        created = await origin(api, wanted)
        if (cwd, agent or created.agent, title) != (created.cwd, created.agent, created.title):
            raise KeyTaken(f'the key "{key}" belongs to another session', hint="use a new key") from None
        return created.session_id, False
    return session, True
