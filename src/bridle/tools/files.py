"""The four file tools, with Kontekst's parameters, results, error texts and previews."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pkgutil import get_data
from threading import Event
from typing import Any

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.core.ports import Tool, ToolContext
from bridle.core.tool import Access, AccessClass, Subject, ToolOutput, ToolSpec
from bridle.tools.blocking import in_thread
from bridle.tools.diff import new_file_diff, unified_diff
from bridle.tools.disk import Version, open_file, reason, replace_file, version_of
from bridle.tools.edits import Document, apply_edit, find_edit, parse_document
from bridle.tools.globs import literal_folders
from bridle.tools.listing import list_matching
from bridle.tools.paths import Place, clean_path, printable, resolve
from bridle.tools.reading import LineRange, is_binary, read_numbered
from bridle.tools.toolbox import cap_output

MAX_FILE_BYTES = 10 * 1024 * 1024
MAX_LISTED = 1000
LIST_DEADLINE_S = 5.0
MAX_PREVIEW_BYTES = 200_000  # more than a person looks through before answering


def file_tools(max_file_bytes: int = MAX_FILE_BYTES) -> tuple[Tool, ...]:
    """Make all file tools."""
    return EditFile(max_file_bytes), ListFiles(), ReadFile(max_file_bytes), WriteFile(max_file_bytes)


class ReadFile:
    """Shows a text file, or some of its lines, with line numbers."""

    parallel = True

    def __init__(self, max_bytes: int = MAX_FILE_BYTES) -> None:
        """Limit what one call shows; the file itself may be larger."""
        self._max_bytes = max_bytes

    @property
    def spec(self) -> ToolSpec:
        """What the model sees."""
        return ToolSpec("read_file", _description("read_file"), _READ_PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Name the file, and what it leads to if it is a link."""
        return _path_access("read_file", "read", args, context)

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Show nothing: nothing changes."""
        return ""

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return the numbered lines; bytes that are not UTF-8 are shown as escapes, with a note."""
        path = _text(args, "path")
        lines = LineRange(max(1, _integer(args, "start_line") or 1), _integer(args, "end_line"))

        def read(stop: Event) -> str:
            place = resolve(context.cwd, path)
            with _system_errors(place.shown, reading=True), open_file(place) as file:
                if is_binary(file):
                    raise ToolError(f"{printable(place.name)} is a binary file; only text can be read")
                return read_numbered(file, lines, max_bytes=self._max_bytes, stop=stop)

        return ToolOutput(await in_thread(read))


