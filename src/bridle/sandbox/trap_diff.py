"""Which traps are new since an earlier scan: all that were absent then, or in another state.

```
the scan covered the place      what was absent, or in another state, is new
it did not: too many folders    the time of change decides: of the file, or of the folder that got its name
```

The time alone is not enough: a file keeps its own when the folder around it is renamed to `.vscode` or
`.git`.
"""

import os
from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace

from bridle.core.traps import GIT, HEAD
from bridle.sandbox.trap_scanner import SLACK_NS, ScanResult, TrapPart


def find_new_parts(seen: ScanResult, before: ScanResult) -> list[TrapPart]:
    """Return the parts that were absent before, or in another state."""
    return [part for part in seen.parts.values() if _is_fresh(part, before)]


def remove_parts(seen: ScanResult, parts: Iterable[TrapPart]) -> ScanResult:
    """Return a sight without these parts and without the traps they belong to."""
    gone = {part.path: part.trap for part in parts}
    left = {path: part for path, part in seen.parts.items() if path not in gone}
    return replace(seen, parts=left, traps=seen.traps.difference(gone.values()))


def select_paths_to_move(fresh: Iterable[TrapPart], before: ScanResult) -> dict[str, None]:
    """Return the paths to move: a trap that was absent before as a whole, of others only the new parts."""
    known = {part.trap for part in before.parts.values()}
    paths = {_what_to_move(part, before, is_known=part.trap in known) for part in fresh}
    return {path: None for path in sorted(paths) if not _is_among(os.path.dirname(path), paths)}


def _what_to_move(part: TrapPart, before: ScanResult, *, is_known: bool) -> str:
    if not part.is_of_git:
        return part.path if is_known else part.trap
    became_one = part.trap not in before.traps and not _is_named_git(part)
    if became_one and not _has_changed(part, before.since_ns):
        return os.path.join(part.trap, HEAD)  # the rest may be files of the user that have such names
    return part.path


def _is_named_git(part: TrapPart) -> bool:
    return os.path.basename(part.trap).lower() == GIT


def _is_fresh(part: TrapPart, before: ScanResult) -> bool:
    """True if a part was absent before, or in another state."""
    known = before.parts.get(part.path)
    if known is not None and known.state == part.state:
        return False
    if before.would_show(part) or _has_changed(part, before.since_ns):
        return True
    return part.trap not in before.traps and _became_trap(part, before.since_ns)


def _has_changed(part: TrapPart, since_ns: int) -> bool:
    """True if a part, or a folder between it and the trap, was created or changed since."""
    return any(_changed_ns(path) >= since_ns - SLACK_NS for path in _between(part))


def _became_trap(part: TrapPart, since_ns: int) -> bool:
    """True if a trap, or the folder around it, may have got its name since: that changes two folders.

    A folder may have become a repository through anything that was put into it.
    """
    if part.is_of_git and not _is_named_git(part):
        return _changed_ns(part.trap) >= since_ns - SLACK_NS
    folder = os.path.dirname(part.trap)
    pairs = ((part.trap, folder), (folder, os.path.dirname(folder)))
    return any(all(_changed_ns(path) >= since_ns - SLACK_NS for path in pair) for pair in pairs)


def _between(part: TrapPart) -> Iterator[str]:
    """Yield a part and the folders around it, up to the trap."""
    yield part.path
    path = os.path.dirname(part.path)
    while len(path) > len(part.trap):
        yield path
        path = os.path.dirname(path)


def _is_among(path: str, places: Collection[str]) -> bool:
    """True if a path is one of these places, or lies below one."""
    while path not in ("", "/"):
        if path in places:
            return True
        path = os.path.dirname(path)
    return False


def _changed_ns(path: str) -> int:
    try:
        return os.lstat(path).st_ctime_ns
    except OSError:
        return 0
