"""Settings and sandbox rules of programs that several sessions share: MCP and language servers, and hooks."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from bridle.config.settings import Settings, load_settings, settings_stamp

if TYPE_CHECKING:
    from bridle.core.permission import Rule


def is_sandbox_off(settings: Settings) -> bool:
    """Return True if the user turned the sandbox off; a project cannot turn it off for its own programs."""
    return settings.sandbox.mode == "off" and settings.source("sandbox", "mode")[-1].layer != "project"


def shared_domain_rules(settings: Settings) -> "tuple[Rule, ...]":
    """Return the domain rules for programs that several sessions share."""
    return tuple(rule for rule in settings.rules.rules() if rule.pattern.startswith("domain:"))


def shared_deny_rules(settings: Settings, *, anywhere: bool = False) -> "tuple[Rule, ...]":
    """Return the deny rules for paths that apply to programs that several sessions share.

    Relative patterns refer to the project; with `anywhere` they are left out, because they would mean
    different paths in each folder.
    """
    from msgspec.structs import replace

    from bridle.config.rules import resolve_rules
    from bridle.core.permission import SHELL_TOOL

    found = []
    for rule in settings.rules.rules():
        is_path = rule.pattern and rule.tool != SHELL_TOOL and not rule.pattern.startswith("domain:")
        if rule.action != "deny" or not is_path:
            continue
        if rule.pattern.startswith(("/", "~")):
            found.append(rule)
        elif not anywhere:
            found.append(replace(rule, pattern=f"{str(settings.root).rstrip('/')}/{rule.pattern}"))
    return resolve_rules(dict.fromkeys(found), settings.user_folder, settings.root)


# ---------------------------------------------------------------------------- settings cache
# A cache of values computed from a folder's settings; recomputed only when a file they came from changes.


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
