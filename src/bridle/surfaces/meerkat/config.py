"""The user's settings as a JSON object: read, replace and patch it without exposing secrets.

It shows the contents of the user's own file, with Bridle's keys. A change may use Meerkat's keys, too: they
are translated, and those that have no place here are named in the answer. A value that may be a secret is
shown as `(hidden)`; sent back like that, it stays unchanged.
"""

import hashlib
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bridle.config.edit_tree import change_file, merge_patch
from bridle.config.file_names import CONFIG_FILE
from bridle.config.foreign.meerkat import translate
from bridle.config.hooks import HIDDEN
from bridle.config.mcp import redact_url
from bridle.config.settings import find_home, load_settings
from bridle.config.textfile import read_text, write_text
from bridle.config.toml_document import parse_toml
from bridle.core.errors import ConfigError, UsageError

MAX_DEPTH = 32
PRIVATE = ("env", "headers")
ADDRESSES = ("url", "base_url")


class ConfigEnvelope(Struct, frozen=True, omit_defaults=True):
    """The settings, with a generation number that detects changes made in between."""

    config: dict[str, Any]
    generation: int
    config_path: str
    left_out: dict[str, str] = {}
    """The given keys that have no place here, and why."""


class SettingsChanged(UsageError):
    """The settings were changed in between."""


class UserConfig:
    """The `config.toml` in a home folder; every method blocks."""

    def __init__(self, environ: Mapping[str, str], cwd: Path) -> None:
        self._environ = environ
        self._file = find_home(environ, cwd) / CONFIG_FILE

    def read(self) -> ConfigEnvelope:
        """Return the contents of the file; raises ConfigError."""
        return self._envelope(read_text(self._file) or "")

    def replace(self, config: dict[str, Any], expected: int | None = None) -> ConfigEnvelope:
        """Replace the whole file; raises ConfigError, UsageError."""
        given = translate(_bounded(config))
        new = self._change(lambda tree: _revealed(given.tree, tree), expected)
        return replace(new, left_out=given.left_out)

    def patch(self, patch: dict[str, Any], expected: int | None = None) -> ConfigEnvelope:
        """Apply a JSON merge patch; raises ConfigError, UsageError."""
        given = translate(_bounded(patch))
        new = self._change(lambda tree: merge_patch(tree, _revealed(given.tree, tree)), expected)
        return replace(new, left_out=given.left_out)

    def _change(
        self, change: Callable[[dict[str, Any]], dict[str, Any]], expected: int | None
    ) -> ConfigEnvelope:
        def checked(text: str, tree: dict[str, Any]) -> dict[str, Any]:
            if expected is not None and expected != generation(text):
                raise SettingsChanged(
                    f"the settings are of generation {generation(text)}, not {expected}",
                    hint="read them again",
                )
            wanted = change(tree)
            _refuse_null(wanted)
            return wanted

        return self._envelope(change_file(self._file, checked, self._judge))

    def _judge(self, text: str) -> None:
        """Validate a text as the settings of a temporary home; raises ConfigError."""
        with tempfile.TemporaryDirectory(prefix="bridle-") as folder:
            write_text(Path(folder) / CONFIG_FILE, text)
            try:
                load_settings({**self._environ, "BRIDLE_HOME": folder}, Path(folder))
            except ConfigError as error:
                message = error.message.replace(folder, str(self._file.parent))
                raise ConfigError(message, hint=error.hint) from None

    def _envelope(self, text: str) -> ConfigEnvelope:
        tree = parse_toml(text, str(self._file))
        return ConfigEnvelope(_shown(tree), generation(text), str(self._file))


def generation(text: str) -> int:
    """Return a 48-bit hash of the text, which changes with the text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def _shown(value: Any, key: str = "") -> Any:
    if key in PRIVATE and isinstance(value, dict):
        return dict.fromkeys(value, HIDDEN)
    if isinstance(value, dict):
        return {name: _shown(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_shown(item) for item in value]
    if key in ADDRESSES and isinstance(value, str):
        return redact_url(value)
    return value if isinstance(value, str | int | float | bool) else str(value)


def _bounded(given: dict[str, Any]) -> dict[str, Any]:
    """Return settings that are not nested too deeply; raises UsageError."""
    level: list[Any] = [given]
    for _ in range(MAX_DEPTH + 1):
        level = [inner for value in level for inner in _inside(value)]
    if level:
        raise UsageError(f"the settings are nested deeper than {MAX_DEPTH} tables")
    return given


def _inside(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _revealed(given: Any, known: Any) -> Any:
    """Replace hidden values by those already in the file; raises UsageError."""
    if isinstance(given, dict):
        inner = known if isinstance(known, dict) else {}
        return {key: _revealed(value, inner.get(key)) for key, value in given.items()}
    if isinstance(given, list):
        items = known if isinstance(known, list) else []
        padded = [*items, *[None] * len(given)]
        return [_revealed(value, old) for value, old in zip(given, padded, strict=False)]
    if isinstance(given, str) and HIDDEN in given:
        if isinstance(known, str) and given in (HIDDEN, redact_url(known)):
            return known
        raise UsageError(f'"{HIDDEN}" is used where nothing is hidden', hint="write the value, or null")
    return given


def _refuse_null(value: Any) -> None:
    if value is None:
        raise UsageError("null is not a setting", hint="leave the key out, or use a patch")
    for inner in _inside(value):
        _refuse_null(inner)
