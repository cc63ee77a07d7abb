"""Reports what an edit did to the problems of files, as long as the servers answer in time."""

import asyncio
from collections.abc import Sequence

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.core.language_servers import CodeProblem, ProblemChanges
from bridle.lsp.diagnostics_diff import DiagnosticsDiff, LineMap, compare
from bridle.lsp.diagnostics_wait import wait_for_diagnostics
from bridle.lsp.documents import MAX_OPEN, ChangeKind, Document
from bridle.lsp.instance import Instance
from bridle.lsp.project import Project
from bridle.lsp.server import Server
from bridle.lsp.settings import Timeouts

MAX_SILENCES = 2


class _Before(Struct, frozen=True):
    """A server's state before an edit."""

    instance: Instance
    texts: dict[str, str | None]
    """The texts of the edited files; None for a file that did not exist."""
    problems: dict[str, tuple[CodeProblem, ...]]
    opened: frozenset[str]


class EditWatch:
    """Watches the files of one edit; implements `PendingEdit` for the engine. Made by `watch`."""

    def __init__(
        self, befores: Sequence[_Before], late: Sequence[str], wait_s: float, pace: Timeouts
    ) -> None:
        self._befores = befores
        self._late = late
        self._wait_s = wait_s
        self._pace = pace

    async def news(self) -> ProblemChanges:
        """Send the files' new content to the servers and return what changed; never raises."""
        deadline = asyncio.get_running_loop().time() + self._wait_s
        differences = await asyncio.gather(*(self._after(before, deadline) for before in self._befores))
        known = [one for one in differences if one is not None]
        late = [
            before.instance.name
            for before, difference in zip(self._befores, differences, strict=True)
            if difference is None
        ]
        return ProblemChanges(
            tuple(problem for one in known for problem in one.appeared),
            sum(one.gone for one in known),
            sum(one.remaining for one in known),
            tuple(dict.fromkeys((*self._late, *late))),
        )

    async def _after(self, before: _Before, deadline: float) -> DiagnosticsDiff | None:
        """Return how the edit changed one server's problems; None if it does not answer in time."""
        instance = before.instance
        try:
            documents = await instance.documents.sync(before.texts)
            if instance.watches:
                instance.documents.notify_changes(_changes(before, documents))
            if not await _listen(instance, list(documents.values()), deadline, self._pace):
                return None
        except ToolError:
            return None
        after = instance.board.all()
        # Files that another call opened meanwhile have no earlier state to compare with.
        newly = _opened(instance) - before.opened
        for path in [path for path in after if path in newly and path not in before.problems]:
            if path not in before.texts:
                del after[path]
        for path in before.texts.keys() - documents.keys():
            after[path] = ()
        return await asyncio.to_thread(_compare, before, after, documents)


def _changes(before: _Before, documents: dict[str, Document]) -> dict[str, ChangeKind]:
    return {
        path: "created" if text is None else "changed" if path in documents else "deleted"
        for path, text in before.texts.items()
        if text is not None or path in documents
    }


def _compare(
    before: _Before, after: dict[str, tuple[CodeProblem, ...]], documents: dict[str, Document]
) -> DiagnosticsDiff:
    moves = {
        path: LineMap(text, documents[path].content.text)
        for path, text in before.texts.items()
        if text is not None and path in documents
    }
    return compare(before.problems, after, moves)


async def watch(project: Project, paths: Sequence[str], pace: Timeouts) -> EditWatch:
    """Record the problems of files that are about to be edited; takes `wait_s` at most."""
    wait_s = project.folder.wait_s
    deadline = asyncio.get_running_loop().time() + wait_s
    wanted: dict[Server, list[str]] = {}
    for path in paths:
        for server in await asyncio.to_thread(project.servers, path):
            wanted.setdefault(server, []).append(path)
    found = await asyncio.gather(
        *(_before(server, some[:MAX_OPEN], deadline, pace) for server, some in wanted.items())
    )
    late = [
        server.server.name
        for server, before in zip(wanted, found, strict=True)
        if before is None and server.state()[0] in ("starting", "ready")
    ]
    return EditWatch([before for before in found if before is not None], late, wait_s, pace)


async def _before(server: Server, paths: Sequence[str], deadline: float, pace: Timeouts) -> _Before | None:
    try:
        async with asyncio.timeout_at(deadline):
            instance = await server.use()
        documents = await instance.documents.sync(paths)
        if not await _listen(instance, list(documents.values()), deadline, pace):
            return None
    except (TimeoutError, ToolError):
        return None
    texts = {path: documents[path].content.text if path in documents else None for path in paths}
    return _Before(instance, texts, instance.board.all(), _opened(instance))


def _opened(instance: Instance) -> frozenset[str]:
    return frozenset(one.path for one in instance.documents.recent(MAX_OPEN))


async def _listen(instance: Instance, documents: Sequence[Document], deadline: float, pace: Timeouts) -> bool:
    """Wait for a server's diagnostics; only briefly after two timeouts in a row."""
    if instance.silences >= MAX_SILENCES:
        deadline = min(deadline, asyncio.get_running_loop().time() + pace.silent_s)
    silences = instance.silences
    if await wait_for_diagnostics(instance, documents, deadline, pace):
        instance.silences = 0
        return True
    if instance.silences == silences:
        instance.silences += 1
    return False
