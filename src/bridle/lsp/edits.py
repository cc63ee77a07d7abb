"""Applies a server's workspace edit to texts in memory, and only inside the project."""

from collections.abc import Callable, Sequence

from bridle.core.errors import ToolError
from bridle.core.language_servers import FileEdit
from bridle.lsp.positions import Encoding, TextSource
from bridle.lsp.protocol import Change, TextEdit, WorkspaceEdit

MAX_FILES = 1000
MAX_EDITS = 100_000
MAX_TEXT = 64 * 1024 * 1024

Read = Callable[[str], str | None]
"""Returns the text at a path, None if there is no file; raises ToolError."""
Locate = Callable[[str], str]
"""Returns the path of a URI with links resolved; raises ToolError for one outside the project."""
Version = Callable[[str], int | None]
"""Returns the file version last sent to the server; None for a file that the server reads itself."""


def apply_edits(text: str, edits: Sequence[TextEdit], encoding: Encoding) -> str:
    """Return a text with edits applied; all positions refer to the original text. Raises ToolError.

    Inserts at the same position keep their order.
    """
    source = TextSource(text)
    spots = sorted(
        (source.offset(edit.range.start, encoding), source.offset(edit.range.end, encoding), number)
        for number, edit in enumerate(edits)
    )
    parts: list[str] = []
    done = 0
    for start, end, number in spots:
        if start > end:
            raise ToolError("the server sent an edit that ends before it begins")
        if start < done:
            raise ToolError("the server sent edits that overlap")
        parts += (text[done:start], edits[number].new_text)
        done = end
    return "".join((*parts, text[done:]))


class Draft:
    """The files that an edit touches, before and after it."""

    def __init__(self, read: Read, locate: Locate, version: Version, encoding: Encoding) -> None:
        self._read = read
        self._locate = locate
        self._version = version
        self._encoding = encoding
        self._before: dict[str, str | None] = {}
        self._after: dict[str, str | None] = {}

    def take(self, edit: WorkspaceEdit) -> None:
        """Apply the changes of an edit in order; raises ToolError, after which the draft is unusable."""
        if edit.document_changes is not None:
            changes = edit.document_changes
            _check_count(len(changes), sum(len(change.edits) for change in changes))
            for change in changes:
                self._change(change)
            return
        named = edit.changes or {}
        _check_count(len(named), sum(len(edits) for edits in named.values()))
        for uri, edits in named.items():
            self._edit(uri, edits)

    def result(self) -> tuple[FileEdit, ...]:
        """Return the files that differ, sorted by path."""
        return tuple(
            FileEdit(path, before, self._after[path])
            for path, before in sorted(self._before.items())
            if before != self._after[path]
        )

    def _change(self, change: Change) -> None:
        match change.kind:
            case "":
                if change.text_document is None:
                    raise ToolError("the server sent an edit without a file")
                self._check_version(change.text_document.uri, change.text_document.version)
                self._edit(change.text_document.uri, change.edits)
            case "create":
                self._create(change)
            case "rename":
                self._rename(change)
            case "delete":
                self._delete(change)
            case kind:
                raise ToolError(f"the server sent a change of an unknown kind, {kind[:40]!a}")

    def _check_version(self, uri: str, version: int | None) -> None:
        path = self._locate(uri)
        told = self._version(path)
        if version is not None and told is not None and version != told:
            raise ToolError(f"the server's edit is for another version of {path}: try again")

    def _edit(self, uri: str, edits: Sequence[TextEdit]) -> None:
        path = self._open(uri)
        text = self._after[path]
        if text is None:
            raise ToolError(f"the server sent an edit for a missing file: {path}")
        mark = "\ufeff" if text.startswith("\ufeff") else ""  # positions do not count it
        self._put(path, mark + apply_edits(text.removeprefix(mark), edits, self._encoding))

    def _create(self, change: Change) -> None:
        path = self._open(change.uri)
        if self._is_free(path, change):
            self._put(path, "")

    def _rename(self, change: Change) -> None:
        old, new = self._open(change.old_uri), self._open(change.new_uri)
        text = self._after[old]
        if text is None:
            raise ToolError(f"the server wants to rename a missing file: {old}")
        if old != new and self._is_free(new, change):
            self._put(new, text)
            self._put(old, None)

    def _delete(self, change: Change) -> None:
        path = self._open(change.uri)
        may_miss = change.options is not None and change.options.ignore_if_not_exists
        if self._after[path] is None and not may_miss:
            raise ToolError(f"the server wants to delete a missing file: {path}")
        self._put(path, None)

    def _is_free(self, path: str, change: Change) -> bool:
        """Return whether to write to a path, False to skip it; raises ToolError if a file is in the way."""
        if self._after[path] is None:
            return True
        options = change.options
        if options is not None and options.overwrite:
            return True
        if options is not None and options.ignore_if_exists:
            return False
        raise ToolError(f"the server wants to {change.kind} a file that already exists: {path}")

    def _open(self, uri: str) -> str:
        path = self._locate(uri)
        if path not in self._before:
            self._before[path] = self._after[path] = self._read(path)
            _check_count(len(self._before), 0)
        return path

    def _put(self, path: str, text: str | None) -> None:
        self._after[path] = text
        if sum(len(text or "") for text in self._after.values()) > MAX_TEXT:
            raise ToolError(f"the server's edit makes more than {MAX_TEXT // 2**20} MiB of text")


def _check_count(files: int, edits: int) -> None:
    if files > MAX_FILES or edits > MAX_EDITS:
        raise ToolError(f"the server's edit is too large: {edits} changes in {files} files")
