"""What settings of a folder come to, worked out again only when something it was read from has changed."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

from bridle.config.settings import Settings, load_settings, settings_stamp

MAX_FOLDERS = 256

ValueT = TypeVar("ValueT")


class Watched(Generic[ValueT]):
    """Answers for any folder, at the price of a look at some files while they stay as they are."""

    def __init__(
        self,
        environ: Mapping[str, str],
        read: Callable[[Settings], ValueT],
        flags: Mapping[str, Any] = {},
    ) -> None:
        """`flags` are those of `load_settings`."""
        self._environ = environ
        self._flags = flags
        self._read = read
        self._known: dict[str, tuple[object, ValueT]] = {}

    def __call__(self, cwd: str) -> ValueT:
        """Return what holds for a folder now; raises ConfigError."""
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
