"""Reports what an edit did to the problems of files, as long as the servers answer in time."""

import asyncio
import heapq
import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.core.language_servers import CodeProblem, ProblemChanges
from bridle.lsp.diagnostics_wait import wait_for_diagnostics
from bridle.lsp.documents import MAX_OPEN, ChangeKind, Document
from bridle.lsp.instance import Instance
from bridle.lsp.positions import TextSource
from bridle.lsp.project import Project
from bridle.lsp.server import Server
from bridle.lsp.settings import Timeouts

# ---------------------------------------------------------------------------- diagnostics diff
# Compares diagnostics before and after an edit; a problem whose line only moved is not new.


_MAX_COMPARED = 2000  # lines; difflib takes quadratic time
_LINE_NUMBER = re.compile(r"\bline \d+")

Problems = Mapping[str, Sequence[CodeProblem]]


class DiagnosticsDiff(Struct, frozen=True):
    """The new problems, and how many disappeared or remained."""

    appeared: tuple[CodeProblem, ...] = ()
    gone: int = 0
    remaining: int = 0


class LineMap:
    """Maps the lines of a text before an edit to its lines afterwards."""

    def __init__(self, before: str, after: str) -> None:
        old, new = _lines(before), _lines(after)
        head = 0
        while head < min(len(old), len(new)) and old[head] == new[head]:
            head += 1
        tail = 0
        while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
            tail += 1
        middle = (old[head : len(old) - tail], new[head : len(new) - tail])
        self._blocks = [(0, head, 0, head)]
        if max(len(middle[0]), len(middle[1])) <= _MAX_COMPARED:
            matcher = SequenceMatcher(None, *middle, autojunk=False)
            codes = [tuple(place + head for place in code[1:]) for code in matcher.get_opcodes()]
            self._blocks += [(one[0], one[1], one[2], one[3]) for one in codes]
        else:
            self._blocks.append((head, len(old) - tail, head, len(new) - tail))
        self._blocks.append((len(old) - tail, len(old), len(new) - tail, len(new)))

    def of(self, line: int) -> tuple[int, int]:
        """Return the first and the last line, counted from 1, that a line may have become.

        For a deleted line the last is smaller than the first.
        """
        for start, end, new_start, new_end in self._blocks:
            if start < line <= end:
                if end - start == new_end - new_start:
                    return line - start + new_start, line - start + new_start
                return new_start + 1, new_end
        return line, line


def compare(before: Problems, after: Problems, moves: Mapping[str, LineMap]) -> DiagnosticsDiff:
    """Return how problems changed: one is old if the same text was reported where its line was before.

    Hints are ignored: editors use them to gray out code.
    """
    appeared: list[CodeProblem] = []
    gone = remaining = 0
    for path in sorted({*before, *after}):
        old, new = ([one for one in part.get(path, ()) if one.severity != "hint"] for part in (before, after))
        unmatched = _match(old, new, moves.get(path))
        appeared += unmatched
        remaining += len(new) - len(unmatched)
        gone += len(old) - (len(new) - len(unmatched))
    return DiagnosticsDiff(tuple(appeared), gone, remaining)


def _match(
    old: Sequence[CodeProblem], new: Sequence[CodeProblem], moves: LineMap | None
) -> list[CodeProblem]:
    """Return the new problems that match no old one; each old problem matches at most one."""
    places: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for problem in old:
        line = problem.span.line
        place = (line, line) if moves is None or _is_of_file(problem) else moves.of(line)
        places.setdefault(_key(problem), []).append(place)
    found: dict[tuple[str, ...], list[CodeProblem]] = {}
    for problem in new:
        found.setdefault(_key(problem), []).append(problem)
    unmatched = [
        problem for key, problems in found.items() for problem in _leftover(places.get(key, []), problems)
    ]
    return sorted(unmatched, key=lambda problem: problem.span)


def _leftover(places: Sequence[tuple[int, int]], problems: Sequence[CodeProblem]) -> list[CodeProblem]:
    """Return the problems that fit into no range; each takes the open range that ends first."""
    coming = sorted(places, reverse=True)
    open_ends: list[int] = []
    left: list[CodeProblem] = []
    for problem in sorted(problems, key=lambda one: one.span):
        line = problem.span.line
        while coming and coming[-1][0] <= line:
            heapq.heappush(open_ends, coming.pop()[1])
        while open_ends and open_ends[0] < line:
            heapq.heappop(open_ends)
        if open_ends:
            heapq.heappop(open_ends)
        else:
            left.append(problem)
    return left


def _is_of_file(problem: CodeProblem) -> bool:
    """Return whether a problem concerns the whole file: servers report those at its very start."""
    span = problem.span
    return (span.line, span.column, span.end_line, span.end_column) == (1, 1, 1, 1)


def _key(problem: CodeProblem) -> tuple[str, ...]:
    # Some messages contain another line number, which an edit moves, too.
    message = _LINE_NUMBER.sub("line", problem.message)
    return message, problem.code, problem.source, problem.severity


def _lines(text: str) -> list[str]:
    source = TextSource(text)
    return [source.line(number) for number in range(len(source))]


# ---------------------------------------------------------------------------- edit watch


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
        after = instance.diagnostics.all()
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
    return _Before(instance, texts, instance.diagnostics.all(), _opened(instance))


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
