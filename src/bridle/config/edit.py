"""Looking into the settings, and changing one key of a `config.toml` with its comments and order kept."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from bridle.config.document import (
    Document,
    KeyPath,
    Statement,
    key_text,
    literal,
    parse_key,
    parse_toml,
    scan,
)
from bridle.config.duration import Duration
from bridle.config.keys import ConfigFile
from bridle.config.layers import Layer, Source, check
from bridle.config.schema import is_unicode, kind_at, problems, value_from_text
from bridle.config.settings import Settings
from bridle.config.textfile import read_text, write_text
from bridle.core.errors import ConfigError


class Shown(NamedTuple):
    """One line of `bridle config show`."""

    key: str
    value: str
    source: str


def get_value(settings: Settings, key: str) -> Any:
    """Return one setting, or a table of them as a dict; raises ConfigError for a key that does not exist."""
    path = parse_key(key)
    kind_at(ConfigFile, path)
    value: Any = settings
    for part in path:
        items = _items(value)
        if part not in items:
            raise ConfigError(f"{key_text(path)} is not set", hint="bridle config show")
        value = items[part]
    return _plain(value)


def show(settings: Settings) -> list[Shown]:
    """List every setting with its value as TOML and where it came from; what a header holds is hidden."""
    rows = []
    for name in ConfigFile.__struct_fields__:
        for path, value in _leaves(getattr(settings, name), (name,)):
            if path[0] in ("providers", "models") and value in (None, "", {}, ()):
                continue
            text = "none" if value is None else literal(_plain(value))
            source = ", ".join(map(str, settings.source(*path)))
            if "headers" in path:
                text = "(hidden)"
            if path[-1] == "api_key_env":
                source += ", which is set" if path[1] in settings.api_keys else ", which is not set"
            rows.append(Shown(key_text(path), text, source))
    return rows


def set_in_file(file: Path, key: str, value: str) -> None:
    """Change one key of a `config.toml`, which is made if need be; on a ConfigError nothing has changed."""
    text = read_text(file) or ""
    write_text(file, set_value(text, key, value, file=str(file)))


def set_value(text: str, key: str, value: str, *, file: str = "config.toml") -> str:
    """Return a TOML text with one key changed or added and everything else as it was.

    A list is typed as `["a", "b"]`, or as one bare item. Raises ConfigError when the value does not
    fit the key, or when the text is wrong elsewhere; `file` is what it is called then.
    """
    path = parse_key(key)
    if not is_unicode(value):
        raise ConfigError(f"{key}: the value is not UTF-8 text")
    new = value_from_text(value, kind_at(ConfigFile, path))
    if problem := next(problems(_with({}, path, new), ConfigFile), None):
        raise ConfigError(problem.message, hint=problem.hint)
    wanted = _with(parse_toml(text, file), path, new)
    edited = _edit(text, scan(text), path, literal(new))
    if _parse_or_none(edited) != wanted:
        raise ConfigError(f"{file}: {key} cannot be set in a text like this", hint="edit the file by hand")
    # What is wrong now was wrong before, so the lines are those of the text the user knows.
    check(Layer(Source("user", file), wanted, text), ConfigFile)
    return edited


def _edit(text: str, document: Document, path: KeyPath, value: str) -> str:
    """Put a value where a person would: in its place, beside its neighbours, or in a new table."""
    if path in document.values:
        start, end = document.values[path]
        return text[:start] + value + text[end:]
    for depth in range(len(path) - 1, 0, -1):
        table = path[:depth]
        if table in document.values:
            return _into_inline_table(text, document.values[table], f"{key_text(path[depth:])} = {value}")
        dotted = [
            statement
            for statement in document.statements
            if len(statement.table) < depth < len(statement.path) and statement.path[:depth] == table
        ]
        if dotted:
            return _after(text, dotted[-1], path, value)
    return _into_table(text, document, path, value)


def _into_inline_table(text: str, span: tuple[int, int], pair: str) -> str:
    start, end = span
    inner = text[start + 1 : end - 1].strip()
    return (
        f"{text[:start]}{{ {inner}, {pair} }}{text[end:]}"
        if inner
        else f"{text[:start]}{{ {pair} }}{text[end:]}"
    )


def _into_table(text: str, document: Document, path: KeyPath, value: str) -> str:
    *parents, name = path
    neighbours = [statement for statement in document.statements if statement.table == tuple(parents)]
    if neighbours:
        return _after(text, neighbours[-1], path, value)
    line = f"{key_text((name,))} = {value}"
    header = next((table for table in document.tables if table.path == tuple(parents)), None)
    if header:
        return _insert(text, header.end, [line])
    if parents:
        return _insert(
            text, len(text), [*([""] if text.strip() else []), f"[{key_text(tuple(parents))}]", line]
        )
    if document.tables:
        return _insert(text, _above_comments(text, document.tables[0].start), [line, ""])
    return _insert(text, len(text), [line])


def _after(text: str, neighbour: Statement, path: KeyPath, value: str) -> str:
    line_start = text.rfind("\n", 0, neighbour.start) + 1
    indent = text[line_start : neighbour.start]
    return _insert(text, neighbour.end, [f"{indent}{key_text(path[len(neighbour.table) :])} = {value}"])


def _insert(text: str, offset: int, lines: list[str]) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    before = text[:offset]
    if before and not before.endswith("\n"):
        before += newline
    return before + "".join(line + newline for line in lines) + text[offset:]


def _above_comments(text: str, offset: int) -> int:
    """Move up over the comment lines that stand directly above, for they belong to what follows."""
    while offset and text[text.rfind("\n", 0, offset - 1) + 1 : offset].lstrip().startswith("#"):
        offset = text.rfind("\n", 0, offset - 1) + 1
    return offset


def _with(tree: dict[str, Any], path: KeyPath, value: Any) -> dict[str, Any]:
    """Return a tree with one value set; the given one stays as it was."""
    key, *rest = path
    if rest:
        inner = tree.get(str(key))
        value = _with(inner if isinstance(inner, dict) else {}, tuple(rest), value)
    return {**tree, str(key): value}


def _parse_or_none(text: str) -> dict[str, Any] | None:
    try:
        return parse_toml(text, "")
    except ConfigError:
        return None


def _leaves(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    items = _items(value)
    if not items:
        yield path, value
    for name, item in items.items():
        yield from _leaves(item, (*path, name))


def _plain(value: Any) -> Any:
    """Turn a setting into what TOML can say."""
    if isinstance(value, Duration):
        return str(value)
    items = _items(value)
    if items or isinstance(value, dict):
        return {name: _plain(item) for name, item in items.items()}
    return [str(item) for item in value] if isinstance(value, tuple) else value


def _items(value: Any) -> dict[str, Any]:
    if isinstance(value, Struct):
        return {name: getattr(value, name) for name in value.__struct_fields__}
    return value if isinstance(value, dict) else {}
