"""Settings in layers: each layer is read and checked by itself, then merged over those below."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from bridle.config.textfile import read_text
from bridle.config.toml_document import KeyPath, line_of, parse_toml, scan
from bridle.config.validation import problems
from bridle.core.errors import ConfigError

LayerName = Literal["default", "user", "project", "flag"]

JOINED = {("rules", "allow"), ("rules", "ask"), ("rules", "deny"), ("hooks", "entries")}
"""Lists that are concatenated across layers instead of replaced."""

SERVERS: tuple[str, str] = ("mcp", "servers")

CREDENTIALS = ("api_key_env", "headers", "auth")
"""A provider's credentials; they belong to the address that they were written for."""


class Source(Struct, frozen=True):
    """The origin of a value."""

    layer: LayerName
    file: str = ""

    def __str__(self) -> str:
        return f"{self.layer} {self.file}" if self.file else self.layer


class Layer(Struct, frozen=True):
    """The settings from one place."""

    source: Source
    tree: dict[str, Any]
    text: str = ""
    lines: dict[KeyPath, int] | None = None
    """The lines of its keys, if the text is not TOML."""

    def place(self, path: KeyPath) -> str:
        """Return the file and line of a key, as a message starts."""
        if not self.source.file:
            return self.source.layer
        lines = scan(self.text).lines if self.lines is None else self.lines
        return f"{self.source.file}:{line_of(path, lines)}"


class Merged(Struct, frozen=True):
    """All layers in one tree, and the origin of each value."""

    tree: dict[str, Any]
    sources: dict[KeyPath, tuple[Source, ...]]


def read_layer(
    name: LayerName,
    file: Path,
    shape: type[Struct],
    *,
    within: Path | None = None,
    adapt: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
) -> Layer | None:
    """Read a file, apply `adapt`, and check the result; return None if there is no file.

    Raises ConfigError with file, line and key.
    """
    text = read_text(file, within=within)
    if text is None:
        return None
    tree = parse_toml(text, str(file))
    layer = Layer(Source(name, str(file)), adapt(tree) if adapt else tree, text)
    check(layer, shape)
    return layer


def check(layer: Layer, shape: type[Struct]) -> None:
    """Raise ConfigError for the first problem in a layer."""
    try:
        problem = next(problems(layer.tree, shape), None)
    except RecursionError as error:
        raise ConfigError(f"{layer.source.file}: nested too deeply") from error
    if problem is not None:
        raise ConfigError(f"{layer.place(problem.path)}: {problem.message}", hint=problem.hint)


def merge(layers: Iterable[Layer]) -> Merged:
    """Merge layers, the lowest first.

    Tables are merged, the lists of rules and hooks concatenated, everything else is replaced. A provider that
    gets another address loses the credentials of the layers below, and an MCP server that gets a command or
    url loses all its keys from them.
    """
    merged = Merged({}, {})
    for layer in layers:
        _merge_into(layer.tree, merged.tree, (), layer.source, merged.sources)
    return merged


def _merge_into(
    tree: dict[str, Any],
    under: dict[str, Any],
    path: KeyPath,
    source: Source,
    sources: dict[KeyPath, tuple[Source, ...]],
) -> None:
    if len(path) == 2 and path[0] == "providers" and _moves(tree, under):
        _forget(under, path, sources, CREDENTIALS)
    if len(path) == 3 and path[:2] == SERVERS and is_complete_server(tree):
        _forget(under, path, sources, tuple(under))
    for key, value in tree.items():
        here = (*path, key)
        if isinstance(value, dict):
            if not isinstance(under.get(key), dict):
                under[key] = {}
            _merge_into(value, under[key], here, source, sources)
        elif here in JOINED:
            # An empty list adds nothing; it must not remove what a layer below denies.
            under[key] = [*under.get(key, ()), *value]
            if value:
                sources[here] = (*sources.get(here, ()), source)
        else:
            under[key] = value
            sources[here] = (source,)


def is_complete_server(entry: dict[str, Any]) -> bool:
    """Return True if an MCP server's entry is complete; an incomplete one changes those below."""
    return "command" in entry or "url" in entry


def _moves(tree: dict[str, Any], under: dict[str, Any]) -> bool:
    old, new = under.get("base_url"), tree.get("base_url")
    return bool(old and new) and str(old).rstrip("/") != str(new).rstrip("/")


def _forget(
    table: dict[str, Any], path: KeyPath, sources: dict[KeyPath, tuple[Source, ...]], keys: tuple[str, ...]
) -> None:
    for key in keys:
        table.pop(key, None)
    depth = len(path)
    for place in [place for place in sources if place[:depth] == path and place[depth] in keys]:
        del sources[place]
