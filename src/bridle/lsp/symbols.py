"""Converts locations and symbols from servers to our types, with the line of code at each place."""

import asyncio
import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from bridle.core.errors import ToolError
from bridle.core.language_servers import CodeLocation, Span, SymbolInfo
from bridle.lsp.connection import decode
from bridle.lsp.display_text import clean_line
from bridle.lsp.documents import read_content
from bridle.lsp.initialize import SYMBOL_KINDS
from bridle.lsp.instance import Instance
from bridle.lsp.positions import Encoding, TextSource, is_inside, span_as_ascii, to_path
from bridle.lsp.protocol import LspLocation, Position, Range, Symbol
from bridle.lsp.word_search import word_pattern

MAX_RESULTS = 1000
MAX_SYMBOLS = 5000
_MAX_READ = 200
_MAX_LINE = 500
_MAX_NAME = 200
_PARTS = re.compile(r"::|[.#]")


class RawLocation(Struct, frozen=True):
    """A location as the server reports it."""

    uri: str
    range: Range
    symbol: str = ""


def to_raw_locations(places: Iterable[LspLocation]) -> list[RawLocation]:
    """Return locations of either LSP type; entries without a range are left out."""
    found = [
        (one.target_uri or one.uri, one.target_selection_range if one.target_uri else one.range)
        for one in places
    ]
    return [RawLocation(uri, place) for uri, place in found if place is not None]


async def ask_places(
    instance: Instance, method: str, params: dict[str, Any], timeout_s: float
) -> list[RawLocation]:
    """Send a request that returns one or several locations; raises ToolError."""
    raw = await instance.ask(method, params, Raw, timeout_s)
    if raw is None:
        return []
    try:
        if bytes(memoryview(raw)[:1]) == b"[":
            return to_raw_locations(await decode(raw, list[LspLocation]))
        return to_raw_locations([await decode(raw, LspLocation)])
    except msgspec.MsgspecError as error:
        raise ToolError(f"{instance.name} sent an invalid answer") from error


async def to_found(instance: Instance, found: Sequence[RawLocation]) -> tuple[CodeLocation, ...]:
    """Return the locations as `Found`, sorted; at most `MAX_RESULTS`.

    Only files inside the project are read: a server may name any file, even one that it cannot read itself.
    """
    return await asyncio.to_thread(_founds, instance, found[: 4 * MAX_RESULTS])


def _founds(instance: Instance, found: Sequence[RawLocation]) -> tuple[CodeLocation, ...]:
    files = FileCache(instance)
    results: dict[CodeLocation, None] = {}
    for pointer in found:
        path = files.locate(pointer.uri)
        if path is None:
            continue
        source = files.read(path)
        if source is None:
            results[CodeLocation(span_as_ascii(path, pointer.range), symbol=pointer.symbol)] = None
            continue
        span = source.span(path, pointer.range, instance.encoding)
        results[CodeLocation(span, source.line(span.line - 1).strip()[:_MAX_LINE], pointer.symbol)] = None
    return tuple(sorted(results, key=lambda one: (one.span, one.symbol))[:MAX_RESULTS])


