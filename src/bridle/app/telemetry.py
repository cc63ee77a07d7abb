"""What is told to a collector; nothing of it is even imported where nobody wants that."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import bridle
from bridle.app.tools import masker
from bridle.config.settings import Settings
from bridle.core.errors import ConfigError

if TYPE_CHECKING:
    from bridle.core.ports import Store
    from bridle.telemetry.opening import Telemetry


def open_telemetry(settings: Settings, environ: Mapping[str, str]) -> "Telemetry | None":
    """Open what follows this process, or return None where all of it is off; who opens it closes it.

    Raises ConfigError when what it needs is not installed.
    """
    wanted = settings.telemetry
    if not (wanted.traces or wanted.metrics or wanted.logs or wanted.prometheus):
        return None
    try:
        from bridle.telemetry.opening import Plan, Telemetry
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"telemetry: the package {error.name} is not installed", hint="pip install 'bridle-agent[scale]'"
        ) from error
    return Telemetry(
        Plan(
            version=bridle.__version__,
            traces=wanted.traces,
            metrics=wanted.metrics,
            logs=wanted.logs,
            endpoint=wanted.endpoint,
            content=wanted.content,
            prometheus=wanted.prometheus,
            mask=masker(settings, environ).mask,
        )
    )


def watched(store: "Store", telemetry: "Telemetry | None") -> "Store":
    """Return a store that is followed; where nobody does, it is the store itself."""
    if telemetry is None:
        return store
    from bridle.telemetry.watching import WatchedStore

    return WatchedStore(store, telemetry)
