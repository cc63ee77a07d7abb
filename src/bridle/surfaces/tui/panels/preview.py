"""Previews of tool calls as lines: a diff in one or two columns, numbered code, or plain text."""

from collections.abc import Iterator, Sequence

from msgspec.json import encode
from msgspec.json import format as indented
from textual.content import Content

from bridle.core.protocol import ApprovalRequested
from bridle.surfaces.shared.highlight import scan_python
from bridle.surfaces.shared.terminal import Colour, visible
from bridle.surfaces.shared.text_format import MAX_BLANK_LINES, code_of
from bridle.surfaces.tui.diffs import DIFFING_TOOLS, DiffLine, FileDiff, parse_diff, side_by_side
from bridle.surfaces.tui.panels.host import DiffStyle
from bridle.surfaces.tui.panels.lines_view import Line, StyledCell, expand_tabs, shorten_line
from bridle.surfaces.tui.panels.styles import styled

MIN_WIDTH_FOR_TWO = 100
"""Two columns in a narrower view would be unreadable."""

MARKS = {"same": " ", "added": "+", "removed": "-", "gap": " ", "note": " "}
COLOURS: dict[str, Colour] = {"added": "added", "removed": "removed", "gap": "name", "note": "detail"}


def approval_preview(request: ApprovalRequested, style: DiffStyle) -> list[Line]:
    """Return a complete preview of a call."""
    code = code_of(request.tool, request.args)
    if code:
        guard = request.preview.rstrip("\n").rpartition("\n")[
            2
        ]  # the lines before it are the code, possibly cut
        return [*code_lines(code), *text_lines(guard)]
    if request.preview:
        is_diff = request.tool in DIFFING_TOOLS
        return diff_lines(request.preview, style) if is_diff else text_lines(request.preview)
    return text_lines(indented(encode(request.args), indent=2).decode())


def diff_lines(text: str, style: DiffStyle) -> list[Line]:
    """Return the lines of a diff, or of any other text."""
    files = parse_diff(text)
    return [line for file in files for line in file_lines(file, style)] if files else text_lines(text)


def file_lines(file: FileDiff, style: DiffStyle) -> list[Line]:
    """Return the lines of one file's diff, below its name."""
    width = len(
        str(max((number for line in file.lines for number in (line.old, line.new) if number), default=0))
    )
    head = [(StyledCell(file_title(file)),)] if file.path else []
    if style == "unified" or file.created or file.deleted:
        return [*head, *((_whole(line, width),) for line in file.lines)]
    return [*head, *_two_columns(file.lines, width)]


def file_title(file: FileDiff) -> Content:
    """Return a file's name, whether it was created or deleted, and its line counts."""
    word = " created" if file.created else " deleted" if file.deleted else ""
    counts: list[tuple[Colour, str]] = [("added", f" +{file.added}"), ("removed", f" -{file.removed}")]
    return styled(("strong", shorten_line(file.path)), word, *counts)


def text_lines(text: str) -> list[Line]:
    """Return the lines of a text; long lines and runs of blank lines are shortened."""
    lines: list[Line] = []
    blank = 0
    for line in text.rstrip("\n").split("\n") if text else []:
        blank = 0 if line.strip() else blank + 1
        if blank <= MAX_BLANK_LINES:
            lines.append((StyledCell(styled(shorten_line(expand_tabs(line)))),))
    return lines


def code_lines(code: str) -> list[Line]:
    """Return highlighted Python code with line numbers."""
    scanned = scan_python(code)
    width = len(str(len(scanned)))
    lines: list[Line] = []
    blank = 0
    for number, pieces in enumerate(scanned, 1):
        whole = "".join(piece.text for piece in pieces)
        blank = 0 if whole.strip() else blank + 1
        if blank > MAX_BLANK_LINES:
            continue
        if shorten_line(whole) != whole:
            text = styled(shorten_line(expand_tabs(whole)))
        else:
            parts = [(piece.colour, expand_tabs(piece.text)) for piece in pieces]
            text = styled(*((colour, part) if colour else part for colour, part in parts))
        lines.append((StyledCell(text, styled(("detail", f"{number:>{width}} "))),))
    return lines


def _whole(line: DiffLine, width: int) -> StyledCell:
    if line.kind in ("gap", "note"):
        return StyledCell(_text(line))
    numbers = f"{line.old or '':>{width}} {line.new or '':>{width}} "
    return StyledCell(_text(line), styled(("detail", numbers), _mark(line)))


def _two_columns(lines: Sequence[DiffLine], width: int) -> Iterator[Line]:
    for left, right in side_by_side(lines):
        if left is right and left is not None and left.kind in ("gap", "note"):
            yield (StyledCell(_text(left)),)
        else:
            yield (
                _half(left, left.old if left else None, width),
                _half(right, right.new if right else None, width),
            )


def _half(line: DiffLine | None, number: int | None, width: int) -> StyledCell:
    if line is None:
        return StyledCell(Content(""), Content(" " * (width + 2)))
    return StyledCell(_text(line), styled(("detail", f"{number or '':>{width}} "), _mark(line)))


def _mark(line: DiffLine) -> Content:
    colour = COLOURS.get(line.kind)
    mark = f"{MARKS[line.kind]}"
    return styled((colour, mark) if colour else mark)


def _text(line: DiffLine) -> Content:
    colour = COLOURS.get(line.kind)
    text = shorten_line(expand_tabs(visible(line.text)))
    return styled((colour, text) if colour else text)
