r"""Paths as change records name them: text that can be stored as JSON, and from which the path comes back.

```
<cwd>/src/a.py        src/a.py          relative to the working directory
<cwd>                 .
/data/x               /data/x           absolute outside of it
a\b                   a\\b              a backslash is doubled
caf\351 (Latin-1)     caf\xe9           a byte that is not UTF-8 becomes an escape
```

Paths inside the process are Python's: `surrogateescape` for bytes that are not UTF-8.
"""

import re

_SPECIAL = re.compile("[\\\\\udc80-\udcff]")
_ESCAPE = re.compile(r"\\(\\|x[89a-f][0-9a-f]|)")


def record_name(path: str, cwd: str) -> str:
    """Name an absolute path, without links or dots, in a change record."""
    if path == cwd:
        return "."
    inside = cwd.rstrip("/") + "/"
    return escape(path.removeprefix(inside))


def path_of(name: str, cwd: str) -> str:
    """Return the absolute path of a recorded name; raises ValueError for a name that we never give."""
    if name == ".":
        return cwd
    path = unescape(name)
    steps = path.removeprefix("/").split("/")
    if not can_be_path(path) or any(step in ("", ".", "..") for step in steps):
        raise ValueError(f"{printable(name)} is not a path that a record can name")
    return path if path.startswith("/") else f"{cwd.rstrip('/')}/{path}"


def can_be_path(text: str) -> bool:
    """Tell whether the system takes a text as a path; at any other nothing lies, and nothing will."""
    try:
        return b"\0" not in text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return False


def escape(path: str) -> str:
    """Return a path as text without half characters; `unescape` undoes it."""
    return _SPECIAL.sub(_escaped, path)


def unescape(text: str) -> str:
    """Return the path that was escaped; raises ValueError when it was not."""
    return _ESCAPE.sub(_unescaped, text)


def printable(text: str) -> str:
    """Return a name that cannot pass for two lines, nor move a cursor."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    return "\\\\" if char == "\\" else f"\\x{ord(char) - 0xDC00:02x}"


def _unescaped(match: re.Match[str]) -> str:
    if not match[1]:
        raise ValueError(f"{printable(match.string)} has a backslash that stands for nothing")
    return "\\" if match[1] == "\\" else chr(0xDC00 + int(match[1][1:], 16))
