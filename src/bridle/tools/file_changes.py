"""Plan a change to a file, show it as a diff, and write it only if the file is as the model last saw it.

```
locate ─▶ load ─▶ seen by model? ─▶ new content ─▶ Change ─▶ preview shows its diff
                                                        └──▶ carry_out writes it, unless the file changed
```
"""

import errno
import os
from collections.abc import Callable
from hashlib import sha256
from threading import Event
from typing import Any

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.protocol import FilesSeen, SeenFile
from bridle.core.tool import Access
from bridle.tools.diff import new_file_diff, unified_diff
from bridle.tools.edits import Document, match_format, parse_document
from bridle.tools.filesystem import Version, check_unprotected, open_file, replace_file, version_of
from bridle.tools.paths import ResolvedPath, printable
from bridle.tools.threads import run_in_thread
from bridle.tools.tool_support import path_access, resolve_path, system_errors
from bridle.tools.toolbox import cap_output
from bridle.tools.visibility import hard_link_error, has_denied_name

MAX_PREVIEW_BYTES = 200_000  # more than a person reads before answering
_NO_FOLDER = (errno.ENOTDIR, errno.ENAMETOOLONG)  # reported later, when the folders are created


class LoadedFile(Struct, frozen=True):
    """The content, version and mode of an existing file."""

    data: bytes
    version: Version
    mode: int = 0o644


class FileChange(Struct, frozen=True):
    """A planned change to one file."""

    place: ResolvedPath
    data: bytes
    expected: Version | None
    """The version that is replaced; None for a new file."""
    diff: str
    result: str
    """The text for the model after the change is written."""


def write_access(tool: str, args: dict[str, Any], context: ToolContext) -> Access:
    """Return the access of a call that changes a file; raises ToolError for a protected file."""
    access = path_access(tool, "write", args, context)
    for subject in access.subjects:
        check_unprotected(subject.value)
    return access


async def preview_change(plan: Callable[[Event], FileChange]) -> str:
    """Return the diff of a planned change; raises ToolError when the change would fail."""
    return await run_in_thread(lambda stop: plan(stop).diff)


async def apply_change(plan: Callable[[Event], FileChange], context: ToolContext) -> ToolOutput:
    """Plan a change and write it atomically; raises ToolError, and then nothing is changed."""

    def work(stop: Event) -> ToolOutput:
        change = plan(stop)
        with system_errors(change.place.shown):
            replace_file(change.place, change.data, stop=stop, expected=change.expected, keep=context.keep)
        seen = SeenFile(printable(change.place.subject), sha256(change.data).hexdigest())
        return ToolOutput(change.result, notes=(FilesSeen((seen,)),), diff=change.diff)

    return await run_in_thread(work)


def plan_write(tool: str, path: str, content: str, context: ToolContext, max_bytes: int) -> FileChange:
    """Plan to replace a whole file or to create it; raises ToolError."""
    place = _target(tool, path, context)
    name = printable(place.name)
    found = _load(place, context, max_bytes, reading=False)
    before = None if found is None else _text_of(found)
    document = Document(content) if before is None else match_format(before, content)
    data = document.encode()
    if len(data) > max_bytes:
        raise ToolError(f"content exceeds maximum size of {max_bytes} bytes")
    if found is None:
        diff = new_file_diff(content, name)
    elif before is None:
        diff = f"{name}: all {len(found.data)} bytes, which cannot be compared as text, are replaced\n"
    else:
        diff = unified_diff(before.text, document.text, name)
    result = f"Successfully wrote {len(data)} bytes to {name}"
    return FileChange(place, data, None if found is None else found.version, _capped(diff), result)


def plan_edit(
    tool: str,
    path: str,
    edit: Callable[[str, str], tuple[str, str]],
    context: ToolContext,
    max_bytes: int,
) -> FileChange:
    """Plan to change an existing file; raises ToolError.

    `edit` takes the file's name and text, and returns the new text and the result for the model.
    """
    place = _target(tool, path, context)
    name = printable(place.name)
    found = _load(place, context, max_bytes, reading=True)
    if found is None:
        raise ToolError(f"file does not exist: {name}")
    try:
        before = parse_document(found.data)
    except UnicodeDecodeError as error:
        raise ToolError(
            f"{name} is not {error.encoding.upper()} text"
            f" (byte {error.object[error.start]:#04x} at offset {error.start}) and cannot be edited"
        ) from error
    text, result = edit(name, before.text)
    data = Document(text, before.mark).encode()
    if len(data) > max_bytes:
        raise ToolError(f"result would exceed maximum file size of {max_bytes} bytes")
    return FileChange(place, data, found.version, _capped(unified_diff(before.text, text, name)), result)


def _target(tool: str, path: str, context: ToolContext) -> ResolvedPath:
    place = resolve_path(tool, "write", path, context)
    check_unprotected(place.real)
    return place


def _load(place: ResolvedPath, context: ToolContext, max_bytes: int, *, reading: bool) -> LoadedFile | None:
    """Read a file whose current content the model has seen; None when there is no file.

    Raises ToolError for a file that the model has not read, that changed since, or that is too large.
    """
    found = load_file(place, context, max_bytes, reading=reading)
    if found is None:
        return None
    name, known = printable(place.name), context.seen.get(printable(place.subject))
    if known is None:
        raise ToolError(f"{name} exists, but you have not read it; read_file it first")
    if known != sha256(found.data).hexdigest():
        raise ToolError(f"{name} was changed since you read it; read_file it again")
    return found


def load_file(
    place: ResolvedPath, context: ToolContext, max_bytes: int, *, reading: bool
) -> LoadedFile | None:
    """Read a file before a change; None when there is none; raises ToolError, also for a file too large."""
    name = printable(place.name)
    with system_errors(place.shown, reading=reading):
        try:
            file = open_file(place)
        except FileNotFoundError:
            return None
        except OSError as error:
            if reading or error.errno not in _NO_FOLDER:
                raise
            return None
        with file:
            found = os.fstat(file.fileno())
            if has_denied_name(found, context):
                raise hard_link_error(name)
            data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise ToolError(
            f"{name} has {found.st_size} bytes; only files up to {max_bytes} bytes can be changed"
        )
    return LoadedFile(data, version_of(found), found.st_mode & 0o777)


def _text_of(found: LoadedFile) -> Document | None:
    try:
        return parse_document(found.data)
    except UnicodeDecodeError:
        return None


def _capped(diff: str) -> str:
    return cap_output(diff, MAX_PREVIEW_BYTES, rest="too long for a preview")
