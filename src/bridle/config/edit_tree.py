"""Change many keys of a `config.toml` at once, keeping comments and the order of other keys."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bridle.config.edit import with_value
from bridle.config.edit_tables import without
from bridle.config.keys import ConfigFile
from bridle.config.layers import Layer, Source, check
from bridle.config.textfile import locked, read_text, write_text
from bridle.config.toml_document import KeyPath, literal, parse_toml, scan
from bridle.core.errors import ConfigError

Tree = dict[str, Any]


def change_file(file: Path, change: Callable[[str, Tree], Tree], judge: Callable[[str], None]) -> str:
    """Change a `config.toml`, creating it if needed, and return its new text.

    `change` takes the text and its parsed tree, and returns the wanted tree; `judge` raises if the new text
    is not acceptable. Raises ConfigError; then nothing has changed.
    """
    with locked(file):
        text = read_text(file) or ""
        tree = parse_toml(text, str(file))
        wanted = change(text, tree)
        try:
            check(Layer(Source("user", str(file)), wanted, text), ConfigFile)
        except RecursionError as error:
            raise ConfigError("the settings are nested too deeply") from error
        edited = edit_text(text, tree, wanted, file=str(file))
        judge(edited)
        if edited != text:
            write_text(file, edited)
    return edited


def edit_text(text: str, tree: Tree, wanted: Tree, *, file: str = "config.toml") -> str:
    """Edit a text that parses to `tree` so that it parses to `wanted`; raises ConfigError."""
    for path in _gone(tree, wanted, ()):
        text = without(text, path)
    for path, value in _set(tree, wanted, ()):
        text = _with(text, path, value, file)
    try:
        said = parse_toml(text, file)
    except ConfigError:
        said = {}
    if _pruned(said) != _pruned(wanted):
        raise ConfigError(f"{file}: cannot be changed automatically", hint="edit the file by hand")
    return text


def _with(text: str, path: KeyPath, value: Any, file: str) -> str:
    """Set one key, even one that is written as a list of tables."""
    edited = with_value(text, scan(text), path, literal(value))
    try:
        parse_toml(edited, file)
    except ConfigError:
        fresh = without(text, path)
        return with_value(fresh, scan(fresh), path, literal(value))
    return edited


def _gone(tree: Tree, wanted: Tree, path: KeyPath) -> Iterator[KeyPath]:
    """Yield the paths that are no longer wanted, or that change between table and value."""
    for key, value in tree.items():
        here = (*path, key)
        if key not in wanted:
            yield here
        elif isinstance(value, dict) and isinstance(wanted[key], dict):
            yield from _gone(value, wanted[key], here)
        elif isinstance(value, dict) != isinstance(wanted[key], dict):
            yield here


def _set(tree: Tree, wanted: Tree, path: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    for key, value in wanted.items():
        here, old = (*path, key), tree.get(key)
        if isinstance(value, dict):
            yield from _set(old if isinstance(old, dict) else {}, value, here)
        elif key not in tree or old != value or type(old) is not type(value):
            yield here, value


def _pruned(tree: Tree) -> Tree:
    """Return the tree without empty tables."""
    inner = {key: _pruned(value) if isinstance(value, dict) else value for key, value in tree.items()}
    return {key: value for key, value in inner.items() if value != {}}


def merge_patch(tree: Tree, patch: Tree) -> Tree:
    """Apply a JSON merge patch (RFC 7396): merge tables, delete keys set to null, replace all else."""
    merged = dict(tree)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict):
            old = merged.get(key)
            merged[key] = merge_patch(old if isinstance(old, dict) else {}, value)
        else:
            merged[key] = value
    return merged
