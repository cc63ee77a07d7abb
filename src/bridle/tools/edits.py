"""Changing text without changing what kind of text it is: encoding, byte order mark and line endings stay.

```
UTF-8                                  with a byte order mark or without
UTF-16, little or big endian           only with its mark
anything else                          is not decoded: it could not be written back without loss
```

An edit is first taken literally. read_file shows lines without their carriage returns, so a model
describes an edit of a CRLF file with plain newlines. Where both texts are free of carriage returns,
their newlines are read as CRLF if the whole file is written so; in a file of mixed endings only if the
text as given is not found. What then is still not found is looked for up to whitespace
(`bridle.tools.tolerant`); what is not there either is answered with what stands there instead
(`bridle.tools.closest`).
"""

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.tools.tolerant import edit_tolerantly

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
        # UTF-32 starts with the mark of UTF-16 and a NUL, with which no text starts.
        if data.startswith(mark) and not data.startswith(BOM_UTF16_LE + b"\0\0"):
            return Document(data.decode(_CODECS[mark])[1:], mark)
    return Document(data.decode())


def has_crlf(text: str) -> bool:
    """Tell whether every line of a text, and there is one, ends with a carriage return and a newline."""
    endings = text.count("\n")
    return bool(endings) and text.count("\r\n") == endings


def in_kind(old: Document, content: str) -> Document:
    """Return new content for a file in the encoding and with the line endings that it has."""
    if has_crlf(old.text) and "\r" not in content:
        content = content.replace("\n", "\r\n")
    return Document(content.removeprefix("\ufeff") if old.mark else content, old.mark)


class Edit(Struct, frozen=True):
    """One replacement as a model asks for it."""

    old: str
    new: str
    occurrence: int = 0
    """Which one, counted from 1; 0 is all of them."""


class Edited(Struct, frozen=True):
    """A text after an edit."""

    text: str
    which: str
    """What was replaced, in Kontekst's words."""
    note: str = ""
    """What else the model should know."""


class Fitted(Struct, frozen=True):
    """A replacement as it applies to one text."""

    old: str
    new: str
    count: int
    """How often `old` occurs, without overlaps; an empty one between all characters."""


def edit_text(text: str, edit: Edit, *, max_size: int) -> Edited:
    """Make an edit; raises ToolError when it cannot be made, or when the result would exceed `max_size`."""
    if edit.old == edit.new:
        raise ToolError("old_str and new_str are the same: there is nothing to change")
    fitted = fit_endings(text, edit.old, edit.new)
    if not fitted.count:
        return _edit_tolerantly(text, edit)
    if edit.occurrence and not 0 < edit.occurrence <= fitted.count:
        raise ToolError(
            f"occurrence {edit.occurrence} of old_str not found (only {fitted.count} occurrences exist)"
        )
    changes = 1 if edit.occurrence else fitted.count
    # Counted before it is built: an empty old_str makes the new text occur between all characters.
    if len(text) + changes * (len(fitted.new) - len(fitted.old)) > max_size:
        raise ToolError(f"result would exceed maximum file size of {max_size} bytes")
    which = f"occurrence {edit.occurrence}" if edit.occurrence else f"{fitted.count} occurrence(s)"
    return Edited(_replace(text, fitted, edit.occurrence), which)


def fit_endings(text: str, old: str, new: str) -> Fitted:
    """Find out how often a text occurs, and with which line endings."""
    exact = Fitted(old, new, text.count(old))
    crlf_endings = text.count("\r\n")
    if not crlf_endings or "\r" in old or "\r" in new:
        return exact
    if exact.count and crlf_endings < text.count("\n"):
        return exact
    crlf_old = old.replace("\n", "\r\n")
    crlf = Fitted(crlf_old, new.replace("\n", "\r\n"), text.count(crlf_old))
    return crlf if crlf.count else exact


def _replace(text: str, fitted: Fitted, occurrence: int) -> str:
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


def _edit_tolerantly(text: str, edit: Edit) -> Edited:
    match = edit_tolerantly(text, edit.old, edit.new) if edit.occurrence in (0, 1) else None
    if match is None:
        from bridle.tools.closest import why_not_found  # noqa: PLC0415  loads difflib, only for this message

        reason = why_not_found(text, edit.old, edit.new)
        raise ToolError(f"{NOT_FOUND}: {reason}" if reason else NOT_FOUND)
    which = f"occurrence {edit.occurrence}" if edit.occurrence else "1 occurrence(s)"
    lines = f"line {match.line}" if match.line == match.last_line else f"lines {match.line}-{match.last_line}"
    return Edited(
        match.text,
        which,
        f"old_str matched {lines} only up to {match.looseness}; new_str was fitted to the file",
    )
