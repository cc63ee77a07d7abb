"""Replace or delete a symbol in the text of its file, or insert code before or after it. Pure functions.

```
@cached             decorators belong to it, but stay when it is replaced, unless new code has some
def total(order):   ◀ the symbol
    …               ◀
```

New code is whole lines. Models write it indented as in the file, flush left, or with only the first line
flush left; in each case the result is indented like the symbol.
"""

import re
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.core.language_servers import SymbolInfo
from bridle.tools.edits import has_crlf
from bridle.tools.fuzzy_edit import indent_of

PieceAction = Literal["replace", "insert_before", "insert_after", "delete"]

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_LINE_END = re.compile(r"\r\n|\r|\n")
_PATH = re.compile(r"[.#]|::")
_MAX_NAMED = 10
_MAX_DECORATOR_LINES = 100


def find_symbol(symbols: Sequence[SymbolInfo], wanted: str, file: str) -> SymbolInfo:
    """Return the outermost symbol with a name such as `total` or `Order.total`; raises ToolError."""
    *containers, name = _PATH.split(wanted)
    found, path = [], list[str]()
    for symbol in symbols:
        path = [*path[: max(0, symbol.depth)], symbol.name]
        around = path[:-1] or _PATH.split(symbol.container)
        is_part = not containers or around[-len(containers) :] == containers
        if symbol.name == wanted or (_bare(symbol) == name and is_part):
            found.append(symbol)
    found = [symbol for symbol in found if symbol.depth == min(each.depth for each in found)]
    if not found:
        raise ToolError(f"{file} defines no {wanted}", hint="use symbols to list what it defines")
    if len(found) > 1:
        lines = ", ".join(str(symbol.span.line) for symbol in found[:_MAX_NAMED])
        raise ToolError(
            f"{file} defines {wanted} {len(found)} times, in lines {lines}",
            hint="use a qualified name such as Class.method, or use edit_file",
        )
    return found[0]


def _bare(symbol: SymbolInfo) -> str:
    """Return a symbol's name without the parameters that some servers add."""
    return symbol.name.partition("(")[0] or symbol.name


class _SymbolText(Struct, frozen=True):
    """A symbol as lines of its file; line numbers start at 1."""

    lines: list[str]
    """All lines of the file, with their endings."""
    top: int
    """The line of its first decorator; its first line if there is none."""
    first: int
    last: int
    before: str
    """The text before it on its first line."""
    after: str
    """The text after it on its last line."""

    @property
    def old(self) -> list[str]:
        return [_body(line) for line in self.lines[self.first - 1 : self.last]]


def edit_symbol(text: str, symbol: SymbolInfo, action: PieceAction, new: str) -> str:
    """Return a file's text with one symbol changed; raises ToolError."""
    piece = _cut_out(text, symbol)
    lines, last, top = piece.lines, piece.last, piece.top
    ending = "\r\n" if has_crlf(text) else "\n"
    if action == "delete":
        if piece.before.strip() or piece.after.strip(" \t;,"):
            raise ToolError(f"{symbol.name} shares its lines with other code; use edit_file")
        return _closed(lines[: top - 1], lines[last:], indent_of(piece.old[0]))
    fitted = _fitted(new, piece.old)
    gap = [""] * _gap(piece)
    match action:
        case "replace":
            return _replaced(piece, fitted, ending)
        case "insert_before":
            return _joined(lines[: top - 1], [*fitted, *gap], lines[top - 1 :], ending)
        case "insert_after":
            return _joined(lines[:last], [*gap, *fitted], lines[last:], ending)


def _cut_out(text: str, symbol: SymbolInfo) -> _SymbolText:
    lines, span = _LINE.findall(text), symbol.span
    last, end = span.end_line, span.end_column
    if end == 1 and last > span.line and last <= len(lines) + 1:  # it ends at the start of a line
        last, end = last - 1, len(_body(lines[last - 2])) + 1
    if not 0 < span.line <= last <= len(lines):
        raise _out_of_step(symbol)
    first = _below_decorators(lines, span.line, min(symbol.name_span.line, last))
    before = lines[first - 1][: span.column - 1] if first == span.line else indent_of(lines[first - 1])
    top = min(span.line, _above_decorators(lines, first))
    piece = _SymbolText(lines, top, first, last, before, _body(lines[last - 1])[end - 1 :])
    if _bare(symbol) not in "\n".join(piece.old):
        raise _out_of_step(symbol)
    return piece


