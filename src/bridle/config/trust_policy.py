"""What a project's files may not set: they come with the code, and the user has not read them.

A project may set the keys of `project_keys`, and only make them stricter. All others are left out and named
in one warning, until the user trusts the project in its current state; an invalid file is still an error.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from bridle.config.layers import SERVERS, Layer
from bridle.config.mcp import redact_server
from bridle.config.project_keys import OWN_KEYS, KeyPolicy
from bridle.config.toml_document import KeyPath, key_text, literal
from bridle.config.validation import build, set_keys

TrustState = Literal["trusted", "changed", "unknown"]

MAX_NAMED = 12

REASONS = {
    "children": "a project may not give sub-agents more rights than yours",
    "comms": "a project may not choose who can message your agents",
    "daemon": "a project may not decide whether the daemon is used",
    "fallbacks": "a project may not choose the model",
    "grpc": "a project may not change how the daemon is reached",
    "hooks": "a project may not run its own code",
    "http": "a project may not change how the daemon is reached",
    "kernel": "a project may not choose what runs its code",
    "lsp": "a project may not choose the programs that analyse its code",
    "mcp": "a project may not start or use its own servers",
    "memory": "a project may not decide how your conversations are used",
    "model": "a project may not choose the model",
    "models": "a project may not change model data or prices",
    "providers": "a project may not decide where requests and keys go",
    "rules": "a project may not allow anything",
    "sampling": "a project may not decide what is sent with your requests",
    "sandbox": "a project may not change its own sandbox",
    "scale": "a project may not decide where your sessions run",
    "serve": "a project may not change how the daemon is reached",
    "small_model": "a project may not choose the model",
    "store": "a project may not change how your sessions are stored",
    "telemetry": "a project may not decide who is told about your work",
    "tui": "a project may not change your keys and display",
}
"""Why a project may not set the keys of a table, for the user."""


class WithheldKey(Struct, frozen=True):
    """A project's key that has no effect, and why."""

    path: KeyPath
    why: str


class TrustedKey(Struct, frozen=True):
    """A key that needs the project to be trusted, for display."""

    place: str
    """File and line."""
    key: str
    value: str
    why: str


class CheckedLayer(Struct, frozen=True):
    """A project's layer after the check, and what needs trust."""

    layer: Layer
    trust_keys: tuple[TrustedKey, ...] = ()
    """Keys that take effect only through trust; the layer has them if the project is trusted."""
    state: TrustState = "trusted"
    """The project's trust state, if there are such keys."""

    @property
    def left_out(self) -> tuple[str, ...]:
        """The keys that have no effect."""
        return () if self.state == "trusted" else tuple(item.key for item in self.trust_keys)


def find_withheld(
    tree: dict[str, Any], shape: type[Struct], allowed: Mapping[str, KeyPolicy], yours: Struct
) -> Iterator[WithheldKey]:
    """Yield the keys of a project's file that may not take effect.

    `shape` describes the file, `allowed` is what a project may set, `yours` are the settings without it.
    """
    theirs = build(tree, shape)
    for path, name in set_keys(tree, shape):
        rule = allowed.get(name)
        value = _at(tree, path) if name.endswith(".NAME") else _at(theirs, path)
        if rule is None or not rule.is_stricter(value, _at(yours, path)):
            yield WithheldKey(path, _why(path, rule, yours))


def _why(path: KeyPath, rule: KeyPolicy | None, yours: Struct) -> str:
    why = (rule.why if rule else "") or REASONS.get(
        str(path[0]), "a project may not set this without your trust"
    )
    is_yours = path[:2] == SERVERS and _at(yours, path) is not None
    return f"{why}; it would change your own of that name" if is_yours else why


def without_own_keys(layer: Layer) -> tuple[Layer, tuple[str, ...]]:
    """Return a project's layer without the keys that only the user may set, and these keys."""
    tree, found = layer.tree, []
    for path in [path for key in sorted(OWN_KEYS) for path in _places(tree, key.split("."))]:
        tree = _without(tree, path)
        found.append(key_text(path))
    return Layer(layer.source, tree, layer.text, layer.lines), tuple(found)


def _places(tree: Any, parts: Sequence[str], path: KeyPath = ()) -> Iterator[KeyPath]:
    """Find where a tree has a key; NAME in it matches any name."""
    if not parts:
        yield path
    elif isinstance(tree, dict):
        for name in list(tree) if parts[0] == "NAME" else [part for part in parts[:1] if part in tree]:
            yield from _places(tree[name], parts[1:], (*path, name))


def apply_trust(
    layer: Layer, items: Iterable[WithheldKey], look: Callable[[Layer], TrustState]
) -> CheckedLayer:
    """Remove keys from a layer, unless its project is trusted.

    `look` returns the project's trust state; it is called only if there are keys to remove.
    """
    items = list(items)
    if not items:
        return CheckedLayer(layer)
    trust_keys = tuple(
        TrustedKey(layer.place(item.path), key_text(item.path), _shown(layer.tree, item.path), item.why)
        for item in items
    )
    state = look(layer)
    if state == "trusted":
        return CheckedLayer(layer, trust_keys)
    tree = layer.tree
    for item in reversed(items):  # so that the remaining items of a list keep their indexes
        tree = _without(tree, item.path)
    return CheckedLayer(Layer(layer.source, tree, layer.text), trust_keys, state)


def warn_untrusted_keys(keys: Sequence[str], *, has_lapsed: bool) -> tuple[str, ...]:
    """Return a warning with the project's keys that have no effect; empty if there are none."""
    if not keys:
        return ()
    why = "has changed since you trusted it" if has_lapsed else "is not trusted"
    return (f"this project {why}: ignored {_named(keys)} (hint: review and allow them with bridle trust)",)


def warn_own_keys(keys: Sequence[str]) -> tuple[str, ...]:
    """Return a warning with the project's keys that never have an effect; empty if there are none."""
    if not keys:
        return ()
    return (f"ignored {_named(keys)} of this project (hint: set it in your own config.toml)",)


def _named(keys: Sequence[str]) -> str:
    more = f" and {len(keys) - MAX_NAMED:,} more" if len(keys) > MAX_NAMED else ""
    return ", ".join(keys[:MAX_NAMED]) + more


def _shown(tree: dict[str, Any], path: KeyPath) -> str:
    value = _at(tree, path)
    return literal(redact_server(value, for_trust=True) if path[:2] == SERVERS else value)


def _at(tree: Any, path: KeyPath) -> Any:
    """Return the value at a path of a tree or a struct; None if nothing is there."""
    value = tree
    for part in path:
        if isinstance(part, int):
            value = value[part] if isinstance(value, list | tuple) and part < len(value) else None
        elif isinstance(value, dict):
            value = value.get(part)
        else:
            value = getattr(value, part, None)
    return value


def _without(tree: Any, path: KeyPath) -> Any:
    key, *rest = path
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    kept = [
        (name, _without(value, tuple(rest)) if name == key else value)
        for name, value in items
        if rest or name != key
    ]
    return dict(kept) if isinstance(tree, dict) else [value for _, value in kept]
