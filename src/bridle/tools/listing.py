"""Files below a working directory that match a pattern, in order, without leaving it.

`**` does not go through linked folders (they may form a ring) nor into `.git`; a pattern that names
them does. A link is listed, or gone through, only if it leads to a place inside.
"""

import os
import stat
from collections.abc import Generator, Iterator
from contextlib import closing
from threading import Event

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.tools.disk import file_mode, open_folder, open_subfolder
from bridle.tools.globs import Segment, enter_folder, literal_folders, matches_file, parse_glob, reaches
from bridle.tools.paths import clean_path, printable, resolve

MAX_DEPTH = 100  # each level holds a descriptor
_NOT_CROSSED = frozenset({".git"})


class Listing(Struct, frozen=True):
    """The files found, sorted, and what kept others from being found."""

    files: tuple[str, ...]
    note: str = ""


class _Entry(Struct, frozen=True):
    key: bytes
    """Sorts a folder where the paths below it belong."""
    name: str
    states: frozenset[int] | None = None
    """How far the pattern is matched below this folder; None for a file."""
    linked: bool = False


def list_matching(cwd: str, pattern: str, *, max_files: int, stop: Event) -> Listing:
    """Find the files that match; raises ToolError for a bad pattern or one that starts outside."""
    walk = _Walk(cwd, clean_path(pattern), stop)
    files: list[str] = []
    with closing(walk.files()) as found:
        for path in found:
            if len(files) == max_files:
                note = (
                    f"only the first {max_files} files are listed; use a narrower pattern to see the others"
                )
                return Listing(tuple(files), note)
            files.append(path)
    if stop.is_set():
        return Listing(tuple(files), "the search took too long and was ended; use a narrower pattern")
    if walk.too_deep:
        return Listing(tuple(files), f"folders more than {MAX_DEPTH} levels deep were left out")
    return Listing(tuple(files))


class _Walk:
    def __init__(self, cwd: str, pattern: str, stop: Event) -> None:
        self._cwd = cwd
        self._segments: tuple[Segment, ...] = parse_glob(pattern)
        self._folders = literal_folders(pattern)
        self._stop = stop
        self.too_deep = False

    def files(self) -> Generator[str]:
        """Yield the matching paths, sorted by their bytes."""
        start = "/".join(self._folders)
        place = resolve(self._cwd, start or ".")
        states = reaches(self._segments, {len(self._folders)})
        try:
            with open_folder(place) as folder:
                yield from self._below(folder, f"{start}/" if start else "", states, 0)
        except (FileNotFoundError, NotADirectoryError):
            return

    def _below(self, folder: int, path: str, states: frozenset[int], depth: int) -> Iterator[str]:
        if depth > MAX_DEPTH:
            self.too_deep = True
            return
        for entry in sorted(self._entries(folder, path, states), key=lambda entry: entry.key):
            if self._stop.is_set():
                return
            if entry.states is None:
                yield printable(path + entry.name)
            elif entry.linked:
                yield from self._through_link(path + entry.name, entry.states, depth)
            else:
                yield from self._through_folder(folder, path, entry, depth)

    def _through_folder(self, folder: int, path: str, entry: _Entry, depth: int) -> Iterator[str]:
        try:
            below = open_subfolder(entry.name, folder)
        except OSError:  # gone by now, swapped for a link, or not ours to read
            return
        try:
            yield from self._below(below, f"{path}{entry.name}/", entry.states or frozenset(), depth + 1)
        finally:
            os.close(below)

    def _through_link(self, path: str, states: frozenset[int], depth: int) -> Iterator[str]:
        try:
            with open_folder(resolve(self._cwd, path)) as below:
                yield from self._below(below, f"{path}/", states, depth + 1)
        except (OSError, ToolError):
            return

    def _entries(self, folder: int, path: str, states: frozenset[int]) -> Iterator[_Entry]:
        try:
            with os.scandir(folder) as found:
                for item in found:
                    if self._stop.is_set():
                        return
                    if entry := self._entry(item, path, states):
                        yield entry
        except OSError:
            return

    def _entry(self, item: "os.DirEntry[str]", path: str, states: frozenset[int]) -> _Entry | None:
        name = item.name
        linked = item.is_symlink()
        crossed = not linked and name not in _NOT_CROSSED
        is_file = matches_file(self._segments, states, name)
        below = enter_folder(self._segments, states, name, any_depth=crossed)
        if not is_file and not below:
            return None
        kind = self._kind_behind(path + name) if linked else _kind(item)
        if kind == stat.S_IFREG and is_file:
            return _Entry(os.fsencode(name), name)
        if kind == stat.S_IFDIR and below:
            return _Entry(os.fsencode(name) + b"/", name, below, linked)
        return None

    def _kind_behind(self, path: str) -> int:
        """Return what a link leads to; nothing if that lies outside, loops or does not exist."""
        try:
            return stat.S_IFMT(file_mode(resolve(self._cwd, path)))
        except (OSError, ToolError):
            return 0


def _kind(item: "os.DirEntry[str]") -> int:
    if item.is_dir(follow_symlinks=False):
        return stat.S_IFDIR
    return stat.S_IFREG if item.is_file(follow_symlinks=False) else 0
