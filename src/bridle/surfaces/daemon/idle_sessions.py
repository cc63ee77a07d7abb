"""Periodically unloads idle sessions."""

import asyncio
import logging

from bridle.config.daemon_keys import ServeSettings
from bridle.core.errors import BridleError
from bridle.sessions.service import SessionService
from bridle.surfaces.daemon.memory import resident_bytes

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
            log.warning("an idle session could not be put away: %s", error)
