"""The tool that searches file contents."""

import re
import stat
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.tool import Access, ToolSpec
from bridle.tools.filesystem import file_mode, open_file
from bridle.tools.glob_patterns import expand_braces, match_any_folder, path_expression, plain_name
from bridle.tools.grep_matches import Matches, MatchFilter, confirm_matches, format_matches, read_matches
from bridle.tools.numbered_lines import is_binary
from bridle.tools.paths import ResolvedPath, printable
from bridle.tools.ripgrep import DEADLINE_S, hiding_options, name_options, run_ripgrep
from bridle.tools.threads import run_in_thread
from bridle.tools.tool_support import (
    WithoutPreview,
    description,
    flag_arg,
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
MAX_CONTEXT = 10
MAX_PATTERN_CHARS = 10_000
MAX_FILE_SIZE = "10M"


class _Query(Struct, frozen=True):
    pattern: str
    path: str
    include: tuple[str, ...]
    literal: bool
    ignore_case: bool
    files_only: bool
    context: int
    limit: int


class Grep(WithoutPreview):
    """The tool that shows the lines of files that match a regular expression."""

    parallel = True

    def __init__(
        self, program: str | None = None, deadline_s: float = DEADLINE_S, writable: Sequence[str] = ()
    ) -> None:
        """Set the deadline and the ripgrep program; by default, one found outside the `writable` folders."""
        self._program = program
        self._writable = writable
        self._deadline_s = deadline_s

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("grep", description("grep"), _PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return the access to the searched folder or file, and to its target if it is a link."""
        place = resolve_path("grep", "read", _query(args).path, context)
        return named_access("grep", "read", place.name, place.subject)

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return the matching lines below the names of their files, sorted by path."""
        query = _query(args)
        place = await run_in_thread(lambda _: _searched(query.path, context))
        visible = VisibilityFilter("grep", context, hidden=("ask", "deny"))
        wanted = MatchFilter(query.limit, query.context, _accepts(query, place, visible))
        try:
            found = await run_ripgrep(
                [*_options(query), *hiding_options(context, place)],
                place,
                lambda chunks, stop: read_matches(chunks, stop, wanted),
                program=self._program,
                outside=(context.cwd, *self._writable),
                deadline_s=self._deadline_s,
            )
        except ToolError as error:
            raise _explained(error) from error
        lines = await run_in_thread(lambda stop: confirm_matches(place.root, found.files, stop))
        prefix = "/" if place.outside else ""
        if query.files_only:
            parts = ["\n".join(printable(prefix + path) for path in lines)] if lines else []
        else:
            parts = [format_matches(prefix + path, lines[path]) for path in lines]
        notes = "\n".join(f"[{note}]" for note in self._notes(query, found, visible))
        return ToolOutput("\n\n".join([*(parts or ["no matches"]), *([notes] if notes else [])]))

    def _notes(self, query: _Query, found: Matches, visible: VisibilityFilter) -> list[str]:
        what = "files" if query.files_only else "matching lines"
        notes = []
        if found.is_cut:
            notes.append(f"more than {query.limit} {what}; narrow the search to see the others")
        if found.timed_out:
            notes.append(f"the search was ended after {self._deadline_s:g} s; search a smaller folder")
        if found.too_long:
            notes.append(f"matching lines that are too long to be shown: {found.too_long}")
        return [*notes, visible.note] if visible.note else notes


def _query(args: dict[str, Any]) -> _Query:
    pattern = text_arg(args, "pattern")
    if not pattern:
        raise ToolError("the pattern is empty", hint="use glob to find files by name")
    if "\0" in pattern or "\n" in pattern:
        raise ToolError("a pattern is matched inside one line: it cannot contain a line break or NUL")
    if len(pattern) > MAX_PATTERN_CHARS:
        raise ToolError(f"the pattern has more than {MAX_PATTERN_CHARS} characters")
    include = text_arg(args, "include") if args.get("include") else ""
    patterns = tuple(match_any_folder(part) for part in expand_braces(include)) if include else ()
    files_only = flag_arg(args, "files_only")
    context = integer_arg(args, "context") or 0
    limit = integer_arg(args, "limit") or DEFAULT_LIMIT
    return _Query(
        pattern=pattern,
        path=text_arg(args, "path") if args.get("path") else ".",
        include=patterns,
        literal=flag_arg(args, "literal"),
        ignore_case=flag_arg(args, "ignore_case"),
        files_only=files_only,
        context=0 if files_only else max(0, min(context, MAX_CONTEXT)),
        limit=max(1, min(limit, MAX_LIMIT)),
    )


def _searched(path: str, context: ToolContext) -> ResolvedPath:
    """Return the folder or text file to search; raises ToolError when it is neither."""
    place = resolve_path("grep", "read", path, context)
    with system_errors(place.shown):
        if stat.S_ISDIR(file_mode(place)):
            return place
        with open_file(place) as file:
            if is_binary(file):
                raise ToolError(f"{printable(place.name)} is a binary file; only text can be searched")
    return place


def _options(query: _Query) -> list[str]:
    return [
        "--json",
        "--crlf",
        "--encoding=none",  # keeps offsets equal to those in the file
        f"--max-filesize={MAX_FILE_SIZE}",
        f"--max-count={1 if query.files_only else query.limit + 1}",
        f"--context={query.context}",
        *(["--fixed-strings"] if query.literal else []),
        *(["--ignore-case"] if query.ignore_case else []),
        *name_options(plain_name(pattern) for pattern in query.include),
        f"--regexp={query.pattern}",
    ]


def _accepts(query: _Query, place: ResolvedPath, visible: VisibilityFilter) -> Callable[[str], bool]:
    """Return a predicate: is a found path, relative to the place's root, wanted and may it be shown?"""
    prefix = "/" if place.outside else ""
    start = "" if place.real == "." else f"{place.real}/"
    if not query.include:
        return lambda path: visible(prefix + path)
    included = path_expression(query.include)

    def accepts(path: str) -> bool:
        # A file that the path names directly is searched whatever its name.
        below = path.removeprefix(start)
        return (path == place.real or included.fullmatch(below) is not None) and visible(prefix + path)

    return accepts


def _explained(error: ToolError) -> ToolError:
    """Shorten ripgrep's error about a pattern to the line that says what is wrong."""
    if "regex" not in error.message and "pattern" not in error.message:
        return error
    lines = error.message.removeprefix("rg: ").splitlines()
    reasons = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")] or lines[:1]
    text = re.sub(r"\s+", " ", reasons[0])[:300]
    return ToolError(
        f"the pattern cannot be used as a regular expression: {text}",
        hint="set literal to true to search for the text as it is",
    )


_PARAMETERS = parameters(
    1,
    pattern=("string", ""),
    path=("string", ""),
    include=("string", ""),
    literal=("boolean", ""),
    ignore_case=("boolean", ""),
    context=("integer", ""),
    limit=("integer", ""),
    files_only=("boolean", ""),
)
