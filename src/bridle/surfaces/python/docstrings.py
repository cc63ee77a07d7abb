"""Parse a docstring in Google, NumPy or Sphinx style for the descriptions of a function and its arguments."""

import re
from inspect import cleandoc

from msgspec import Struct

_ARGUMENTS = ("args", "arguments", "parameters", "params", "keyword args", "keyword arguments")
_OTHERS = (
    *("returns", "return", "yields", "yield", "raises", "raise", "example", "examples", "note", "notes"),
    *("see also", "warning", "warnings", "references", "todo", "attributes", "other parameters"),
)
_SPHINX = re.compile(r":(?P<kind>\w+)(?:\s+(?P<name>[^:]*?))?:\s*(?P<text>.*)", re.DOTALL)
_GOOGLE = re.compile(r"\*{0,2}(?P<name>\w+)\s*(?:\([^)]*\))?\s*:\s*(?P<text>.*)")
_LINE = re.compile(r"-{3,}")
_NUMPY = re.compile(r"\*{0,2}(?P<name>\w+)\s*(?::.*)?")


class ParsedDocstring(Struct, frozen=True):
    """A parsed docstring."""

    text: str
    """The text before and between the sections."""
    arguments: dict[str, str]


def parse_docstring(docstring: str) -> ParsedDocstring:
    """Parse a docstring; anything that is not a section of a known style is text."""
    text: list[str] = []
    arguments: dict[str, str] = {}
    lines = cleandoc(docstring).splitlines()
    number = 0
    while number < len(lines):
        heading = lines[number].strip().removesuffix(":").lower()
        is_google = lines[number].strip().endswith(":") and not lines[number].startswith(" ")
        is_numpy = number + 1 < len(lines) and _LINE.fullmatch(lines[number + 1].strip()) is not None
        if heading in (*_ARGUMENTS, *_OTHERS) and (is_google or is_numpy):
            first = number + (2 if is_numpy else 1)
            last = _end(lines, first, is_numpy=is_numpy)
            if heading in _ARGUMENTS:
                arguments |= _arguments(lines[first:last], _NUMPY if is_numpy else _GOOGLE)
            number = last
        elif lines[number].startswith(":") and _SPHINX.fullmatch(lines[number]):
            last = _end(lines, number + 1, is_numpy=False)
            arguments |= _sphinx("\n".join(lines[number:last]))
            number = last
        else:
            text.append(lines[number])
            number += 1
    return ParsedDocstring("\n".join(text).strip(), arguments)


def _end(lines: list[str], first: int, *, is_numpy: bool) -> int:
    """Return the index where a section ends: at the next heading or the next unindented line."""
    for number in range(first, len(lines)):
        if is_numpy:
            is_next = number + 1 < len(lines) and bool(_LINE.fullmatch(lines[number + 1].strip()))
        else:
            is_next = bool(lines[number].strip()) and not lines[number].startswith((" ", "\t"))
        if is_next:
            return number
    return len(lines)


def _arguments(lines: list[str], pattern: re.Pattern[str]) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    depth = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    current: list[str] = []
    for line in lines:
        if not line.strip():
            continue
        match = pattern.fullmatch(line.strip()) if len(line) - len(line.lstrip()) == depth else None
        if match is not None:
            current = found[match["name"]] = [text] if (text := match.groupdict().get("text")) else []
        else:
            current.append(line.strip())
    return {name: " ".join(words) for name, words in found.items() if words}


def _sphinx(field: str) -> dict[str, str]:
    match = _SPHINX.fullmatch(field)
    if match is None or match["kind"] not in ("param", "parameter", "arg", "argument"):
        return {}
    name = (match["name"] or "").split()[-1:]
    return {name[0].lstrip("*"): " ".join(match["text"].split())} if name else {}
