"""Code queries: definitions, references, calls, symbols, problems, and the edits of a rename."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from msgspec import Raw

from bridle.core.errors import ToolError
from bridle.core.language_servers import (
    CodeLocation,
    CodeProblem,
    FileEdit,
    LookupKind,
    SymbolInfo,
    SymbolQuery,
)
from bridle.lsp.connection import ServerTimeout
from bridle.lsp.diagnostics_wait import wait_for_diagnostics, wait_until_indexed
from bridle.lsp.display_text import clean_line
from bridle.lsp.documents import MAX_OPEN, read_content
from bridle.lsp.edits import Draft
from bridle.lsp.instance import Instance
from bridle.lsp.positions import is_inside, to_path
from bridle.lsp.project import Project
from bridle.lsp.protocol import CallItem, IncomingCall, OutgoingCall, WorkspaceEdit
from bridle.lsp.settings import Timeouts
from bridle.lsp.symbol_lookup import SymbolPosition, SymbolResolver
from bridle.lsp.symbols import MAX_RESULTS, RawLocation, ask_places, base_name, split_name, to_found
from bridle.lsp.word_search import find_word

T = TypeVar("T")

_METHODS: dict[LookupKind, str] = {
    "definition": "textDocument/definition",
    "references": "textDocument/references",
    "incoming_calls": "textDocument/prepareCallHierarchy",
    "outgoing_calls": "textDocument/prepareCallHierarchy",
}
_WORDS: dict[str, str] = {
    "textDocument/definition": "find definitions",
    "textDocument/references": "find references",
    "textDocument/prepareCallHierarchy": "find callers and callees",
    "textDocument/rename": "rename",
}
_MAX_ITEMS = 20
_MAX_AGAIN = 4
_MAX_SHOWN = MAX_OPEN - 8  # leaves room for the files being edited
_MAX_NAME = 200


class CodeQueries:
    """Asks the servers of one project; every method raises ToolError."""

    def __init__(self, project: Project, pace: Timeouts) -> None:
        self._project = project
        self._pace = pace
        self._seeker = SymbolResolver(project, pace)

    async def look(self, kind: LookupKind, spot: SymbolQuery) -> tuple[CodeLocation, ...]:
        """Find the definition, the references, the callers or the callees of a symbol."""
        await self._project.notice_changes()
        aim = await self._seeker.aim(spot)
        instance = _able(aim.instances, _METHODS[kind])
        match kind:
            case "definition":
                return await self._places(instance, aim, _METHODS[kind], {})
            case "references":
                await self._wait_for_index(instance, self._pace.reading_s)
                named = await self._show_uses(instance, spot)
                more = {"context": {"includeDeclaration": True}}
                return await self._settled(
                    lambda: self._places(instance, aim, _METHODS[kind], more),
                    lambda found: {one.span.path for one in found},
                    named,
                )
            case "incoming_calls" | "outgoing_calls":
                await self._wait_for_index(instance, self._pace.working_s)
                await self._show_uses(instance, spot)
                return await self._calls(instance, aim, kind)

    async def symbols(self, path: str) -> tuple[SymbolInfo, ...]:
        """Return the symbols a file defines."""
        return (await self._seeker.outline(path))[:MAX_RESULTS]

    async def find(self, query: str) -> tuple[SymbolInfo, ...]:
        """Return the symbols of the whole project that match a query, best match first."""
        await self._project.notice_changes()
        instances = await self._project.use_everything()
        found: dict[SymbolInfo, None] = {}
        for instance in instances:
            found.update(dict.fromkeys(await self._seeker.search(instance, query)))
        if not found:
            _check_index(instances)
        wanted = query.lower()

        def rank(symbol: SymbolInfo) -> tuple[bool, bool, str, Any]:
            name = base_name(symbol.name).lower()
            return name != wanted, not name.startswith(wanted), name, symbol.name_span

        return tuple(sorted(found, key=rank)[:MAX_RESULTS])

    async def problems(self, path: str) -> tuple[CodeProblem, ...]:
        """Return the problems of a file, or all known problems in a folder."""
        await self._project.notice_changes()
        if await asyncio.to_thread(os.path.isdir, path):
            return self._known_below(path)
        instances = await self._project.use(path)
        deadline = asyncio.get_running_loop().time() + self._pace.reading_s
        reported = await asyncio.gather(*(self._await_report(one, path, deadline) for one in instances))
        found = _merge(
            [one.diagnostics.of(path) for one, spoke in zip(instances, reported, strict=True) if spoke]
        )
        late = [one for one, spoke in zip(instances, reported, strict=True) if not spoke]
        if late and not found:
            _check_index(late)
            names = " and ".join(one.name for one in late)
            raise ToolError(f"{names} reported nothing about {path} within {self._pace.reading_s:.3g} s")
        return found

    def _known_below(self, folder: str) -> tuple[CodeProblem, ...]:
        reports = [one.diagnostics.all() for one in self._project.running()]
        return _merge(
            [
                found
                for diagnostics in reports
                for path, found in diagnostics.items()
                if is_inside(path, folder)
            ]
        )

    async def rename(self, spot: SymbolQuery, new_name: str) -> tuple[FileEdit, ...]:
        """Return the edits that renaming a symbol makes."""
        if not new_name.strip() or len(new_name) > _MAX_NAME or not new_name.isprintable():
            raise ToolError(f"{new_name[:80]!a} is not a valid name")
        await self._project.notice_changes()
        aim = await self._seeker.aim(spot)
        instance = _able(aim.instances, "textDocument/rename")
        await self._wait_for_index(instance, self._pace.working_s)
        named = await self._show_uses(instance, spot)
        params = await self.at(instance, aim)
        if instance.get_options("textDocument/rename").get("prepareProvider"):
            may = await instance.ask("textDocument/prepareRename", params, Any, self._pace.working_s)
            if may is None:
                raise ToolError(f"{spot.symbol!a} at {aim.path}:{aim.line} cannot be renamed")

        async def ask() -> tuple[FileEdit, ...]:
            wanted = {**params, "newName": new_name}
            edit = await instance.ask("textDocument/rename", wanted, WorkspaceEdit, self._pace.working_s)
            return await apply_workspace_edits(instance, [edit] if edit is not None else [])

        changed = await self._settled(ask, lambda edits: {edit.path for edit in edits}, named)
        if not changed:
            raise ToolError(f"{instance.name}: renaming {spot.symbol!a} to {new_name!a} changes nothing")
        return changed

    async def _show_uses(self, instance: Instance, spot: SymbolQuery) -> frozenset[str]:
        """Open the files that contain a name, and return their paths.

        A server that has just started may not have indexed them yet and would leave them out.
        """
        folder, word = self._project.folder, split_name(spot.symbol)[-1]
        endings = set(instance.launch.server.extensions)
        try:
            hits = await find_word(
                word, folder.root, endings, folder.environ.get("PATH", ""), folder.writable
            )
            shown = await instance.documents.sync(list(dict.fromkeys(path for path, _ in hits))[:_MAX_SHOWN])
        except ToolError:  # the server then answers from its own index
            return frozenset()
        return frozenset(shown)

    async def _settled(
        self, ask: Callable[[], Awaitable[T]], paths: Callable[[T], set[str]], named: frozenset[str]
    ) -> T:
        """Return an answer; ask again while it leaves out files that contain the name.

        Some servers answer before they have resolved the dependencies between their files.
        """
        answer = await ask()
        for _ in range(_MAX_AGAIN):
            if named <= paths(answer):
                break
            await asyncio.sleep(self._pace.again_s)
            before, answer = paths(answer), await ask()
            if paths(answer) == before:
                break
        return answer

    async def at(self, instance: Instance, aim: SymbolPosition) -> dict[str, Any]:
        """Return a position as LSP parameters, after opening the file on the server."""
        document = await self._seeker.open(instance, aim.path)
        position = document.source.position(aim.line, aim.column, instance.encoding)
        return {"textDocument": {"uri": document.uri}, "position": position}

    async def _places(
        self, instance: Instance, aim: SymbolPosition, method: str, more: dict[str, Any]
    ) -> tuple[CodeLocation, ...]:
        params = {**await self.at(instance, aim), **more}
        try:
            found = await ask_places(instance, method, params, self._pace.reading_s)
        except ServerTimeout:
            _check_index([instance])
            raise
        if not found:
            _check_index([instance])
        return await to_found(instance, found)

    async def _calls(
        self, instance: Instance, aim: SymbolPosition, kind: LookupKind
    ) -> tuple[CodeLocation, ...]:
        items = await self._functions(instance, aim)
        if not items and instance.supports(
            "textDocument/definition"
        ):  # the place may be an import, or a call
            defined = await self._places(instance, aim, "textDocument/definition", {})
            spans = [one.span for one in defined if is_inside(one.span.path, self._project.root)]
            for span in spans[:1]:
                there = SymbolPosition(span.path, span.line, span.column, aim.instances)
                items = await self._functions(instance, there)
        if not items:
            _check_index([instance])
            raise ToolError(f"{instance.name} found no function at {aim.path}:{aim.line}")
        found: list[RawLocation] = []
        for item in items[:_MAX_ITEMS]:
            if kind == "incoming_calls":
                found += await self._incoming(instance, item)
            else:
                found += await self._outgoing(instance, item)
        return await to_found(instance, found)

    async def _functions(self, instance: Instance, aim: SymbolPosition) -> list[Raw]:
        params = await self.at(instance, aim)
        found = await instance.ask(
            "textDocument/prepareCallHierarchy", params, list[Raw], self._pace.working_s
        )
        return found or []

    async def _incoming(self, instance: Instance, item: Raw) -> list[RawLocation]:
        calls = await instance.ask(
            "callHierarchy/incomingCalls", {"item": item}, list[IncomingCall], self._pace.working_s
        )
        return [
            RawLocation(one.from_.uri, place, clean_line(one.from_.name, _MAX_NAME))
            for one in (calls or [])[:MAX_RESULTS]
            for place in one.from_ranges[:MAX_RESULTS] or [one.from_.selection_range]
        ]

    async def _outgoing(self, instance: Instance, item: Raw) -> list[RawLocation]:
        calls = await instance.ask(
            "callHierarchy/outgoingCalls", {"item": item}, list[OutgoingCall], self._pace.working_s
        )
        called: list[CallItem] = [one.to for one in (calls or [])[:MAX_RESULTS]]
        return [RawLocation(one.uri, one.selection_range, clean_line(one.name, _MAX_NAME)) for one in called]

    async def _await_report(self, instance: Instance, path: str, deadline: float) -> bool:
        document = await self._seeker.open(instance, path)
        return await wait_for_diagnostics(instance, [document], deadline, self._pace)

    async def _wait_for_index(self, instance: Instance, timeout_s: float) -> None:
        """Wait until a server has indexed the project: half of the uses are worse than none."""
        if not await wait_until_indexed(instance, asyncio.get_running_loop().time() + timeout_s):
            _check_index([instance])


async def apply_workspace_edits(instance: Instance, edits: Sequence[WorkspaceEdit]) -> tuple[FileEdit, ...]:
    """Return the file edits of workspace edits; raises ToolError for one that leaves the project."""
    root = instance.launch.folder.root

    def locate(uri: str) -> str:
        path = to_path(uri)
        if path is None:
            raise ToolError(f"{instance.name} wants to change {uri[:200]!a}, which is not a file here")
        real = os.path.realpath(path)
        if not is_inside(real, root) or real == root:
            raise ToolError(f"{instance.name} wants to change {path}, which is outside {root}")
        return real

    def read(path: str) -> str | None:
        if (document := instance.documents.get(path)) is not None:
            return document.content.text
        content = read_content(path)
        return content.text if content is not None else None

    def version(path: str) -> int | None:
        document = instance.documents.get(path)
        return document.version if document is not None else None

    def work() -> tuple[FileEdit, ...]:
        made = Draft(read, locate, version, instance.encoding)
        for edit in edits:
            made.take(edit)
        return made.result()

    return await asyncio.to_thread(work)


def _able(instances: Sequence[Instance], method: str) -> Instance:
    for instance in instances:
        if instance.supports(method):
            return instance
    raise ToolError(f"{' and '.join(one.name for one in instances)} cannot {_WORDS[method]}")


def _check_index(instances: Sequence[Instance]) -> None:
    """Raise ToolError if a server is still indexing: its empty answer means nothing."""
    for instance in instances:
        if progress := instance.progress:
            raise ToolError(f"{instance.name} is still {_with_brackets(progress)}: ask again later")


def _with_brackets(progress: str) -> str:
    word, _, percentage = progress.partition(" ")
    return f"{word} ({percentage})" if percentage else word


def _merge(parts: Sequence[Sequence[CodeProblem]]) -> tuple[CodeProblem, ...]:
    found = dict.fromkeys(problem for part in parts for problem in part)
    return tuple(sorted(found, key=lambda problem: problem.span))
