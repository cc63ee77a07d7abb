"""A session's state as a mark and a word."""

from collections.abc import Mapping

from bridle.core.ids import SessionId
from bridle.core.session_api import LiveSession
from bridle.core.summary import SessionSummary
from bridle.surfaces.terminal import Colour
from bridle.surfaces.tui.panels.styles import OUTCOMES

LIVE: dict[str, tuple[str, str, Colour]] = {
    "running": ("▶", "running", "name"),
    "waiting": ("?", "waiting", "warning"),
}
CUT_OFF: tuple[str, str, Colour] = ("…", "cut off", "warning")
NEW: tuple[str, str, Colour] = ("·", "new", "detail")


def state_of(session: SessionSummary, live: Mapping[SessionId, LiveSession]) -> tuple[str, str, Colour]:
    """Return the mark, the word and the color of a session's state."""
    now = live.get(session.id)
    if now is not None and now.state in LIVE:
        return LIVE[now.state]
    if session.unfinished:
        return CUT_OFF
    return OUTCOMES[session.outcome] if session.outcome is not None else NEW
