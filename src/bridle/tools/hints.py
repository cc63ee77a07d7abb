"""Hints for failed calls: why a text was not found in a file, and paths similar to a missing one."""

import os
import re
import stat
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher, get_close_matches
from itertools import islice

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.tools.filesystem import file_mode, open_folder
from bridle.tools.paths import ResolvedPath, printable

# ---------------------------------------------------------------------------- missing text
# Explain why a text was not found in a file, and show the closest text in it.
#
# The file is never compared line by line, because the cost would grow with the product of both texts.
# Instead, the rarest lines and words of the wanted text are searched for, and only the few places where
# they occur are compared.


MIN_KNOWN = 8  # shorter texts occur everywhere
_MIN_LIKENESS = 0.6
_MAX_LINES = 40  # lines of the wanted text that are compared
_MAX_CLUES = 12
_MAX_HITS = 20  # occurrences of one clue
_MAX_PLACES = 6
_MAX_COMPARED = 120  # characters of a line
_MAX_SHOWN = 12  # lines
_MAX_LINE = 10_000  # characters that are searched for the start of a line
_WORD = re.compile(r"\w{4,}")
_NUMBERED = re.compile(r"\s*\d+: ?")
_VISIBLE = str.maketrans({" ": "·", "\t": "→"})


class Region(Struct, frozen=True):
    """Lines of a file that resemble the wanted ones."""

    start: int
    """The offset in the text where the first line starts."""
    lines: tuple[str, ...]
    likeness: float


def explain_not_found(text: str, old: str, new: str) -> str:
    """Return a hint for the caller that gave `old`; empty when there is none."""
    known = new.strip()
    if len(known) >= MIN_KNOWN and known not in old and (at := text.find(known)) >= 0:
        return f"new_str is already at line {_line_number(text, at)}: was the edit made before?"
    wanted = old.replace("\r\n", "\n").strip("\n").split("\n")[:_MAX_LINES]
    if all(_NUMBERED.match(line) for line in wanted) and _NUMBERED.sub("", wanted[0], count=1) in text:
        return "old_str contains the line numbers that read_file shows; leave them out"
    region = closest_region(text, wanted)
    return "" if region is None else _describe(text, region, wanted)


def closest_region(text: str, wanted: Sequence[str]) -> Region | None:
    """Return the lines most similar to the wanted ones; None when none are similar enough."""
    places = Counter(_places(text, wanted)).most_common(_MAX_PLACES)
    regions = [_region(text, start, wanted) for start, _ in places]
    best = max(regions, key=lambda region: region.likeness, default=None)
    return best if best is not None and best.likeness >= _MIN_LIKENESS else None


def _places(text: str, wanted: Sequence[str]) -> Iterator[int]:
    """Yield where the wanted lines would start, from each occurrence of their rare lines and words."""
    lines = {line.strip(): index for index, line in enumerate(wanted) if len(line.strip()) >= MIN_KNOWN}
    words = {word: index for index, line in enumerate(wanted) for word in _WORD.findall(line[:1000])}
    clues = [*_rarest(text, lines), *_rarest(text, words)]
    for clue in clues:
        index = lines.get(clue, words.get(clue, 0))
        position = 0
        for _ in range(_MAX_HITS):
            hit = text.find(clue, position)
            if hit < 0:
                break
            yield _back(text, hit, index)
            position = hit + len(clue)


def _rarest(text: str, clues: Iterable[str]) -> list[str]:
    longest = sorted(clues, key=len, reverse=True)[: 2 * _MAX_CLUES]
    counts = {clue: text.count(clue) for clue in longest}
    return sorted((clue for clue in longest if counts[clue]), key=lambda clue: counts[clue])[:_MAX_CLUES]


def _back(text: str, position: int, lines: int) -> int:
    """Return the start of the line that is `lines` lines before a position."""
    start = _line_start(text, position)
    for _ in range(lines):
        if start == 0:
            break
        start = _line_start(text, start - 1)
    return start


def _line_start(text: str, position: int) -> int:
    """Return the start of the line of a position; more than `_MAX_LINE` into a line, the position itself."""
    earliest = max(0, position - _MAX_LINE)
    return text.rfind("\n", earliest, position) + 1 or (position if earliest else 0)


def _region(text: str, start: int, wanted: Sequence[str]) -> Region:
    lines = []
    position = start
    for _ in wanted:
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        lines.append(text[position : min(end, position + 10 * _MAX_COMPARED)].rstrip("\r"))
        position = end + 1
        if position >= len(text):
            break
    return Region(start, tuple(lines), _likeness(lines, wanted))


