"""Scans a project folder: which file extensions it has, and which files changed. Everything here blocks."""

import os
from collections.abc import Collection, Iterator, Mapping
from time import monotonic

from bridle.lsp import files
from bridle.lsp.documents import ChangeKind
from bridle.lsp.files import Stamp

IGNORED = frozenset(
    """
    .git .hg .svn .venv venv env .env node_modules __pycache__ .tox .nox .mypy_cache .ruff_cache .pytest_cache
    .cache .idea .vscode .bridle target dist build .next .gradle vendor site-packages
    """.split()
)
MAX_SURVEYED = 2000
MAX_DEPTH = 4
MAX_WATCHED = 20_000
MAX_WATCH_DEPTH = 32
_SCAN_S = 2.0


def walk(root: str, *, most: int, depth: int) -> Iterator[os.DirEntry[str]]:
    """Yield files, folder by folder, without following links; reads at most `most` entries."""
    seen = 0
    folders = [(root, 0)]
    for folder, level in folders:
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in found:
            seen += 1
            if seen > most:
                return
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in IGNORED and level < depth:
                    folders.append((entry.path, level + 1))
            elif entry.is_file(follow_symlinks=False):
                yield entry


def find_extensions(root: str) -> dict[str, str]:
    """Return the file extensions in a folder with one example path each; a short scan that may miss some."""
    found: dict[str, str] = {}
    for entry in walk(root, most=MAX_SURVEYED, depth=MAX_DEPTH):
        found.setdefault(os.path.splitext(entry.name)[1], entry.path)
    return found


class ChangeDetector:
    """Detects which files of a project have changed since the last call."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._known: dict[str, Stamp] | None = None

    def changes(self, extensions: Collection[str], names: Collection[str]) -> dict[str, ChangeKind]:
        """Return the changes to files with these extensions or names.

        Returns nothing at the first call, or if the scan takes longer than `_SCAN_S`.
        """
        found: dict[str, Stamp] = {}
        until = monotonic() + _SCAN_S
        for entry in walk(self._root, most=MAX_WATCHED, depth=MAX_WATCH_DEPTH):
            if os.path.splitext(entry.name)[1] in extensions or entry.name in names:
                stamp = files.stat_stamp(entry.path)
                if stamp is not None:
                    found[entry.path] = stamp
            if monotonic() > until:
                return {}
        known, self._known = self._known, found
        return {} if known is None else _compare(known, found)


def _compare(known: Mapping[str, Stamp], found: Mapping[str, Stamp]) -> dict[str, ChangeKind]:
    changes: dict[str, ChangeKind] = {
        path: "changed" if path in known else "created"
        for path, stamp in found.items()
        if known.get(path) != stamp
    }
    return {**changes, **dict.fromkeys(known.keys() - found.keys(), "deleted")}
