"""Resolves a named symbol to a position, because the model names symbols and does not count columns."""

import asyncio
from collections.abc import Sequence

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.core.language_servers import SymbolInfo, SymbolQuery
from bridle.lsp.documents import Document
from bridle.lsp.instance import Instance
from bridle.lsp.positions import TextSource
from bridle.lsp.project import Project
from bridle.lsp.protocol import Symbol
from bridle.lsp.settings import Timeouts
from bridle.lsp.symbols import ask_places, matches_name, outline, project_symbols, split_name
from bridle.lsp.word_search import Hit, find_word, word_pattern

MAX_TRIED = 10
_MAX_NAMED = 10
_MAX_SYMBOL = 500


class SymbolPosition(Struct, frozen=True):
    """A position in a file, and the servers of that file."""

    path: str
    line: int
    column: int
    instances: list[Instance]


class SymbolResolver:
    """Resolves the symbol of one query; all its requests together must finish within `reading_s`."""

    def __init__(self, project: Project, pace: Timeouts) -> None:
        self._project = project
        self._pace = pace
        self._deadline: float | None = None

    def _left(self) -> float:
        """Return the seconds left, counted from the first call."""
        now = asyncio.get_running_loop().time()
        self._deadline = self._deadline or now + self._pace.reading_s
        return max(self._deadline - now, 0.001)

    async def aim(self, spot: SymbolQuery) -> SymbolPosition:
        """Return the position of a symbol; raises ToolError, which names the candidates."""
        parts = split_name(spot.symbol)
        if not parts or len(spot.symbol) > _MAX_SYMBOL or not spot.symbol.isprintable():
            raise ToolError(f"{spot.symbol[:80]!a} is not the name of a symbol")
        if spot.path:
            return await self._in_file(spot, parts)
        return await self._anywhere(spot.symbol, parts)

    async def outline(self, path: str) -> tuple[SymbolInfo, ...]:
        """Return the symbols a file defines; raises ToolError."""
        instances = await self._project.use(path)
        able = [one for one in instances if one.supports("textDocument/documentSymbol")]
        if not able:
            raise ToolError(f"{instances[0].name} cannot list the symbols of a file")
        return tuple(await self._symbols(able[0], await self.open(able[0], path)))

    async def open(self, instance: Instance, path: str) -> Document:
        """Open a file's current text on a server; raises ToolError if it does not exist."""
        documents = await instance.documents.sync([path])
        if path not in documents:
            raise ToolError(f"{path} does not exist")
        return documents[path]

    # ------------------------------------------------------------------ in a file

    async def _in_file(self, spot: SymbolQuery, parts: Sequence[str]) -> SymbolPosition:
        instances = await self._project.use(spot.path)
        document = await self.open(instances[0], spot.path)
        source = document.source
        if spot.line:
            line, column = _in_line(spot, parts[-1], source)
            return SymbolPosition(spot.path, line, column, instances)
        able = [one for one in instances if one.supports("textDocument/documentSymbol")]
        if able:
            symbols = await self._symbols(able[0], await self.open(able[0], spot.path))
            if (
                chosen := _choose(spot.symbol, [one for one in symbols if matches_name(one, parts)])
            ) is not None:
                return _at(chosen, instances)
        places = _occurrences(parts[-1], source)
        if not places:
            raise ToolError(f"{spot.symbol!a} does not occur in {spot.path}")
        for line, column in places[:MAX_TRIED]:
            if await self._is_known(instances, spot.path, line, column):
                return SymbolPosition(spot.path, line, column, instances)
        return SymbolPosition(spot.path, *places[0], instances)

    async def _symbols(self, instance: Instance, document: Document) -> list[SymbolInfo]:
        params = {"textDocument": {"uri": document.uri}}
        found = await instance.ask("textDocument/documentSymbol", params, list[Symbol], self._left())
        return outline(found or [], document.path, document.source, instance.encoding)

    async def _is_known(self, instances: Sequence[Instance], path: str, line: int, column: int) -> bool:
        return bool(await self._defined(instances, path, line, column))

    async def _defined(
        self, instances: Sequence[Instance], path: str, line: int, column: int
    ) -> list[tuple[str, int]]:
        """Return where the symbol at a position is defined; empty if no server finds it."""
        for instance in instances:
            if not instance.supports("textDocument/definition"):
                continue
            document = await self.open(instance, path)
            position = document.source.position(line, column, instance.encoding)
            params = {"textDocument": {"uri": document.uri}, "position": position}
            try:
                places = await ask_places(instance, "textDocument/definition", params, self._left())
            except ToolError:
                if not instance.is_alive:
                    raise
                continue
            if places:
                return sorted({(one.uri, one.range.start.line) for one in places})
        return []

    # ------------------------------------------------------------------ anywhere

    async def _anywhere(self, symbol: str, parts: Sequence[str]) -> SymbolPosition:
        instances = await self._project.use_everything()
        found: list[SymbolInfo] = []
        for instance in instances:
            found += [one for one in await self.search(instance, parts[-1]) if matches_name(one, parts)]
        if (chosen := _choose(symbol, found)) is None:
            return await self._by_word(symbol, parts, instances)
        return _at(chosen, await self._project.use(chosen.name_span.path))

    async def search(self, instance: Instance, query: str) -> list[SymbolInfo]:
        """Return the project symbols that a server finds; empty if it cannot search."""
        if not instance.supports("workspace/symbol"):
            return []
        if not instance.documents.recent(1):  # some load no project before one of its files is open
            example = self._project.example(instance.launch.server)
            await instance.documents.sync([example] if example else [])
        try:
            found = await instance.ask("workspace/symbol", {"query": query}, list[Symbol], self._left())
        except ToolError:
            if not instance.is_alive:
                raise
            return []
        return await project_symbols(instance, found or [])

    async def _by_word(
        self, symbol: str, parts: Sequence[str], instances: Sequence[Instance]
    ) -> SymbolPosition:
        """Find a symbol through the files that contain its name: by a definition there, else by a use."""
        folder = self._project.folder
        extensions = {ending for one in instances for ending in one.launch.server.extensions}
        hits = await find_word(
            parts[-1], folder.root, extensions, folder.environ.get("PATH", ""), folder.writable
        )
        if not hits:
            raise ToolError(f"{symbol!a} does not occur in {folder.root}")
        defined: list[SymbolInfo] = []
        for path in list(dict.fromkeys(path for path, _ in hits))[:MAX_TRIED]:
            able = [one for one in await self._use(path) if one.supports("textDocument/documentSymbol")]
            if able:
                symbols = await self._symbols(able[0], await self.open(able[0], path))
                defined += [one for one in symbols if matches_name(one, parts)]
        if (chosen := _choose(symbol, defined)) is not None:
            return _at(chosen, await self._project.use(chosen.name_span.path))
        return await self._by_use(symbol, parts[-1], hits)

    async def _by_use(self, symbol: str, word: str, hits: Sequence[Hit]) -> SymbolPosition:
        aims: dict[tuple[tuple[str, int], ...], SymbolPosition] = {}
        for path, line in hits[:MAX_TRIED]:
            instances = await self._use(path)
            if not instances:
                continue
            source = (await self.open(instances[0], path)).source
            found = word_pattern(word).search(source.line(line - 1))
            if found is None:
                continue
            if defined := await self._defined(instances, path, line, found.start() + 1):
                aims.setdefault(tuple(defined), SymbolPosition(path, line, found.start() + 1, instances))
        if not aims:
            raise ToolError(f"no language server knows {symbol!a}; it occurs at {_name(hits)}")
        if len(aims) > 1:
            raise _ambiguous(symbol, [(one.path, one.line) for one in aims.values()])
        return next(iter(aims.values()))

    async def _use(self, path: str) -> list[Instance]:
        try:
            return await self._project.use(path)
        except ToolError:
            return []