def _likeness(lines: Sequence[str], wanted: Sequence[str]) -> float:
    """Return the higher of two scores, line by line and allowing missing lines; 1.0 means equal."""
    ours, theirs = ([line.strip()[:_MAX_COMPARED] for line in side] for side in (lines, wanted))
    pairs = list(zip(ours, theirs, strict=False))
    likeness = sum(_line_likeness(*pair) for pair in pairs) / max(len(ours), len(theirs))
    return max(likeness, SequenceMatcher(None, ours, theirs, autojunk=False).ratio())


def _line_likeness(one: str, other: str) -> float:
    if one == other:
        return 1.0
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _describe(text: str, region: Region, wanted: Sequence[str]) -> str:
    first = _line_number(text, region.start)
    differing = next(
        (
            index
            for index, (line, other) in enumerate(zip(region.lines, wanted, strict=False))
            if line.rstrip() != other.rstrip()
        ),
        min(len(region.lines), len(wanted)) - 1,
    )
    top = max(0, min(differing - _MAX_SHOWN // 2, len(region.lines) - _MAX_SHOWN))
    shown = region.lines[top : top + _MAX_SHOWN]
    rows = [f"{first + top + offset}: {show_indentation(line)}" for offset, line in enumerate(shown)]
    last = first + len(region.lines) - 1
    head = f"the closest text is at lines {first}-{last} (with · for a space and → for a tab before a line):"
    tail = f"line {first + differing} is in old_str: {show_indentation(wanted[differing])}"
    return "\n".join([head, *rows, tail])


def show_indentation(line: str) -> str:
    """Return a line with its indentation made visible, cut to a readable length."""
    body = line.lstrip(" \t")
    indent = line[: len(line) - len(body)][:_MAX_COMPARED]
    cut = body[:_MAX_COMPARED] + ("…" if len(body) > _MAX_COMPARED else "")
    printable = "".join(char if char.isprintable() else repr(char)[1:-1] for char in cut)
    return indent.translate(_VISIBLE) + printable


def _line_number(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


# ---------------------------------------------------------------------------- missing paths
# Suggest existing paths for one that does not exist.


MAX_SIMILAR = 3
MAX_LOOKED_AT = 5000

_CUTOFF = 0.7
_MAX_SIMILAR_NAMES = 12  # some of them may be hidden, or not files
_NOT_ENTERED = frozenset({".git", "node_modules"})


def similar_paths(place: ResolvedPath, visible: Callable[[str], bool]) -> list[str]:
    """Return up to three existing files: with a similar name beside it, or the same name elsewhere."""
    found: dict[str, None] = {}
    for parts in (*_beside(place), *(() if place.outside else _elsewhere(place))):
        here = _at(place, parts)
        if len(found) < MAX_SIMILAR and visible(here.subject) and _is_file(here):
            found[printable(here.subject)] = None
    return list(found)


def _beside(place: ResolvedPath) -> Iterator[tuple[str, ...]]:
    """Yield existing alternatives for the first name in the path that does not exist."""
    for depth in range(len(place.parts) - 1, -1, -1):
        try:
            with open_folder(_at(place, place.parts[:depth])) as folder, os.scandir(folder) as entries:
                names = [entry.name for entry in islice(entries, MAX_LOOKED_AT)]
        except (OSError, ToolError):
            continue
        missing, rest = place.parts[depth], place.parts[depth + 1 :]
        by_lower = {name.lower(): name for name in sorted(names)}
        for near in get_close_matches(missing.lower(), by_lower, n=_MAX_SIMILAR_NAMES, cutoff=_CUTOFF):
            yield (*place.parts[:depth], by_lower[near], *rest)
        return


def _elsewhere(place: ResolvedPath) -> Iterator[tuple[str, ...]]:
    """Yield paths with the same name in other folders, closest to the root first; no link is followed."""
    wanted = place.parts[-1].lower() if place.parts else ""
    waiting: deque[tuple[str, ...]] = deque([()])
    seen = 0
    while waiting and seen < MAX_LOOKED_AT:
        folder = waiting.popleft()
        try:
            with os.scandir(os.path.join(place.root, *folder)) as entries:
                for entry in islice(entries, MAX_LOOKED_AT - seen):
                    seen += 1
                    if entry.name.lower() == wanted:
                        yield (*folder, entry.name)
                    if entry.name not in _NOT_ENTERED and entry.is_dir(follow_symlinks=False):
                        waiting.append((*folder, entry.name))
        except OSError:
            continue


def _at(place: ResolvedPath, parts: tuple[str, ...]) -> ResolvedPath:
    real = "/".join(parts) or "."
    return ResolvedPath(root=place.root, name=real, real=real, shown=real, outside=place.outside)


def _is_file(place: ResolvedPath) -> bool:
    try:
        return stat.S_ISREG(file_mode(place))
    except (OSError, ToolError):
        return False
