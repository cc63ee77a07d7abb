"""Periodically unloads idle sessions, and measures the memory of this process."""

import asyncio
import logging
import os
from pathlib import Path

from bridle.config.daemon_keys import ServeSettings
from bridle.core.errors import BridleError
from bridle.sessions.service import SessionService

# ---------------------------------------------------------------------------- memory
# The memory use of this process.


def resident_bytes() -> int:
    """Return the resident memory in bytes; 0 if unknown."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


# ---------------------------------------------------------------------------- idle sessions


MIN_SWEEP_S, MAX_SWEEP_S = 0.5, 30.0

log = logging.getLogger("bridle.daemon")


async def unload_idle_sessions(service: SessionService, serve: ServeSettings) -> None:
    """Unload idle sessions until cancelled; all idle ones when memory exceeds the limit."""
    idle_s, most = float(serve.idle), serve.max_sessions
    while True:
        await asyncio.sleep(max(MIN_SWEEP_S, min(MAX_SWEEP_S, idle_s / 2)))
        is_full = resident_bytes() > serve.memory_bytes
        try:
            await service.drop_idle(0.0 if is_full else idle_s, most)
        except (BridleError, OSError) as error:
            log.warning("an idle session could not be unloaded: %s", error)
