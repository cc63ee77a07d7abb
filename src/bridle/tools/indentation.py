"""Convert the indentation of lines to the indentation that a file uses.

```
described as     in the file            then a new line     becomes
"if x:"          "\\tif x:"              "        z()"       "\\t\\t\\tz()"
"    y()"        "\\t\\ty()"
```

Lines that are in both show how each indentation is converted. An indentation that none of them has is
derived from the nearest known one: the distance in columns is scaled like the known ones.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

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
