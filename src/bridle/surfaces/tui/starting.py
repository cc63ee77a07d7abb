"""How the terminal interface starts, and how the user left it."""

from collections.abc import Awaitable, Callable

from msgspec import Struct

from bridle.core.door import Door
from bridle.core.ids import SessionId

Opening = Callable[[Callable[[str], None]], Awaitable[Door]]
"""Connects to the sessions; warnings go to the callback."""


class Begin(Struct, frozen=True):
    """How the interface starts."""

    cwd: str
    session: SessionId | None = None
    theme: str = "dark"
    typed: str = ""
    """Text typed before the interface was ready."""


class Left(Struct, frozen=True):
    """How the user left the interface."""

    session: SessionId | None
    runs: bool = False
    """A run continues in the daemon."""
