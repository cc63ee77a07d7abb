"""Wiring for telemetry: traces, metrics and logs; not even imported while all of it is off."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import bridle
from bridle.app.tools import masker
from bridle.config.settings import Settings
from bridle.core.errors import ConfigError

if TYPE_CHECKING:
    from bridle.core.ports import Store
    from bridle.telemetry.exporter import Telemetry


def open_telemetry(settings: Settings, environ: Mapping[str, str]) -> "Telemetry | None":
    """Open this process's telemetry, or return None if all of it is off; the caller closes it.

    Raises ConfigError if a required package is not installed.
    """
    wanted = settings.telemetry
    if not (wanted.traces or wanted.metrics or wanted.logs or wanted.prometheus):
        return None
    try:
        from bridle.telemetry.exporter import Telemetry, TelemetryOptions
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"telemetry: the package {error.name} is not installed", hint="pip install 'bridle-agent[scale]'"
        ) from error
    return Telemetry(
        TelemetryOptions(
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


def with_telemetry(store: "Store", telemetry: "Telemetry | None") -> "Store":
    """Return a store that reports its records to telemetry; without telemetry, the store itself."""
    if telemetry is None:
        return store
    from bridle.telemetry.observed_store import ObservedStore

    return ObservedStore(store, telemetry)
