"""Format answers of language servers for a model: one line per place, without denied files.

```
src/a.py:12:5: total = price(order)                    a place, with its line of code
error src/a.py:3:1 "x" is not defined [pyright …]      a problem, errors first
```

Lines of code are read here, from files opened step by step without following links, because the file
that a server read may have been replaced at that moment.
"""

import os
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from threading import Event

from bridle.core.errors import ToolError
from bridle.core.language_servers import CodeLocation, CodeProblem, Span, SymbolInfo, SymbolQuery
from bridle.core.permission import READING_TOOL, judge
from bridle.core.ports import ToolContext
from bridle.core.tool import Access, Subject
from bridle.tools.edits import parse_document
from bridle.tools.filesystem import open_file
from bridle.tools.paths import ResolvedPath, printable
from bridle.tools.tool_support import MAX_FILE_BYTES
from bridle.tools.visibility import VisibilityFilter

MAX_ROWS = 100
MAX_DEPTH = 20
MAX_TEXT_CHARS = 200
MAX_MESSAGE_CHARS = 500

_SEVERITIES = ("error", "warning", "information", "hint")
_FUNCTIONS = frozenset({"function", "method", "constructor"})
_VARIABLES = frozenset({"variable", "constant"})
_PLACE = re.compile(r"(/[^\n]*?):\d+(?=[\s,]|$)")
_LINE_END = re.compile(r"\r\n|\r|\n")


class FileFilter:
    """Decides how a file is named in an answer and what of it may be shown; blocking."""

    def __init__(self, tool: str, context: ToolContext, named: Collection[str] = ()) -> None:
        """Take the files that the call names: the rules for them were checked with the call."""
        self._root = os.path.realpath(context.cwd)
        self._context = context
        self._named = named
        self._visible = VisibilityFilter(tool, context, hidden=("ask", "deny"))
        self._undenied = VisibilityFilter(tool, context, hidden=("deny",))
        self._names: dict[str, str | None] = {}
        self._lines: dict[str, Sequence[str]] = {}

    def shorten(self, text: str) -> str:
        """Return a text with its paths relative to the working directory."""
        return text.replace(f"{self._root.rstrip('/')}/", "")

    @property
    def note(self) -> str:
        """The note about files that are left out; empty when no rule hides any."""
        return self._visible.note

    def name(self, path: str) -> str | None:
        """Return the path relative to the working directory, or absolute if outside; None if it is hidden."""
        if path not in self._names:
            self._names[path] = self._judged(path)
        return self._names[path]

    def _judged(self, path: str) -> str | None:
        try:
            real = os.path.realpath(path)
        except (OSError, ValueError):
            return None
        inside = real.startswith(self._root.rstrip("/") + "/")
        name = os.path.relpath(real, self._root) if inside else real
        if inside:
            is_shown = (self._undenied if path in self._named else self._visible)(name)
        else:  # shows only the path, such as that of a definition in a library
            access = Access(READING_TOOL, "read", (Subject("path", printable(name)),))
            is_shown = judge(access, self._context.rules, "yolo").action != "deny"
        return name if is_shown else None

    def line(self, span: Span) -> str:
        """Return the line of code at a place; empty when it is hidden, cannot be read or may not be read."""
        name = self.name(span.path)
        if name is None or (name.startswith("/") and not self._visible(name)):
            return ""
        if name not in self._lines:
            self._lines[name] = self._read(name)
        lines = self._lines[name]
        return _short(lines[span.line - 1], MAX_TEXT_CHARS) if 0 < span.line <= len(lines) else ""

    def _read(self, name: str) -> Sequence[str]:
        root = "/" if name.startswith("/") else self._root
        place = ResolvedPath(root=root, name=name, real=name.lstrip("/"), shown=name)
        with suppress(OSError, ToolError, UnicodeDecodeError), open_file(place) as file:
            data = file.read(MAX_FILE_BYTES + 1)
            if len(data) <= MAX_FILE_BYTES:
                return _LINE_END.split(parse_document(data).text)
        return ()


def format_places(found: Iterable[CodeLocation], sight: FileFilter, stop: Event) -> str:
    """Return a line per place, grouped by file in order of first occurrence; after `stop`, without code."""
    files: dict[str, dict[str, CodeLocation]] = {}
    for place in found:
        if (name := sight.name(place.span.path)) is not None:
            files.setdefault(name, {}).setdefault(_row(name, place), place)
    rows = [(row, place) for places in files.values() for row, place in places.items()]
    shown = []
    for row, place in rows[:MAX_ROWS]:
        text = "" if stop.is_set() else sight.line(place.span)
        shown.append(f"{row}: {text}" if text else row)
    return _noted(shown, len(rows), "no results", sight)