class WriteFile:
    """Creates a file or replaces all of it."""

    parallel = False

    def __init__(self, max_bytes: int = MAX_FILE_BYTES) -> None:
        """Limit how large a file may become."""
        self._max_bytes = max_bytes

    @property
    def spec(self) -> ToolSpec:
        """What the model sees."""
        return ToolSpec("write_file", _description("write_file"), _WRITE_PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Name the file, and what it leads to if it is a link."""
        return _path_access("write_file", "write", args, context)

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Show the new file, or what changes in it."""
        try:
            path, content = _text(args, "path"), _text(args, "content")
            limit = max(MAX_FILE_BYTES, self._max_bytes)
            return await in_thread(lambda _: _preview_write(resolve(context.cwd, path), content, limit))
        except ToolError:
            return ""

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Write in one step: whatever happens, the file is the old one or the new one."""
        path, data = _text(args, "path"), _text(args, "content").encode()
        if len(data) > self._max_bytes:
            raise ToolError(f"content exceeds maximum size of {self._max_bytes} bytes")

        def write(stop: Event) -> str:
            place = resolve(context.cwd, path)
            with _system_errors(place.shown):
                replace_file(place, data, stop=stop)
            return f"Successfully wrote {len(data)} bytes to {printable(place.name)}"

        return ToolOutput(await in_thread(write))


class EditFile:
    """Replaces text in a file that exists."""

    parallel = False

    def __init__(self, max_bytes: int = MAX_FILE_BYTES) -> None:
        """Limit how large a file may be and become."""
        self._max_bytes = max_bytes

    @property
    def spec(self) -> ToolSpec:
        """What the model sees."""
        return ToolSpec("edit_file", _description("edit_file"), _EDIT_PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Name the file, and what it leads to if it is a link."""
        return _path_access("edit_file", "write", args, context)

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Show what changes; nothing when the edit would fail."""
        try:
            wanted = _wanted_edit(args)
            limit = max(MAX_FILE_BYTES, self._max_bytes)
            return await in_thread(lambda _: _preview_edit(resolve(context.cwd, wanted.path), wanted, limit))
        except ToolError:
            return ""

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Edit in one step, unless somebody else changed the file meanwhile."""
        wanted = _wanted_edit(args)

        def edit(stop: Event) -> str:
            place = resolve(context.cwd, wanted.path)
            found = _load(place, self._max_bytes)
            if found is None:
                raise ToolError(f"file does not exist: {printable(place.name)}")
            edited = _edited(place, found, wanted, self._max_bytes)
            with _system_errors(place.shown):
                replace_file(place, edited.after.encode(), stop=stop, expected=found.version)
            return edited.summary

        return ToolOutput(await in_thread(edit))


class ListFiles:
    """Lists the files that match a pattern."""

    parallel = True

    def __init__(self, max_files: int = MAX_LISTED, deadline_s: float = LIST_DEADLINE_S) -> None:
        """Limit how much is listed and how long it is searched for."""
        self._max_files = max_files
        self._deadline_s = deadline_s

    @property
    def spec(self) -> ToolSpec:
        """What the model sees."""
        return ToolSpec("list_files", _description("list_files"), _LIST_PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Name the pattern, and where its first folders lead if they are links."""
        pattern = clean_path(_text(args, "pattern"))
        folders = literal_folders(pattern)
        start = resolve(context.cwd, "/".join(folders) or ".")
        rest = pattern.split("/")[len(folders) :]
        return _access("list_files", "read", pattern, "/".join([*start.parts, *rest]))

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Show nothing: nothing changes."""
        return ""

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return one path on each line, and a note when the list is not complete."""
        pattern = _text(args, "pattern")

        def search(stop: Event) -> str:
            with _system_errors(context.cwd):
                listing = list_matching(context.cwd, pattern, max_files=self._max_files, stop=stop)
            return "\n".join([*listing.files, f"[{listing.note}]"] if listing.note else listing.files)

        return ToolOutput(await in_thread(search, deadline_s=self._deadline_s))


# ---------------------------------------------------------------------------- arguments


class _WantedEdit(Struct, frozen=True):
    path: str
    old: str
    new: str
    occurrence: int


def _wanted_edit(args: dict[str, Any]) -> _WantedEdit:
    return _WantedEdit(
        path=_text(args, "path"),
        old=_text(args, "old_str"),
        new=_text(args, "new_str"),
        occurrence=_integer(args, "occurrence") or 0,
    )


def _text(args: dict[str, Any], key: str) -> str:
    value = args.get(key)
    if not isinstance(value, str):
        raise ToolError(f"missing {key}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ToolError(
            f"{key} is not valid Unicode: character {error.start + 1} is half of a pair"
        ) from error
    return value


def _integer(args: dict[str, Any], key: str) -> int | None:
    """Return a whole number; anything else counts as not given."""
    value = args.get(key)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _path_access(tool: str, access: AccessClass, args: dict[str, Any], context: ToolContext) -> Access:
    place = resolve(context.cwd, _text(args, "path"))
    return _access(tool, access, place.name, place.real)


def _access(tool: str, access: AccessClass, named: str, real: str) -> Access:
    """Judge a path by both its names: a link must not be a way around a rule."""
    paths = dict.fromkeys((printable(named), printable(real)))
    return Access(tool, access, tuple(Subject("path", path) for path in paths))


# ---------------------------------------------------------------------------- files


class _Loaded(Struct, frozen=True):
    data: bytes
    """At most one byte more than was asked for."""
    size: int
    version: Version


class _Edited(Struct, frozen=True):
    before: Document
    after: Document
    summary: str


def _load(place: Place, max_bytes: int) -> _Loaded | None:
    """Read a file up to a limit; None when there is none."""
    with _system_errors(place.shown, reading=True):
        try:
            file = open_file(place)
        except FileNotFoundError:
            return None
        with file:
            found = os.fstat(file.fileno())
            return _Loaded(file.read(max_bytes + 1), found.st_size, version_of(found))


def _edited(place: Place, found: _Loaded, wanted: _WantedEdit, max_bytes: int) -> _Edited:
    name = printable(place.name)
    if len(found.data) > max_bytes:
        raise ToolError(f"{name} has {found.size} bytes; only files up to {max_bytes} bytes can be edited")
    try:
        before = parse_document(found.data)
    except UnicodeDecodeError as error:
        raise ToolError(
            f"{name} is not UTF-8 text (byte {error.object[error.start]:#04x} at offset {error.start})"
            " and cannot be edited"
        ) from error
    edit = find_edit(before.text, wanted.old, wanted.new, wanted.occurrence)
    changes = 1 if wanted.occurrence else edit.count
    # Counted before it is built: an empty old_str makes the new text occur between all characters.
    if len(found.data) + changes * (len(edit.new.encode()) - len(edit.old.encode())) > max_bytes:
        raise ToolError(f"result would exceed maximum file size of {max_bytes} bytes")
    after = Document(apply_edit(before.text, edit, wanted.occurrence), before.has_bom)
    which = f"occurrence {wanted.occurrence}" if wanted.occurrence else f"{edit.count} occurrence(s)"
    return _Edited(before, after, f"Replaced {which} in {name}")


def _preview_write(place: Place, content: str, max_bytes: int) -> str:
    name = printable(place.name)
    found = _load(place, max_bytes)
    if found is None:
        return _capped(new_file_diff(content, name))
    try:
        before = parse_document(found.data) if len(found.data) <= max_bytes else None
    except UnicodeDecodeError:
        before = None
    if before is None:
        return f"{name}: all {found.size} bytes, too many or no text to be compared, are replaced\n"
    return _capped(unified_diff(before.text, content, name))


def _preview_edit(place: Place, wanted: _WantedEdit, max_bytes: int) -> str:
    found = _load(place, max_bytes)
    if found is None:
        return ""
    edited = _edited(place, found, wanted, max_bytes)
    return _capped(unified_diff(edited.before.text, edited.after.text, printable(place.name)))


def _capped(diff: str) -> str:
    return cap_output(diff, MAX_PREVIEW_BYTES, rest="too long for a preview")


@contextmanager
def _system_errors(shown: str, *, reading: bool = False) -> Iterator[None]:
    """Give the system's refusals in Kontekst's words."""
    try:
        yield
    except OSError as error:
        verb = "read" if reading and error.errno == errno.EISDIR else "open"
        raise ToolError(f"{verb} {printable(shown)}: {reason(error)}") from error


# ---------------------------------------------------------------------------- what the model sees


@cache
def _description(tool: str) -> str:
    return (get_data(__package__, f"{tool}.md") or b"").decode().strip()


def _parameters(required: int, **properties: tuple[str, str]) -> dict[str, Any]:
    """Build the schema of arguments that each have a type and a description; the first ones are required."""
    return {
        "type": "object",
        "properties": {
            name: {"type": kind, "description": description}
            for name, (kind, description) in properties.items()
        },
        "required": list(properties)[:required],
    }


_PATH = ("string", "Path of the file, relative to the working directory")

_READ_PARAMETERS = _parameters(
    1,
    path=_PATH,
    start_line=("integer", "First line to read, counted from 1 (default: 1)"),
    end_line=("integer", "Last line to read, included (default: the end of the file)"),
)
_WRITE_PARAMETERS = _parameters(2, path=_PATH, content=("string", "The whole new content of the file"))
_EDIT_PARAMETERS = _parameters(
    3,
    path=_PATH,
    old_str=("string", "The text to replace, exactly as it is in the file"),
    new_str=("string", "The text to put in its place"),
    occurrence=("integer", "Which occurrence to replace, counted from 1; 0 replaces all (default: 0)"),
)
_LIST_PARAMETERS = _parameters(1, pattern=("string", "Glob pattern, relative to the working directory"))
