"""File revisions: the states of files before and after a session's changes, and how to restore them.

```
            seq 5                 seq 9                  seq 12 (a rewind is a change like any other)
a.py   before ─▶ after        before ─▶ after         before ─▶ after
            └── the state at seq 4 is the `before` of the first change after it
```

The timeline follows the disk, not the conversation: it never branches, and a rewind only adds to it.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct

FileKind = Literal["file", "link", "folder", "other"]


class FileState(Struct, frozen=True, omit_defaults=True):
    """The state of a path: enough to restore it, and to check whether it has changed."""

    kind: FileKind
    mode: int = 0
    """The permission bits; 0 for a link, which has none."""
    digest: str = ""
    """SHA-256 of a file's bytes, or of a link's target; empty for anything else."""
    size: int = 0
    kept: bool = True
    """True if the content is among the blobs; a file that is too large to keep has only this description."""


class FileChange(Struct, frozen=True, omit_defaults=True):
    """One path, before and after a change; None means that nothing existed there."""

    path: str
    """Relative to the session's working directory, or absolute in another writable root."""
    before: FileState | None = None
    after: FileState | None = None


def states_at(changes: Iterable[FileChange]) -> dict[str, FileState | None]:
    """Return the state of each path before the first of these changes, given in order."""
    states: dict[str, FileState | None] = {}
    for change in changes:
        states.setdefault(change.path, change.before)
    return states


def last_states(changes: Iterable[FileChange]) -> dict[str, FileState | None]:
    """Return the state of each path after the last of these changes, given in order."""
    return {change.path: change.after for change in changes}


def net_changes(changes: Iterable[FileChange]) -> list[FileChange]:
    """Merge changes, given in order, into one per path, sorted by path; leave out those that cancel out."""
    listed = list(changes)
    first, last = states_at(listed), last_states(listed)
    return [FileChange(path, first[path], last[path]) for path in sorted(first) if first[path] != last[path]]


def conflicts(expected: Mapping[str, FileState | None], found: Mapping[str, FileState | None]) -> list[str]:
    """Return the paths that changed outside the session since it last changed them."""
    return sorted(path for path, state in expected.items() if not _is_same(state, found.get(path)))


def _is_same(left: FileState | None, right: FileState | None) -> bool:
    if left is None or right is None:
        return left is right
    return (left.kind, left.mode, left.digest) == (right.kind, right.mode, right.digest)
