"""URIs of sessions as MCP resources."""

import re

from bridle.core.ids import SessionId, is_session_id

LIST = "bridle://sessions"
TRANSCRIPT = "bridle://sessions/{session_id}"
RECORDS = "bridle://sessions/{session_id}/records"

_ONE = re.compile(r"bridle://sessions/(?P<session>[^/?#]{1,200})(?P<records>/records)?")


def session_uri(session: SessionId) -> str:
    """Return the URI of a session's transcript."""
    return f"{LIST}/{session}"


def parse_uri(uri: str) -> tuple[SessionId, bool] | None:
    """Return the session of a URI, and whether the URI names its records; None for any other URI."""
    found = _ONE.fullmatch(uri)
    if found is None or not is_session_id(found["session"]):
        return None
    return SessionId(found["session"]), found["records"] is not None
