"""Glob patterns over paths, matched in linear time.

```
*       any characters inside one name     [a-z] [^a-z] [!a-z]   one character in a set, or not in it
?       one character                      \\x                    x itself
**      as a whole name: any number of folders, including none
{a,b}   a or b, only where `expand_braces` is used
```
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from bridle.core.errors import ToolError

Segment = re.Pattern[str] | None
"""The expression that one name in a path must match; None is `**`."""

MAX_ALTERNATIVES = 64

_META = frozenset("*?[\\")
_BRACES = re.compile(r"\{([^{}/]*,[^{}/]*)\}")
_NOT_PLAIN = re.compile(r"[^\w.* -](?:.*[^\w.* -])?", re.ASCII | re.DOTALL)


def parse_glob(pattern: str) -> tuple[Segment, ...]:
    """Parse a cleaned pattern into one segment per name; raises ToolError when it is malformed."""
    segments: list[Segment] = []
    for name in pattern.split("/"):
        if name != "**":
            segments.append(_segment(name))
        elif segments[-1:] != [None]:
            segments.append(None)
    return tuple(segments)


def literal_folders(pattern: str) -> tuple[str, ...]:
    """Return the names at the start of a pattern that have no wildcard; never the last name."""
    *folders, _ = pattern.split("/")
    for index, name in enumerate(folders):
        if _META & set(name):
            return tuple(folders[:index])
    return tuple(folders)


@lru_cache(maxsize=256)
def _segment(name: str) -> re.Pattern[str]:
    """Translate one name; a star never backtracks, so that matching takes linear time."""
    return re.compile(_expression(name))


def _expression(name: str) -> str:
    first, *rest = _chunks(name)
    if not rest:
        return first
    *middle, last = rest
    passed = "".join(f"(?>[^/]*?{chunk})" for chunk in middle if chunk)
    return f"{first}{passed}[^/]*{last}"


def expand_braces(pattern: str) -> tuple[str, ...]:
    """Return the patterns that `{a,b}` stands for; raises ToolError when there are too many."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        found = _BRACES.search(head := waiting.pop())
        if found is None:
            done.append(head)
        else:
            waiting += (head[: found.start()] + part + head[found.end() :] for part in found[1].split(","))
        if len(done) + len(waiting) > MAX_ALTERNATIVES:
            raise ToolError(f"the braces of the pattern expand to more than {MAX_ALTERNATIVES} patterns")
    return tuple(sorted(set(done)))


@lru_cache(maxsize=64)
def path_expression(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """Translate path patterns into one expression that any of them matches; raises ToolError if malformed.

    The part between two `**` matches at its first possible position: a later one could not do better.
    """
    return re.compile("|".join(f"(?:{_path(pattern)})" for pattern in patterns))


def _path(pattern: str) -> str:
    blocks: list[list[str]] = [[]]
    for name in pattern.split("/"):
        if name == "**":
            blocks.append([])
        else:
            blocks[-1].append(_expression(name))
    first, *rest = blocks
    if not rest:
        return "/".join(first)
    *middle, last = rest
    start = "".join(f"{name}/" for name in first)
    passed = "".join(f"(?>(?:[^/]+/)*?{''.join(f'{name}/' for name in block)})" for block in middle if block)
    return f"{start}{passed}(?:[^/]+/)*{'/'.join(last) or '[^/]+'}"


def match_any_folder(pattern: str) -> str:
    """Return the pattern with `**/` before it if it names no folder, so that it matches in every folder."""
    return pattern if "/" in pattern else f"**/{pattern}"


def is_plain(pattern: str) -> bool:
    """Return whether a path pattern matches exactly the files that its plain name matches."""
    folder, _, name = pattern.rpartition("/")
    return folder == "**" and name == plain_name(pattern)


def plain_name(pattern: str) -> str:
    """Return a file name pattern, with stars only, that matches every file the path pattern matches."""
    name = pattern.rpartition("/")[2]
    return re.sub(r"\*+", "*", _NOT_PLAIN.sub("*", name)) or "*"


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
            chunks[-1] += "[^/]"
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
        return ("[^/]" if negated else "(?!)"), position + 1
    return f"(?!/)[{'^' if negated else ''}{''.join(ranges)}]", position + 1


def _char(name: str, position: int, *, special: str) -> tuple[str, int]:
    """Read one character, escaped or not; raises ToolError where the pattern cannot have it."""
    if name[position : position + 1] == "\\":
        position += 1
        special = ""
    if position >= len(name) or name[position] in special:
        raise ToolError("syntax error in pattern")
    return name[position], position + 1


def add_empty_matches(segments: Sequence[Segment], states: set[int]) -> frozenset[int]:
    """Add the states that `**` reaches by matching no folder."""
    reached = set(states)
    for state in states:
        if segments[state] is None and state + 1 < len(segments):
            reached.add(state + 1)
    return frozenset(reached)


def matches_file(segments: Sequence[Segment], states: frozenset[int], name: str) -> bool:
    """Return whether a file with this name completes a match."""
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
    return add_empty_matches(segments, below)
