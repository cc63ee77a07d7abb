"""Parses unified diffs into numbered lines, for views with one column or side by side.

```
--- a.py                                 old new
+++ a.py                                          gap      @@ -1,2 +1,2 @@
@@ -1,2 +1,2 @@          ──▶             1   1    same     import os
 import os                                2        removed  helo()
-helo()                                       2    added    hello()
+hello()
```

A diff may be truncated, have notes between its files, or come from git: anything unknown becomes a note.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from bridle.core.permission import EDITING_TOOLS

LineKind = Literal["same", "added", "removed", "gap", "note"]
"""A gap separates two hunks of a file; a note is text in a diff that is no line of a file."""

MAX_LINES = 20_000  # about 100 ms
DIFFING_TOOLS = frozenset({*EDITING_TOOLS, "rename_symbol", "replace_symbol", "code_action"})
"""The tools whose previews are diffs. Others are model text, which would lose lines if parsed as a diff."""
NOTHING = "/dev/null"
"""The path in a diff for a missing file."""

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@.*", re.DOTALL)
_GIT_HEADS = ("diff --git ", "index ", "new file mode ", "deleted file mode ", "similarity index ")
_KINDS: dict[str, LineKind] = {" ": "same", "+": "added", "-": "removed"}


class DiffLine(Struct, frozen=True, omit_defaults=True):
    """One line of a diff, without its mark."""

    kind: LineKind
    text: str
    old: int | None = None
    """Its line number in the old file; null if it is not there or unknown."""
    new: int | None = None


class FileDiff(Struct, frozen=True, omit_defaults=True):
    """The changes to one file."""

    path: str
    """Empty for notes before the first file."""
    lines: tuple[DiffLine, ...]
    created: bool = False
    deleted: bool = False
    added: int = 0
    """The number of added lines, of those that are shown."""
    removed: int = 0


def parse_diff(text: str, most_lines: int = MAX_LINES) -> list[FileDiff]:
    """Split a diff into files; empty if the text is no diff. Lines beyond the limit become a note."""
    lines = text.removesuffix("\n").split("\n")
    if not any(line.startswith("@@ ") for line in lines):
        return []
    left_out = len(lines) - most_lines
    reading = _Reading()
    for line, following in _with_next(lines[:most_lines]):
        reading.take(line, following)
    if left_out > 0:
        reading.note(f"[{left_out:,} more lines not shown]")
    return reading.files()


def side_by_side(lines: Iterable[DiffLine]) -> Iterator[tuple[DiffLine | None, DiffLine | None]]:
    """Pair old lines with new ones: removed lines with the added lines that follow them.

    A gap or a note is on both sides, since it belongs to neither.
    """
    removed: list[DiffLine] = []
    added: list[DiffLine] = []
    for line in lines:
        if line.kind == "added":
            added.append(line)
            continue
        if line.kind != "removed" or added:
            yield from _paired(removed, added)
            removed, added = [], []
        if line.kind == "removed":
            removed.append(line)
        else:
            yield line, line
    yield from _paired(removed, added)


def _paired(
    removed: Sequence[DiffLine], added: Sequence[DiffLine]
) -> Iterator[tuple[DiffLine | None, DiffLine | None]]:
    for at in range(max(len(removed), len(added))):
        yield removed[at] if at < len(removed) else None, added[at] if at < len(added) else None


def _with_next(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    return zip(lines, [*lines[1:], ""], strict=True)


class _Reading:
    """Parses a diff line by line."""

    def __init__(self) -> None:
        self._files: list[FileDiff] = []
        self._path = self._before = ""
        self._lines: list[DiffLine] = []
        self._old: int | None = None  # the numbers of the next lines
        self._new: int | None = None
        self._old_left = self._new_left = 0  # lines left in the hunk
        self._is_git = False
        self._is_cut = False  # lines are missing, so only the marks can be trusted

    def take(self, line: str, following: str) -> None:
        """Parse the next line, given the one after it."""
        inside = self._old_left > 0 or self._new_left > 0
        if (self._is_cut or not inside) and line.startswith("--- ") and following.startswith("+++ "):
            self._end_file()
            self._before = self._path_of(line)
        elif not inside and line.startswith("+++ ") and self._before and not self._path:
            self._path = self._path_of(line)
        elif line.startswith("@@ "):
            self._begin_place(line)
        elif (kind := _KINDS.get(line[:1] or " ")) and (inside or (self._is_cut and line)):
            self._add(kind, line[1:])
        elif not inside and line.startswith(_GIT_HEADS):
            self._is_git = True  # the next lines repeat the paths
        elif line:
            self._is_cut = self._is_cut or (inside and not line.startswith("\\"))
            self.note(line)

    def note(self, text: str) -> None:
        """Keep text that is no line of a file."""
        self._lines.append(DiffLine("note", text))

    def files(self) -> list[FileDiff]:
        """Return the parsed files."""
        self._end_file()
        return self._files

    def _begin_place(self, line: str) -> None:
        self._lines.append(DiffLine("gap", line))
        found = _HUNK.fullmatch(line)
        self._is_cut = found is None
        self._old = self._new = None
        if found is not None:
            self._old, self._new = int(found[1]), int(found[3])
            self._old_left, self._new_left = int(found[2] or 1), int(found[4] or 1)

    def _add(self, kind: LineKind, text: str) -> None:
        old = self._old if kind != "added" else None
        new = self._new if kind != "removed" else None
        self._lines.append(DiffLine(kind, text, None if self._is_cut else old, None if self._is_cut else new))
        if kind != "added":
            self._old_left -= 1
            self._old = self._old + 1 if self._old is not None else None
        if kind != "removed":
            self._new_left -= 1
            self._new = self._new + 1 if self._new is not None else None

    def _end_file(self) -> None:
        path = self._before if self._path in ("", NOTHING) else self._path
        if self._lines or path:
            kinds = [line.kind for line in self._lines]
            self._files.append(
                FileDiff(
                    path,
                    tuple(self._lines),
                    created=self._before == NOTHING,
                    deleted=self._path == NOTHING,
                    added=kinds.count("added"),
                    removed=kinds.count("removed"),
                )
            )
        self._path = self._before = ""
        self._lines = []
        self._old_left = self._new_left = 0
        self._is_cut = False

    def _path_of(self, line: str) -> str:
        """Return the path in a header line, without a trailing date and git's `a/` or `b/` prefix."""
        path = line[4:].split("\t")[0]
        return path[2:] if self._is_git and path.startswith(("a/", "b/")) else path
