"""The tools that find files: by name, and as a tree without what git ignores."""

import os
import posixpath
import stat
from collections import deque
from collections.abc import Iterator, Sequence
from threading import Event
from typing import Any

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.tool import Access, ToolSpec
from bridle.tools.filesystem import file_mode
from bridle.tools.glob_patterns import (
    expand_braces,
    is_plain,
    literal_folders,
    match_any_folder,
    path_expression,
    plain_name,
)
from bridle.tools.paths import ResolvedPath, printable
from bridle.tools.ripgrep import DEADLINE_S, name_options, run_ripgrep
from bridle.tools.threads import run_in_thread
from bridle.tools.tool_support import (
    WithoutPreview,
    description,
    integer_arg,
    named_access,
    parameters,
    resolve_path,
    system_errors,
    text_arg,
)
from bridle.tools.visibility import VisibilityFilter

DEFAULT_LIMIT = 100
MAX_LIMIT = 1000
MAX_PATTERN_CHARS = 4096
MAX_OUTPUT_BYTES = 64 * 1024 * 1024  # about a million paths
MAX_DATED = 5000  # reading the dates of more files takes longer than finding them


class _Query(Struct, frozen=True):
    path: str
    folder: str
    """Where the search starts: the path plus the literal folders at the start of the pattern."""
    patterns: tuple[str, ...]
    """The rest of the pattern below that folder, with braces expanded."""
    limit: int


class _Names(Struct, frozen=True):
    paths: list[str]
    """Relative to the root of the place."""
    is_cut: bool = False
    timed_out: bool = False