def _row(name: str, place: CodeLocation) -> str:
    symbol = f" {_short(place.symbol, MAX_TEXT_CHARS)}" if place.symbol else ""
    return f"{printable(name)}:{place.span.line}:{place.span.column}{symbol}"


def redact_error(error: ToolError, spot: SymbolQuery, sight: FileFilter) -> ToolError | None:
    """Return the error for a symbol that was not found; None to report that nothing was found.

    If a symbol was searched for in all files and rules hide some of them, the error reads as if the hidden
    files did not exist. Otherwise a model could guess their content, one word at a time.
    """
    if spot.path or not sight.note or ascii(spot.symbol) not in error.message:
        return ToolError(sight.shorten(error.message), hint=error.hint)
    names = {found[0]: sight.name(found[1]) for found in _PLACE.finditer(error.message)}
    shown = ", ".join(sight.shorten(place) for place, name in names.items() if name is not None)
    if not shown:
        return None
    return ToolError(f"{spot.symbol!a} could be one of {shown}", hint="say which with path and line")


def format_symbols(symbols: Iterable[SymbolInfo], sight: FileFilter) -> str:
    """Return a line for each symbol of a project: its place, its kind and name, and its container."""
    rows = []
    for symbol in symbols:
        name = sight.name(symbol.span.path)
        if name is not None:
            part = f" in {_short(symbol.container, MAX_TEXT_CHARS)}" if symbol.container else ""
            at = f"{printable(name)}:{symbol.name_span.line}:{symbol.name_span.column}"
            rows.append(f"{at}: {_title(symbol)}{part}")
    return _noted(rows[:MAX_ROWS], len(rows), "no symbols found", sight)


def format_outline(symbols: Iterable[SymbolInfo], sight: FileFilter) -> str:
    """Return a line for each symbol of one file, with its line range, indented by its depth.

    Local variables of functions are left out.
    """
    rows, kinds = [], list[str]()
    for symbol in symbols:
        depth = max(0, min(symbol.depth, MAX_DEPTH))
        kinds = [*kinds[:depth], symbol.kind]
        is_local = symbol.kind in _VARIABLES and not _FUNCTIONS.isdisjoint(kinds[:-1])
        if not is_local and sight.name(symbol.span.path) is not None:
            rows.append(f"{'  ' * depth}{symbol.span.line}-{symbol.span.end_line}: {_title(symbol)}")
    return _noted(rows[: 5 * MAX_ROWS], len(rows), "no symbols found", sight)


def _title(symbol: SymbolInfo) -> str:
    return _short(f"{symbol.kind} {symbol.name}", MAX_TEXT_CHARS)


def format_problems(problems: Iterable[CodeProblem], sight: FileFilter, nothing: str) -> str:
    """Return a line for each problem inside the working directory, errors first."""
    rows = problem_rows(problems, sight)
    return _noted(rows[:MAX_ROWS], len(rows), nothing, sight)


def problem_rows(problems: Iterable[CodeProblem], sight: FileFilter) -> list[str]:
    """Return a line for each problem that may be shown, errors first."""
    named = [
        (_SEVERITIES.index(problem.severity), name, problem)
        for problem in problems
        if (name := sight.name(problem.span.path)) is not None and not name.startswith("/")
    ]
    named.sort(key=lambda entry: (entry[0], entry[1], entry[2].span))
    return list(dict.fromkeys(_problem_row(name, problem) for _, name, problem in named))


def _problem_row(name: str, problem: CodeProblem) -> str:
    at = f"{printable(name)}:{problem.span.line}:{problem.span.column}"
    source = _short(f"{problem.source} {problem.code}", 80)
    text = f"{problem.severity} {at} {_short(problem.message, MAX_MESSAGE_CHARS)}"
    return f"{text} [{source}]" if source else text


def _short(text: str, limit: int) -> str:
    """Return an untrusted text on one line, cut to a limit."""
    line = printable(" ".join(text[: 4 * limit].split()))
    return line if len(line) <= limit else line[:limit] + "…"


def _noted(shown: list[str], count: int, nothing: str, sight: FileFilter) -> str:
    notes = [f"and {count - len(shown)} more"] if count > len(shown) else []
    notes += [sight.note] if sight.note else []
    return "\n".join([*(shown or [nothing]), *(f"[{note}]" for note in notes)])
