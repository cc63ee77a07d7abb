"""The hooks in the settings: where each is defined, which program it runs, and what is wrong with it.

A program with a slash in its name is looked up next to the file that names it, or in the project; a bare
name is looked up on PATH when a run begins. Entries of all layers apply together, so their ids must differ.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from bridle.config.layers import Layer, LayerName
from bridle.config.toml_document import KeyPath
from bridle.config.validation import build
from bridle.core.errors import ConfigError
from bridle.core.hook import HookEntry, find_entry_problem

ENTRIES: KeyPath = ("hooks", "entries")
HIDDEN = "(hidden)"


class FoundHook(Struct, frozen=True):
    """A hook of the settings."""

    entry: HookEntry
    place: str
    """File and line."""
    layer: LayerName
    trusted: bool = True
    """False for a project's hook that has no effect."""
    has_lapsed: bool = False
    """True if it had an effect until the project changed."""


def resolve_programs(layer: Layer, *folders: Path) -> Layer:
    """Return a layer with its hooks' programs as absolute paths, in the first folder that has them."""
    entries = _entries(layer.tree)
    if not entries:
        return layer
    hooks = {**layer.tree["hooks"], "entries": [_with_program(entry, folders) for entry in entries]}
    return Layer(layer.source, {**layer.tree, "hooks": hooks}, layer.text)


def find_hooks(
    layers: Sequence[Layer], untrusted: Layer | None = None, *, has_lapsed: bool = False
) -> tuple[FoundHook, ...]:
    """Return the hooks of all layers, in registration order; raises ConfigError with file and line.

    `untrusted` is a layer that has no effect; its hooks are checked and marked.
    """
    found = [hook for layer in layers for hook in _hooks_of(layer)]
    known: dict[str, FoundHook] = {}
    for hook in found:
        other = known.setdefault(hook.entry.id, hook)
        if other is not hook:
            raise ConfigError(
                f'{hook.place}: hook "{hook.entry.id}": id: is already used by another hook',
                hint=f"the other one is at {other.place}; a hook without an id is called hook",
            )
    inert = _hooks_of(untrusted) if untrusted is not None else ()
    return (*found, *(replace(hook, trusted=False, has_lapsed=has_lapsed) for hook in inert))


def find_hook_programs(tree: dict[str, Any]) -> Iterator[str]:
    """Yield the project files that its hooks may run, as paths in the project; they need not exist."""
    for entry in _entries(tree):
        command = _command(entry)
        if "/" in command and not command.startswith(("/", "~")):
            yield command


def redact_entry(entry: HookEntry) -> dict[str, Any]:
    """Return an entry as TOML values, without what may be a secret."""
    shown: dict[str, Any] = msgspec.to_builtins(entry)
    for key in ("env", "headers"):
        if key in shown["runtime"]:
            shown["runtime"][key] = dict.fromkeys(shown["runtime"][key], HIDDEN)
    return shown


def _hooks_of(layer: Layer) -> Iterator[FoundHook]:
    for index, item in enumerate(_entries(layer.tree)):
        path = (*ENTRIES, index)
        entry = build(item, HookEntry)
        if problem := find_entry_problem(entry):
            place = layer.place((*path, *problem.key.split(".")))
            raise ConfigError(f'{place}: hook "{entry.id}": {problem.key}: {problem.message}')
        yield FoundHook(entry, layer.place(path), layer.source.layer)


def _with_program(entry: dict[str, Any], folders: Sequence[Path]) -> dict[str, Any]:
    command = _command(entry)
    if "/" not in command or command.startswith(("/", "~/")):
        return entry
    places = [os.path.normpath(folder / command) for folder in folders]
    found = next((place for place in places if os.path.lexists(place)), places[0])
    return {**entry, "runtime": {**entry["runtime"], "command": found}}


def _entries(tree: dict[str, Any]) -> Sequence[dict[str, Any]]:
    """Return the entries of a tree, which may be unvalidated."""
    hooks = tree.get("hooks")
    entries = hooks.get("entries") if isinstance(hooks, dict) else None
    return (
        [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list | tuple) else []
    )


def _command(entry: dict[str, Any]) -> str:
    runtime = entry.get("runtime")
    command = runtime.get("command") if isinstance(runtime, dict) else None
    return command if isinstance(command, str) else ""
