"""Locate keys and values in a TOML text: the line of every key and the span of every value.

`tomllib` reads a text but does not say where it found a value. This scanner finds the positions, in a
text that `tomllib` has accepted:

```
[limits]               table      ("limits",)
max_turns = 5          statement  ("limits", "max_turns")
a.b = 1                statement  ("limits", "a", "b")
allow = ["x", "y"]     statement, with the items ("limits", "allow", 0) and ("limits", "allow", 1)
c = { d = 1 }          statement, with the value ("limits", "c", "d") in it
[[servers]]            table      ("servers", 0)
```
"""

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from bridle.core.errors import ConfigError

KeyPath = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_REST = re.compile(r"[^\n]*\n?")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_PART = re.compile(r""" [A-Za-z0-9_-]+ | "(?:[^"\\\n]|\\.)*" | '[^'\n]*' """, re.VERBOSE)
_SCALAR = re.compile(
    r'''
      """ (?:[^\\]|\\.)*? """ "{0,2}        # up to two quotes may stand before the closing three
    | \'\'\' .*? \'\'\' '{0,2}
    | " (?:[^"\\\n]|\\.)* "
    | ' [^'\n]* '
    | [^\s,\]}\#] (?:[^,\]}\#\n]*[^\s,\]}\#])?   # numbers, truth values, dates (which may hold a space)
    ''',
    re.VERBOSE | re.DOTALL,
)
MAX_KEY_PARTS = 32
# tomllib's time grows with the square of a key's parts: 64,000 of them cost a minute and gigabytes.
_LONG_KEY = re.compile(
    rf"""
    (?:^|[\[{{,]) [ \t]*+
    (?: (?: [A-Za-z0-9_-]++ | "(?:[^"\\\n]|\\.)*+" | '[^'\n]*+' ) [ \t]*+ \. [ \t]*+ ){{{MAX_KEY_PARTS}}}
    """,
    re.VERBOSE | re.MULTILINE,
)
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


class Statement(Struct, frozen=True):
    """One `key = value`, directly under a table."""

    path: KeyPath
    table: KeyPath
    start: int
    end: int
    """Start of the next line."""


class Table(Struct, frozen=True):
    """One header line."""

    path: KeyPath
    start: int
    end: int


class TomlDocument(Struct, frozen=True):
    """The positions in a text; offsets count characters, lines count from 1."""

    tables: list[Table]
    statements: list[Statement]
    values: dict[KeyPath, tuple[int, int]]
    lines: dict[KeyPath, int]

    def line_of(self, path: KeyPath) -> int:
        """Return the line that first mentions a key, or that of the table it would be in."""
        return line_of(path, self.lines)


def line_of(path: KeyPath, lines: Mapping[KeyPath, int]) -> int:
    """Return the line of a key, or that of the table it would be in."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


def parse_toml(text: str, file: str) -> dict[str, Any]:
    """Parse a TOML text; raises ConfigError with the file and the line."""
    if long_key := _LONG_KEY.search(text):
        line = text.count("\n", 0, long_key.start()) + 1
        raise ConfigError(f"{file}:{line}: a key has more than {MAX_KEY_PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ConfigError(f"{file}: not valid TOML: nested too deeply") from error
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        line, note = text.rstrip().count("\n") + 1, ""
        if place := re.search(r" \(at line (\d+), column (\d+)\)$", message):
            line, note = int(place[1]), f" (column {place[2]})"
        what = re.sub(r" \(at [^()]*\)$", "", message)
        raise ConfigError(f"{file}:{line}: not valid TOML: {what[:1].lower()}{what[1:]}{note}") from error
    except ValueError as error:  # tomllib passes on Python's error about a number with thousands of digits
        digits = re.search(r"[0-9_]{4000}", text)
        line = text.count("\n", 0, digits.start() if digits else 0) + 1
        raise ConfigError(f"{file}:{line}: not valid TOML: a number has too many digits") from error


def scan(text: str) -> TomlDocument:
    """Locate the keys and values of a text that `tomllib` accepts."""
    return _Scanner(text).scan()


def parse_key(text: str) -> tuple[str, ...]:
    """Parse a key such as `limits.max_turns` or `a."b.c"`; raises ConfigError."""
    scanner = _Scanner(text)
    try:
        parts = scanner.key()
    except (ValueError, IndexError):
        parts = ()
    if not parts or scanner.position != len(text):
        raise ConfigError(
            f"malformed key {literal(text)}", hint='write section.key, for example "limits.max_turns"'
        )
    return parts


def key_text(path: KeyPath) -> str:
    """Write a path as a user would type it."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
            continue
        text += "." if text else ""
        text += part if _BARE.fullmatch(part) else literal(part)
    return text


