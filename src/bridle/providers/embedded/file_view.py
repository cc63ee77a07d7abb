"""A file as the model sees it: numbered lines, and edits that name them.

```
read_file  ─▶  3: port = 80   ─▶  set_lines app.toml 3 "port = 90"  ─▶  edit_file old_str, new_str, occurrence
```

The numbers are those of the last read: an edit does not move them. Edits by other models in the same
conversation are shown in this form too.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

MAX_CONTEXT = 3  # lines on each side of an edit that tell it from other places with the same text
_NUMBERED = re.compile(r" *(\d+): (.*)")
_LINES = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?")


class FileLine(Struct, frozen=True):
    """A line of a file."""

    number: int
    """As it was shown; 0 for a line that was added since."""
    text: str


class LineEdit(Struct, frozen=True):
    """An edit that names lines: new text in place of the lines from `first` to `last`.

    With `last` one less than `first`, the text goes between these lines.
    """

    first: int
    last: int
    lines: tuple[str, ...]

    @property
    def inserts(self) -> bool:
        """True if no line is replaced."""
        return self.last < self.first


class FileView(Struct, frozen=True):
    """The lines of a file with the numbers that the model was shown."""

    rows: tuple[FileLine, ...]
    is_whole: bool = True
    """False if some lines were left out: a text that is in it once may be in the file twice."""

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join([row.text for row in self.rows])

    def find(self, edit: LineEdit) -> tuple[int, int] | None:
        """Return the rows that an edit replaces, as a range; None if a line it names does not exist."""
        numbers = [row.number for row in self.rows]
        if edit.inserts:
            after = numbers.index(edit.last) + 1 if edit.last in numbers[: edit.last] else 0
            if edit.last and not after:
                return None
            while after and after < len(numbers) and not numbers[after]:
                after += 1
            return after, after
        if edit.first not in numbers or edit.last not in numbers:
            return None
        return numbers.index(edit.first), numbers.index(edit.last) + 1

    def changed(self, edit: LineEdit) -> "FileView":
        """Return the view after an edit; the same view if a line it names does not exist."""
        found = self.find(edit)
        if found is None:
            return self
        start, end = found
        number = 0 if edit.inserts else edit.first
        new = [FileLine(0 if at else number, line) for at, line in enumerate(edit.lines)]
        return FileView((*self.rows[:start], *new, *self.rows[end:]), self.is_whole)


def view_text(text: str) -> FileView:
    """Return a view of a text whose lines are numbered from 1."""
    lines = text.removesuffix("\n").split("\n") if text else []
    return FileView(tuple(FileLine(number, line) for number, line in enumerate(lines, 1)))


def view_output(output: str) -> FileView:
    """Return a view of what read_file showed."""
    matches = (_NUMBERED.fullmatch(line) for line in output.split("\n"))
    rows = tuple(FileLine(int(match[1]), match[2]) for match in matches if match)
    return FileView(rows, [row.number for row in rows] == list(range(1, len(rows) + 1)))


def parse_lines(text: str) -> tuple[int, int] | None:
    """Return the first and last number of `3` or `3-5`; None for anything else."""
    match = _LINES.fullmatch(text.strip())
    if match is None:
        return None
    first, last = int(match[1]), int(match[2] or match[1])
    return (first, last) if 0 <= first <= last else None


def format_lines(first: int, last: int) -> str:
    """Return the lines of an edit as the model writes them."""
    return str(first) if first == last else f"{first}-{last}"


def edit_args(view: FileView, edit: LineEdit) -> dict[str, Any] | None:
    """Return the arguments of edit_file for an edit; None if it cannot be expressed with them."""
    found = view.find(edit)
    if found is None or not view.rows or not view.is_whole:
        return None
    lines = [row.text for row in view.rows]
    for start, end in _contexts(found, len(lines)):
        old = "\n".join(lines[start:end])
        new = "\n".join([*lines[start : found[0]], *edit.lines, *lines[found[1] : end]])
        if start == end or not old.strip():
            continue
        if not edit.lines and (start, end) == found:  # deletes a line break too
            old = f"{old}\n" if end < len(lines) else f"\n{old}" if start else old
        occurrence = _occurrence(lines, start, old)
        if occurrence is not None:
            return {"old_str": old, "new_str": new} | ({"occurrence": occurrence} if occurrence else {})
    return None


def _contexts(found: tuple[int, int], size: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows around an edit, from the smallest to the largest."""
    start, end = found
    yield start, end
    for more in range(1, MAX_CONTEXT + 1):
        yield max(0, start - more), end
        yield start, min(size, end + more)
        yield max(0, start - more), min(size, end + more)


def _occurrence(lines: Sequence[str], start: int, old: str) -> int | None:
    """Return which occurrence of a text is in row `start`: 0 if it is the only one, None if unclear."""
    text = "\n".join([*lines, ""])  # a final line break, which a file may or may not have, is not shown
    wanted = sum(len(line) + 1 for line in lines[:start]) - old.startswith("\n")
    found = [match.start() for match in re.finditer(re.escape(old), text)]
    if wanted not in found:
        return None
    return 0 if len(found) == 1 else found.index(wanted) + 1


def line_edit(view: FileView, old: str, new: str, occurrence: int = 0) -> LineEdit | None:
    """Return a replacement of text as an edit of lines; None if it is in several places or in none."""
    text = view.text
    places = [match.start() for match in re.finditer(re.escape(old), text)] if old else []
    if occurrence and occurrence <= len(places):
        places = [places[occurrence - 1]]
    if len(places) != 1:
        return None
    before = [row.text for row in view.rows]
    after = (text[: places[0]] + new + text[places[0] + len(old) :]).split("\n")
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    replaced, lines = view.rows[start : len(before) - end], tuple(after[start : len(after) - end])
    numbers = [row.number for row in replaced]
    if not replaced:
        above = [row.number for row in view.rows[:start] if row.number]
        last = above[-1] if above else 0
        return LineEdit(last + 1, last, lines)
    return LineEdit(numbers[0], numbers[-1], lines) if numbers[0] and numbers[-1] else None


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many items two sequences have in common at their start."""
    differ = (at for at, (here, there) in enumerate(zip(one, other, strict=False)) if here != there)
    return next(differ, min(len(one), len(other)))
