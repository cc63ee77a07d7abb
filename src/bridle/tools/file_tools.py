"""The tools that change files, with Kontekst's parameters, results, error texts and previews."""

from typing import Any

from bridle.core.ports import Blobs, Tool, ToolContext, ToolOutput
from bridle.core.tool import Access, ToolSpec
from bridle.tools.edits import Edit, edit_text
from bridle.tools.file_changes import (
    FileChange,
    apply_change,
    plan_edit,
    plan_write,
    preview_change,
    write_access,
)
from bridle.tools.list_files import ListFiles
from bridle.tools.multi_edit import MultiEdit
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
        wanted = Edit(
            text_arg(args, "old_str"), text_arg(args, "new_str"), integer_arg(args, "occurrence") or 0
        )

        def edit(name: str, text: str) -> tuple[str, str]:
            edited = edit_text(text, wanted, max_size=max_bytes)
            note = f" ({edited.note})" if edited.note else ""
            return edited.text, f"Replaced {edited.which} in {name}{note}"

        return plan_edit("edit_file", path, edit, context, max_bytes)


_WRITE_PARAMETERS = parameters(2, path=("string", ""), content=("string", ""))
_EDIT_PARAMETERS = parameters(
    3,
    path=("string", ""),
    old_str=("string", ""),
    new_str=("string", ""),
    occurrence=("integer", ""),
)
