"""Markdown tables: columns side by side if they fit, else one value per line."""

from msgspec import Struct
from rich.cells import cell_len

from bridle.surfaces.tui.conversation.text_wrap import Flow, Line, Piece, Pieces, wrap

MAX_COLUMNS = 40
MIN_COLUMN_CELLS = 6
BETWEEN = " │ "


class Table(Struct, frozen=True):
    """Rows of cells; the first row is the header."""

    rows: tuple[tuple[Pieces, ...], ...]
    aligned: tuple[str, ...]
    """`left`, `center` or `right` for each column."""
    lead: Pieces = ()
    hang: Pieces = ()


def wrap_table(table: Table, width: int) -> list[Line]:
    """Lay out a table."""
    before = max(sum(cell_len(text) for text, _ in margin) for margin in (table.lead, table.hang))
    lead, hang = (table.lead, table.hang) if before < width else ((), ())
    room = max(1, width - (before if before < width else 0))
    columns = len(table.rows[0])
    fitting = _widths(table, room - len(BETWEEN) * (columns - 1)) if columns <= MAX_COLUMNS else None
    found = _listed(table, room) if fitting is None else _ruled(table, fitting)
    lines = []
    for number, line in enumerate(found):
        margin = hang if number else lead
        lines.append(Line(margin + line.pieces, sum(len(text) for text, _ in margin), "\n"))
    return lines


def _widths(table: Table, room: int) -> list[int] | None:
    """Return the width of each column; None if they do not fit."""
    wanted = [
        max(1, *(sum(cell_len(text) for text, _ in row[column]) for row in table.rows))
        for column in range(len(table.rows[0]))
    ]
    if room < sum(min(width, MIN_COLUMN_CELLS) for width in wanted):
        return None
    while (over := sum(wanted) - room) > 0:
        widest = max(wanted)
        second = max((width for width in wanted if width < widest), default=1)
        wide = [column for column, width in enumerate(wanted) if width == widest]
        lower = max(second, widest - -(-over // len(wide)))
        for column in wide:
            wanted[column] = max(lower, 1)
    return wanted


def _ruled(table: Table, widths: list[int]) -> list[Line]:
    lines = []
    for number, row in enumerate(table.rows):
        cells = [wrap(Flow(cell), width) for cell, width in zip(row, widths, strict=True)]
        for place in range(max(len(cell) for cell in cells)):
            pieces: list[Piece] = []
            for column, cell in enumerate(cells):
                line = cell[place].pieces if place < len(cell) else ()
                pieces += _padded(line, widths[column], table.aligned[column])
                pieces.append((BETWEEN, "dim"))
            lines.append(Line(tuple(pieces[:-1])))
        if number == 0:
            rule = "─┼─".join("─" * width for width in widths)
            lines.append(Line(((rule, "dim"),)))
    return lines


def _padded(line: Pieces, width: int, side: str) -> list[Piece]:
    left = max(0, width - sum(cell_len(text) for text, _ in line))
    before = {"right": left, "center": left // 2}.get(side, 0)
    return [(" " * before, "text"), *line, (" " * (left - before), "text")]


def _listed(table: Table, room: int) -> list[Line]:
    """Return one line per cell, prefixed by its column header."""
    head, *rows = table.rows
    lines: list[Line] = []
    for number, row in enumerate(rows):
        if number:
            lines.append(Line((("─" * min(room, MIN_COLUMN_CELLS), "dim"),)))
        for name, cell in zip(head, row, strict=True):
            lines += wrap(Flow((*name, (": ", "dim"), *cell)), room)
    return lines or wrap(Flow(tuple(piece for cell in head for piece in (*cell, (" ", "text")))), room)
