"""Show the cells of a Jupyter notebook, and edit the source of one cell in place.

```
text of the file ─▶ where each cell and its source are ─┬─▶ shown: [cell 2, code] and numbered lines
                                                        └─▶ edited: only the source of one cell is replaced
```

An edit replaces the bytes between the brackets of one `source` and nothing else, so that other cells,
outputs, metadata and formatting stay as they are.
"""

import re
from collections.abc import Iterator
from io import BytesIO
from json import JSONDecoder, dumps
from threading import Event
from typing import Any

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.tools.edits import Edit, EditResult, edit_text, has_crlf
from bridle.tools.numbered_lines import MAX_LINES, LineRange, read_numbered

SUFFIX = ".ipynb"
MAX_CELLS = 10_000
MAX_OUTPUT_CHARS = 2000
MAX_NAMED_CELLS = 10

_DECODER = JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")
_ESCAPED = re.compile(r"\\u(?!00[01])[0-9a-fA-F]{4}")


class NotebookError(Exception):
    """The text is not a notebook."""


class NotebookCell(Struct, frozen=True):
    """A cell, and where its source is in the text of the file."""

    kind: str
    source: str
    start: int
    end: int
    content: dict[str, Any]


def read_cells(text: str) -> list[NotebookCell]:
    """Return the cells of a notebook; raises NotebookError for any other text."""
    try:
        _DECODER.decode(text)
        start, _ = _member(text, _skip(text, 0), "cells")
        cells = [_cell(text, first) for _, first, _ in _entries(text, start)]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise NotebookError(str(error)) from error
    if not cells or len(cells) > MAX_CELLS:
        raise NotebookError(f"{len(cells)} cells")
    return cells


def show_cells(cells: list[NotebookCell], wanted: LineRange, *, max_bytes: int, stop: Event) -> str:
    """Return the cells in a range, each with its number, numbered lines and the text of its outputs."""
    shown = list(enumerate(cells, 1))[wanted.start - 1 : wanted.end]
    if not shown:
        raise ToolError(f"no cell {wanted.start}: the notebook has {len(cells)} cells")
    parts: list[str] = []
    size = 0
    for number, cell in shown:
        if stop.is_set():
            raise ToolError("stopped")
        parts.append("\n".join([f"[cell {number}, {cell.kind}]", *_body(cell, max_bytes, stop)]))
        size += len(parts[-1])
        if size > max_bytes:
            raise ToolError(
                f"cells {wanted.start}-{number} hold more than {max_bytes} bytes; read fewer cells at once"
            )
    return "\n".join(parts)


def edit_cells(text: str, edit: Edit, *, max_size: int) -> EditResult:
    """Replace text in one cell: the one that the edit names, or the only one that contains the text.

    Raises ToolError when that fails, and NotebookError for a text that is not a notebook.
    """
    cells = read_cells(text)
    number = edit.cell or _only_cell(cells, edit.old)
    if not 0 < number <= len(cells):
        raise ToolError(f"no cell {number}: the notebook has {len(cells)} cells")
    cell = cells[number - 1]
    edited = edit_text(cell.source, edit, max_size=max_size)
    text = text[: cell.start] + _encoded(edited.text, text, cell) + text[cell.end :]
    return EditResult(text, f"{edited.which} in cell {number}", edited.note)


def _only_cell(cells: list[NotebookCell], old: str) -> int:
    found = [number for number, cell in enumerate(cells, 1) if old in cell.source]
    if len(found) == 1:
        return found[0]
    if len(cells) == 1:
        return 1
    if not found:
        raise ToolError(
            "old_str is in no cell", hint="read_file shows the cells; name one in the argument cell"
        )
    named = ", ".join(map(str, found[:MAX_NAMED_CELLS])) + (", …" if len(found) > MAX_NAMED_CELLS else "")
    raise ToolError(f"old_str is in the cells {named}", hint="name one of them in the argument cell")


# ---------------------------------------------------------------------------- what is shown


def _body(cell: NotebookCell, max_bytes: int, stop: Event) -> Iterator[str]:
    if cell.source:
        source = BytesIO(cell.source.encode(errors="replace"))
        yield read_numbered(source, LineRange(1, MAX_LINES), max_bytes=max_bytes, stop=stop)
        if (more := cell.source.count("\n") - MAX_LINES) > 0:
            yield f"[{more} more lines]"
    outputs = cell.content.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if isinstance(output, dict):
            yield from _output(output)


