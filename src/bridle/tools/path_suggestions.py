"""Suggest existing paths for one that does not exist."""

import os
import stat
from collections import deque
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from itertools import islice

from bridle.core.errors import ToolError
from bridle.tools.filesystem import file_mode, open_folder
from bridle.tools.paths import ResolvedPath, printable

MAX_SIMILAR = 3
MAX_LOOKED_AT = 5000

_CUTOFF = 0.7
_MAX_COMPARED = 12  # some of them may be hidden, or not files
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
        for near in get_close_matches(missing.lower(), by_lower, n=_MAX_COMPARED, cutoff=_CUTOFF):
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
