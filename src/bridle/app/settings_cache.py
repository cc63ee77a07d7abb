"""A cache of values computed from a folder's settings; recomputed only when a file they came from changes."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from bridle.config.settings import Settings, load_settings, settings_stamp

MAX_FOLDERS = 256

ValueT = TypeVar("ValueT")


class SettingsCache(Generic[ValueT]):
    """Return the value for any folder; while its files do not change, a call only checks them."""

    def __init__(
        self,
        environ: Mapping[str, str],
        read: Callable[[Settings], ValueT],
        flags: Mapping[str, Any] = {},
    ) -> None:
        """Take the arguments of `load_settings`, and the function that computes the value."""
        self._environ = environ
        self._flags = flags
        self._read = read
        self._known: dict[str, tuple[object, ValueT]] = {}

    def __call__(self, cwd: str) -> ValueT:
        """Return the current value for a folder; raises ConfigError."""
        folder = Path(cwd)
        stamp = settings_stamp(self._environ, folder)
        known = self._known.get(cwd)
        if known is not None and known[0] == stamp:
            return known[1]
        value = self._read(load_settings(self._environ, folder, self._flags))
        self._known.pop(cwd, None)
        while len(self._known) >= MAX_FOLDERS:
            del self._known[next(iter(self._known))]
        self._known[cwd] = (stamp, value)
        return value
