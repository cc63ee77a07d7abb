"""Find the lines that an edit means when its text does not occur exactly in the file.

```
tried in turn                         ignores differences in
the lines without their indentation   spaces and tabs around lines, depth, CRLF
the same, with plain characters       curly quotes, long dashes, non-breaking spaces
```

Only whole lines match, and only if the best match is unique: lines with exactly the given indentation
come first, then lines indented in the same shape. Lines that the edit does not change stay the same in
the file; new lines are indented like the lines they replace.

The file is never split into lines: the rarest line is searched for, and the lines around it are compared.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.tools.diff import changed_regions

# ---------------------------------------------------------------------------- indentation
# Convert the indentation of lines to the indentation that a file uses.
#
# ```
# |  described as     in the file            then a new line     becomes
# |  "if x:"          "\tif x:"              "        z()"       "\t\t\tz()"
# |  "    y()"        "\t\ty()"
# ```
#
# Lines that are in both show how each indentation is converted. An indentation that none of them has is
# derived from the nearest known one: the distance in columns is scaled like the known ones.


TAB_COLUMNS = 4
_UNITS = (2, 3, 4, 8)
_INDENTED = re.compile(r"^([ \t]+)\S", re.MULTILINE)


def indent_of(line: str) -> str:
    """Return the whitespace before a line's first character; none for a blank line."""
    body = line.lstrip()
    return line[: len(line) - len(body)] if body else ""


def indent_width(indent: str) -> int:
    """Return the width of an indentation in columns; a tab counts as `TAB_COLUMNS`."""
    return len(indent) + indent.count("\t") * (TAB_COLUMNS - 1)


def indent_unit(sample: str) -> str:
    """Return one step of a text's indentation, such as a tab; empty when nothing is indented."""
    indents = _INDENTED.findall(sample)
    tabs = sum(indent.startswith("\t") for indent in indents)
    if tabs * 2 > len(indents):
        return "\t"
    return " " * _step((0, *map(indent_width, indents)))


