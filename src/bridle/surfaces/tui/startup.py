"""How the terminal interface starts, and how the user left it."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from bridle.core.ids import SessionId
from bridle.core.session_api import SessionApi

Opening = Callable[[Callable[[str], None]], Awaitable[SessionApi]]
"""Opens the session API; calls what it is given with warnings."""


class StartOptions(Struct, frozen=True):
    """How the interface starts."""

    cwd: str
    session: SessionId | None = None
    theme: str = "dark"
    typed: str = ""
    """Text typed before the interface was ready."""


class ExitState(Struct, frozen=True):
    """How the user left the interface."""

    session: SessionId | None
    runs: bool = False
    """A run continues in the daemon."""