def literal(value: Any) -> str:
    """Write a value as TOML, on one line and without control characters."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return '"' + "".join(_ESCAPES.get(char) or _escaped(char) for char in value) + '"'
        case list() | tuple():
            return "[" + ", ".join(map(literal, value)) + "]"
        case dict():
            pairs = ", ".join(f"{key_text((key,))} = {literal(item)}" for key, item in value.items())
            return f"{{ {pairs} }}" if pairs else "{}"
        case _:
            return repr(value) if isinstance(value, int | float) else str(value)


def _escaped(char: str) -> str:
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


class _Scanner:
    """Scans a text once, from the first character to the last."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self._line = 1
        self._counted = 0
        self._found = TomlDocument([], [], {}, {})
        self._array_lengths: dict[KeyPath, int] = {}

    def scan(self) -> TomlDocument:
        table: KeyPath = ()
        self._skip(_BLANK)
        while self.position < len(self.text):
            if self.text[self.position] == "[":
                table = self._header()
            else:
                self._statement(table)
            self._skip(_BLANK)
        return self._found

    def key(self) -> tuple[str, ...]:
        parts = []
        while True:
            self._skip(_SPACE)
            part = self._take(_PART)
            parts.append(tomllib.loads(f"k = {part}")["k"] if part[0] in "\"'" else part)
            self._skip(_SPACE)
            if self.text[self.position : self.position + 1] != ".":
                return tuple(parts)
            self.position += 1

    def _header(self) -> KeyPath:
        start = self.position
        brackets = 2 if self.text.startswith("[[", start) else 1
        self.position += brackets
        *parents, name = self.key()
        self.position += brackets
        path = (*self._resolve(tuple(parents)), name)
        if brackets == 2:
            index = self._array_lengths.get(path, 0)
            self._array_lengths[path] = index + 1
            path = (*path, index)
        self._note(path, start)
        self._skip(_REST)
        self._found.tables.append(Table(path, start, self.position))
        return path

    def _resolve(self, path: KeyPath) -> KeyPath:
        """Replace the name of an array of tables by its last table."""
        found: KeyPath = ()
        for part in path:
            found = (*found, part)
            if found in self._array_lengths:
                found = (*found, self._array_lengths[found] - 1)
        return found

    def _statement(self, table: KeyPath) -> None:
        start = self.position
        path = self._pair(table)
        self._skip(_REST)
        self._found.statements.append(Statement(path, table, start, self.position))

    def _pair(self, table: KeyPath) -> KeyPath:
        start = self.position
        path = (*table, *self.key())
        self.position += 1  # the equals sign
        self._note(path, start)
        self._skip(_SPACE)
        self._value(path)
        return path

    def _value(self, path: KeyPath) -> None:
        start = self.position
        match self.text[start]:
            case "[":
                self._items(path)
            case "{":
                self._pairs(path)
            case _:
                self._take(_SCALAR)
        self._found.values[path] = (start, self.position)

    def _items(self, path: KeyPath) -> None:
        self.position += 1
        index = 0
        self._skip(_BLANK)
        while self.text[self.position] != "]":
            self._note((*path, index), self.position)
            self._value((*path, index))
            index += 1
            self._skip_comma()
        self.position += 1

    def _pairs(self, path: KeyPath) -> None:
        self.position += 1
        self._skip(_BLANK)
        while self.text[self.position] != "}":
            self._pair(path)
            self._skip_comma()
        self.position += 1

    def _skip_comma(self) -> None:
        self._skip(_BLANK)
        if self.text[self.position] == ",":
            self.position += 1
            self._skip(_BLANK)

    def _note(self, path: KeyPath, offset: int) -> None:
        """Record the line of a path, and of its parents that were not seen before."""
        self._line += self.text.count("\n", self._counted, offset)
        self._counted = offset
        while path and path not in self._found.lines:
            self._found.lines[path] = self._line
            path = path[:-1]

    def _skip(self, pattern: re.Pattern[str]) -> None:
        # Every pattern also matches the empty string.
        self.position = pattern.match(self.text, self.position).end()  # type: ignore[union-attr]

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.position)
        if match is None:
            raise ValueError(f"invalid TOML at character {self.position}")
        self.position = match.end()
        return match[0]