class IndentMap:
    """The mapping from the indentation of described lines to the indentation in the file."""

    def __init__(
        self, described: Sequence[str], standing: Sequence[str], new: Sequence[str], unit: str
    ) -> None:
        """Compare described lines with those in the file; `unit` is one step of indentation in that file."""
        self._known: dict[str, str] = {}
        for line, other in zip(described, standing, strict=True):
            if line.strip():
                self._known.setdefault(indent_of(line), indent_of(other))
        self._widths = sorted((indent_width(indent), indent) for indent in self._known)
        self._derived: dict[str, str] = {}
        self._unit = unit
        self._stretch = self._measure([*described, *new])

    def fit(self, line: str, nearby: Mapping[str, str]) -> str:
        """Return a new line with the file's indentation; `nearby` maps the indents of neighboring lines."""
        if not line.strip() or not self._widths:
            return line
        indent = indent_of(line)
        for source in (nearby, self._known, self._derived):
            if indent in source:
                return source[indent] + line[len(indent) :]
        derived = self._derived[indent] = self._derive(indent)
        return derived + line[len(indent) :]

    def _measure(self, lines: Iterable[str]) -> tuple[int, int]:
        """Return how many columns in the file correspond to how many in the described lines."""
        if self._widths:
            (least, first), (most, last) = self._widths[0], self._widths[-1]
            grown = indent_width(self._known[last]) - indent_width(self._known[first])
            if most > least and grown > 0:
                return grown, most - least
        step = _step(indent_width(indent_of(line)) for line in lines if line.strip())
        return (indent_width(self._unit), step) if step and self._unit else (1, 1)

    def _derive(self, indent: str) -> str:
        wanted = indent_width(indent)
        width, base = min(self._widths, key=lambda known: abs(known[0] - wanted))
        given = self._known[base]
        ours, theirs = self._stretch
        more = round((wanted - width) * ours / theirs)
        if more >= 0:
            return given + self._spaces(more)
        return _cut(given, max(0, indent_width(given) + more))

    def _spaces(self, width: int) -> str:
        if self._unit != "\t":
            return " " * width
        return "\t" * (width // TAB_COLUMNS) + " " * (width % TAB_COLUMNS)


def _cut(indent: str, width: int) -> str:
    """Shorten an indentation to a width."""
    kept = 0
    for end, char in enumerate(indent):
        kept += TAB_COLUMNS if char == "\t" else 1
        if kept > width:
            kept -= TAB_COLUMNS if char == "\t" else 1
            return indent[:end] + " " * (width - kept)
    return indent


def _step(widths: Iterable[int]) -> int:
    """Return the most common difference between neighboring indentations; 0 when they do not differ."""
    counts = dict.fromkeys(_UNITS, 0)
    for before, after in pairwise(widths):
        if abs(after - before) in counts:
            counts[abs(after - before)] += 1
    best = max(counts, key=lambda unit: counts[unit])
    return best if counts[best] else 0


# ---------------------------------------------------------------------------- fuzzy edit


MAX_WINDOWS = 50
_MAX_RARE = 8  # the rarest of this many lines is searched for
_LINE_WORK = 40  # a line costs as much as this many characters
_LEAST_WORK = 1_000_000
_SAMPLE = 100_000  # characters on each side, to detect how a file is indented
_PLAIN = {
    "'": "\u2018\u2019\u201a\u201b\u2032",
    '"': "\u201c\u201d\u201e\u201f\u2033",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2212",
    " ": "\u00a0\u2002\u2003\u2007\u2009\u200a\u202f\u3000",
}

Looseness = Literal["whitespace", "whitespace and typographic characters"]


class LineWindow(Struct, frozen=True):
    """Whole lines of a text."""

    start: int
    end: int
    """The offset after the ending of the last line."""


class Match(Struct, frozen=True):
    """The text after an edit at its only inexact match."""

    text: str
    line: int
    """The first replaced line, counted from 1."""
    last_line: int
    looseness: Looseness


def edit_fuzzily(text: str, old: str, new: str) -> Match | None:
    """Replace the only lines that match if whitespace is ignored; None when there are none.

    Raises ToolError when several match, or when nothing would change.
    """
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    old_lines, new_lines = _lines(old, new)
    plain_text, plain_lines = normalize_typography(text), [normalize_typography(line) for line in old_lines]
    looks: list[tuple[Looseness, str, list[str]]] = [("whitespace", text, old_lines)]
    if plain_text is not text or plain_lines != old_lines:
        looks.append(("whitespace and typographic characters", plain_text, plain_lines))
    for looseness, seen, lines in looks:
        windows = find_windows(seen, [line.strip() for line in lines])
        if not windows:
            continue
        window = _only(text, windows, old_lines, looseness)
        edited = _replace(text, window, old_lines, new_lines)
        if edited == text:
            raise ToolError("the edit changes nothing: the matching lines already equal new_str")
        line = text.count("\n", 0, window.start) + 1
        return Match(edited, line, line + len(old_lines) - 1, looseness)
    return None


def normalize_typography(text: str) -> str:
    """Replace typographic characters with keyboard characters, one for one."""
    if text.isascii():
        return text
    for key, variants in _PLAIN.items():
        for variant in variants:
            text = text.replace(variant, key)
    return text


def find_windows(text: str, keys: Sequence[str]) -> list[LineWindow]:
    """Return at most MAX_WINDOWS + 1 places whose consecutive lines, stripped of whitespace, equal `keys`.

    The work is limited to a multiple of the text's length; raises ToolError when more is needed.
    """
    distinct = sorted({key for key in keys if key}, key=len)[-_MAX_RARE:]
    counts = {key: text.count(key) for key in distinct}
    if not distinct or not all(counts.values()):
        return []
    rarest = min(distinct, key=lambda key: (counts[key], -len(key)))
    index = keys.index(rarest)
    work = 2 * len(text) + _LEAST_WORK
    windows: list[LineWindow] = []
    for start, end in _lines_with(text, rarest):
        work -= end - start + _LINE_WORK
        if text[start:end].strip() == rarest:
            window, cost = _surroundings(text, start, keys, index)
            work -= cost
            windows += [window] if window is not None else []
        if len(windows) > MAX_WINDOWS:
            break
        if work < 0:
            raise ToolError(
                "old_str not found in file exactly, and its lines repeat too often for a similar match",
                hint="give it with its exact whitespace, or make it shorter",
            )
    return windows


def _lines(old: str, new: str) -> tuple[list[str], list[str]]:
    """Split both texts into lines; if the old one ends with a newline, drop the empty last line of both."""
    old_lines, new_lines = old.split("\n"), new.split("\n")
    if len(old_lines) > 1 and not old_lines[-1]:
        old_lines.pop()
        if not new_lines[-1]:
            new_lines.pop()
    return old_lines, new_lines


def _lines_with(text: str, part: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each line that contains a text, each line once."""
    position = 0
    while (hit := text.find(part, position)) >= 0:
        start = text.rfind("\n", position, hit) + 1 or position
        end = text.find("\n", hit)
        end = len(text) if end < 0 else end
        yield start, end
        position = end + 1


def _surroundings(text: str, start: int, keys: Sequence[str], index: int) -> tuple[LineWindow | None, int]:
    """Compare the lines around the one at `start`; return the window if all match, and the cost."""
    first, cost = start, 0
    for key in reversed(keys[:index]):
        if first == 0:
            return None, cost
        before = text.rfind("\n", 0, first - 1) + 1
        cost += first - before + _LINE_WORK
        if text[before : first - 1].strip() != key:
            return None, cost
        first = before
    for key in keys[index:]:
        if start >= len(text):
            return None, cost
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        cost += end - start + _LINE_WORK
        if text[start:end].strip() != key:
            return None, cost
        start = end + 1
    return LineWindow(first, min(start, len(text))), cost


def _only(text: str, windows: Sequence[LineWindow], old: Sequence[str], looseness: Looseness) -> LineWindow:
    """Return the window that fits best; raises ToolError when several fit equally well."""
    if len(windows) > MAX_WINDOWS:
        raise ToolError(
            f"old_str not found in file exactly; more than {MAX_WINDOWS} places match it up to {looseness}",
            hint="give it with its exact whitespace, or add lines that make it unique",
        )
    by_fit: dict[int, list[LineWindow]] = {}
    for window in windows:
        by_fit.setdefault(_mismatch(_split(text, window), old), []).append(window)
    best = by_fit[min(by_fit)]
    if len(best) > 1:
        lines = ", ".join(str(text.count("\n", 0, window.start) + 1) for window in best)
        raise ToolError(
            f"old_str not found in file exactly, and up to {looseness} it matches at lines {lines}",
            hint="give it with its exact whitespace, or add lines that make it unique",
        )
    return best[0]


def _mismatch(standing: Sequence[str], old: Sequence[str]) -> int:
    """Return how the indentation differs from the given one: 0 equal, 1 the same shape, 2 different."""
    pairs = {
        (indent_of(given), indent_of(found))
        for given, found in zip(old, standing, strict=True)
        if given.strip()
    }
    if all(given == found for given, found in pairs):
        return 0
    return 1 if len({given for given, _ in pairs}) == len(pairs) == len({found for _, found in pairs}) else 2


def _split(text: str, window: LineWindow) -> list[str]:
    """Return the lines of a window with their endings."""
    lines = text[window.start : window.end].split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _replace(text: str, window: LineWindow, old: list[str], new: list[str]) -> str:
    standing = _split(text, window)
    sample = text[max(0, window.start - _SAMPLE) : window.end + _SAMPLE]
    ending = "\r\n" if "\r\n" in (standing[0][-2:], text[max(0, window.start - 2) : window.start]) else "\n"
    indents = IndentMap(old, standing, new, indent_unit(sample)) if _mismatch(standing, old) else None
    lines: list[str] = []
    top = 0
    for change in changed_regions(old, new):
        lines += standing[top : change.top]
        nearby = {
            indent_of(old[row]): indent_of(standing[row])
            for row in range(max(0, change.top - 1), change.bottom)
            if old[row].strip()
        }
        for line in new[change.left : change.right]:
            lines.append((indents.fit(line, nearby) if indents else line) + ending)
        top = change.bottom
    lines += standing[top:]
    return text[: window.start] + _end_like(lines, standing, ending) + text[window.end :]


def _end_like(lines: list[str], standing: Sequence[str], ending: str) -> str:
    """Join lines, each with an ending, except the last one if the replaced lines ended without a newline."""
    ended = [line if line.endswith("\n") else line + ending for line in lines]
    if ended and not standing[-1].endswith("\n"):
        ended[-1] = ended[-1].removesuffix("\n").removesuffix("\r")
    return "".join(ended)
