"""What all connections of a server share."""

import time
import uuid
from collections.abc import Awaitable, Callable

from msgspec import Struct

from bridle.core.session_api import SessionApi
from bridle.surfaces.meerkat.contract import Contract
from bridle.surfaces.shared.folder_info import Folders


async def _everybody(target: str) -> None:
    """Allow every client."""


class RpcContext(Struct, kw_only=True):
    """The session API and the settings of a connection; each connection has its own copy."""

    api: SessionApi
    folders: Folders
    contract: Contract
    """A client may choose another contract in `initialize`."""
    keeps_runs: bool
    """True if runs continue after the client that started them is gone; otherwise they are cancelled."""
    may_look: Callable[[str], Awaitable[None]] = _everybody
    """Raises NotAllowed if the client may not read data that belongs to no session."""
    version: str = ""
    now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    new_id: Callable[[], uuid.UUID] = uuid.uuid4
