"""The tools that change files, with Kontekst's parameters, results, error texts and previews."""

from contextlib import suppress
from threading import Event
from typing import Any

from bridle.core.errors import ToolError
from bridle.core.ports import Blobs, Tool, ToolContext, ToolOutput
from bridle.core.tool import Access, ToolSpec
from bridle.tools.edits import Edit, EditResult, edit_text
from bridle.tools.file_changes import (
    FileChange,
    apply_change,
    plan_edit,
    plan_write,
    preview_change,
    write_access,
)
from bridle.tools.list_files import ListFiles
from bridle.tools.notebook import SUFFIX as NOTEBOOK_SUFFIX
from bridle.tools.notebook import NotebookError, edit_cells
from bridle.tools.read_file import ReadFile
from bridle.tools.tool_support import MAX_FILE_BYTES, description, integer_arg, parameters, text_arg


def file_tools(max_file_bytes: int = MAX_FILE_BYTES, blobs: Blobs | None = None) -> tuple[Tool, ...]:
    """Return all file tools; `blobs` holds output that was too long to show."""
    return (
        ReadFile(max_file_bytes, blobs),
        EditFile(max_file_bytes),
        WriteFile(max_file_bytes),
        ListFiles(),
        MultiEdit(max_file_bytes),
    )


class WriteFile:
    """The tool that creates a file or replaces its whole content."""

    parallel = False

    def __init__(self, max_bytes: int = MAX_FILE_BYTES) -> None:
        """Set the maximum size of a written file."""
        self._max_bytes = max_bytes

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("write_file", description("write_file"), _WRITE_PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return the access to the file, and to its target if it is a link."""
        return write_access("write_file", args, context)

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Return the diff; raises ToolError when the write would fail."""
        limit = max(MAX_FILE_BYTES, self._max_bytes)
        return await preview_change(lambda _: self._plan(args, context, limit))

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Write atomically: even after a crash, the file is either the old one or the new one."""
        return await apply_change(lambda _: self._plan(args, context, self._max_bytes), context)

    def _plan(self, args: dict[str, Any], context: ToolContext, max_bytes: int) -> FileChange:
        path, content = text_arg(args, "path"), text_arg(args, "content")
        return plan_write("write_file", path, content, context, max_bytes)


class EditFile:
    """The tool that replaces text in an existing file."""

    parallel = False

    def __init__(self, max_bytes: int = MAX_FILE_BYTES) -> None:
        """Set the maximum file size, before and after the edit."""
        self._max_bytes = max_bytes

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("edit_file", description("edit_file"), _EDIT_PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return the access to the file, and to its target if it is a link."""
        return write_access("edit_file", args, context)

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Return the diff; raises ToolError when the edit would fail."""
        limit = max(MAX_FILE_BYTES, self._max_bytes)
        return await preview_change(lambda _: self._plan(args, context, limit))

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Edit atomically, unless the file was changed meanwhile."""
        return await apply_change(lambda _: self._plan(args, context, self._max_bytes), context)

    def _plan(self, args: dict[str, Any], context: ToolContext, max_bytes: int) -> FileChange:
        path = text_arg(args, "path")
        wanted = _edit_of(args)

        def edit(name: str, text: str) -> tuple[str, str]:
            edited = _edited(name, text, wanted, max_bytes)
            note = f" ({edited.note})" if edited.note else ""
            return edited.text, f"Replaced {edited.which} in {name}{note}"

        return plan_edit("edit_file", path, edit, context, max_bytes)


def _edit_of(args: dict[str, Any]) -> Edit:
    occurrence, cell = integer_arg(args, "occurrence") or 0, integer_arg(args, "cell") or 0
    return Edit(text_arg(args, "old_str"), text_arg(args, "new_str"), occurrence, cell)


def _edited(name: str, text: str, edit: Edit, max_bytes: int) -> EditResult:
    """Apply an edit to a file, in a notebook to one of its cells; raises ToolError."""
    if name.lower().endswith(NOTEBOOK_SUFFIX):
        with suppress(NotebookError):
            return edit_cells(text, edit, max_size=max_bytes)
    if edit.cell:
        raise ToolError(f"{name} is not a notebook, so it has no cells")
    return edit_text(text, edit, max_size=max_bytes)


_WRITE_PARAMETERS = parameters(2, path=("string", ""), content=("string", ""))
_EDIT_PARAMETERS = parameters(
    3,
    path=("string", ""),
    old_str=("string", ""),
    new_str=("string", ""),
    occurrence=("integer", ""),
    cell=("integer", ""),
)


# ---------------------------------------------------------------------------- multi edit
# The tool that makes several edits in one file, all of them or none.


MAX_EDITS = 100


class MultiEdit:
    """The tool that replaces several texts in an existing file."""

    parallel = False
    seldom = True

    def __init__(self, max_bytes: int = MAX_FILE_BYTES) -> None:
        """Set the maximum file size, before and after the edit."""
        self._max_bytes = max_bytes

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("multi_edit", description("multi_edit"), _PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return the access to the file, and to its target if it is a link."""
        return write_access("multi_edit", args, context)

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Return the diff of all edits together; raises ToolError when one of them would fail."""
        limit = max(MAX_FILE_BYTES, self._max_bytes)
        return await preview_change(lambda stop: self._plan(args, context, limit, stop))

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Apply all edits atomically; if one fails, raises ToolError with a line for each edit."""
        return await apply_change(lambda stop: self._plan(args, context, self._max_bytes, stop), context)

    def _plan(self, args: dict[str, Any], context: ToolContext, max_bytes: int, stop: Event) -> FileChange:
        path, edits = text_arg(args, "path"), _wanted(args)

        def edit(name: str, text: str) -> tuple[str, str]:
            return _edit_all(name, text, edits, max_bytes, stop)

        return plan_edit("multi_edit", path, edit, context, max_bytes)


def _wanted(args: dict[str, Any]) -> list[Edit]:
    given = args.get("edits")
    if not isinstance(given, list) or not 0 < len(given) <= MAX_EDITS:
        raise ToolError(f"edits must be a list of 1 to {MAX_EDITS} edits")
    edits = []
    for number, edit in enumerate(given, start=1):
        if not isinstance(edit, dict):
            raise ToolError(f"edit {number} is not an object with old_str and new_str")
        try:
            edits.append(_edit_of(edit))
        except ToolError as error:
            raise ToolError(f"edit {number}: {error}") from error
    return edits


def _edit_all(name: str, text: str, edits: list[Edit], max_bytes: int, stop: Event) -> tuple[str, str]:
    """Apply each edit to the result of those before it; return the text and a report with a line per edit.

    After an edit fails, the others are still tried, so that the error lists all failures at once.
    """
    lines, failed = [], 0
    for number, edit in enumerate(edits, start=1):
        if stop.is_set():
            raise ToolError(f"stopped before {name} was changed")
        try:
            edited = _edited(name, text, edit, max_bytes)
        except ToolError as error:
            failed += 1
            lines.append(f"{number}: {error}")
            continue
        text = edited.text
        note = f" ({edited.note})" if edited.note else ""
        lines.append(f"{number}: ok, {edited.which}{note}")
    report = "\n".join(lines)
    if failed:
        raise ToolError(f"{name} is unchanged: {failed} of {len(edits)} edits failed\n{report}")
    return text, f"Made {len(edits)} edits in {name}\n{report}"


_EDIT = {
    "type": "object",
    "properties": {
        "old_str": {"type": "string"},
        "new_str": {"type": "string"},
        "occurrence": {"type": "integer"},
        "cell": {"type": "integer"},
    },
    "required": ["old_str", "new_str"],
}
_PARAMETERS = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "edits": {
            "type": "array",
            "items": _EDIT,
            "minItems": 1,
            "maxItems": MAX_EDITS,
            "description": "In order",
        },
    },
    "required": ["path", "edits"],
}
