"""The tool that lists the files below a folder that match a pattern."""

import os
import posixpath
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from threading import Event
from typing import Any

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.tool import Access, ToolSpec
from bridle.tools.filesystem import file_mode, open_folder, open_subfolder
from bridle.tools.glob_patterns import (
    Segment,
    add_empty_matches,
    enter_folder,
    literal_folders,
    matches_file,
    parse_glob,
)
from bridle.tools.paths import ResolvedPath, clean_path, printable
from bridle.tools.threads import run_in_thread
from bridle.tools.tool_support import (
    WithoutPreview,
    description,
    named_access,
    outside_filter,
    parameters,
    resolve_path,
    system_errors,
    text_arg,
)
from bridle.tools.visibility import VisibilityFilter

# ---------------------------------------------------------------------------- file walk
# List the files below a working directory that match a pattern, sorted, without leaving the directory.
#
# `**` matches neither linked folders (they may form a loop) nor `.git`; a pattern that names them does. A
# link is listed or followed only if its target is inside.


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


# ---------------------------------------------------------------------------- list files


MAX_LISTED = 1000
LIST_DEADLINE_S = 5.0


class ListFiles(WithoutPreview):
    """The tool that lists the files that match a pattern."""

    parallel = True
    seldom = True

    def __init__(self, max_files: int = MAX_LISTED, deadline_s: float = LIST_DEADLINE_S) -> None:
        """Set the maximum number of listed files and the maximum duration of the search."""
        self._max_files = max_files
        self._deadline_s = deadline_s

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("list_files", description("list_files"), _LIST_PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return the access to the pattern, and to the pattern with links in its literal folders resolved."""
        pattern = _pattern(args, context)
        folders = literal_folders(pattern)
        start = resolve_path("list_files", "read", "/".join(folders) or ("/" if folders else "."), context)
        rest = pattern.split("/")[len(folders) :]
        real = "/".join([*start.parts, *rest])
        return named_access("list_files", "read", pattern, f"/{real}" if start.outside else real)

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return one path per line, and a note when the list is not complete."""
        pattern = _pattern(args, context)
        visible = VisibilityFilter("list_files", context, hidden=("deny",))

        def search(stop: Event) -> Listing:
            with system_errors(context.cwd):
                return list_matching(
                    pattern,
                    find=lambda path: resolve_path("list_files", "read", path, context),
                    visible=visible,
                    max_files=self._max_files,
                    stop=stop,
                )

        listing = await run_in_thread(search, deadline_s=self._deadline_s)
        notes = [f"[{note}]" for note in (listing.note, visible.note) if note]
        return ToolOutput("\n".join([*listing.files, *notes]))


def _pattern(args: dict[str, Any], context: ToolContext) -> str:
    """Return the cleaned pattern; an absolute one only if a rule may allow paths outside."""
    pattern = text_arg(args, "pattern")
    if pattern.startswith("/") and "\0" not in pattern and outside_filter("list_files", "read", context):
        return "/" + posixpath.normpath(pattern).lstrip("/")
    return clean_path(pattern)


_LIST_PARAMETERS = parameters(1, pattern=("string", ""))
