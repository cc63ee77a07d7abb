"""What a project's files may not say: they come with the code, and the user has not read them.

A project may tighten what the user set and never loosen it, and may not decide where a key goes.
Such keys are left out and named in a warning; a file that is wrong is still an error.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from bridle.config.document import KeyPath, key_text
from bridle.config.keys import LimitSettings, ProviderSettings
from bridle.config.layers import Layer
from bridle.config.schema import build
from bridle.core.permission import Mode

STRICTNESS: tuple[Mode, ...] = ("plan", "ask", "accept-edits", "yolo")
"""The modes from the strictest to the loosest."""

PROJECT_PROVIDER_KEYS = frozenset({"window_tokens", "max_output_tokens"})
"""What a project may say about a provider that the user knows."""

HINT = "hint: write it into your own files in BRIDLE_HOME if you want it"


class Withheld(Struct, frozen=True):
    """A key of a project that has no effect, and why."""

    path: KeyPath
    why: str


class Kept(Struct, frozen=True):
    """What is left of a project's layer, and a warning for each key that is not."""

    layer: Layer
    warnings: tuple[str, ...]


def withheld_settings(
    tree: dict[str, Any], *, mode: Mode, user_limits: LimitSettings, providers: Mapping[str, ProviderSettings]
) -> Iterator[Withheld]:
    """Name the keys of a project's `config.toml` that may not take effect.

    `mode` and `providers` are what the layers below say, `user_limits` the limits the user chose.
    """
    yield from withheld_permissions(tree, mode=mode, mode_path=("rules", "mode"), user_limits=user_limits)
    yield from withheld_model_files(tree, providers)
    for name, model in tree.get("models", {}).items():
        if "price" in model:
            yield Withheld(("models", name, "price"), "a project may not decide what a model costs")
    for key in tree.get("store", {}):
        yield Withheld(("store", key), "a project may not decide how your sessions are kept")
    why = "a project may not decide where requests and keys go"
    for name, provider in tree.get("providers", {}).items():
        if name not in providers:
            yield Withheld(("providers", name), why)
            continue
        for key in provider:
            if key not in PROJECT_PROVIDER_KEYS:
                yield Withheld(("providers", name, key), why)


def withheld_permissions(
    tree: dict[str, Any], *, mode: Mode, mode_path: KeyPath, user_limits: LimitSettings
) -> Iterator[Withheld]:
    """Name the keys of a project's settings or agent that would loosen what the user set."""
    if tree.get("rules", {}).get("allow"):
        yield Withheld(("rules", "allow"), "a project may not allow anything by itself")
    wanted = _at(tree, mode_path)
    if wanted is not None and STRICTNESS.index(wanted) > STRICTNESS.index(mode):
        yield Withheld(mode_path, f'a project may not choose a looser mode than "{mode}"')
    limits = build(tree.get("limits", {}), LimitSettings)
    for name in LimitSettings.__struct_fields__:
        new, old = getattr(limits, name), getattr(user_limits, name)
        if new is not None and old is not None and new > old:
            yield Withheld(("limits", name), "a project may not raise a limit that you set")


def withheld_model_files(
    tree: dict[str, Any], providers: Mapping[str, ProviderSettings]
) -> Iterator[Withheld]:
    """Name the keys of a project that would load a file into the embedded runtime, which is native code."""
    for key in ("model", "small_model", "fallbacks"):
        refs = tree.get(key, ())
        if any(_is_file(ref, providers) for ref in ([refs] if isinstance(refs, str) else refs)):
            yield Withheld((key,), "a project may not choose a model file")


def _is_file(ref: str, providers: Mapping[str, ProviderSettings]) -> bool:
    provider, _, name = ref.partition("/")
    is_embedded = provider in providers and providers[provider].kind == "embedded"
    return is_embedded and ("/" in name or name.endswith(".gguf"))


def withhold(layer: Layer, items: Iterable[Withheld]) -> Kept:
    """Leave keys out of a layer, each with a warning that names file, line and key."""
    tree = layer.tree
    warnings = []
    for item in items:
        warnings.append(f"{layer.place(item.path)}: {key_text(item.path)} has no effect: {item.why} ({HINT})")
        tree = _without(tree, item.path)
    return Kept(Layer(layer.source, tree, layer.text), tuple(warnings))


def _at(tree: dict[str, Any], path: KeyPath) -> Any:
    value: Any = tree
    for part in path:
        value = value.get(part, {})
    return value or None


def _without(tree: dict[str, Any], path: KeyPath) -> dict[str, Any]:
    key, *rest = path
    if not rest:
        return {name: value for name, value in tree.items() if name != key}
    return {name: _without(value, tuple(rest)) if name == key else value for name, value in tree.items()}
