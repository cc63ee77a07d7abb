"""Show the settings, and change one key of a `config.toml` while keeping its comments and order."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, to_builtins

from bridle.config.duration import Duration
from bridle.config.hooks import ENTRIES, HIDDEN, redact_entry
from bridle.config.keys import ConfigFile
from bridle.config.layers import SERVERS, Layer, Source, check
from bridle.config.mcp import redact_url
from bridle.config.rules import rule_text
from bridle.config.settings import Settings
from bridle.config.textfile import locked, read_text, write_text
from bridle.config.toml_document import (
    KeyPath,
    Statement,
    TomlDocument,
    key_text,
    literal,
    parse_key,
    parse_toml,
    scan,
)
from bridle.config.validation import build, is_unicode, kind_at, problems, value_from_text
from bridle.core.errors import ConfigError
from bridle.core.permission import Action, parse_rule


class SettingRow(NamedTuple):
    """One line of `bridle config show`."""

    key: str
    value: str
    source: str


def get_value(settings: Settings, key: str) -> Any:
    """Return one setting, or a table of them as a dict; raises ConfigError for an unknown or unset key."""
    path = parse_key(key)
    kind_at(ConfigFile, path)
    value: Any = settings
    for part in path:
        items = _items(value)
        if part not in items:
            raise ConfigError(f"{key_text(path)} is not set", hint="bridle config show")
        value = items[part]
    return _plain(value)


def show(settings: Settings) -> list[SettingRow]:
    """Return every setting with its value as TOML and its origin; possible secrets are hidden."""
    rows = []
    for name in ConfigFile.__struct_fields__:
        for path, value in _leaves(getattr(settings, name), (name,)):
            if path[0] in ("providers", "models") and value in (None, "", {}, ()):
                continue
            if len(path) > 3 and path[1] == "servers" and path not in settings.sources:
                continue
            text = "none" if value is None else literal(_plain(value))
            source = ", ".join(map(str, settings.source(*path)))
            if path == ENTRIES:
                text = literal([redact_entry(entry) for entry in value])
            if value and ("headers" in path or (path[1:2] == ("servers",) and "env" in path)):
                text = HIDDEN
            if path[:2] == SERVERS and path[3:] == ("url",):
                text = literal(redact_url(value))
            if path[-1] == "api_key_env" and value:
                source += ", which is set" if path[1] in settings.api_keys else ", which is not set"
            rows.append(SettingRow(key_text(path), text, source))
    return rows


def set_in_file(
    file: Path, key: str, value: str, judge: Callable[[ConfigFile], None] = lambda _: None
) -> None:
    """Change one key of a `config.toml`, creating it if needed; on a ConfigError nothing has changed.

    `judge` gets what the file would say, and may raise one.
    """
    with locked(file):
        changed = set_value(read_text(file) or "", key, value, file=str(file))
        judge(build(parse_toml(changed, str(file)), ConfigFile))
        write_text(file, changed)


def set_value(text: str, key: str, value: str, *, file: str = "config.toml") -> str:
    """Return a TOML text with one key changed or added and everything else unchanged.

    A list is typed as `["a", "b"]`, or as one bare item. Raises ConfigError if the value does not fit the
    key, or if the text is invalid elsewhere; `file` is its name in the message.
    """
    path = parse_key(key)
    if not is_unicode(value):
        raise ConfigError(f"{key}: the value is not UTF-8 text")
    new = value_from_text(value, kind_at(ConfigFile, path))
    if problem := next(problems(_with({}, path, new), ConfigFile), None):
        raise ConfigError(problem.message, hint=problem.hint)
    wanted = _with(parse_toml(text, file), path, new)
    edited = with_value(text, scan(text), path, literal(new))
    if _parse_or_none(edited) != wanted:
        raise ConfigError(f"{file}: {key} cannot be set automatically", hint="edit the file by hand")
    # What is wrong now was wrong before, so report the lines of the text the user knows.
    check(Layer(Source("user", file), wanted, text), ConfigFile)
    return edited


def add_rules(file: Path, action: Action, rules: Sequence[str]) -> tuple[str, ...]:
    """Add rules to a `config.toml`, creating it if needed, and return those that were not in it yet.

    On a ConfigError nothing has changed.
    """
    with locked(file):
        text = read_text(file) or ""
        tree = _checked(text, file)
        listed = tree.get("rules", {}).get(action, [])
        known = {_normal(action, rule_text(item)) for item in listed}
        new = [rule for rule in dict.fromkeys(rules) if _normal(action, rule) not in known]
        if not new:
            return ()
        document, path = scan(text), ("rules", action)
        if path in document.values:
            edited = _with_items(text, document, path, len(listed), list(map(literal, new)))
        else:
            edited = with_value(text, document, path, literal(new))
        _write_if(file, edited, _with(tree, path, [*listed, *new]))
    return tuple(new)


def remove_rule(file: Path, action: Action, rule: str) -> bool:
    """Remove a rule from a `config.toml`, with the comment on its line; False if it is not in it."""
    with locked(file):
        text = read_text(file) or ""
        tree = _checked(text, file)
        listed = tree.get("rules", {}).get(action, [])
        wanted = _normal(action, rule)
        gone = [index for index, item in enumerate(listed) if _normal(action, rule_text(item)) == wanted]
        for index in reversed(gone):
            text = _without_item(text, scan(text), ("rules", action), index)
        if gone:
            kept = [item for index, item in enumerate(listed) if index not in gone]
            _write_if(file, text, _with(tree, ("rules", action), kept))
    return bool(gone)


def _checked(text: str, file: Path) -> dict[str, Any]:
    tree = parse_toml(text, str(file))
    check(Layer(Source("user", str(file)), tree, text), ConfigFile)
    return tree


def _normal(action: Action, text: str) -> str:
    return str(parse_rule(action, text))


def _write_if(file: Path, edited: str, wanted: dict[str, Any]) -> None:
    """Write a text if it parses to `wanted`; raises ConfigError otherwise."""
    if _parse_or_none(edited) != wanted:
        raise ConfigError(f"{file}: its rules cannot be changed automatically", hint="edit the file by hand")
    write_text(file, edited)


def _with_items(text: str, document: TomlDocument, path: KeyPath, count: int, items: list[str]) -> str:
    """Append items to a list: on its line, or on separate lines if the other items are."""
    start, end = document.values[path]
    if not count:
        inner = text[start + 1 : end - 1]
        if "\n" not in inner:
            return f"{text[:start]}[{', '.join(items)}]{text[end:]}"
        first_line_end = text.index("\n", start)
        return text[:first_line_end] + _lines("    ", items, text) + text[first_line_end:]
    item_start, item_end = document.values[(*path, count - 1)]
    line_start = text.rfind("\n", 0, item_start) + 1
    line_end = text.find("\n", item_end, end)
    if line_end < 0 or text[line_start:item_start].strip():
        return f"{text[:item_end]}, {', '.join(items)}{text[item_end:]}"
    if line_end and text[line_end - 1] == "\r":
        line_end -= 1
    comma = "" if _COMMA.match(text, item_end) else ","
    added = _lines(text[line_start:item_start], items, text)
    return text[:item_end] + comma + text[item_end:line_end] + added + text[line_end:]


_COMMA = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*,")
_ITEM_END = re.compile(r"[ \t]*,?[ \t]*(?:#[^\n]*)?\r?\n")


def _lines(indent: str, items: list[str], text: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    return "".join(f"{newline}{indent}{item}," for item in items)


def _without_item(text: str, document: TomlDocument, path: KeyPath, index: int) -> str:
    start, end = document.values[(*path, index)]
    line_start = text.rfind("\n", 0, start) + 1
    rest = _ITEM_END.match(text, end)
    if rest and not text[line_start:start].strip():
        return text[:line_start] + text[rest.end() :]
    comma = re.compile(r"[ \t]*,[ \t]*").match(text, end)
    if comma:
        return text[:start] + text[comma.end() :]
    if index:
        start = document.values[(*path, index - 1)][1]
    return text[:start] + text[end:]


def with_value(text: str, document: TomlDocument, path: KeyPath, value: str) -> str:
    """Set a value where a person would: in place, next to its neighbors, or in a new table."""
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


def _into_table(text: str, document: TomlDocument, path: KeyPath, value: str) -> str:
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
    """Move up over the comment lines directly above, because they belong to what follows."""
    while offset and text[text.rfind("\n", 0, offset - 1) + 1 : offset].lstrip().startswith("#"):
        offset = text.rfind("\n", 0, offset - 1) + 1
    return offset


def _with(tree: dict[str, Any], path: KeyPath, value: Any) -> dict[str, Any]:
    """Return a copy of a tree with one value set."""
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
    """Convert a setting to a TOML value."""
    if isinstance(value, Duration):
        return str(value)
    items = _items(value)
    if items or isinstance(value, dict):
        return {name: _plain(item) for name, item in items.items()}
    if isinstance(value, tuple):
        return [to_builtins(item) if isinstance(item, Struct) else str(item) for item in value]
    return value


def _items(value: Any) -> dict[str, Any]:
    if isinstance(value, Struct):
        return {name: getattr(value, name) for name in value.__struct_fields__}
    return value if isinstance(value, dict) else {}
