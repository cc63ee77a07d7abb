"""Exports a session as a document: Markdown, JSON, or one self-contained HTML page.

The JSON contains everything, record by record; the other two are for reading. The page has no script and
forbids every request, so nothing in a conversation can run or contact a server.
"""

from collections.abc import Callable, Sequence
from typing import Literal

from bridle.core.protocol import Record
from bridle.surfaces.shared.export.json_export import ExportDocument, to_json
from bridle.surfaces.shared.export.markdown_export import to_markdown

__all__ = ["FORMATS", "ExportDocument", "Format", "to_html", "to_json", "to_markdown"]

Format = Literal["md", "json", "html"]
"""The format of an export."""


def to_html(records: Sequence[Record]) -> str:
    """Return a session as one HTML page, light or dark as the reader's system."""
    from bridle.surfaces.shared.export.html_page import (
        page_of,  # it loads the Markdown parser, which nothing else needs
    )

    return page_of(records)


FORMATS: dict[Format, Callable[[Sequence[Record]], str]] = {
    "md": to_markdown,
    "json": to_json,
    "html": to_html,
}