def _output(output: dict[str, Any]) -> Iterator[str]:
    """Yield the text of an output, each line after `> `: no output can look like a cell."""
    data = output.get("data")
    found = data if isinstance(data, dict) else {}
    text = _joined(output.get("text", found.get("text/plain", "")))
    if output.get("output_type") == "error":
        text = f"{_joined(output.get('ename', ''))}: {_joined(output.get('evalue', ''))}"
    if text:
        yield "[output]"
        cut = f"\n… [{len(text) - MAX_OUTPUT_CHARS} more characters]" if len(text) > MAX_OUTPUT_CHARS else ""
        yield "\n".join(f"> {line}" for line in f"{text[:MAX_OUTPUT_CHARS].rstrip()}{cut}".splitlines())
    images = [kind for kind in found if isinstance(kind, str) and re.fullmatch(r"image/[a-z+]{1,20}", kind)]
    if images:
        yield f"[output: {', '.join(images)}]"


def _joined(value: Any) -> str:
    """Return a text that notebooks store as one string or as a list of lines; anything else is empty."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


# ---------------------------------------------------------------------------- where things are


def _cell(text: str, start: int) -> NotebookCell:
    content, _ = _DECODER.raw_decode(text, start)
    kind, source = content["cell_type"], content["source"]
    if not isinstance(kind, str) or not re.fullmatch(r"[a-z]{1,20}", kind):
        raise NotebookError("a cell without a type")
    if not isinstance(source, (str, list)):
        raise NotebookError("a cell without a source")
    return NotebookCell(kind, _joined(source), *_member(text, start, "source"), content)


def _member(text: str, start: int, name: str) -> tuple[int, int]:
    """Return where the value of a member starts and ends: the last one with this name, as parsers do."""
    return {key: (first, end) for key, first, end in _entries(text, start)}[name]


def _entries(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Yield the name (empty in a list), start and end of each value of an object or a list in valid JSON."""
    closing = {"{": "}", "[": "]"}[text[start]]
    place = _skip(text, start + 1)
    while text[place] != closing:
        name = ""
        if closing == "}":
            name, colon = _DECODER.raw_decode(text, place)
            place = _skip(text, _skip(text, colon) + 1)
        _, end = _DECODER.raw_decode(text, place)
        yield name, place, end
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)


def _skip(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place


# ---------------------------------------------------------------------------- what is written


def _encoded(source: str, text: str, cell: NotebookCell) -> str:
    """Return the JSON of a new source, as a string or a list of lines and with the file's formatting."""
    is_ascii = text.isascii() and _ESCAPED.search(text) is not None
    if text[cell.start] == '"':
        return _string(source, is_ascii=is_ascii)
    lead, between, tail = _layout(text, cell)
    lines = [_string(line, is_ascii=is_ascii) for line in source.splitlines(keepends=True)]
    return f"[{lead}{between.join(lines)}{tail}]" if lines else "[]"


def _string(text: str, *, is_ascii: bool) -> str:
    has_surrogates = any("\ud800" <= char <= "\udfff" for char in text)  # no file can store them unescaped
    return dumps(text, ensure_ascii=is_ascii or has_surrogates)


def _layout(text: str, cell: NotebookCell) -> tuple[str, str, str]:
    """Return what stands before, between and after the lines of a source."""
    lines = [(first, end) for _, first, end in _entries(text, cell.start)]
    if lines:
        lead, tail = text[cell.start + 1 : lines[0][0]], text[lines[-1][1] : cell.end - 1]
        between = text[lines[0][1] : lines[1][0]] if len(lines) > 1 else f",{lead or ' '}"
        return lead, between, tail
    line = text[text.rfind("\n", 0, cell.start) + 1 : cell.start]
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    if not indent or not line.lstrip(" \t").startswith('"source"'):
        return "", ", ", ""
    ending = "\r\n" if has_crlf(text) else "\n"
    lead = f"{ending}{indent}{indent[: max(1, len(indent) // 3)]}"  # a member of a cell is three levels deep
    return lead, f",{lead}", f"{ending}{indent}"