def _out_of_step(symbol: SymbolInfo) -> ToolError:
    return ToolError(f"{symbol.name} is not where the language server says; call it again")


def _replaced(piece: _SymbolText, new: list[str], ending: str) -> str:
    first = piece.top if _is_decorator(new[0]) else piece.first
    # Keep other text on its first and last line, unless the new code repeats that text.
    new[0] = _with_start(new[0], piece.before)
    if piece.after.strip() and not new[-1].rstrip().endswith(piece.after.strip()):
        new[-1] = new[-1].rstrip() + piece.after
    lines, tail = piece.lines, piece.lines[piece.last :]
    joined = _joined(lines[: first - 1], new, tail, ending)
    is_open = not tail and lines[-1] == _body(lines[-1])
    return joined.removesuffix(ending) if is_open else joined


def _with_start(line: str, before: str) -> str:
    """Return the new first line after words such as `export const`; words that it repeats appear once."""
    words, body = before.split(), line.lstrip()
    if not words:
        return line
    repeated = next((n for n in range(len(words)) if body.startswith(" ".join(words[n:]) + " ")), len(words))
    if repeated == len(words):
        return before + body
    return indent_of(before) + " ".join([*words[:repeated], body])


def _joined(before: Sequence[str], new: Sequence[str], after: Sequence[str], ending: str) -> str:
    head = "".join(before)
    if head and head == _body(head):
        head += ending
    return head + "".join(line + ending for line in new) + "".join(after)


def _closed(before: list[str], after: list[str], indent: str) -> str:
    """Join the lines around a deleted symbol, without doubled blank lines and without any after a header."""
    is_beside = before and before[-1].strip() and len(indent_of(before[-1])) >= len(indent)
    if is_beside and after:
        return "".join([*before, *after])
    while after and not after[0].strip():
        after.pop(0)
    while before and not after and not before[-1].strip():
        before.pop()
    return "".join([*before, *after])


def _fitted(new: str, old: Sequence[str]) -> list[str]:
    """Return new lines with the indentation of the symbol that they replace or that is next to them."""
    lines = _LINE_END.split(new)
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise ToolError("text is empty", hint="the action delete removes a symbol")
    wanted = indent_of(old[0])
    if indent_of(lines[0]) or not wanted:
        return lines
    # If the other lines are already indented as in the file, only the first line needs indentation.
    inner = len(wanted) if _is_decorator(lines[0]) else _least_indent(old[1:])
    if inner and _least_indent(lines[1:]) == inner:
        return [wanted + lines[0], *lines[1:]]
    return [wanted + line if line.strip() else line for line in lines]


def _least_indent(lines: Sequence[str]) -> int:
    return min((len(indent_of(line)) for line in lines if line.strip()), default=0)


def _gap(piece: _SymbolText) -> int:
    """Return how many blank lines separate the symbol from its neighbors."""
    above, below = piece.lines[: piece.top - 1], piece.lines[piece.last :]
    gaps = [_blank(side) for side in (above[::-1], below) if any(line.strip() for line in side)]
    if len(piece.old) > 1:  # the first symbol in a class has no gap above
        gaps = [gap for gap in gaps if gap] or gaps
    return min(gaps, default=0)


def _blank(lines: Sequence[str]) -> int:
    return next((number for number, line in enumerate(lines) if line.strip()), len(lines))


def _above_decorators(lines: Sequence[str], line: int) -> int:
    """Return the line of the first decorator directly above; the same line if there is none."""
    indent = indent_of(lines[line - 1])
    top = line
    for above in range(line - 1, max(0, line - _MAX_DECORATOR_LINES), -1):
        text = lines[above - 1]
        if text.startswith(f"{indent}@"):
            top = above
        elif not text.strip() or not _goes_on(text, indent):
            break
    return top


def _below_decorators(lines: Sequence[str], first: int, named: int) -> int:
    """Return the first line after the decorators that a span starts with; `named` is the name's line."""
    indent = indent_of(lines[first - 1])
    line = first
    while line < named and (_is_decorator(lines[line - 1]) or _goes_on(lines[line - 1], indent)):
        line += 1
    return line if _is_decorator(lines[first - 1]) else first


def _goes_on(line: str, indent: str) -> bool:
    """Return whether a line continues what started above it with this indentation."""
    return not line.strip() or line.startswith(f"{indent})") or len(indent_of(line)) > len(indent)


def _is_decorator(line: str) -> bool:
    return line.lstrip().startswith("@")


def _body(line: str) -> str:
    return line.rstrip("\r\n")
