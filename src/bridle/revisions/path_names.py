r"""Encoding of paths in change records: text that can be stored as JSON and decoded to the same path.

```
<cwd>/src/a.py        src/a.py          relative to the working directory
<cwd>                 .
/data/x               /data/x           absolute, outside the working directory
a\b                   a\\b              a backslash is doubled
caf\351 (Latin-1)     caf\xe9           a byte that is not UTF-8 becomes an escape
```

In memory, paths use `surrogateescape` for bytes that are not UTF-8, as Python does.
"""

import re

_SPECIAL = re.compile("[\\\\\udc80-\udcff]")
_ESCAPE = re.compile(r"\\(\\|x[89a-f][0-9a-f]|)")


def encode_name(path: str, cwd: str) -> str:
    """Return the name in a change record of an absolute path without links or dots."""
    if path == cwd:
        return "."
    inside = cwd.rstrip("/") + "/"
    return escape(path.removeprefix(inside))


def decode_name(name: str, cwd: str) -> str:
    """Return the absolute path of a recorded name; raises ValueError if `encode_name` cannot produce it."""
    if name == ".":
        return cwd
    path = unescape(name)
    steps = path.removeprefix("/").split("/")
    if not is_valid_path(path) or any(step in ("", ".", "..") for step in steps):
        raise ValueError(f"{printable(name)} is not a path that can be recorded")
    return path if path.startswith("/") else f"{cwd.rstrip('/')}/{path}"


def is_valid_path(text: str) -> bool:
    """Return True if a text is a possible path; no file can exist at any other."""
    try:
        return b"\0" not in text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return False


def escape(path: str) -> str:
    """Return a path as text without lone surrogates; `unescape` reverses it."""
    return _SPECIAL.sub(_escaped, path)


def unescape(text: str) -> str:
    """Return the path of an escaped text; raises ValueError if it is not escaped."""
    return _ESCAPE.sub(_unescaped, text)


def printable(text: str) -> str:
    """Return a name without line breaks and control characters."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    return "\\\\" if char == "\\" else f"\\x{ord(char) - 0xDC00:02x}"


def _unescaped(match: re.Match[str]) -> str:
    if not match[1]:
        raise ValueError(f"{printable(match.string)} has an invalid backslash")
    return "\\" if match[1] == "\\" else chr(0xDC00 + int(match[1][1:], 16))
