"""How the terminal interface begins, and how it was left."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from bridle.core.ids import SessionId
from bridle.core.session_api import SessionApi

Opening = Callable[[Callable[[str], None]], Awaitable[SessionApi]]
"""Opens the session API; calls what it is given with warnings."""


class Begin(Struct, frozen=True):
    """How the interface begins."""

    cwd: str
    session: SessionId | None = None
    theme: str = "dark"
    typed: str = ""
    """What was typed before it was there."""


class Left(Struct, frozen=True):
    """How it was left."""

    session: SessionId | None
    runs: bool = False
    """A run goes on without us."""
