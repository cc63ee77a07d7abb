"""What every connection of a server shares."""

import time
import uuid
from collections.abc import Awaitable, Callable

from msgspec import Struct

from bridle.core.session_api import SessionApi
from bridle.surfaces.folder import Folders
from bridle.surfaces.meerkat.contract import Contract


async def _everybody(target: str) -> None:
    """Let everybody look."""


class Desk(Struct, kw_only=True):
    """The sessions, and how a client is spoken to; each connection has a copy of its own."""

    api: SessionApi
    folders: Folders
    contract: Contract
    """A client may name another one when it greets."""
    keeps_runs: bool
    """Whether runs go on when the client that started them is gone; otherwise they are cancelled."""
    may_look: Callable[[str], Awaitable[None]] = _everybody
    """Refuses a client that may not look at what no session holds; raises NotAllowed."""
    version: str = ""
    now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    new_id: Callable[[], uuid.UUID] = uuid.uuid4
