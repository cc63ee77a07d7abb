"""Code actions for a range of lines: listed with stable ids, and resolved to file edits."""

import asyncio
import hashlib
from collections.abc import Sequence

import msgspec
from msgspec import Raw, Struct

from bridle.core.errors import ToolError
from bridle.core.language_servers import CodeAction, FileEdit
from bridle.core.malformed import MALFORMED
from bridle.lsp.diagnostics_wait import wait_for_diagnostics
from bridle.lsp.display_text import clean_line
from bridle.lsp.documents import Document
from bridle.lsp.instance import Instance
from bridle.lsp.project import Project
from bridle.lsp.protocol import Action, Command, Position, Range
from bridle.lsp.queries import apply_workspace_edits
from bridle.lsp.settings import Timeouts

MAX_FIXES = 200
_MAX_TITLE = 200
_SOURCE = "source"


class _Offer(Struct, frozen=True):
    """A fix and the server's original code action."""

    fix: CodeAction
    action: Action
    raw: Raw
    instance: Instance


class Fixes:
    """Asks the servers of one project for fixes; every method raises ToolError."""

    def __init__(self, project: Project, pace: Timeouts) -> None:
        self._project = project
        self._pace = pace

    async def offered(self, path: str, line: int, end_line: int) -> tuple[CodeAction, ...]:
        """Return the fixes offered for these lines."""
        return tuple(offer.fix for offer in await self._offers(path, line, end_line))

    async def get_edits(self, path: str, line: int, end_line: int, fix: str) -> tuple[FileEdit, ...]:
        """Return the edits that one of the fixes makes."""
        offers = await self._offers(path, line, end_line)
        offer = next((one for one in offers if one.fix.id == fix), None)
        if offer is None:
            known = ", ".join(f"{one.fix.id} ({one.fix.title})" for one in offers[:10]) or "nothing"
            raise ToolError(f"no fix {fix[:80]!a} for {path}:{line}; available: {known}")
        changed = await self._resolve(offer)
        if not changed:
            raise ToolError(f"{offer.instance.name} changes nothing for {offer.fix.title!a}")
        return changed

    async def _offers(self, path: str, line: int, end_line: int) -> list[_Offer]:
        await self._project.notice_changes()
        instances = [one for one in await self._project.use(path) if one.supports("textDocument/codeAction")]
        if not instances:
            raise ToolError(f"no language server offers fixes for {path}")
        results = await asyncio.gather(
            *(self._ask(one, path, line, end_line) for one in instances), return_exceptions=True
        )
        found = [one for one in results if not isinstance(one, BaseException)]
        for result in results:
            if isinstance(result, BaseException) and not (found and isinstance(result, ToolError)):
                raise result
        return _number([offer for offers in found for offer in offers])

    async def _ask(self, instance: Instance, path: str, line: int, end_line: int) -> list[_Offer]:
        documents = await instance.documents.sync([path])
        if path not in documents:
            raise ToolError(f"{path} does not exist")
        document = documents[path]
        deadline = asyncio.get_running_loop().time() + self._pace.reading_s
        await wait_for_diagnostics(
            instance, [document], deadline, self._pace
        )  # servers offer fixes only for problems found
        place = _range(document, line, end_line, instance)
        answers = await asyncio.gather(
            *(self._actions(instance, document, place, only) for only in _kinds(instance))
        )
        offers = [_Offer(_fix(action), action, raw, instance) for answer in answers for action, raw in answer]
        return [one for one in offers if one.action.disabled is None]

    async def _actions(
        self, instance: Instance, document: Document, place: Range, only: Sequence[str]
    ) -> list[tuple[Action, Raw]]:
        first, last = place.start.line + 1, place.end.line + 1
        problems = [
            raw
            for problem, raw in instance.diagnostics.raws(document.path)
            if problem.span.line <= last and problem.span.end_line >= first
        ]
        context = {"diagnostics": problems, "triggerKind": 1, **({"only": only} if only else {})}
        params = {"textDocument": {"uri": document.uri}, "range": place, "context": context}
        raws = await instance.ask("textDocument/codeAction", params, list[Raw], self._pace.working_s)
        found = [(_read(raw), raw) for raw in (raws or [])[:MAX_FIXES]]
        return [(action, raw) for action, raw in found if action is not None]

    async def _resolve(self, offer: _Offer) -> tuple[FileEdit, ...]:
        """Return the edits of an offer; if it is a command, the server runs it and we capture its edits."""
        instance, action = offer.instance, offer.action
        can_resolve = instance.get_options("textDocument/codeAction").get("resolveProvider")
        if action.edit is None and can_resolve and not isinstance(action.command, str):
            resolved = await instance.ask("codeAction/resolve", offer.raw, Action, self._pace.working_s)
            action = resolved or action
        if action.edit is not None:
            return await apply_workspace_edits(instance, [action.edit])
        command = action.command
        if isinstance(command, str):
            command = Command(command, action.arguments)
        if command is None:
            return ()
        if instance.launch.walls == "none":
            raise ToolError(
                f"{instance.name} would apply this itself, without a sandbox",
                hint="turn on lsp.sandbox to see what it would change",
            )
        edits = await instance.execute(command.command, command.arguments or [], self._pace.working_s)
        return await apply_workspace_edits(instance, edits)


def _kinds(instance: Instance) -> list[list[str]]:
    """Return the action kinds to request: some servers list whole-file actions only on a separate request."""
    kinds = instance.get_options("textDocument/codeAction").get("codeActionKinds") or []
    has_source = isinstance(kinds, list) and any(str(kind).startswith(_SOURCE) for kind in kinds)
    return [[], [_SOURCE]] if has_source else [[]]


def _range(document: Document, line: int, end_line: int, instance: Instance) -> Range:
    source = document.source
    first = min(max(line, 1), len(source))
    last = min(max(end_line, first), len(source))
    end = source.position(last, len(source.line(last - 1)) + 1, instance.encoding)
    return Range(Position(first - 1, 0), end)


def _read(raw: Raw) -> Action | None:
    try:
        return msgspec.json.decode(raw, type=Action, strict=False)
    except MALFORMED:
        return None


def _fix(action: Action) -> CodeAction:
    title, kind = clean_line(action.title, _MAX_TITLE), clean_line(action.kind or "", _MAX_TITLE)
    return CodeAction("", title, kind, is_preferred=bool(action.is_preferred))


def _number(offers: Sequence[_Offer]) -> list[_Offer]:
    """Drop duplicates and give each offer an id derived from its content, not its position."""
    found: dict[tuple[str, str, str], list[_Offer]] = {}
    for offer in offers:
        key = (offer.instance.name, offer.fix.kind, offer.fix.title)
        same = found.setdefault(key, [])
        if all(bytes(one.raw) != bytes(offer.raw) for one in same):
            same.append(offer)
    numbered: list[_Offer] = []
    for key, same in found.items():
        digest = hashlib.sha256("\0".join(key).encode()).hexdigest()[:6]
        for number, offer in enumerate(same, 1):
            name = f"{digest}-{number}" if len(same) > 1 else digest
            fix = msgspec.structs.replace(offer.fix, id=name)
            numbered.append(msgspec.structs.replace(offer, fix=fix))
    return numbered[:MAX_FIXES]
