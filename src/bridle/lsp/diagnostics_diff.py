"""Compares diagnostics before and after an edit; a problem whose line only moved is not new."""

import heapq
import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

from msgspec import Struct

from bridle.core.language_servers import CodeProblem
from bridle.lsp.positions import TextSource

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
