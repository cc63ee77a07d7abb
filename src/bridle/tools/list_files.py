"""The tool that lists the files below a folder that match a pattern."""

import posixpath
from threading import Event
from typing import Any

from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.tool import Access, ToolSpec
from bridle.tools.file_walk import Listing, list_matching
from bridle.tools.glob_patterns import literal_folders
from bridle.tools.paths import clean_path
from bridle.tools.threads import run_in_thread
from bridle.tools.tool_support import (
    description,
    named_access,
    outside_filter,
    parameters,
    resolve_path,
    system_errors,
    text_arg,
)
from bridle.tools.visibility import VisibilityFilter

MAX_LISTED = 1000
LIST_DEADLINE_S = 5.0


class ListFiles:
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

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        """Return an empty text: the call changes nothing."""
        return ""

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
