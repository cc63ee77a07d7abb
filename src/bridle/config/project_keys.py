"""The keys that a project may set before the user trusts it, and how each may differ from the user's.

This list is complete. Any other key of a project, and every new one, has no effect until the user trusts
the project. A key belongs here only if no value that passes its test can change which model answers, where
data goes or how much is allowed.
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from bridle.config.keys import LimitSettings
from bridle.core.permission import Mode

STRICTNESS: tuple[Mode, ...] = ("plan", "ask", "accept-edits", "yolo")
"""The modes from the strictest to the loosest."""


class KeyPolicy(Struct, frozen=True):
    """How a project may set one key."""

    is_stricter: Callable[[Any, Any], bool]
    """Takes the project's value and the user's; True if the project's is no more permissive."""
    why: str
    """The message for a value that fails."""


def _is_lower(theirs: Any, yours: Any) -> bool:
    return yours is None or bool(theirs <= yours)


def _is_stricter_mode(theirs: Any, yours: Any) -> bool:
    return theirs in STRICTNESS and STRICTNESS.index(theirs) <= STRICTNESS.index(yours)


def _is_subset(theirs: Any, yours: Any) -> bool:
    return yours is None or set(theirs) <= set(yours)


ANY = KeyPolicy(lambda theirs, yours: True, "")
LOWER = KeyPolicy(_is_lower, "a project may only lower it")
OFF = KeyPolicy(lambda theirs, yours: theirs is False, "a project may only switch it off")
ENTRY_OFF = KeyPolicy(lambda theirs, yours: theirs == {"enabled": False}, "")
"""For an entry of the user's: only `enabled = false`."""
STRICTER_MODE = KeyPolicy(_is_stricter_mode, "a project may only choose a stricter mode than yours")
FEWER = KeyPolicy(_is_subset, "a project may not give your agent more tools")

_PERMISSIONS: dict[str, KeyPolicy] = {
    **{f"limits.{name}": LOWER for name in LimitSettings.__struct_fields__},
    "rules.ask": ANY,  # rules only accumulate, and ask and deny override allow
    "rules.deny": ANY,
}

PROJECT_KEYS: Mapping[str, KeyPolicy] = {
    **_PERMISSIONS,
    "rules.mode": STRICTER_MODE,
    "retry.max_retries": LOWER,
    "tools.max_file_bytes": LOWER,
    "tools.max_output_bytes": LOWER,
    "tools.max_parallel": LOWER,
    "tools.timeout": LOWER,
    "tools.bash_timeout": LOWER,
    "tools.web_timeout": LOWER,
    "tools.web_max_bytes": LOWER,
    "children.enabled": OFF,
    "children.max_depth": LOWER,
    "children.max_running": LOWER,
    "children.max_children": LOWER,
    "children.max_tokens": LOWER,
    "memory.enabled": OFF,
    "lsp.enabled": OFF,
    "lsp.servers.NAME": ENTRY_OFF,
    "mcp.servers.NAME": ENTRY_OFF,
}
"""For `config.toml`; NAME stands for a name that the user chooses."""

OWN_KEYS = frozenset({"kernel.syd_config", "providers.NAME.executable", "scale.fetch"})
"""Keys that even a trusted project may not set: programs that run outside the sandbox, and what replaces it.
Trust could not cover the files that they load, because an agent can change those.
"""

AGENT_KEYS: Mapping[str, KeyPolicy] = {**_PERMISSIONS, "name": ANY, "mode": STRICTER_MODE, "tools": FEWER}
"""For an agent's `config.toml`."""
