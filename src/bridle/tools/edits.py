"""Changing text without changing what kind of text it is: byte order mark and line endings stay.

read_file shows lines without their carriage returns, so a model describes an edit of a CRLF file with
plain newlines. Where both texts are free of carriage returns, their newlines are read as CRLF if the
whole file is written so; in a file of mixed endings only if the text as given is not found.
"""

from msgspec import Struct

from bridle.core.errors import ToolError

BOM = b"\xef\xbb\xbf"


class Document(Struct, frozen=True):
    """A UTF-8 file as text."""

    text: str
    has_bom: bool = False

    def encode(self) -> bytes:
        """Return the bytes of the file."""
        return (BOM if self.has_bom else b"") + self.text.encode()


class Edit(Struct, frozen=True):
    """One replacement as it applies to one document."""

    old: str
    new: str
    count: int
    """How often `old` occurs, without overlaps; an empty one between all characters."""


def parse_document(data: bytes) -> Document:
    """Decode a file; raises UnicodeDecodeError."""
    has_bom = data.startswith(BOM)
    return Document((data[len(BOM) :] if has_bom else data).decode(), has_bom)


def find_edit(text: str, old: str, new: str, occurrence: int) -> Edit:
    """Find what an edit replaces; raises ToolError when it is not there, or not that often."""
    edit = _fit_line_endings(text, old, new)
    if not edit.count:
        raise ToolError("old_str not found in file")
    if occurrence and not 0 < occurrence <= edit.count:
        raise ToolError(f"occurrence {occurrence} of old_str not found (only {edit.count} occurrences exist)")
    return edit


def apply_edit(text: str, edit: Edit, occurrence: int) -> str:
    """Replace all occurrences, or the one with this number, counted from 1."""
    if not occurrence:
        return text.replace(edit.old, edit.new)
    if not edit.old:
        return text[: occurrence - 1] + edit.new + text[occurrence - 1 :]
    start = text.index(edit.old)
    for _ in range(occurrence - 1):
        start = text.index(edit.old, start + len(edit.old))
    return text[:start] + edit.new + text[start + len(edit.old) :]


def _fit_line_endings(text: str, old: str, new: str) -> Edit:
    exact = Edit(old, new, text.count(old))
    crlf_endings = text.count("\r\n")
    if not crlf_endings or "\r" in old or "\r" in new:
        return exact
    if exact.count and crlf_endings < text.count("\n"):
        return exact
    crlf_old = old.replace("\n", "\r\n")
    fitted = Edit(crlf_old, new.replace("\n", "\r\n"), text.count(crlf_old))
    return fitted if fitted.count else exact
