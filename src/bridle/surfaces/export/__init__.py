"""A session as a document: Markdown, JSON, or one HTML page that needs nothing else.

The JSON has everything, record by record; the other two are for reading. The page has no script and
forbids itself every request, so that nothing in a conversation can run or call home.
"""

from collections.abc import Callable, Sequence
from typing import Literal

from bridle.core.protocol import Record
from bridle.surfaces.export.document import Document, to_json
from bridle.surfaces.export.transcript import to_markdown

__all__ = ["FORMATS", "Document", "Format", "to_html", "to_json", "to_markdown"]

Format = Literal["md", "json", "html"]
"""How a session is written."""


def to_html(records: Sequence[Record]) -> str:
    """Return a session as one page, light or dark as the reader's system is."""
    from bridle.surfaces.export.page import page_of  # it reads Markdown, which nobody else does

    return page_of(records)


FORMATS: dict[Format, Callable[[Sequence[Record]], str]] = {
    "md": to_markdown,
    "json": to_json,
    "html": to_html,
}