def _at(symbol: SymbolInfo, instances: list[Instance]) -> SymbolPosition:
    span = symbol.name_span
    return SymbolPosition(span.path, span.line, span.column, instances)


def _in_line(spot: SymbolQuery, word: str, source: TextSource) -> tuple[int, int]:
    """Return a word's position in a line, nearest to the column if one is given; raises ToolError."""
    found = [one.start() + 1 for one in word_pattern(word).finditer(source.line(spot.line - 1))]
    if found:
        return spot.line, min(found, key=lambda column: abs(column - spot.column)) if spot.column else found[
            0
        ]
    places = _occurrences(word, source)
    where = f"it is in lines {', '.join(str(line) for line in _lines(places))}" if places else "nor elsewhere"
    raise ToolError(f"{word!a} is not in line {spot.line} of {spot.path}; {where}")


def _lines(places: Sequence[tuple[int, int]]) -> list[int]:
    return list(dict.fromkeys(line for line, _ in places))[:_MAX_NAMED]


def _occurrences(word: str, source: TextSource) -> list[tuple[int, int]]:
    pattern = word_pattern(word)
    return [
        (number + 1, found.start() + 1)
        for number in range(len(source))
        for found in pattern.finditer(source.line(number))
    ][:1000]


def _choose(symbol: str, found: Sequence[SymbolInfo]) -> SymbolInfo | None:
    """Return the matching symbol; overloads in one container count as one. Raises ToolError if ambiguous."""
    outermost = min((one.depth for one in found), default=0)
    found = [one for one in found if one.depth == outermost]  # rather than a parameter of the same name
    places = {(one.name_span.path, one.container): one for one in reversed(found)}
    if len(places) > 1:
        raise _ambiguous(symbol, [(one.name_span.path, one.name_span.line) for one in found])
    return next(iter(places.values()), None)


def _ambiguous(symbol: str, places: Sequence[Hit]) -> ToolError:
    return ToolError(
        f"{symbol!a} is ambiguous: {_name(places)}",
        hint="say which with path and line, or with a name such as Class.method",
    )


def _name(places: Sequence[Hit]) -> str:
    named = [f"{path}:{line}" for path, line in dict.fromkeys(places)]
    more = f" and {len(named) - _MAX_NAMED} more" if len(named) > _MAX_NAMED else ""
    return ", ".join(named[:_MAX_NAMED]) + more
