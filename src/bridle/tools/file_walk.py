"""List the files below a working directory that match a pattern, sorted, without leaving the directory.

`**` matches neither linked folders (they may form a loop) nor `.git`; a pattern that names them does. A
link is listed or followed only if its target is inside.
"""

import os
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from threading import Event

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.tools.filesystem import file_mode, open_folder, open_subfolder
from bridle.tools.glob_patterns import (
    Segment,
    add_empty_matches,
    enter_folder,
    literal_folders,
    matches_file,
    parse_glob,
)
from bridle.tools.paths import ResolvedPath, printable

MAX_DEPTH = 100  # each level holds an open descriptor
_NOT_CROSSED = frozenset({".git"})


class Listing(Struct, frozen=True):
    """The files found, sorted, and a note that says why others may be missing."""

    files: tuple[str, ...]
    note: str = ""


class _Entry(Struct, frozen=True):
    key: bytes
    """The sort key; it puts a folder where the paths below it belong."""
    name: str
    states: frozenset[int] | None = None
    """The states of the pattern below this folder; None for a file."""
    linked: bool = False


class _Folder(Struct, frozen=True):
    descriptor: int
    path: str
    """The prefix of the paths inside, as shown."""
    real: str
    """The same prefix with every link followed."""
    depth: int = 0


def list_matching(
    pattern: str,
    *,
    find: Callable[[str], ResolvedPath],
    visible: Callable[[str], bool],
    max_files: int,
    stop: Event,
) -> Listing:
    """Return the files that match and are visible; raises ToolError for a bad pattern.

    `find` resolves a path and raises ToolError if that leads outside. `visibility` is called with the path of
    each file as found and, if the path goes through a link, with its real path.
    """
    walk = _Walk(pattern, find, visible, stop)
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
    def __init__(
        self, pattern: str, find: Callable[[str], ResolvedPath], visible: Callable[[str], bool], stop: Event
    ) -> None:
        self._segments: tuple[Segment, ...] = parse_glob(pattern)
        self._folders = literal_folders(pattern)
        self._find = find
        self._visible = visible
        self._stop = stop
        self.too_deep = False

    def files(self) -> Generator[str]:
        """Yield the matching paths, sorted by their bytes."""
        start = "/".join(self._folders)
        place = self._find(start or ("/" if self._folders else "."))
        states = add_empty_matches(self._segments, {len(self._folders)})
        try:
            with open_folder(place) as folder:
                path = f"{start}/" if self._folders else ""
                yield from self._below(_Folder(folder, path, _below(place)), states)
        except (FileNotFoundError, NotADirectoryError):
            return

    def _below(self, folder: _Folder, states: frozenset[int]) -> Iterator[str]:
        if folder.depth > MAX_DEPTH:
            self.too_deep = True
            return
        for entry in sorted(self._entries(folder, states), key=lambda entry: entry.key):
            if self._stop.is_set():
                return
            if entry.states is None:
                yield printable(folder.path + entry.name)
            elif entry.linked:
                yield from self._through_link(folder, entry.name, entry.states)
            else:
                yield from self._through_folder(folder, entry.name, entry.states)

    def _through_folder(self, folder: _Folder, name: str, states: frozenset[int]) -> Iterator[str]:
        try:
            descriptor = open_subfolder(name, folder.descriptor)
        except OSError:  # deleted, replaced by a link, or not readable
            return
        below = _Folder(descriptor, f"{folder.path}{name}/", f"{folder.real}{name}/", folder.depth + 1)
        try:
            yield from self._below(below, states)
        finally:
            os.close(descriptor)

    def _through_link(self, folder: _Folder, name: str, states: frozenset[int]) -> Iterator[str]:
        path = folder.path + name
        try:
            place = self._find(path)
            with open_folder(place) as descriptor:
                yield from self._below(
                    _Folder(descriptor, f"{path}/", _below(place), folder.depth + 1), states
                )
        except (OSError, ToolError):
            return

    def _entries(self, folder: _Folder, states: frozenset[int]) -> Iterator[_Entry]:
        try:
            with os.scandir(folder.descriptor) as found:
                for item in found:
                    if self._stop.is_set():
                        return
                    if entry := self._entry(item, folder, states):
                        yield entry
        except OSError:
            return

    def _entry(self, item: "os.DirEntry[str]", folder: _Folder, states: frozenset[int]) -> _Entry | None:
        name = item.name
        linked = item.is_symlink()
        crossed = not linked and name not in _NOT_CROSSED
        is_file = matches_file(self._segments, states, name)
        below = enter_folder(self._segments, states, name, any_depth=crossed)
        if not is_file and not below:
            return None
        path, real = folder.path + name, folder.real + name
        kind, real = self._behind(path) if linked else (_kind(item), real)
        if kind == stat.S_IFREG and is_file:
            is_shown = self._visible(real) and (path == real or self._visible(path))
            return _Entry(os.fsencode(name), name) if is_shown else None
        if kind == stat.S_IFDIR and below:
            return _Entry(os.fsencode(name) + b"/", name, below, linked)
        return None

    def _behind(self, path: str) -> tuple[int, str]:
        """Return the type and real path of a link's target; type 0 if it is outside, loops or is missing."""
        try:
            place = self._find(path)
            return stat.S_IFMT(file_mode(place)), place.subject
        except (OSError, ToolError):
            return 0, path


def _below(place: ResolvedPath) -> str:
    """Return the prefix of real paths below a folder."""
    return "" if place.subject == "." else place.subject.rstrip("/") + "/"


def _kind(item: "os.DirEntry[str]") -> int:
    if item.is_dir(follow_symlinks=False):
        return stat.S_IFDIR
    return stat.S_IFREG if item.is_file(follow_symlinks=False) else 0
