"""Edit a file's text but keep its encoding, byte order mark and line endings.

```
UTF-8                                  with a byte order mark or without
UTF-16, little or big endian           only with its mark
anything else                          not decoded: it could not be written back without loss
```

An edit is first taken literally. read_file shows lines without their carriage returns, so a model
describes an edit of a CRLF file with plain newlines. If neither text has a carriage return, their
newlines are read as CRLF when the whole file uses CRLF; in a file with mixed endings, only when the text
as given is not found. If the text is still not found, it is searched for with whitespace ignored
(`bridle.tools.fuzzy_edit`). If that fails too, the error shows the closest text in the file
(`bridle.tools.hints`).
"""

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.tools.fuzzy_edit import edit_fuzzily

BOM = BOM_UTF8
NOT_FOUND = "old_str not found in file"

_CODECS = {b"": "utf-8", BOM: "utf-8", BOM_UTF16_LE: "utf-16-le", BOM_UTF16_BE: "utf-16-be"}


class Document(Struct, frozen=True):
    """A decoded file."""

    text: str
    mark: bytes = b""
    """The byte order mark, which also names the encoding; empty for plain UTF-8."""

    def encode(self) -> bytes:
        """Return the bytes of the file."""
        return self.mark + self.text.encode(_CODECS[self.mark])


def parse_document(data: bytes) -> Document:
    """Decode a file; raises UnicodeDecodeError."""
    for mark in (BOM, BOM_UTF16_LE, BOM_UTF16_BE):
        # UTF-32 LE starts with the UTF-16 mark and a NUL character; no text starts with a NUL.
        if data.startswith(mark) and not data.startswith(BOM_UTF16_LE + b"\0\0"):
            return Document(data.decode(_CODECS[mark])[1:], mark)
    return Document(data.decode())


def has_crlf(text: str) -> bool:
    """Return whether a text has line endings and all of them are a carriage return and a newline."""
    endings = text.count("\n")
    return bool(endings) and text.count("\r\n") == endings


def match_format(old: Document, content: str) -> Document:
    """Return new content for a file, with the file's current encoding and line endings."""
    if has_crlf(old.text) and "\r" not in content:
        content = content.replace("\n", "\r\n")
    return Document(content.removeprefix("\ufeff") if old.mark else content, old.mark)


class Edit(Struct, frozen=True):
    """One replacement that a model requests."""

    old: str
    new: str
    occurrence: int = 0
    """Which occurrence to replace, counted from 1; 0 means all."""
    cell: int = 0
    """The cell of a notebook, counted from 1; 0 means the only one that contains `old`."""


class EditResult(Struct, frozen=True):
    """The result of an edit."""

    text: str
    which: str
    """What was replaced, with Kontekst's wording."""
    note: str = ""
    """A note for the model about an inexact match; empty for an exact one."""


class FittedEdit(Struct, frozen=True):
    """A replacement with the line endings of one text."""

    old: str
    new: str
    count: int
    """How often `old` occurs, without overlaps; an empty `old` occurs between all characters."""


def edit_text(text: str, edit: Edit, *, max_size: int) -> EditResult:
    """Apply an edit; raises ToolError when that fails, or when the result would exceed `max_size`."""
    if edit.old == edit.new:
        raise ToolError("old_str and new_str are the same: nothing to change")
    fitted = fit_endings(text, edit.old, edit.new)
    if not fitted.count:
        return _edit_tolerantly(text, edit)
    if edit.occurrence and not 0 < edit.occurrence <= fitted.count:
        raise ToolError(
            f"occurrence {edit.occurrence} of old_str not found (only {fitted.count} occurrences exist)"
        )
    changes = 1 if edit.occurrence else fitted.count
    # Check the size before building the text: an empty old_str inserts new_str between all characters.
    if len(text) + changes * (len(fitted.new) - len(fitted.old)) > max_size:
        raise ToolError(f"result would exceed maximum file size of {max_size} bytes")
    which = f"occurrence {edit.occurrence}" if edit.occurrence else f"{fitted.count} occurrence(s)"
    return EditResult(_replace(text, fitted, edit.occurrence), which)


def fit_endings(text: str, old: str, new: str) -> FittedEdit:
    """Choose the line endings with which a text occurs, and count its occurrences."""
    exact = FittedEdit(old, new, text.count(old))
    crlf_endings = text.count("\r\n")
    if not crlf_endings or "\r" in old or "\r" in new:
        return exact
    if exact.count and crlf_endings < text.count("\n"):
        return exact
    crlf_old = old.replace("\n", "\r\n")
    crlf = FittedEdit(crlf_old, new.replace("\n", "\r\n"), text.count(crlf_old))
    return crlf if crlf.count else exact


def _replace(text: str, fitted: FittedEdit, occurrence: int) -> str:
    """Replace all occurrences, or the one with this number."""
    old, new = fitted.old, fitted.new
    if not occurrence:
        return text.replace(old, new)
    if not old:
        return text[: occurrence - 1] + new + text[occurrence - 1 :]
    start = text.index(old)
    for _ in range(occurrence - 1):
        start = text.index(old, start + len(old))
    return text[:start] + new + text[start + len(old) :]


def _edit_tolerantly(text: str, edit: Edit) -> EditResult:
    match = edit_fuzzily(text, edit.old, edit.new) if edit.occurrence in (0, 1) else None
    if match is None:
        from bridle.tools.hints import explain_not_found  # noqa: PLC0415  loads difflib, only for this message

        reason = explain_not_found(text, edit.old, edit.new)
        raise ToolError(f"{NOT_FOUND}: {reason}" if reason else NOT_FOUND)
    which = f"occurrence {edit.occurrence}" if edit.occurrence else "1 occurrence(s)"
    lines = f"line {match.line}" if match.line == match.last_line else f"lines {match.line}-{match.last_line}"
    return EditResult(
        match.text,
        which,
        f"old_str matched {lines} only up to {match.looseness}; new_str was fitted to the file",
    )
