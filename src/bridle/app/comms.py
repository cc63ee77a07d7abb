"""Wiring for messages between agents of different processes."""

from typing import TYPE_CHECKING

from bridle.config.settings import Settings

if TYPE_CHECKING:
    from bridle.comms.hub import Comms


def open_comms(settings: Settings) -> "Comms":
    """Create this process's endpoint for messages between agents; raises ConfigError."""
    from bridle.comms.hub import Comms, CommsOptions
    from bridle.core.errors import ConfigError
    from bridle.core.ids import uuid7
    from bridle.sessions.system_clock import SystemChance, SystemClock

    comms, clock, chance = settings.comms, SystemClock(), SystemChance()
    if comms.mode == "tcp" and not comms.address:
        raise ConfigError(
            'comms.mode is "tcp", but comms.address is not set', hint="set it to 127.0.0.1:4200"
        )
    options = CommsOptions(
        home=settings.home,
        name=comms.name,
        tcp=comms.address if comms.mode == "tcp" else "",
        other_machines=comms.other_machines,
    )
    return Comms(options, lambda: uuid7(clock.now_ms(), chance.entropy(10)))


def comms_of(settings: Settings) -> "Comms | None":
    """Create the endpoint if the settings turn it on; raises ConfigError."""
    return None if settings.comms.mode == "off" else open_comms(settings)
