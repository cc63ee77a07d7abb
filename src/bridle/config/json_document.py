"""Parse JSON files that people write, and find the line of every key."""

import re
from typing import Any

import msgspec

from bridle.config.toml_document import KeyPath
from bridle.core.errors import ConfigError

MAX_DEPTH = 5  # deeper keys count as their table; a hostile text would cost gigabytes otherwise

# The rest, spaces and colons, does not affect where a key is.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]|[-+.\w]+', re.DOTALL)
_PLACE = re.compile(r" \(byte (\d+)\)\Z")


def parse_json(text: str, file: str) -> Any:
    """Parse a JSON text; raises ConfigError with the file and the line."""
    try:
        return msgspec.json.decode(text)
    except RecursionError as error:
        raise ConfigError(f"{file}: not valid JSON: nested too deeply") from error
    except (msgspec.MsgspecError, UnicodeError) as error:
        message = str(error)
        before = text.rstrip()
        if place := _PLACE.search(message):
            before = text.encode()[: int(place[1])].decode(errors="replace")
        what = _PLACE.sub("", message).removeprefix("JSON is malformed: ")
        line = before.count("\n") + 1
        raise ConfigError(f"{file}:{line}: not valid JSON: {what[:1].lower()}{what[1:]}") from error


def json_lines(text: str) -> dict[KeyPath, int]:
    """Return the line of every key of a valid text, from 1; leaves out keys in lists or below MAX_DEPTH."""
    lines: dict[KeyPath, int] = {}
    path: list[str | None] = []  # None stands for a list
    is_key = False
    line, counted = 1, 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "}]":
            path.pop()
            is_key = False
        elif token in "{[":
            is_key = token == "{"
            path.append("" if is_key else None)
        elif token == ",":
            is_key = path[-1] is not None
        elif is_key:
            is_key = False
            path[-1] = msgspec.json.decode(token, type=str)
            line += text.count("\n", counted, match.start())
            counted = match.start()
            names = [name for name in path if name is not None] if len(path) <= MAX_DEPTH else []
            if names and len(names) == len(path):
                lines[tuple(names)] = line
    return lines
