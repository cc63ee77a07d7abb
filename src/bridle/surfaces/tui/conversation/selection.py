"""Copies selected text as it was written, without bars, line numbers and wrapping."""

from textual.geometry import Offset
from textual.selection import Selection

from bridle.surfaces.tui.conversation.loaded_rows import LoadedRows


def selected_text(window: LoadedRows, selection: Selection, shift: int) -> str:
    """Return the selected text; `shift` is the offset of the selection's line numbers."""
    start = Offset(0, 0) if selection.start is None else selection.start - Offset(0, shift)
    last = window.total - 1
    end = Offset(1 << 30, last) if selection.end is None else selection.end - Offset(0, shift)
    parts: list[str] = []
    y = max(0, start.y)
    while y <= min(end.y, window.total - 1):
        found = window.line(y)
        if found is None:
            break
        _, line = found
        text = line.text
        first = max(line.margin, start.x if y == start.y else 0)
        part = text[first : end.x if y == end.y else None]
        parts += [line.join if parts else "", part.rstrip() if line.join != "" else part]
        y += 1
    return "".join(parts)


def select_row(window: LoadedRows, index: int, shift: int) -> Selection:
    """Return the selection of a whole row."""
    first = window.top(index) + window.gap(index)
    lines = window.rows[index].lines(window.width)
    end = Offset(len(lines[-1].text) if lines else 0, first + len(lines) - 1 + shift)
    return Selection(Offset(0, first + shift), end)