class FileCache:
    """Reads project files for one answer, each file once; blocks."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._root = instance.launch.folder.root
        self._paths: dict[str, str | None] = {}
        self._sources: dict[str, TextSource | None] = {}

    def locate(self, uri: str) -> str | None:
        """Return the path of a URI with links resolved; None if it is no local path."""
        if uri not in self._paths:
            path = to_path(uri)
            self._paths[uri] = os.path.realpath(path) if path is not None else None
        return self._paths[uri]

    def read(self, path: str) -> TextSource | None:
        """Return the text of a project file; None if it is outside or more than `_MAX_READ` were read."""
        if path not in self._sources:
            self._sources[path] = self._open(path) if len(self._sources) < _MAX_READ else None
        return self._sources[path]

    def _open(self, path: str) -> TextSource | None:
        if not is_inside(path, self._root):
            return None
        if (document := self._instance.documents.get(path)) is not None:
            return document.source
        try:
            content = read_content(path)
        except ToolError:
            return None
        return TextSource(content.sent) if content is not None else None


def outline(symbols: Sequence[Symbol], path: str, source: TextSource, encoding: Encoding) -> list[SymbolInfo]:
    """Return the symbols of a file, flattened and in order; at most `MAX_SYMBOLS`."""
    found: list[SymbolInfo] = []
    waiting = [(one, "", 0) for one in reversed(symbols[:MAX_SYMBOLS])]
    while waiting and len(found) < MAX_SYMBOLS:
        symbol, container, depth = waiting.pop()
        place = symbol.range or (symbol.location.range if symbol.location else None)
        if place is None:
            continue
        span = source.span(path, place, encoding)
        name = clean_line(symbol.name, _MAX_NAME)
        named = symbol.selection_range
        name_span = source.span(path, named, encoding) if named else _name_span(name, span, source)
        inside = container or clean_line(symbol.container_name or "", _MAX_NAME)
        found.append(SymbolInfo(name, kind_name(symbol.kind), span, name_span, inside, depth))
        within = f"{container}.{name}" if container else name
        children = (symbol.children or [])[:MAX_SYMBOLS]
        waiting += [(one, within[-_MAX_NAME:], depth + 1) for one in reversed(children)]
    return found


def _name_span(name: str, span: Span, source: TextSource) -> Span:
    """Return the span of a symbol's name, for servers that report only the span of the whole symbol."""
    start = span.column - 1
    found = word_pattern(base_name(name)).search(source.line(span.line - 1), start)
    if found is None:
        return Span(span.path, span.line, span.column, span.line, span.column)
    return Span(span.path, span.line, found.start() + 1, span.line, found.end() + 1)


async def project_symbols(instance: Instance, symbols: Sequence[Symbol]) -> list[SymbolInfo]:
    """Return workspace symbols, without those outside the project."""
    return await asyncio.to_thread(_project_symbols, instance, symbols[:MAX_SYMBOLS])


def _project_symbols(instance: Instance, symbols: Sequence[Symbol]) -> list[SymbolInfo]:
    files = FileCache(instance)
    found: list[SymbolInfo] = []
    for symbol in symbols:
        path = files.locate(symbol.location.uri) if symbol.location else None
        source = files.read(path) if path is not None else None
        if path is None or source is None or symbol.location is None:
            continue
        place = symbol.location.range or Range(Position(0, 0), Position(0, 0))
        span = source.span(path, place, instance.encoding)
        name, container = (
            clean_line(symbol.name, _MAX_NAME),
            clean_line(symbol.container_name or "", _MAX_NAME),
        )
        name_span = _name_span(name, span, source)
        found.append(SymbolInfo(name, kind_name(symbol.kind), span, name_span, container))
    return found


def kind_name(number: int) -> str:
    """Return the name of a symbol kind."""
    return SYMBOL_KINDS[number] if 0 <= number < len(SYMBOL_KINDS) else SYMBOL_KINDS[0]


def split_name(name: str) -> list[str]:
    """Return the parts of a dotted name such as `Class.method`."""
    return [part for part in _PARTS.split(name.strip()) if part]


def base_name(name: str) -> str:
    """Return the bare name: some servers write `(*Type).Method` or `method(int)`."""
    if name.startswith("("):
        name = name.rpartition(")")[2]
    parts = split_name(name.partition("(")[0])
    return parts[-1].strip() if parts else name


def matches_name(symbol: SymbolInfo, parts: Sequence[str]) -> bool:
    """Return whether a symbol matches a dotted name."""
    if base_name(symbol.name) != parts[-1]:
        return False
    around = [*split_name(symbol.container), *split_name(symbol.name)[:-1]]
    around = [part.strip("(*&) ") for part in around]
    return all(part in around for part in parts[:-1])
