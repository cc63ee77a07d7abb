"""What a project's files may not say: they come with the code, and the user has not read them.

A project may tighten what the user set and never loosen it, and may not decide where a key goes.
Such keys are left out and named in a warning, until the user trusts the project as it is; a file that is
wrong is still an error.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct

from bridle.config.document import KeyPath, key_text, literal
from bridle.config.keys import ChildSettings, LimitSettings, ProviderSettings
from bridle.config.layers import SERVERS, Layer
from bridle.config.mcp import shown_server
from bridle.config.schema import build
from bridle.core.permission import Mode

STRICTNESS: tuple[Mode, ...] = ("plan", "ask", "accept-edits", "yolo")
"""The modes from the strictest to the loosest."""

PROJECT_PROVIDER_KEYS = frozenset({"window_tokens", "max_output_tokens"})
"""What a project may say about a provider that the user knows."""

TrustState = Literal["trusted", "changed", "unknown"]

HINTS: dict[TrustState, str] = {
    "unknown": "hint: bridle trust lets it take effect",
    "changed": "hint: the project has changed since you trusted it; bridle trust shows it again",
}


class Withheld(Struct, frozen=True):
    """A key of a project that has no effect, and why."""

    path: KeyPath
    why: str


class Held(Struct, frozen=True):
    """A key that a project may only set when it is trusted, as people read it."""

    place: str
    """File and line."""
    key: str
    value: str
    why: str


class Kept(Struct, frozen=True):
    """What is left of a project's layer, and a warning for each key that is not."""

    layer: Layer
    held: tuple[Held, ...] = ()
    """Keys that take effect through trust alone; they are in the layer if the project is trusted."""
    warnings: tuple[str, ...] = ()
    has_lapsed: bool = False
    """The project was trusted and has changed since."""


def withheld_settings(
    tree: dict[str, Any],
    *,
    mode: Mode,
    user_limits: LimitSettings,
    providers: Mapping[str, ProviderSettings],
    children: ChildSettings,
    servers: Collection[str] = (),
) -> Iterator[Withheld]:
    """Name the keys of a project's `config.toml` that may not take effect.

    `mode`, `providers`, `children` and `servers` are what the layers below say, `user_limits` the limits the
    user chose.
    """
    yield from withheld_permissions(tree, mode=mode, mode_path=("rules", "mode"), user_limits=user_limits)
    yield from withheld_model_files(tree, providers)
    for name, model in tree.get("models", {}).items():
        if "price" in model:
            yield Withheld(("models", name, "price"), "a project may not decide what a model costs")
    for key in tree.get("sandbox", {}):
        yield Withheld(("sandbox", key), "a project may not decide what holds its own programs")
    for key in tree.get("kernel", {}):
        yield Withheld(("kernel", key), "a project may not decide what runs its code")
    if "daemon" in tree:
        yield Withheld(("daemon",), "a project may not decide whether the daemon is used")
    for table in ("serve", "http", "grpc"):
        for key in tree.get(table, {}):
            yield Withheld((table, key), "a project may not decide how the daemon is reached")
    for key in tree.get("tui", {}):
        yield Withheld(("tui", key), "a project may not decide what your keys do and what you see")
    for key in tree.get("comms", {}):
        yield Withheld(("comms", key), "a project may not decide who can write to your agents")
    yield from withheld_hooks(tree.get("hooks", {}))
    yield from withheld_servers(tree, servers)
    for key, value in tree.get("children", {}).items():
        if _is_looser(value, getattr(children, key)):
            yield Withheld(("children", key), "a project may not let sub-agents do more than you do")
    for key in tree.get("scale", {}):
        yield Withheld(("scale", key), "a project may not decide where your sessions run")
    for key in tree.get("telemetry", {}):
        yield Withheld(("telemetry", key), "a project may not decide who hears of your work")
    for key in tree.get("store", {}):
        yield Withheld(("store", key), "a project may not decide how your sessions are kept")
    for key, value in tree.get("memory", {}).items():
        if key != "min_score" and (key, value) != ("enabled", False):
            yield Withheld(("memory", key), "a project may not decide what is done with what you said")
    why = "a project may not decide where requests and keys go"
    for name, provider in tree.get("providers", {}).items():
        if name not in providers:
            yield Withheld(("providers", name), why)
            continue
        for key in provider:
            if key not in PROJECT_PROVIDER_KEYS:
                yield Withheld(("providers", name, key), why)


def _is_looser(new: Any, old: Any) -> bool:
    """Tell whether a value lets more through than another: a yes, a larger number, a longer list of names."""
    if isinstance(old, tuple):
        return bool(old) and (not new or not set(new) <= set(old))
    return old is not None and bool(new > old)


def withheld_hooks(hooks: dict[str, Any]) -> Iterator[Withheld]:
    """Name every hook of a project, as each is code that runs, and whatever bounds those of the user."""
    for key, value in hooks.items():
        if key != "entries":
            yield Withheld(("hooks", key), "a project may not decide how your hooks run")
            continue
        for index in range(len(value)):
            yield Withheld(("hooks", key, index), "a project may not run code of its own by itself")


def withheld_servers(tree: dict[str, Any], yours: Collection[str] = ()) -> Iterator[Withheld]:
    """Name every server of a project, as each is a program that runs or an address that hears of the work.

    It may do without a server of yours; `yours` are the tool servers of the layers below.
    """
    for table, what, why in (
        ("mcp", "tool", "a project may not start or reach servers of its own by itself"),
        ("lsp", "language", "a project may not say which programs look at its code"),
    ):
        for key, value in tree.get(table, {}).items():
            if key == "servers":
                for name, entry in value.items():
                    if entry != {"enabled": False}:
                        more = (
                            "; it would change yours of that name" if table == "mcp" and name in yours else ""
                        )
                        yield Withheld((table, key, name), why + more)
            elif (table, key, value) != ("lsp", "enabled", False):
                yield Withheld((table, key), f"a project may not decide how {what} servers run")


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


def withhold(layer: Layer, items: Iterable[Withheld], look: Callable[[Layer], TrustState]) -> Kept:
    """Leave keys out of a layer, each with a warning that names file, line and key.

    `look` says how the project is trusted; it is asked only if something is to be left out.
    """
    items = list(items)
    if not items:
        return Kept(layer)
    held = tuple(
        Held(layer.place(item.path), key_text(item.path), _shown(layer.tree, item.path), item.why)
        for item in items
    )
    state = look(layer)
    if state == "trusted":
        return Kept(layer, held)
    tree = layer.tree
    for item in reversed(items):  # so that what is left of a list keeps its numbers
        tree = _without(tree, item.path)
    warnings = [f"{one.place}: {one.key} has no effect: {one.why} ({HINTS[state]})" for one in held]
    return Kept(Layer(layer.source, tree, layer.text), held, tuple(warnings), state == "changed")


def _shown(tree: dict[str, Any], path: KeyPath) -> str:
    value = _at(tree, path)
    return literal(shown_server(value, for_trust=True) if path[:2] == SERVERS else value)


def _at(tree: dict[str, Any], path: KeyPath) -> Any:
    value: Any = tree
    for part in path:
        if isinstance(value, list) and isinstance(part, int):
            value = value[part]
        else:
            value = value.get(str(part)) if isinstance(value, dict) else None
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
