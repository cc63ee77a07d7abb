"""Add a table to a `config.toml` or remove one, with everything else unchanged."""

import re
from pathlib import Path
from typing import Any

from bridle.config.keys import ConfigFile
from bridle.config.layers import Layer, Source, check
from bridle.config.textfile import locked, read_text, write_text
from bridle.config.toml_document import KeyPath, key_text, literal, parse_toml, scan
from bridle.core.errors import ConfigError

_ENTRY_END = re.compile(r"[ \t]*,[ \t]*")


def add_table(file: Path, path: tuple[str, ...], table: dict[str, Any]) -> None:
    """Add a table at the end of a `config.toml`, creating the file if needed.

    Raises ConfigError if the table exists or is invalid; then nothing has changed.
    """
    with locked(file):
        text = read_text(file) or ""
        tree = _checked(text, file)
        if _at(tree, path) is not None:
            raise ConfigError(f"{file}: {key_text(path)} already exists")
        wanted = _with(tree, path, table)
        check(Layer(Source("user"), _with({}, path, table)), ConfigFile)
        lines = [f"[{key_text(path)}]", *(f"{key_text((key,))} = {literal(table[key])}" for key in table)]
        newline = "\r\n" if "\r\n" in text else "\n"
        before = text if not text or text.endswith("\n") else text + newline
        gap = newline if text.strip() else ""
        _write_if(file, before + gap + "".join(line + newline for line in lines), wanted, path)


def has_key(tree: dict[str, Any], path: tuple[str, ...]) -> bool:
    """Return True if the tree of a `config.toml` has a key or table."""
    return _at(tree, path) is not None


def remove_table(file: Path, path: tuple[str, ...]) -> bool:
    """Remove a table from a `config.toml`, with the comments in it; False if it is not there.

    Raises ConfigError; then nothing has changed.
    """
    with locked(file):
        text = read_text(file) or ""
        tree = _checked(text, file)
        if _at(tree, path) is None:
            return False
        _write_if(file, without(text, path), _without_key(tree, path), path)
    return True


def without(text: str, path: KeyPath) -> str:
    """Return a TOML text without a key or table, and without the comments in it."""
    document = scan(text)
    depth = len(path)
    spans: list[tuple[int, int]] = []
    ends = [*(table.start for table in document.tables[1:]), len(text)]
    for table, end in zip(document.tables, ends, strict=False):
        if table.path[:depth] == path:
            spans.append((table.start, _before_comments(text, table.end, end)))
    spans += [
        (statement.start, statement.end)
        for statement in document.statements
        if statement.path[:depth] == path and statement.table[:depth] != path
    ]
    if not spans and path in document.values:
        spans.append(_entry_span(text, document.values[path], path))
    for start, end in sorted(spans, reverse=True):
        before, after = text[:start], text[end:]
        if before.endswith("\n\n") and (not after.strip() or after.startswith("\n")):
            before = before[:-1]
        text = before + after
    return text


def _before_comments(text: str, start: int, end: int) -> int:
    """Return `end`, moved up over the comments that belong to the next table."""
    while end > start:
        line = text.rfind("\n", 0, end - 1) + 1
        if line < start or not text[line:end].lstrip().startswith("#"):
            return end
        end = line
    return end


def _entry_span(text: str, value: tuple[int, int], path: KeyPath) -> tuple[int, int]:
    """Return the span of `name = {…}` inside an inline table, with its separating comma."""
    start, end = value
    name = re.compile(rf"[\"']?{re.escape(str(path[-1]))}[\"']?[ \t]*=[ \t]*\Z")
    found = name.search(text[:start])
    start = found.start() if found else start
    if comma := _ENTRY_END.match(text, end):
        return start, comma.end()
    before = re.compile(r",[ \t]*\Z").search(text[:start])
    return (before.start() if before else start), end


def _checked(text: str, file: Path) -> dict[str, Any]:
    tree = parse_toml(text, str(file))
    check(Layer(Source("user", str(file)), tree, text), ConfigFile)
    return tree


def _write_if(file: Path, text: str, wanted: dict[str, Any], path: tuple[str, ...]) -> None:
    """Write a text if it parses to `wanted`, ignoring empty tables; raises ConfigError otherwise."""
    try:
        got = parse_toml(text, str(file))
    except ConfigError:
        got = None
    if got is None or _pruned(got) != _pruned(wanted):
        raise ConfigError(
            f"{file}: {key_text(path)} cannot be changed automatically", hint="edit the file by hand"
        )
    write_text(file, text)


def _pruned(tree: dict[str, Any]) -> dict[str, Any]:
    inner = {key: _pruned(value) if isinstance(value, dict) else value for key, value in tree.items()}
    return {key: value for key, value in inner.items() if value != {}}


def _at(tree: dict[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = tree
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _with(tree: dict[str, Any], path: tuple[str, ...], table: dict[str, Any]) -> dict[str, Any]:
    key, *rest = path
    return {**tree, key: _with(tree.get(key, {}), tuple(rest), table) if rest else table}


def _without_key(tree: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    key, *rest = path
    if not rest:
        return {name: value for name, value in tree.items() if name != key}
    return {**tree, key: _without_key(tree[key], tuple(rest))}
