"""Converts Markdown blocks to flows; nothing of the source is hidden, not even what Markdown omits."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct
from rich.cells import cell_len

from bridle.surfaces.tui.conversation.blocks import Block, BlockSplitter
from bridle.surfaces.tui.conversation.code import BAR, WRAPPED_BAR, code_flows
from bridle.surfaces.tui.conversation.text_wrap import (
    Flow,
    Line,
    Piece,
    Pieces,
    plain_flows,
    sanitize_line,
    wrap,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


# ---------------------------------------------------------------------------- tables
# Markdown tables: columns side by side if they fit, else one value per line.


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
    widths = _widths(table, room - len(BETWEEN) * (columns - 1)) if columns <= MAX_COLUMNS else None
    found = _listed(table, room) if widths is None else _ruled(table, widths)
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


# ---------------------------------------------------------------------------- markdown


MAX_NESTING = 16  # nested quotes and lists; deeper text is shown as plain text
MAX_BRACKETS = 300  # the parser's time grows with the square of their number
QUOTE: Pieces = (("▎ ", "dim"),)
BULLETS = ("•", "◦", "▪")

_CONTAINERS = re.compile(r"(?:[ \t]*(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]))*")
_MARKS = re.compile(r">|[-*+][ \t]|\d[.)]")
_INDENT_PER_LEVEL = 2
_INLINE_INKS = {"strong_open": "strong", "em_open": "emphasis", "s_open": "struck", "link_open": "link"}
_INLINE_ENDS = {"strong_close", "em_close", "s_close"}
_STARTS = {
    *("paragraph_open", "heading_open", "bullet_list_open", "ordered_list_open", "list_item_open"),
    *("blockquote_open", "table_open", "fence", "code_block", "hr"),
}


def block_flows(block: Block, ink: str = "text") -> list[Flow | Table]:
    """Return the flows of one block; `ink` is for text without another ink."""
    indent: Pieces = ((" " * block.indent, "text"),) if block.indent else ()
    if block.kind == "code":
        return [*code_flows(block.text, block.language, indent + BAR, indent + WRAPPED_BAR)]
    if _is_too_deep(block.text):
        return [*plain_flows(block.text, ink)]
    return _Writer(block.text, indent, ink).written()


def rough_flows(block: Block, ink: str = "text") -> list[Flow | Table]:
    """Return unparsed flows of about the same height, at almost no cost."""
    if block.kind == "code":
        indent: Pieces = ((" " * block.indent, "text"),) if block.indent else ()
        return [
            Flow(flow.pieces, indent + BAR, indent + WRAPPED_BAR, "letters")
            for flow in plain_flows(block.text)
        ]
    return [*plain_flows(block.text, ink)]


def wrap_flow(flow: Flow | Table, width: int) -> list[Line]:
    """Wrap a flow or a table."""
    return wrap_table(flow, width) if isinstance(flow, Table) else wrap(flow, width)


@lru_cache(1)
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # the first frame does not wait for it

    # Without `reference`, a link definition is a paragraph and so stays visible.
    options = {"html": False, "maxNesting": 4 * MAX_NESTING}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"]).disable(["reference"])


def _is_too_deep(text: str) -> bool:
    if text.count("[") > MAX_BRACKETS:
        return True
    for line in text.split("\n"):
        found = _CONTAINERS.match(line)
        begun = found[0] if found else ""
        spaces = len(line) - len(line.lstrip(" \t"))
        if len(_MARKS.findall(begun)) + spaces // _INDENT_PER_LEVEL > MAX_NESTING and begun:
            return True
    return False


class _Margin:
    """The prefix of lines in a quote or a list item."""

    def __init__(self, lead: Pieces, hang: Pieces) -> None:
        self.lead = lead
        self.hang = hang
        self.is_new = True


class _Writer:
    """Converts the tokens of one block to flows."""

    def __init__(self, text: str, indent: Pieces, ink: str) -> None:
        self._source = text.split("\n")
        self._tokens = _parser().parse(text)
        self._margins = [_Margin(indent, indent)]
        self._flows: list[Flow | Table] = []
        self._ink = ink
        self._heading = ""
        self._lists = 0
        self._rows: list[list[Pieces]] = []
        self._aligned: list[str] = []

    def written(self) -> list[Flow | Table]:
        for token in self._tokens:
            if token.type in _STARTS:
                self._gap(token)
            self._take(token)
        return self._flows

    def _take(self, token: "Token") -> None:
        match token.type:
            case "heading_open":
                self._heading = token.markup if token.markup.startswith("#") else "#" * int(token.tag[1:])
            case "heading_close":
                self._heading = ""
            case "bullet_list_open" | "ordered_list_open":
                self._lists += 1
            case "bullet_list_close" | "ordered_list_close":
                self._lists -= 1
            case "list_item_open":
                self._open_item(token)
            case "blockquote_open":
                self._margins.append(_Margin(QUOTE, QUOTE))
            case "list_item_close" | "blockquote_close":
                if self._margins[-1].is_new:
                    self._add(())
                self._margins.pop()
            case "fence" | "code_block":
                self._code(token)
            case "hr":
                self._add((), mode="rule")
            case "table_open" | "tr_open" | "th_open" | "td_open" | "table_close":
                self._table(token)
            case "inline":
                self._inline(token)
            case _:
                pass

    def _open_item(self, token: "Token") -> None:
        bullet = BULLETS[(self._lists - 1) % len(BULLETS)]
        mark = f"{token.info}{token.markup} " if token.info else f"{bullet} "
        self._margins.append(_Margin(((mark, "name"),), ((" " * len(mark), "text"),)))

    def _gap(self, token: "Token") -> None:
        """Add an empty line where the source has one."""
        line = token.map[0] - 1 if token.map else -1
        is_blank = 0 <= line < len(self._source) and not self._source[line].strip("> \t")
        if is_blank and self._flows and not self._margins[-1].is_new:
            hang = tuple(piece for margin in self._margins for piece in margin.hang)
            if not isinstance(self._flows[-1], Flow) or self._flows[-1].pieces:
                self._flows.append(Flow((), hang, hang))

    def _margin(self) -> tuple[Pieces, Pieces]:
        lead = tuple(
            piece for margin in self._margins for piece in (margin.lead if margin.is_new else margin.hang)
        )
        for margin in self._margins:
            margin.is_new = False
        return lead, tuple(piece for margin in self._margins for piece in margin.hang)

    def _add(self, pieces: Pieces, mode: str = "words") -> None:
        lead, hang = self._margin()
        self._flows.append(Flow(pieces, lead, hang, "rule" if mode == "rule" else "words"))

    def _code(self, token: "Token") -> None:
        for flow in code_flows(token.content.removesuffix("\n"), token.info.strip(), (), ()):
            lead, hang = self._margin()
            self._flows.append(Flow(flow.pieces, lead + BAR, hang + WRAPPED_BAR, "letters"))

    def _table(self, token: "Token") -> None:
        match token.type:
            case "table_open":
                self._rows, self._aligned = [], []
            case "tr_open":
                self._rows.append([])
            case "th_open" | "td_open":
                if token.type == "th_open":
                    self._aligned.append(str(token.attrs.get("style", "")).removeprefix("text-align:"))
            case _:
                lead, hang = self._margin()
                rows = tuple(tuple(row) for row in self._rows)
                self._flows.append(Table(rows, tuple(self._aligned), lead, hang))
                self._rows = []

    def _inline(self, token: "Token") -> None:
        ink = "heading" if self._heading else self._ink
        lines = _inline_lines(token.children or [], ink)
        if self._rows:
            cell = tuple(piece for line in lines for piece in line)
            head = len(self._rows) == 1
            self._rows[-1].append(tuple((text, f"{ink} strong") for text, ink in cell) if head else cell)
            return
        if self._heading:
            lines[0] = ((f"{self._heading} ", "dim"), *lines[0])
        for line in lines:
            self._add(line)


def _inline_lines(tokens: "list[Token]", ink: str) -> list[Pieces]:
    """Return the pieces of a paragraph, one list per hard line break."""
    lines: list[list[Piece]] = [[]]
    inks = [ink]
    address, label = "", ""
    for token in tokens:
        match token.type:
            case "softbreak":
                text = " "
            case "hardbreak":
                lines.append([])
                continue
            case "image":
                text = f"[image: {token.content}] ({token.attrs.get('src', '')})"
            case "link_open":
                address, label, text = str(token.attrs.get("href", "")), "", ""
                inks.append(_with(inks[-1], "link"))
            case "link_close":
                inks.pop()
                is_told = label == address or f"mailto:{label}" == address
                text = "" if is_told else f" ({address})"
                lines[-1].append((sanitize_line(text), "dim"))
                continue
            case kind if kind in _INLINE_INKS:
                text = ""
                inks.append(_with(inks[-1], _INLINE_INKS[kind]))
            case kind if kind in _INLINE_ENDS:
                text = ""
                inks.pop()
            case _:
                text = token.content
        label += text
        if text:
            lines[-1].append(
                (sanitize_line(text), _with(inks[-1], "code") if token.type == "code_inline" else inks[-1])
            )
    return [tuple(piece for piece in line if piece[0]) for line in lines]


def _with(ink: str, word: str) -> str:
    return ink if word in ink.split() else f"{ink} {word}"


# ---------------------------------------------------------------------------- streamed Markdown


MAX_CHARS_AT_ONCE = 4_000  # about 20 ms for highlighted code


class MarkdownStream:
    """The lines of a text that may still grow."""

    def __init__(self, ink: str = "text") -> None:
        self._ink = ink
        self._splitter = BlockSplitter()
        self._blocks: list[Block] = []
        self._flows: list[list[Flow | Table] | None] = []
        """The flows of each block; None where they are not computed yet."""
        self._rough = 0
        """How many blocks are not formatted yet."""
        self._lines: list[Line] = []
        self._width = 0
        self._fine_blocks = 0
        """How many blocks, from the first on, have their final lines."""
        self._fine_lines = 0
        self._is_right = False

    @property
    def is_rough(self) -> bool:
        """True while some blocks are not formatted."""
        return self._rough > 0

    def refine(self) -> None:
        """Let the next call of `text_wrap` format more blocks."""
        self._is_right = self._is_right and not self._rough

    def feed(self, text: str) -> None:
        """Add text."""
        self._keep(self._splitter.feed(text))

    def finish(self) -> None:
        """Mark the text as complete."""
        self._keep(self._splitter.finish())

    def lines(self, width: int) -> list[Line]:
        """Return all lines at a width; the caller must not change the list, and it changes with the text."""
        if width == self._width and self._is_right:
            return self._lines
        if width != self._width:
            self._width, self._fine_blocks, self._fine_lines = width, 0, 0
        self._find_out()
        del self._lines[self._fine_lines :]
        for index in range(self._fine_blocks, len(self._blocks)):
            block, flows = self._blocks[index], self._flows[index]
            self._lay(block, rough_flows(block, self._ink) if flows is None else flows)
            if flows is not None and index == self._fine_blocks:
                self._fine_blocks, self._fine_lines = index + 1, len(self._lines)
        if (tail := self._splitter.tail) is not None:
            self._lay(tail, block_flows(tail, self._ink))
        self._is_right = True
        return self._lines

    def _keep(self, blocks: list[Block]) -> None:
        self._blocks += blocks
        self._flows += [None] * len(blocks)
        self._rough += len(blocks)
        self._is_right = False

    def _find_out(self) -> None:
        """Format the newest unformatted blocks, about `MAX_CHARS_AT_ONCE` characters."""
        chars = 0
        index = len(self._blocks) - 1
        while self._rough and chars < MAX_CHARS_AT_ONCE:
            if self._flows[index] is None:
                chars += len(self._blocks[index].text)
                self._flows[index] = block_flows(self._blocks[index], self._ink)
                self._rough -= 1
            index -= 1

    def _lay(self, block: Block, flows: list[Flow | Table]) -> None:
        if block.has_gap and self._lines:
            self._lines.append(Line(()))
        for flow in flows:
            self._lines += wrap_flow(flow, self._width)
