"""Which traps are new since a sight: all that it did not show in the same state.

```
the sight covered the place     what it did not show, or not so, is new
it did not: too many folders    the time of change decides: of the file, or of the folder that got its name
```

The time alone would not do: a file keeps its own when the folder around it is renamed to `.vscode` or `.git`.
"""

import os
from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace

from bridle.core.traps import GIT, HEAD
from bridle.sandbox.survey import SLACK_NS, Part, Sight


def fresh_parts(seen: Sight, before: Sight) -> list[Part]:
    """Return the parts that were not there before, or in another state."""
    return [part for part in seen.parts.values() if _is_fresh(part, before)]


def without(seen: Sight, parts: Iterable[Part]) -> Sight:
    """Return a sight as if these parts had not been in it, nor what they make a trap."""
    gone = {part.path: part.trap for part in parts}
    left = {path: part for path, part in seen.parts.items() if path not in gone}
    return replace(seen, parts=left, traps=seen.traps.difference(gone.values()))


def to_move(fresh: Iterable[Part], before: Sight) -> dict[str, None]:
    """Return what to move: a trap that was not there before as a whole, of the others the new parts."""
    known = {part.trap for part in before.parts.values()}
    paths = {_what_to_move(part, before, is_known=part.trap in known) for part in fresh}
    return {path: None for path in sorted(paths) if not _is_among(os.path.dirname(path), paths)}


def _what_to_move(part: Part, before: Sight, *, is_known: bool) -> str:
    if not part.is_of_git:
        return part.path if is_known else part.trap
    became_one = part.trap not in before.traps and not _is_named_git(part)
    if became_one and not _has_changed(part, before.since_ns):
        return os.path.join(part.trap, HEAD)  # the rest may be files of the user that have such names
    return part.path


def _is_named_git(part: Part) -> bool:
    return os.path.basename(part.trap).lower() == GIT


def _is_fresh(part: Part, before: Sight) -> bool:
    """Say whether a part was not there before, or in another state."""
    known = before.parts.get(part.path)
    if known is not None and known.state == part.state:
        return False
    if before.would_show(part) or _has_changed(part, before.since_ns):
        return True
    return part.trap not in before.traps and _became_trap(part, before.since_ns)


def _has_changed(part: Part, since_ns: int) -> bool:
    """Say whether a part was made or changed since, or a folder between it and the trap."""
    return any(_changed_ns(path) >= since_ns - SLACK_NS for path in _between(part))


def _became_trap(part: Part, since_ns: int) -> bool:
    """Say whether a trap, or the folder around it, may have got its name since: two folders change then.

    A folder may have become a repository by anything that was put into it.
    """
    if part.is_of_git and not _is_named_git(part):
        return _changed_ns(part.trap) >= since_ns - SLACK_NS
    folder = os.path.dirname(part.trap)
    pairs = ((part.trap, folder), (folder, os.path.dirname(folder)))
    return any(all(_changed_ns(path) >= since_ns - SLACK_NS for path in pair) for pair in pairs)


def _between(part: Part) -> Iterator[str]:
    """Yield a part and the folders around it, up to the trap."""
    yield part.path
    path = os.path.dirname(part.path)
    while len(path) > len(part.trap):
        yield path
        path = os.path.dirname(path)


def _is_among(path: str, places: Collection[str]) -> bool:
    """Say whether a path is one of these places, or lies below one."""
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
