"""Glob patterns over paths, matched in linear time.

```
*       any characters inside one name     [a-z] [^a-z] [!a-z]   one character of a set, or of none
?       one character                      \\x                    x itself
**      as a whole name: any number of folders, also none
```
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from bridle.core.errors import ToolError

Segment = re.Pattern[str] | None
"""What one name in a path must look like; None is `**`."""

_META = frozenset("*?[\\")


def parse_glob(pattern: str) -> tuple[Segment, ...]:
    """Read a cleaned pattern, one segment for each name in it; raises ToolError when it is malformed."""
    segments: list[Segment] = []
    for name in pattern.split("/"):
        if name != "**":
            segments.append(_segment(name))
        elif segments[-1:] != [None]:
            segments.append(None)
    return tuple(segments)


def literal_folders(pattern: str) -> tuple[str, ...]:
    """Return the names at the start of a pattern that are no patterns; never the last name."""
    *folders, _ = pattern.split("/")
    for index, name in enumerate(folders):
        if _META & set(name):
            return tuple(folders[:index])
    return tuple(folders)


@lru_cache(maxsize=256)
def _segment(name: str) -> re.Pattern[str]:
    """Translate one name; a star never gives back what it took, so nothing is tried twice."""
    first, *rest = _chunks(name)
    if not rest:
        return re.compile(first, re.DOTALL)
    *middle, last = rest
    passed = "".join(f"(?>.*?{chunk})" for chunk in middle if chunk)
    return re.compile(f"{first}{passed}.*{last}", re.DOTALL)


def _chunks(name: str) -> list[str]:
    """Return the regular expressions between the stars."""
    chunks = [""]
    position = 0
    while position < len(name):
        char = name[position]
        position += 1
        if char == "*":
            chunks.append("")
        elif char == "?":
            chunks[-1] += "."
        elif char == "[":
            expression, position = _set(name, position)
            chunks[-1] += expression
        else:
            char, position = _char(name, position - 1, special="")
            chunks[-1] += re.escape(char)
    return chunks


def _set(name: str, position: int) -> tuple[str, int]:
    negated = name[position : position + 1] in ("^", "!")
    position += negated
    ranges: list[str] = []
    seen = 0
    while not seen or name[position : position + 1] != "]":
        low, position = _char(name, position, special="-]")
        high = low
        if name[position : position + 1] == "-":
            high, position = _char(name, position + 1, special="-]")
        if low <= high:
            ranges.append(f"{re.escape(low)}-{re.escape(high)}")
        seen += 1
    if not ranges:
        return ("." if negated else "(?!)"), position + 1
    return f"[{'^' if negated else ''}{''.join(ranges)}]", position + 1


def _char(name: str, position: int, *, special: str) -> tuple[str, int]:
    """Take one character, escaped or not; raises ToolError where a pattern cannot have it."""
    if name[position : position + 1] == "\\":
        position += 1
        special = ""
    if position >= len(name) or name[position] in special:
        raise ToolError("syntax error in pattern")
    return name[position], position + 1


def reaches(segments: Sequence[Segment], states: set[int]) -> frozenset[int]:
    """Add the states that `**` reaches by matching no folder at all."""
    reached = set(states)
    for state in states:
        if segments[state] is None and state + 1 < len(segments):
            reached.add(state + 1)
    return frozenset(reached)


def matches_file(segments: Sequence[Segment], states: frozenset[int], name: str) -> bool:
    """Tell whether a file with this name ends a match."""
    last = len(segments) - 1
    if last not in states:
        return False
    segment = segments[last]
    return segment is None or segment.fullmatch(name) is not None


def enter_folder(
    segments: Sequence[Segment], states: frozenset[int], name: str, *, any_depth: bool
) -> frozenset[int]:
    """Return the states below a folder with this name; with `any_depth`, `**` may match it."""
    below: set[int] = set()
    for state in states:
        segment = segments[state]
        if segment is None:
            if any_depth:
                below.add(state)
        elif state + 1 < len(segments) and segment.fullmatch(name):
            below.add(state + 1)
    return reaches(segments, below)
