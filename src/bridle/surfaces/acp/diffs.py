"""Splits unified diffs into old and new texts."""

import re
from collections.abc import Iterator

from msgspec import Struct

_HUNK = re.compile(r"@@ -\d+,(?P<old>\d+) \+(?P<line>\d+),(?P<new>\d+) @@")
_NOTHING = "/dev/null"


class Edit(Struct, frozen=True):
    """Some lines of a file, before and after."""

    path: str
    old: str | None
    """None for a new file."""
    new: str
    line: int
    """The first line of the new text, from 1."""


def edits_in(diff: str) -> list[Edit] | None:
    """Return the edits of a diff, one per hunk; None if it is not a complete diff."""
    edits: list[Edit] = []
    before = path = ""
    lines = iter(diff.removesuffix("\n").split("\n"))
    for line in lines:
        hunk = _HUNK.fullmatch(line)
        if line.startswith("--- ") and (after := next(lines, "")).startswith("+++ "):
            before, path = line[4:], after[4:]
        elif hunk is not None and path:
            old, new = _texts(lines, int(hunk["old"]), int(hunk["new"]))
            if old is None or new is None:
                return None
            edits.append(Edit(path, None if before == _NOTHING else old, new, max(1, int(hunk["line"]))))
        else:
            return None
    return edits or None


def _texts(lines: Iterator[str], old_count: int, new_count: int) -> tuple[str, str] | tuple[None, None]:
    """Read the lines of one hunk; return None if their number is wrong."""
    old: list[str] = []
    new: list[str] = []
    while len(old) < old_count or len(new) < new_count:
        line = next(lines, "")
        if line[:1] not in (" ", "+", "-") or not line:
            return None, None
        if line[0] != "+":
            old.append(line[1:])
        if line[0] != "-":
            new.append(line[1:])
    if (len(old), len(new)) != (old_count, new_count):
        return None, None
    return "\n".join(old), "\n".join(new)