class Glob(WithoutPreview):
    """The tool that finds files whose path matches a pattern."""

    parallel = True

    def __init__(
        self,
        program: str | None = None,
        deadline_s: float = DEADLINE_S,
        max_dated: int = MAX_DATED,
        writable: Sequence[str] = (),
    ) -> None:
        """Set the limits and the ripgrep program; by default, one found outside the `writable` folders."""
        self._program = program
        self._writable = writable
        self._deadline_s = deadline_s
        self._max_dated = max_dated

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("glob", description("glob"), _PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return the access to the searched folder, and to its target if it is a link."""
        place = resolve_path("glob", "read", _query(args).folder, context)
        return named_access("glob", "read", place.name, place.subject)

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return one path per line, the most recently changed file first."""
        query = _query(args)
        visible = VisibilityFilter("glob", context, hidden=("deny",))
        wanted = path_expression(query.patterns)
        place = await run_in_thread(lambda _: _searched(query, context))
        if place is None:
            return _output([], [visible.note])
        found = await run_ripgrep(
            ["--files", "--null", *name_options(plain_name(pattern) for pattern in query.patterns)],
            place,
            _read_names,
            program=self._program,
            outside=(context.cwd, *self._writable),
            deadline_s=self._deadline_s,
        )
        if not all(is_plain(pattern) for pattern in query.patterns):
            start = 0 if place.real == "." else len(place.real) + 1
            found.paths[:] = [path for path in found.paths if wanted.fullmatch(path, start)]
        is_dated = len(found.paths) <= self._max_dated

        def choose(stop: Event) -> list[str]:
            ordered = _newest(found.paths, place) if is_dated else sorted(found.paths)
            return _first(ordered, place, query.limit + 1, visible, stop)

        shown = await run_in_thread(choose)
        notes = []
        if len(shown) > query.limit:
            notes.append(f"more than {query.limit} files; use a narrower pattern to see the others")
        if not is_dated:
            notes.append("too many files match to sort by date: these are sorted by path")
        if found.timed_out or found.is_cut:
            notes.append("the search was ended before all files were seen; search a smaller folder")
        return _output(shown[: query.limit], [*notes, visible.note])


def _query(args: dict[str, Any]) -> _Query:
    pattern = text_arg(args, "pattern")
    if not pattern or "\0" in pattern or len(pattern) > MAX_PATTERN_CHARS:
        raise ToolError(f"a pattern must have 1 to {MAX_PATTERN_CHARS} characters without NUL")
    path = text_arg(args, "path") if args.get("path") else "."
    if pattern.startswith("/"):
        path, pattern = "/", f"./{pattern.lstrip('/')}"
    is_folder = pattern.endswith("/")
    is_anchored = "/" in pattern
    pattern = posixpath.normpath(pattern) + ("/**" if is_folder else "")
    folders = literal_folders(pattern.partition("{")[0])
    rest = "/".join(pattern.split("/")[len(folders) :])
    return _Query(
        path=path,
        folder=posixpath.join(path, *folders),
        patterns=expand_braces(rest if is_anchored else match_any_folder(rest)),
        limit=max(1, min(integer_arg(args, "limit") or DEFAULT_LIMIT, MAX_LIMIT)),
    )


def _searched(query: _Query, context: ToolContext) -> ResolvedPath | None:
    """Return the folder to search; None when the pattern names one that does not exist."""
    base = resolve_path("glob", "read", query.path, context) if query.path != "/" else None
    if base is not None:
        with system_errors(base.shown):
            if not stat.S_ISDIR(file_mode(base)):
                raise ToolError(
                    f"{printable(base.name)} is not a folder", hint="put file names into the pattern"
                )
    place = resolve_path("glob", "read", query.folder, context)
    try:
        return place if stat.S_ISDIR(file_mode(place)) else None
    except (FileNotFoundError, NotADirectoryError):
        return None


def _read_names(chunks: Iterator[bytes], stop: Event) -> _Names:
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        parts.append(chunk)
        size += len(chunk)
        if size > MAX_OUTPUT_BYTES:
            break
    *paths, _ = os.fsdecode(b"".join(parts)).split("\0")
    return _Names([path[2:] for path in paths], size > MAX_OUTPUT_BYTES, stop.is_set())


def _first(
    paths: list[str], place: ResolvedPath, count: int, visible: VisibilityFilter, stop: Event
) -> list[str]:
    """Return the first `count` files that may be shown, checked without following links."""
    prefix = "/" if place.outside else ""
    shown: list[str] = []
    for path in paths:
        if stop.is_set() or len(shown) == count:
            break
        here = ResolvedPath(root=place.root, name=path, real=path, shown=path)
        try:
            if visible(prefix + path) and stat.S_ISREG(file_mode(here)):
                shown.append(printable(prefix + path))
        except (OSError, ToolError):  # deleted, or replaced by a link
            continue
    return shown


def _newest(paths: list[str], place: ResolvedPath) -> list[str]:
    dated: list[tuple[int, str]] = []
    for path in paths:
        try:
            dated.append((-os.lstat(os.path.join(place.root, path)).st_mtime_ns, path))
        except OSError:
            continue
    return [path for _, path in sorted(dated)]


def _output(paths: list[str], notes: list[str], empty: str = "no files match") -> ToolOutput:
    lines = [f"[{note}]" for note in notes if note]
    return ToolOutput("\n".join([*(paths or [empty]), *lines]))


_PARAMETERS = parameters(
    1,
    pattern=("string", ""),
    path=("string", ""),
    limit=("integer", ""),
)


# ---------------------------------------------------------------------------- ls

MAX_TREE_LINES = 1000
DEFAULT_TREE_LINES = 200
MAX_TREE_DEPTH = 100


class Ls(WithoutPreview):
    """The tool that shows a folder as a tree."""

    parallel = True
    seldom = True

    def __init__(
        self, program: str | None = None, deadline_s: float = DEADLINE_S, writable: Sequence[str] = ()
    ) -> None:
        """Set the deadline and the ripgrep program; by default, one found outside the `writable` folders."""
        self._program = program
        self._deadline_s = deadline_s
        self._writable = writable

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("ls", description("ls"), _TREE_PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return the access to the folder, and to its target if it is a link."""
        place = resolve_path("ls", "read", _tree_path(args), context)
        return named_access("ls", "read", place.name, place.subject)

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return one line for each file and folder; a closed folder shows how many files it holds."""
        depth = max(1, min(integer_arg(args, "depth") or MAX_TREE_DEPTH, MAX_TREE_DEPTH))
        limit = max(1, min(integer_arg(args, "limit") or DEFAULT_TREE_LINES, MAX_TREE_LINES))
        visible = VisibilityFilter("ls", context, hidden=("deny",))
        place = await run_in_thread(lambda _: _listed(_tree_path(args), context))
        found = await run_ripgrep(
            ["--files", "--null"],
            place,
            _read_names,
            program=self._program,
            outside=(context.cwd, *self._writable),
            deadline_s=self._deadline_s,
        )

        def draw(stop: Event) -> tuple[list[str], bool]:
            root = _grow(found.paths, place, visible, stop)
            return _drawn(root, _opened(root, depth, limit), limit), stop.is_set()

        lines, was_stopped = await run_in_thread(draw, deadline_s=self._deadline_s)
        is_partial = found.timed_out or found.is_cut or was_stopped
        notes = ["the folder is too large: some files are missing, name one below it"] if is_partial else []
        return _output(lines, [*notes, visible.note], empty="no files")


class _Branch:
    """A folder of a tree."""

    __slots__ = ("files", "inside")

    def __init__(self) -> None:
        self.files = 0
        """The number of files at any depth."""
        self.inside: dict[str, _Branch | None] = {}
        """Its files (None) and folders, by name."""


def _tree_path(args: dict[str, Any]) -> str:
    return text_arg(args, "path") if args.get("path") else "."


def _listed(path: str, context: ToolContext) -> ResolvedPath:
    place = resolve_path("ls", "read", path, context)
    with system_errors(place.shown):
        if not stat.S_ISDIR(file_mode(place)):
            raise ToolError(f"{printable(place.name)} is not a folder", hint="read_file shows a file")
    return place


def _grow(paths: list[str], place: ResolvedPath, visible: VisibilityFilter, stop: Event) -> _Branch:
    """Return the tree of the files that may be shown."""
    root = _Branch()
    prefix, start = "/" if place.outside else "", len(place.parts)
    for path in paths:
        if stop.is_set():
            break
        if not visible(prefix + path):
            continue
        *folders, name = path.split("/")[start:]
        branch = root
        branch.files += 1
        for folder in folders:
            inner = branch.inside.get(folder)
            if inner is None:
                inner = branch.inside[folder] = _Branch()
            branch = inner
            branch.files += 1
        branch.inside[name] = None
    return root


def _opened(root: _Branch, depth: int, limit: int) -> set[int]:
    """Choose the folders to open, level by level, as long as their content fits; return their ids."""
    opened, left = {id(root)}, limit - len(root.inside)
    waiting = deque((child, 2) for _, child in _sorted(root) if child is not None)
    while waiting:
        branch, level = waiting.popleft()
        if level > depth or len(branch.inside) > left:
            continue
        opened.add(id(branch))
        left -= len(branch.inside)
        waiting.extend((child, level + 1) for _, child in _sorted(branch) if child is not None)
    return opened


def _sorted(branch: _Branch) -> list[tuple[str, _Branch | None]]:
    return sorted(branch.inside.items(), key=lambda item: item[0])


def _drawn(root: _Branch, opened: set[int], limit: int) -> list[str]:
    """Return the lines of a tree, without recursion: folders may be nested deeper than Python's stack."""
    lines: list[str] = []
    waiting = [(0, name, child) for name, child in reversed(_sorted(root))]
    while waiting and len(lines) < limit:
        level, name, branch = waiting.pop()
        indent = "  " * level
        if branch is None:
            lines.append(f"{indent}{printable(name)}")
        elif id(branch) not in opened:
            count = f"{branch.files} file{'s' if branch.files != 1 else ''}"
            lines.append(f"{indent}{printable(name)}/ ({count})")
        else:
            lines.append(f"{indent}{printable(name)}/")
            waiting.extend((level + 1, inner, child) for inner, child in reversed(_sorted(branch)))
    if waiting:
        lines.append(f"[{len(waiting)} more in this folder]")
    return lines


_TREE_PARAMETERS = parameters(0, path=("string", ""), depth=("integer", ""), limit=("integer", ""))
